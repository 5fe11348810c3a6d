//! Files of recordings that newer ones have replaced. The next recordings are written into them: creating and removing a
//! file for each of a thousand short tests would cost more than running them.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::store::draft_beside;

/// About as many as are written at once.
const MOST: usize = 8;

/// A larger file goes, so that it does not hold the space.
const LARGEST_BYTES: u64 = 256 * 1024;

/// The spare files of one directory. They go when this is dropped; those of a process that died are swept.
#[derive(Debug, Default)]
pub(super) struct Spares(Mutex<Vec<Spare>>);

/// A file that no name of a recording leads to any more.
#[derive(Debug)]
pub(super) struct Spare {
    pub(super) path: PathBuf,
}

impl Spares {
    fn files(&self) -> MutexGuard<'_, Vec<Spare>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a file to write into.
    pub(super) fn take(&self) -> Option<Spare> {
        self.files().pop()
    }

    /// Takes its name from a recording and keeps the file; `false` where it has to be removed.
    pub(super) fn keep(&self, path: &Path) -> bool {
        // Where another file system does not know whether a file has other names, it is not written into.
        if !cfg!(unix) || self.files().len() >= MOST {
            return false;
        }
        let spare = Spare { path: draft_beside(path) };
        let is_kept = fs::rename(path, &spare.path).is_ok();
        if is_kept {
            self.files().push(spare);
        }
        is_kept
    }
}

impl Drop for Spares {
    fn drop(&mut self) {
        for spare in self.files().drain(..) {
            let _ = fs::remove_file(spare.path);
        }
    }
}

impl Spare {
    /// Writes into the file, and gives it a name. A reader sees all of it or nothing.
    #[cfg(unix)]
    pub(super) fn become_file(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        use std::{
            io::Write,
            os::unix::fs::{MetadataExt, OpenOptionsExt},
        };

        let no_follow = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let mut file = fs::OpenOptions::new().write(true).custom_flags(no_follow).open(&self.path)?;
        let metadata = file.metadata()?;
        // Somebody may have made a link to the recording in order to keep it.
        let is_ours_alone = metadata.is_file() && metadata.nlink() == 1 && metadata.mode() & 0o777 == 0o600;
        if !is_ours_alone || metadata.len() > LARGEST_BYTES {
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
