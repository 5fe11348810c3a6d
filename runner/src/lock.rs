//! Files by which processes take turns. The system releases a lock when its process dies.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    path::Path,
    time::Duration,
};

use tokio_util::sync::CancellationToken;

/// Pause before trying a lock again.
const PAUSE: Duration = Duration::from_millis(25);

/// Opens a file that only its owner can read, and creates it if necessary.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    if path.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{}` is a symbolic link", path.display())));
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Waits until no other process holds the lock of a file; `None` if the run was cancelled before. `waits` is called
/// once if another one does. The error says that the file system has no locks.
pub(crate) async fn hold(file: &File, cancel: &CancellationToken, waits: impl FnOnce()) -> Option<io::Result<()>> {
    let mut waits = Some(waits);
    loop {
        match file.try_lock() {
            Ok(()) => return Some(Ok(())),
            Err(TryLockError::Error(error)) => return Some(Err(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        if let Some(waits) = waits.take() {
            waits();
        }
        cancel.run_until_cancelled(tokio::time::sleep(PAUSE)).await?;
    }
}
