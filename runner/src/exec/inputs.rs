//! The files that a command names, as they stood when it began, and what became of them.
//!
//! A recording is found by the content of the files that its command names. The suite was read before the run
//! began, and earlier tests may have changed them since; and a command may write to files that it names.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

use speclens_schema::{dialect::Dialect, suite::CommandAction};

use crate::files::DiskFiles;

/// Programs and devices of the system: they are no part of a suite.
const SYSTEM: [&str; 12] =
    ["/bin", "/sbin", "/usr", "/lib", "/lib64", "/etc", "/dev", "/proc", "/sys", "/nix", "/opt/homebrew", "/System"];

/// Digests by path.
type Digests = BTreeMap<String, String>;

/// What a command names, as it stood at one moment.
#[derive(Clone, Debug)]
pub struct Inputs {
    dialect: Dialect,
    script: String,
    directory: PathBuf,
    before: Digests,
}

impl Inputs {
    /// Looks at the files before the command begins.
    pub async fn before(dialect: Dialect, action: &CommandAction, directory: &Path) -> Inputs {
        let script = action.expanded.clone().unwrap_or_default();
        let mut inputs = Inputs { dialect, script, directory: directory.to_owned(), before: action.inputs.clone() };
        let looking = inputs.clone();
        if let Ok(before) = tokio::task::spawn_blocking(move || looking.now()).await {
            inputs.before = before;
        }
        inputs
    }

    /// The files that the recording is found by, and what its reader should know about them.
    pub fn after(self) -> (Digests, Vec<String>) {
        let now = self.now();
        let outputs = self.dialect.outputs_of(&self.script);
        let mut inputs = self.before.clone();
        let mut notes = Vec::new();
        let paths: BTreeSet<&String> = self.before.keys().chain(now.keys()).collect();
        for path in paths.into_iter().filter(|path| self.before.get(*path) != now.get(*path)) {
            let known = self.before.contains_key(path);
            // Nobody but the command makes a file of that name just now.
            if outputs.contains(path) || !known {
                match now.get(path) {
                    Some(digest) => inputs.insert(path.clone(), digest.clone()),
                    None => inputs.remove(path),
                };
                if known {
                    notes.push(format!(
                        "the command wrote `{path}`: the recording belongs to its content after the run"
                    ));
                }
            } else {
                notes.push(format!(
                    "`{path}` changed while the command ran, so the recording, which is of the file as it was, is \
                     stale; a file that the command writes is better named behind `-o` or `>`"
                ));
            }
        }
        let outsiders = self.dialect.outsiders_of(&self.script);
        for path in outsiders.iter().filter(|path| !inputs.contains_key(*path) && self.is_foreign(path)) {
            notes.push(format!(
                "`{path}` is outside of the workspace: when it changes, the recording does not become stale"
            ));
        }
        (inputs, notes)
    }

    fn now(&self) -> Digests {
        self.dialect.inputs_of(&self.script, &DiskFiles::new(&self.directory, ""))
    }

    /// Whether somebody may edit this file without anybody noticing.
    fn is_foreign(&self, path: &str) -> bool {
        let Ok(real) = fs::canonicalize(self.directory.join(path)) else { return false };
        let is_system = |path: &Path| SYSTEM.iter().any(|system| path.starts_with(system));
        real.is_file() && !is_system(&real) && !is_system(Path::new(path))
    }
}
