//! Identifies the machine of a recording.

use std::{
    fs,
    hash::{BuildHasher, RandomState},
    path::Path,
    process,
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use crate::write::{self, Readers};

const FILE: &str = "machine";

/// Number of digits of an identity.
const DIGITS: usize = 32;

/// The identity of a machine and a user: a random number in the user's own state directory, which reveals nothing about
/// either.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine(Arc<str>);

impl Machine {
    /// Returns the identity in a directory, which is created if necessary; `None` if that is not
    /// possible.
    pub fn of(directory: &Path) -> Option<Machine> {
        let path = directory.join(FILE);
        let read = || fs::read_to_string(&path).ok().and_then(|text| Machine::parse(text.trim_end()));
        read().or_else(|| {
            // If this fails, another process may have been first.
            let _ = fs::create_dir_all(directory).and_then(|()| write::create(&path, random(), Readers::Owner));
            read()
        })
    }

    fn parse(text: &str) -> Option<Machine> {
        let is_one = text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_one.then(|| Machine(text.into()))
    }
}

fn random() -> String {
    // Each has keys from the random source of the system.
    let number = || RandomState::new().hash_one(process::id());
    format!("{:016x}{:016x}", number(), number())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identity_is_made_once_and_only_its_owner_reads_it() {
        let home = tempfile::tempdir().unwrap();
        let state = home.path().join("state/speclens");
        let threads = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| Machine::of(&state).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(threads.iter().all(|machine| *machine == threads[0]));
        assert_ne!(Machine::of(&home.path().join("other")), Some(threads[0].clone()));
        assert_eq!(fs::read_dir(&state).unwrap().count(), 1, "no draft stays");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(state.join(FILE)).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn directory_that_can_hold_no_identity_gives_none() {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("file"), "").unwrap();
        assert_eq!(Machine::of(&home.path().join("file/state")), None);
        fs::write(home.path().join(FILE), "not an identity").unwrap();
        assert_eq!(Machine::of(home.path()), None);
    }
}
