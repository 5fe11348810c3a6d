//! Digests of files, cached until the size or the modification time of the file changes.

use std::{
    collections::HashMap,
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use sha2::{Digest as _, Sha256};
use speclens_schema::files::short;

/// Maximum size in bytes of a file whose content counts. A larger one is identified by its size and modification time.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Resolution of file times, with a margin: a file that changed within this time before it was read may have changed
/// again unnoticed.
const SETTLED: Duration = Duration::from_secs(2);

/// The digests of files that were read.
#[derive(Debug, Default)]
pub(super) struct Digests {
    known: Mutex<HashMap<PathBuf, CachedDigest>>,
}

#[derive(Debug)]
struct CachedDigest {
    size: u64,
    changed: SystemTime,
    digest: String,
}

impl Digests {
    /// Returns the digest of one file, without a limit on the total size.
    pub(super) fn of_one(&self, path: &Path) -> Option<String> {
        self.of(path, &mut { u64::MAX })
    }

    /// Returns the digest of a regular file at a path without symbolic links; `None` if there is none, or it cannot be
    /// read. A file larger than `left` bytes is identified as too large.
    pub(super) fn of(&self, path: &Path, left: &mut u64) -> Option<String> {
        let now = SystemTime::now();
        let metadata = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let (size, changed) = (metadata.len(), metadata.modified().ok()?);
        let rest = left.checked_sub(size).filter(|_| size <= MAX_BYTES);
        let Some(rest) = rest else {
            let since = changed.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            return Some(short(&Sha256::digest(format!("{size} {}", since.as_nanos()))));
        };
        *left = rest;
        let known = |known: &&CachedDigest| known.size == size && known.changed == changed;
        let digest = self.known().get(path).filter(known).map(|known| known.digest.clone());
        if digest.is_some() {
            return digest;
        }
        let mut hash = Sha256::new();
        // A file that grows meanwhile is read up to its first size.
        io::copy(&mut super::open_regular(path).ok()?.take(size), &mut hash).ok()?;
        let digest = short(&hash.finalize());
        if now.duration_since(changed).is_ok_and(|age| age > SETTLED) {
            self.known().insert(path.to_owned(), CachedDigest { size, changed, digest: digest.clone() });
        }
        Some(digest)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<PathBuf, CachedDigest>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
