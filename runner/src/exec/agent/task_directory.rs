//! The working directory of a task: a new one, or the `workdir` of the suite, which no one else uses at the same time.

use std::{
    collections::HashMap,
    env, fs, io,
    path::{Path, PathBuf},
    sync::{Arc, LazyLock, Mutex, PoisonError},
    time::Duration,
};

use sha2::{Digest, Sha256};
use speclens_schema::{
    check::text::hexadecimal,
    evidence::{RunError, RunErrorKind},
};
use tokio_util::sync::CancellationToken;

use crate::exec::temporary::Temporary;

/// Pause between two attempts to lock the directory.
const PAUSE: Duration = Duration::from_millis(100);

/// Maximum number of entries that the note on a non-empty `workdir` names.
const MAX_NAMES: usize = 5;

/// The directory of a task. Dropping it removes a temporary one, and unlocks a shared one for the next attempt.
#[derive(Debug)]
pub(super) struct TaskDirectory {
    /// The absolute path, with symbolic links resolved.
    pub(super) directory: PathBuf,
    pub(super) notes: Vec<String>,
    _claim: Claim,
}

/// The attempt's exclusive claim to a directory.
#[derive(Debug)]
enum Claim {
    /// A new directory, removed at the end unless it is kept.
    Temporary { _directory: Option<Temporary> },
    /// A shared directory, locked until this is dropped.
    Held { _process: tokio::sync::OwnedMutexGuard<()>, _file: Option<fs::File> },
}

impl TaskDirectory {
    /// Creates a new directory, which is not removed if `keep` is set.
    pub(super) async fn temporary(keep: bool) -> Result<TaskDirectory, RunError> {
        let wrong = |error: io::Error| {
            let parent = env::temp_dir();
            workspace(format!(
                "cannot create a directory for the task in {}: {error}; set TMPDIR to another directory",
                parent.display()
            ))
        };
        let make = move || {
            let (path, own) = if keep {
                (Temporary::make_kept()?, None)
            } else {
                let own = Temporary::make()?;
                (own.path().to_owned(), Some(own))
            };
            // Commands see the resolved path, as `pwd` prints it.
            Ok((path.canonicalize()?, own))
        };
        let made = tokio::task::spawn_blocking(make).await.map_err(io::Error::other).and_then(|made| made);
        let (directory, own) = made.map_err(wrong)?;
        let notes = if keep {
            vec![format!("the directory of the task was kept: {}", directory.display())]
        } else {
            Vec::new()
        };
        Ok(TaskDirectory { directory, notes, _claim: Claim::Temporary { _directory: own } })
    }

    /// Locks the `workdir` of a suite, relative to the directory of the suite, and creates it if it does not exist.
    /// Waits until no one else works in it, and reports the wait through `notify`.
    pub(super) async fn shared(
        workdir: &str,
        suite: &Path,
        cancel: &CancellationToken,
        notify: impl Fn(String),
    ) -> Result<TaskDirectory, RunError> {
        let named = suite.join(workdir);
        let wrong = |error: io::Error| workspace(format!("cannot use the `workdir` {}: {error}", named.display()));
        fs::create_dir_all(&named).map_err(wrong)?;
        let directory = named.canonicalize().map_err(wrong)?;
        let waiting = || notify(format!("waiting for another test to finish in {}", directory.display()));
        let mutex = mutex_of(&directory);
        // Only once, even if a command that is about to start still holds the lock of the attempt that has just ended.
        let mut is_announced = false;
        let process = match Arc::clone(&mutex).try_lock_owned() {
            Ok(guard) => guard,
            Err(_) => {
                waiting();
                is_announced = true;
                cancel.run_until_cancelled(mutex.lock_owned()).await.ok_or_else(cancelled)?
            }
        };
        let mut notes = Vec::new();
        let file = match lock_file(&directory) {
            Ok(file) => Some(file),
            Err(error) => {
                notes.push(format!(
                    "another run may use the `workdir` at the same time, because it cannot be locked: {error}"
                ));
                None
            }
        };
        while let Some(Err(error)) = file.as_ref().map(fs::File::try_lock) {
            match error {
                // The file system does not support locks.
                fs::TryLockError::Error(_) => break,
                fs::TryLockError::WouldBlock if !is_announced => {
                    waiting();
                    is_announced = true;
                }
                fs::TryLockError::WouldBlock => {}
            }
            cancel.run_until_cancelled(tokio::time::sleep(PAUSE)).await.ok_or_else(cancelled)?;
        }
        // The previous holder may have removed it.
        fs::create_dir_all(&directory).map_err(wrong)?;
        notes.extend(content_note(&directory));
        Ok(TaskDirectory { directory, notes, _claim: Claim::Held { _process: process, _file: file } })
    }
}

/// Returns a note if a directory is not empty.
fn content_note(directory: &Path) -> Option<String> {
    let mut names: Vec<String> = fs::read_dir(directory)
        .ok()?
        .filter_map(|entry| Some(format!("`{}`", entry.ok()?.file_name().to_string_lossy())))
        .collect();
    names.sort();
    let more = names.len().saturating_sub(MAX_NAMES);
    names.truncate(MAX_NAMES);
    let names = names.join(", ");
    match (names.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(format!("the `workdir` was not empty when the test began: it contained {names}")),
        (false, more) => {
            Some(format!("the `workdir` was not empty when the test began: it contained {names} and {more} more"))
        }
    }
}

/// Returns the mutex by which the attempts of this process share a directory.
fn mutex_of(directory: &Path) -> Arc<tokio::sync::Mutex<()>> {
    type Mutexes = HashMap<PathBuf, Arc<tokio::sync::Mutex<()>>>;
    static MUTEXES: LazyLock<Mutex<Mutexes>> = LazyLock::new(Mutex::default);
    let mut mutexes = MUTEXES.lock().unwrap_or_else(PoisonError::into_inner);
    Arc::clone(mutexes.entry(directory.to_owned()).or_default())
}

/// Returns the lock file by which processes share a directory. It is outside the directory, so tasks do not find it,
/// and it is never removed: a lock file that is removed can be locked by two.
fn lock_file(directory: &Path) -> io::Result<fs::File> {
    let home = || env::var_os("HOME").filter(|home| !home.is_empty()).map(|home| Path::new(&home).join(".local/state"));
    let state = env::var_os("XDG_STATE_HOME").filter(|state| !state.is_empty()).map(PathBuf::from).or_else(home);
    let parent = state.ok_or_else(|| io::Error::other("neither XDG_STATE_HOME nor HOME is set"))?;
    let parent = parent.join("speclens").join("workdirs");
    fs::create_dir_all(&parent)?;
    let digest = Sha256::digest(directory.as_os_str().as_encoded_bytes());
    let name = hexadecimal(&digest[..16]);
    let mut options = fs::OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(parent.join(name))
}

fn workspace(message: String) -> RunError {
    RunError::new(RunErrorKind::Workspace, message)
}

fn cancelled() -> RunError {
    RunError::new(RunErrorKind::Cancelled, "cancelled while another test was using the `workdir`")
}
