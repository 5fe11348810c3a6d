//! Directories that last as long as an attempt.
//!
//! A program that is killed cannot remove its own, so the next one does: the name of a directory has the id of the
//! process that created it, and the directory is locked for the lifetime of that process, in whatever container the id
//! is valid.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    sync::Once,
};

/// Prefix of the names; the process id follows.
const PREFIX: &str = "speclens-";

const KEPT: &str = "speclens-kept-";

/// A directory that is removed when this is dropped, whatever the modes of its content.
#[derive(Debug)]
pub(super) struct Temporary {
    path: PathBuf,
    _lock: Option<fs::File>,
}

impl Temporary {
    /// Creates a directory that only its owner may read. The first call also removes the directories of dead processes.
    pub(super) fn make() -> io::Result<Temporary> {
        static SWEPT: Once = Once::new();
        SWEPT.call_once(|| sweep(&env::temp_dir()));
        let prefix = format!("{PREFIX}{}-", std::process::id());
        let path = tempfile::Builder::new().prefix(&prefix).tempdir()?.keep();
        let lock = fs::File::open(&path).ok().filter(|file| file.try_lock().is_ok());
        Ok(Temporary { path, _lock: lock })
    }

    pub(super) fn make_kept() -> io::Result<PathBuf> {
        Ok(tempfile::Builder::new().prefix(KEPT).tempdir()?.keep())
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !remove(&self.path) {
            tracing::warn!(directory = %self.path.display(), "a temporary directory could not be removed");
        }
    }
}

fn sweep(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.to_str().and_then(maker).is_some_and(|maker| !is_alive(maker)) && is_own(&entry.path()) {
            // A lock that is still held belongs to a process of another container.
            let lock = fs::File::open(entry.path()).and_then(|file| {
                file.try_lock()?;
                Ok(file)
            });
            if lock.is_ok() {
                remove(&entry.path());
            }
        }
    }
}

fn maker(name: &str) -> Option<i32> {
    name.strip_prefix(PREFIX)?.split_once('-')?.0.parse().ok()
}

fn remove(directory: &Path) -> bool {
    // A process that was killed a moment ago may have written something during the first pass.
    for _ in 0..3 {
        match fs::remove_dir_all(directory) {
            Ok(()) => return true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return true,
            Err(_) => open_up(directory),
        }
    }
    false
}

/// Makes every directory below one writable: the content of a read-only one cannot be removed.
fn open_up(directory: &Path) {
    let Ok(metadata) = fs::symlink_metadata(directory) else { return };
    if !metadata.is_dir() {
        return;
    }
    #[cfg(unix)]
    let _ = fs::set_permissions(directory, std::os::unix::fs::PermissionsExt::from_mode(0o700));
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        open_up(&entry.path());
    }
}

#[cfg(unix)]
fn is_own(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    let own = rustix::process::geteuid().as_raw();
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == own)
}

#[cfg(not(unix))]
fn is_own(_: &Path) -> bool {
    false
}

#[cfg(unix)]
pub(crate) fn is_alive(process: i32) -> bool {
    use rustix::process::{Pid, test_kill_process};

    let Some(process) = Pid::from_raw(process) else { return false };
    test_kill_process(process) != Err(rustix::io::Errno::SRCH)
}

#[cfg(not(unix))]
pub(crate) fn is_alive(_: i32) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {

    use super::*;

    #[test]
    fn directories_of_dead_processes_are_removed_and_no_others() {
        let parent = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let dead = child.id();
        child.wait().unwrap();
        let own = std::process::id();
        let make = |name: String| {
            let path = parent.path().join(name);
            fs::create_dir_all(path.join("sub")).unwrap();
            fs::set_permissions(path.join("sub"), std::os::unix::fs::PermissionsExt::from_mode(0o500)).unwrap();
            path
        };
        let (left, locked) = (make(format!("{PREFIX}{dead}-a")), make(format!("{PREFIX}{dead}-b")));
        let others =
            [format!("{PREFIX}{own}-a"), format!("{KEPT}a"), format!("{PREFIX}{dead}"), format!("other-{dead}-a")];
        let others = others.map(make);
        let elsewhere = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(elsewhere.path(), parent.path().join(format!("{PREFIX}{dead}-c"))).unwrap();
        let lock = fs::File::open(&locked).unwrap();
        lock.try_lock().unwrap();
        sweep(parent.path());
        assert!(!left.exists() && locked.exists() && elsewhere.path().exists());
        assert!(others.iter().all(|path| path.exists()), "{others:?}");
    }
}
