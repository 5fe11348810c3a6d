//! Files of replaced recordings, which are reused for the next ones: creating and removing a
//! file for each of a thousand short tests would cost more than running them.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::store::draft_beside;

/// Maximum number of spare files: about as many as are written at once.
const MAX_SPARE_FILES: usize = 8;

/// Maximum size of a spare file; larger ones are removed to free the space.
const MAX_SPARE_BYTES: u64 = 256 * 1024;

/// The spare files of one directory. Dropping it removes them; those of dead processes are swept.
#[derive(Debug, Default)]
pub(super) struct FilePool(Mutex<Vec<ReusableFile>>);

/// A file without the name of a recording.
#[derive(Debug)]
pub(super) struct ReusableFile {
    pub(super) path: PathBuf,
}

impl FilePool {
    fn files(&self) -> MutexGuard<'_, Vec<ReusableFile>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a file to write to.
    pub(super) fn take(&self) -> Option<ReusableFile> {
        self.files().pop()
    }

    /// Renames the file of a recording to keep it as a spare; `false` if it has to be removed.
    pub(super) fn keep(&self, path: &Path) -> bool {
        // On systems where other names of a file cannot be detected, files are not reused.
        if !cfg!(unix) || self.files().len() >= MAX_SPARE_FILES {
            return false;
        }
        let spare = ReusableFile { path: draft_beside(path) };
        let is_kept = fs::rename(path, &spare.path).is_ok();
        if is_kept {
            self.files().push(spare);
        }
        is_kept
    }
}

impl Drop for FilePool {
    fn drop(&mut self) {
        for spare in self.files().drain(..) {
            let _ = fs::remove_file(spare.path);
        }
    }
}

impl ReusableFile {
    /// Writes to the file and renames it. A reader sees all of it or nothing.
    #[cfg(unix)]
    pub(super) fn become_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        use std::{
            io::Write,
            os::unix::fs::{MetadataExt, OpenOptionsExt},
        };

        let no_follow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let mut file = fs::OpenOptions::new().write(true).custom_flags(no_follow).open(&self.path)?;
        let metadata = file.metadata()?;
        // Another user or tool may have linked to the recording in order to keep it.
        let is_ours_alone = metadata.is_file() && metadata.nlink() == 1 && metadata.mode() & 0o777 == 0o600;
        if !is_ours_alone || metadata.len() > MAX_SPARE_BYTES {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        file.write_all(bytes)?;
        if (bytes.len() as u64) < metadata.len() {
            file.set_len(bytes.len() as u64)?;
        }
        fs::rename(&self.path, path)
    }

    #[cfg(not(unix))]
    pub(super) fn become_file(&self, _path: &Path, _bytes: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
