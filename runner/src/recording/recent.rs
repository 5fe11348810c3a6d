//! Recordings that were read last: those of the test that an author edits are judged again with each key.

use std::{
    collections::VecDeque,
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use speclens_schema::{format::Dialect, mask::Secrets};

use super::content::Recording;

/// Maximum size of the kept recordings in bytes, as they are on the disk.
const MAX_BYTES: u64 = 32 * 1024 * 1024;

/// A file that changed within this time may change again without another time: some file systems count in steps of two seconds.
const SETTLED: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
pub(super) struct Recent {
    /// The last one was used last.
    kept: VecDeque<Kept>,
}

#[derive(Debug)]
struct Kept {
    files: Vec<(PathBuf, Signature)>,
    dialect: Dialect,
    /// The values that are masked in it.
    secrets: Arc<Secrets>,
    recording: Recording,
}

/// The properties that change with the content of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Signature {
    modified: SystemTime,
    bytes: u64,
}

impl Signature {
    fn of(path: &Path) -> Option<Signature> {
        let metadata = fs::symlink_metadata(path).ok()?;
        Some(Signature { modified: metadata.modified().ok()?, bytes: metadata.len() })
    }
}

impl Recent {
    /// Returns a recording, unless one of its files has changed since it was read.
    pub(super) fn get(&mut self, path: &Path, dialect: Dialect, secrets: &Arc<Secrets>) -> Option<Recording> {
        let is_meant =
            |kept: &Kept| kept.files[0].0 == path && kept.dialect == dialect && Arc::ptr_eq(&kept.secrets, secrets);
        let at = self.kept.iter().position(is_meant)?;
        let kept = self.kept.remove(at)?;
        let is_same = |(path, known): &(PathBuf, Signature)| Signature::of(path).as_ref() == Some(known);
        let recording = kept.files.iter().all(is_same).then(|| kept.recording.clone())?;
        self.kept.push_back(kept);
        Some(recording)
    }

    /// Keeps a recording, given its file and those of its texts.
    pub(super) fn keep(
        &mut self,
        files: Vec<PathBuf>,
        dialect: Dialect,
        secrets: &Arc<Secrets>,
        recording: &Recording,
    ) {
        let signed = files.into_iter().map(|path| Signature::of(&path).map(|signature| (path, signature)));
        let Some(files) = signed.collect::<Option<Vec<_>>>() else { return };
        let is_settled = |signature: &Signature| signature.modified.elapsed().is_ok_and(|age| age > SETTLED);
        if !files.iter().all(|(_, signature)| is_settled(signature)) {
            return;
        }
        self.kept.retain(|kept| kept.files[0].0 != files[0].0);
        self.kept.push_back(Kept { files, dialect, secrets: Arc::clone(secrets), recording: recording.clone() });
        while self.bytes() > MAX_BYTES {
            self.kept.pop_front();
        }
    }

    fn bytes(&self) -> u64 {
        self.kept.iter().flat_map(|kept| &kept.files).map(|(_, signature)| signature.bytes).sum()
    }
}
