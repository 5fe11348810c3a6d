//! The working directory of a task: a new one, or the `workdir` of the suite, which no one else uses at the same time.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use speclens_schema::{
    check::text::hexadecimal,
    evidence::{RunError, RunErrorKind},
};
use tokio_util::sync::CancellationToken;

use crate::{exec::temporary::Temporary, lock};

const MAX_NAMES: usize = 5;

/// The directory of a task. Dropping it removes a temporary one, and unlocks a shared one for the next attempt.
#[derive(Debug)]
pub(super) struct TaskDirectory {
    /// The absolute path, with symbolic links resolved.
    pub(super) directory: PathBuf,
    pub(super) notes: Vec<String>,
    _temporary: Option<Temporary>,
    _lock: Option<fs::File>,
}

impl TaskDirectory {
    pub(super) async fn temporary(keep: bool) -> Result<TaskDirectory, RunError> {
        let make = move || {
            let own = if keep { None } else { Some(Temporary::make()?) };
            let path = own.as_ref().map_or_else(Temporary::make_kept, |own| Ok(own.path().to_owned()))?;
            // Commands see the resolved path, as `pwd` prints it.
            Ok((path.canonicalize()?, own))
        };
        let made = tokio::task::spawn_blocking(make).await.map_err(io::Error::other).and_then(|made| made);
        let (directory, own) = made.map_err(|error: io::Error| {
            let parent = env::temp_dir();
            let help = "set TMPDIR to another directory";
            workspace(format!("cannot create a directory for the task in {}: {error}; {help}", parent.display()))
        })?;
        let note = keep.then(|| format!("the directory of the task was kept: {}", directory.display()));
        Ok(TaskDirectory { directory, notes: note.into_iter().collect(), _temporary: own, _lock: None })
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
        let waits = || notify(format!("waiting for another test to finish in {}", directory.display()));
        let locked = match lock_file(&directory) {
            Ok(file) => lock::hold(&file, cancel, waits).await.ok_or_else(cancelled)?.map(|()| file),
            Err(error) => Err(error),
        };
        let mut notes = Vec::new();
        let lock = locked.inspect_err(|error| {
            let why = format!("because it cannot be locked: {error}");
            notes.push(format!("another run may use the `workdir` at the same time, {why}"));
        });
        // The previous holder may have removed it.
        fs::create_dir_all(&directory).map_err(wrong)?;
        let lock = lock.ok();
        notes.extend(content_note(&directory));
        Ok(TaskDirectory { directory, notes, _temporary: None, _lock: lock })
    }
}

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

/// Opens the file by which tests share a directory. It is outside the directory, so tasks do not find it, and it is
/// never removed: a lock file that is removed can be locked by two.
fn lock_file(directory: &Path) -> io::Result<fs::File> {
    let home = || env::var_os("HOME").filter(|home| !home.is_empty()).map(|home| Path::new(&home).join(".local/state"));
    let state = env::var_os("XDG_STATE_HOME").filter(|state| !state.is_empty()).map(PathBuf::from).or_else(home);
    let parent = state.ok_or_else(|| io::Error::other("neither XDG_STATE_HOME nor HOME is set"))?;
    let parent = parent.join("speclens").join("workdirs");
    fs::create_dir_all(&parent)?;
    let digest = Sha256::digest(directory.as_os_str().as_encoded_bytes());
    lock::open(&parent.join(hexadecimal(&digest[..16])))
}

fn workspace(message: String) -> RunError {
    RunError::new(RunErrorKind::Workspace, message)
}

fn cancelled() -> RunError {
    RunError::new(RunErrorKind::Cancelled, "cancelled while another test was using the `workdir`")
}
