//! Finds shells in `PATH`. Otherwise the system would try every directory of the list again for each command.

use std::{
    collections::HashMap,
    ffi::{OsStr, OsString},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, OnceLock, PoisonError},
};

use rustix::fs::{Access, access};

/// Maximum number of programs that are cached: each task may have its own `PATH`.
const MAX_FOUND: usize = 64;

/// The programs found so far, by name and list.
static FOUND: OnceLock<Mutex<HashMap<(String, OsString), PathBuf>>> = OnceLock::new();

/// Returns the path of a program. If the list does not have it, returns its name, and the system reports the error.
pub(super) fn program(name: &str, list: Option<OsString>) -> PathBuf {
    let Some(list) = list.filter(|_| !name.contains('/')) else { return name.into() };
    let wanted = (name.to_owned(), list);
    if let Some(known) = found().get(&wanted) {
        return known.clone();
    }
    match search(name, &wanted.1) {
        Some(path) => {
            let mut found = found();
            if found.len() >= MAX_FOUND {
                found.clear();
            }
            found.insert(wanted, path.clone());
            path
        }
        None => name.into(),
    }
}

/// Forgets all programs: one of them no longer exists.
pub(super) fn forget() {
    found().clear();
}

fn found() -> MutexGuard<'static, HashMap<(String, OsString), PathBuf>> {
    FOUND.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the first program of a name. A relative directory depends on where the command runs, so the search ends
/// there.
fn search(name: &str, list: &OsStr) -> Option<PathBuf> {
    list.as_bytes()
        .split(|byte| *byte == b':')
        .map(|directory| Path::new(OsStr::from_bytes(directory)))
        .take_while(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|program| program.is_file() && access(program, Access::EXEC_OK).is_ok())
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::PermissionsExt};

    use super::*;

    #[test]
    fn first_executable_of_the_list_is_found() {
        let (first, second, third) =
            (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        fs::write(first.path().join("tool"), "").unwrap();
        for directory in [&second, &third] {
            fs::write(directory.path().join("tool"), "").unwrap();
            fs::set_permissions(directory.path().join("tool"), fs::Permissions::from_mode(0o700)).unwrap();
        }
        let list = |entries: &[&Path]| Some(std::env::join_paths(entries).unwrap());
        let all = list(&[Path::new("/nowhere"), first.path(), second.path(), third.path()]);
        assert_eq!(program("tool", all.clone()), second.path().join("tool"));
        assert_eq!(program("tool", list(&[third.path(), second.path()])), third.path().join("tool"));
        // Names that depend on the directory of the command, and names that are not found, are left to the system.
        let relative = list(&[Path::new("."), second.path()]);
        for (name, list) in [("tool", relative), ("tool", None), ("other", all.clone()), ("./tool", all.clone())] {
            assert_eq!(program(name, list), Path::new(name));
        }
        fs::remove_file(second.path().join("tool")).unwrap();
        forget();
        assert_eq!(program("tool", all), third.path().join("tool"));
    }
}
