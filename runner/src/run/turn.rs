//! Lets one test at a time run in a workspace, across processes: files that targets leave in a shared workspace belong
//! to the running test.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    path::Path,
    time::Duration,
};

use tokio_util::sync::CancellationToken;

use crate::{observe::Cancelled, recording};

/// The lock file, next to the recordings.
const NAME: &str = "running";

/// Pause before trying the lock again.
const PAUSE: Duration = Duration::from_millis(25);

/// The turn of a test. It ends when this is dropped, and when the process dies: the system releases the lock.
#[derive(Debug)]
pub(super) struct Turn {
    _file: Option<File>,
    /// The reason why the workspace is not locked, if it is not.
    pub(super) note: Option<String>,
}

/// Waits until no other test runs in a workspace. `waits` is called if there is one.
pub(super) async fn take(
    directory: &Path,
    cancel: &CancellationToken,
    waits: impl FnOnce(),
) -> Result<Turn, Cancelled> {
    let alone = |error: io::Error| {
        let note = format!("other runs may interfere in this workspace, because it cannot be locked: {error}");
        Turn { _file: None, note: Some(note) }
    };
    let file = match open(directory) {
        Ok(file) => file,
        Err(error) => return Ok(alone(error)),
    };
    let mut waits = Some(waits);
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Turn { _file: Some(file), note: None }),
            Err(TryLockError::Error(error)) => return Ok(alone(error)),
            Err(TryLockError::WouldBlock) => {}
        }
        if let Some(waits) = waits.take() {
            waits();
        }
        cancel.run_until_cancelled(tokio::time::sleep(PAUSE)).await.ok_or(Cancelled)?;
    }
}

fn open(directory: &Path) -> io::Result<File> {
    let path = recording::own_directory(directory)?.join(NAME);
    if path.is_symlink() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, format!("`{}` is a symbolic link", path.display())));
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn second_turn_begins_when_the_first_one_has_ended_and_a_cancelled_wait_ends() {
        let directory = tempfile::tempdir().expect("a directory");
        let cancel = CancellationToken::new();
        let first = take(directory.path(), &cancel, || panic!("no other test runs")).await.expect("the first turn");
        assert_eq!(first.note, None);
        let (waits, waiting) = tokio::sync::oneshot::channel();
        let place = directory.path().to_owned();
        let token = cancel.clone();
        let second =
            tokio::spawn(async move { take(&place, &token, || waits.send(()).unwrap_or_default()).await.is_ok() });
        waiting.await.expect("it says that it waits");
        drop(first);
        assert!(second.await.expect("no panic"));

        let third = take(directory.path(), &cancel, || ()).await.expect("the next turn");
        let (waits, waiting) = tokio::sync::oneshot::channel();
        let (place, token) = (directory.path().to_owned(), cancel.clone());
        let fourth =
            tokio::spawn(async move { take(&place, &token, || waits.send(()).unwrap_or_default()).await.is_err() });
        waiting.await.expect("it says that it waits");
        cancel.cancel();
        assert!(fourth.await.expect("no panic"));
        drop(third);
    }

    #[tokio::test]
    async fn workspace_that_cannot_be_locked_is_run_in_and_that_is_noted() {
        let directory = tempfile::tempdir().expect("a directory");
        std::fs::write(directory.path().join(recording::DIRECTORY), "a file").expect("written");
        let turn = take(directory.path(), &CancellationToken::new(), || ()).await.expect("a turn");
        assert!(turn.note.expect("a note").contains("cannot be locked"));
    }
}
