//! The files that a command names or a task starts from, as they were when it began, and their state afterwards.
//!
//! A recording is identified by the content of the files that its command names. The suite was read before the run
//! began, and earlier tests may have changed these files since; the command itself may write to them, too.

use std::{collections::BTreeSet, fs, path::Path, sync::Arc};

use speclens_schema::{
    files::{Files as _, Inputs as Digests},
    gateway::trigger::definition_of,
    suite::{
        AgentAction, CommandAction, TriggerAction, declared_and_named, few_paths_of, inputs_of, inputs_of_task,
        outputs_of, outsiders_of,
    },
};

use crate::files::DiskFiles;

/// Directories of the system, whose files are not part of a suite.
const SYSTEM: [&str; 12] =
    ["/bin", "/sbin", "/usr", "/lib", "/lib64", "/etc", "/dev", "/proc", "/sys", "/nix", "/opt/homebrew", "/System"];

const MAX_LOOKS: usize = 8;

/// The files that a command names or a task starts from, and those that settings declare, at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Inputs {
    source: InputSource,
    files: Arc<DiskFiles>,
    before: Digests,
}

#[derive(Clone, Debug)]
enum InputSource {
    Command(String),
    Task(Box<AgentAction>),
    Target(String),
}

impl Inputs {
    pub(crate) async fn before(action: &CommandAction, files: &Arc<DiskFiles>) -> Inputs {
        let source = InputSource::Command(action.expanded.clone().unwrap_or_default());
        Inputs::looked_at(source, files, action.inputs.clone()).await
    }

    pub(crate) async fn before_task(action: &AgentAction, files: &Arc<DiskFiles>) -> Inputs {
        let known = declared_and_named(&action.surroundings.scripts, &action.inputs);
        Inputs::looked_at(InputSource::Task(Box::new(action.clone())), files, known).await
    }

    pub(crate) async fn before_trigger(action: &TriggerAction, files: &Arc<DiskFiles>) -> Inputs {
        Inputs::looked_at(InputSource::Target(action.target.clone()), files, action.inputs.clone()).await
    }

    async fn looked_at(source: InputSource, files: &Arc<DiskFiles>, known: Digests) -> Inputs {
        let mut inputs = Inputs { source, files: Arc::clone(files), before: known };
        if inputs.has_none_at_a_glance() {
            inputs.before = Digests::new();
            return inputs;
        }
        let looking = inputs.clone();
        if let Ok(before) = tokio::task::spawn_blocking(move || looking.now()).await {
            inputs.before = before;
        }
        inputs
    }

    /// Whether this is a short command that names no existing file, and settings declare none. A few look-ups cost less
    /// than another thread; reading contents may cost more.
    fn has_none_at_a_glance(&self) -> bool {
        let InputSource::Command(script) = &self.source else { return false };
        let Some(paths) = few_paths_of(script, MAX_LOOKS) else { return false };
        self.files.forget_content();
        !self.files.declares_inputs() && paths.iter().all(|path| self.files.kind(path).is_none())
    }

    pub(crate) fn after(self) -> (Digests, Vec<String>) {
        let (inputs, mut notes) = match &self.source {
            InputSource::Command(script) => self.after_command(script),
            // The task works on a copy.
            InputSource::Task(_) => (self.before.clone(), Vec::new()),
            // The target was started with these contents.
            InputSource::Target(_) => (self.before.clone(), Vec::new()),
        };
        for entry in self.files.declared_beyond_limit() {
            notes.push(format!(
                "`{entry}` under `inputs` has too many files, so changes to some of them do not make recordings stale"
            ));
        }
        (inputs, notes)
    }

    fn after_command(&self, script: &str) -> (Digests, Vec<String>) {
        let now = self.now();
        let outputs = outputs_of(script);
        let mut inputs = self.before.clone();
        let mut notes = Vec::new();
        let paths: BTreeSet<&String> = self.before.keys().chain(now.keys()).collect();
        for path in paths.into_iter().filter(|path| self.before.get(*path) != now.get(*path)) {
            let known = self.before.contains_key(path);
            // Only the command itself creates a file of that name at this time.
            if outputs.contains(path) || !known {
                match now.get(path) {
                    Some(digest) => inputs.insert(path.clone(), digest.clone()),
                    None => inputs.remove(path),
                };
                if known {
                    notes.push(format!(
                        "the command wrote `{path}`, so the recording applies to its content after the run"
                    ));
                }
            } else {
                notes.push(format!(
                    "`{path}` changed while the command ran, so the recording is stale; if the command writes the \
                     file, name it after `-o` or `>`"
                ));
            }
        }
        let outsiders = outsiders_of(script);
        for path in outsiders.iter().filter(|path| !inputs.contains_key(*path) && self.is_foreign(path)) {
            notes.push(format!("`{path}` is outside the workspace, so changes to it do not make the recording stale"));
        }
        (inputs, notes)
    }

    fn now(&self) -> Digests {
        self.files.forget_content();
        let named = match &self.source {
            InputSource::Command(script) => inputs_of(script, self.files.as_ref()),
            InputSource::Task(task) => {
                let mut named = task.surroundings.scripts.clone();
                named.extend(inputs_of_task(task, self.files.as_ref()));
                named.extend(task.scaffold().map(|name| self.files.tree(name)).unwrap_or_default());
                named
            }
            InputSource::Target(target) => definition_of(target, self.files.as_ref()),
        };
        declared_and_named(&self.files.declared(), &named)
    }

    fn is_foreign(&self, path: &str) -> bool {
        let Ok(real) = fs::canonicalize(self.files.root().join(path)) else { return false };
        let is_system = |path: &Path| SYSTEM.iter().any(|system| path.starts_with(system));
        real.is_file() && !is_system(&real) && !is_system(Path::new(path))
    }
}
