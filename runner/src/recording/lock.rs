//! The lock of a directory of recordings, held briefly: shared by processes that write texts and the recordings that
//! refer to them, exclusively by those that remove texts.

use std::{
    fs, io,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use fs::TryLockError;

/// Maximum time to wait for another process, which may be suspended.
pub(super) const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

const PAUSE: Duration = Duration::from_millis(5);

/// The mode of the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sharing {
    /// With others that share it.
    Shared,
    /// With no other process.
    Alone,
}

/// Whether the lock is held. Dropping it releases the lock.
#[derive(Debug)]
pub(super) enum Locked {
    /// It is held. The system releases it when the file is closed, even if the process is killed.
    Yes {
        /// The file.
        _file: fs::File,
    },
    /// Another process held it for too long, or the file system does not support locks.
    No,
}

/// Locks a file, and waits for another process if necessary.
pub(super) fn lock(path: &Path, sharing: Sharing, patience: Duration) -> io::Result<Locked> {
    if path.is_symlink() {
        return Ok(Locked::No);
    }
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    let end = Instant::now() + patience;
    loop {
        let tried = match sharing {
            Sharing::Shared => file.try_lock_shared(),
            Sharing::Alone => file.try_lock(),
        };
        match tried {
            Ok(()) => return Ok(Locked::Yes { _file: file }),
            Err(TryLockError::WouldBlock) if Instant::now() < end => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => return Ok(Locked::No),
        }
    }
}
