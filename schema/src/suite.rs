//! What every dialect lowers to: cases that act, and claims about what the act left behind. The runner
//! and the editor see only this.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write,
    sync::Arc,
};

use sha2::{Digest, Sha256};

use crate::{
    dialect::{Dialect, Gates, cli_bench::config::HelpMode},
    document::{Document, Pointer},
    verdict::Check,
};

/// A suite, lowered. Lowering is total: a suite with mistakes still has every case that can be made out.
#[derive(Clone, Debug)]
pub struct Suite {
    /// The format it is written in.
    pub dialect: Dialect,
    /// The name that the author gave it.
    pub name: Option<String>,
    /// The tests, in the order of the file.
    pub cases: Vec<Arc<Case>>,
    /// The conditions on the whole run.
    pub gates: Gates,
    /// How many attempts may be under way at once.
    pub concurrency: usize,
}

/// One test.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name, unique in the suite when the suite has no mistakes.
    pub name: String,
    /// The node of the test.
    pub at: Pointer,
    /// The file that it stands in, where that is not the suite's own: pointers and ranges are those of that
    /// file then.
    pub file: Option<Arc<CaseFile>>,
    /// Labels to select it by.
    pub tags: Vec<String>,
    /// Whether the author switched it off.
    pub skip: bool,
    /// How often it is attempted.
    pub repeat: u32,
    /// What it does.
    pub action: Action,
    /// What is claimed about each attempt.
    pub claims: Vec<Claim>,
    /// Whether the case, and all that it refers to, could be read without an error. The editor runs
    /// only such cases.
    pub intact: bool,
}

/// Another file that holds cases of a suite.
#[derive(Clone, Debug)]
pub struct CaseFile {
    /// Its path, relative to the suite's directory.
    pub path: String,
    /// Its text and tree.
    pub document: Document,
}

/// Something that the author claims.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The node of the claim.
    pub at: Pointer,
    /// When it is judged, for dialects that have phases: `given`, `then`.
    pub phase: Option<&'static str>,
    /// The claim itself.
    pub check: Arc<dyn Check>,
}

/// What a test does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Runs a shell command.
    Command(CommandAction),
    /// Asks a model.
    Prompt(PromptAction),
    /// Lets an agent work on a task.
    Agent(Box<AgentAction>),
    /// Calls a skill or an agent that runs elsewhere.
    Trigger(TriggerAction),
    /// Nothing that can be made out: the test has a mistake where its action should stand.
    None,
}

/// A shell command.
#[derive(Clone, Debug, PartialEq)]
pub struct CommandAction {
    /// The node that holds the command.
    pub at: Pointer,
    /// The command as written.
    pub template: String,
    /// What its placeholders stand for.
    pub variables: BTreeMap<String, String>,
    /// The command with its placeholders filled, or the names that have no value.
    pub expanded: Result<String, Vec<String>>,
    /// Files of the suite that the command names, with a digest of their content: when one changes,
    /// what was recorded is stale.
    pub inputs: BTreeMap<String, String>,
    /// The deadline.
    pub timeout_ms: u64,
}

/// A question for a model. This version does not ask it; it is here so that such a test is listed,
/// and reported as unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptAction {
    /// The node that names the prompt.
    pub at: Pointer,
    /// The name of the prompt.
    pub prompt: String,
    /// The ids of the models that are asked.
    pub models: Vec<String>,
}

/// A task for an agent that may run shell commands. This version does not perform it; it is here so that such a test
/// is listed, and reported as unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentAction {
    /// The node that says what to do.
    pub at: Pointer,
    /// What the agent is to achieve.
    pub intent: String,
    /// How often the model may answer.
    pub max_turns: u32,
    /// The task's own environment variables; they win over those of the suite.
    pub env: BTreeMap<String, String>,
    /// Shell commands that run before the agent, after those of the suite.
    pub setup: Vec<String>,
    /// Shell commands that run when everything has been judged.
    pub teardown: Vec<String>,
    /// The directory whose content the agent finds, in place of the suite's.
    pub scaffold: Option<String>,
    /// The deadline of the whole task.
    pub timeout_ms: Option<u64>,
    /// What all tasks of the suite share.
    pub surroundings: Arc<AgentSurroundings>,
}

/// What all agent tasks of a suite share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AgentSurroundings {
    /// The program that the tasks are about.
    pub cli: String,
    /// The shell command that prints its version.
    pub version_command: Option<String>,
    /// The ids of the models that act, each on its own.
    pub models: Vec<String>,
    /// How a model learns about the program; every task runs once in each mode.
    pub help_modes: Vec<HelpMode>,
    /// What is added to the agent's instructions.
    pub system_prompt: Option<String>,
    /// Environment variables of every task.
    pub env: BTreeMap<String, String>,
    /// Shell commands that run before every task.
    pub setup: Vec<String>,
    /// The directory whose content every task begins with.
    pub scaffold: Option<String>,
    /// The directory that all tasks work in; a fresh one for each run when absent.
    pub workdir: Option<String>,
    /// Names of environment variables whose values are masked.
    pub redact_env: Vec<String>,
    /// Regular expressions; what they match is masked.
    pub redact_patterns: Vec<String>,
}

impl AgentAction {
    /// The environment variables, those of the task over those of the suite.
    pub fn environment(&self) -> BTreeMap<&str, &str> {
        let all = self.surroundings.env.iter().chain(&self.env);
        all.map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// The directory whose content the agent finds.
    pub fn scaffold(&self) -> Option<&str> {
        self.scaffold.as_deref().or(self.surroundings.scaffold.as_deref())
    }

    /// Who acts: each model, with its help mode where there are several.
    pub fn subjects(&self) -> Vec<String> {
        let AgentSurroundings { models, help_modes, .. } = &*self.surroundings;
        match help_modes.as_slice() {
            [] | [_] => models.clone(),
            modes => models
                .iter()
                .flat_map(|model| modes.iter().map(move |mode| format!("{model} ({})", mode.as_str())))
                .collect(),
        }
    }

    /// The model of a subject.
    pub fn model_of(subject: &str) -> &str {
        let without = |mode: &str| subject.strip_suffix(')')?.strip_suffix(mode)?.strip_suffix(" (");
        HelpMode::ALL.iter().find_map(|mode| without(mode.as_str())).unwrap_or(subject)
    }
}

/// A call of a skill or an agent that runs elsewhere. This version does not perform it; it is here so that such a test
/// is listed, and reported as unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct TriggerAction {
    /// The node that says what to send.
    pub at: Pointer,
    /// What is started.
    pub kind: TriggerKind,
    /// The directory of the target, relative to the root of the workspace.
    pub target: String,
    /// The slash command of a skill; the id of an agent, or a text that holds it.
    pub trigger: String,
    /// What is sent, its templates not filled; nothing for a pipeline, and where nothing is to be done.
    pub invoke: Option<String>,
    /// The data that goes along, its templates not filled.
    pub params: Option<serde_json::Map<String, serde_json::Value>>,
}

/// What is started from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriggerKind {
    /// A skill, by a call to the gateway.
    Skill,
    /// An agent, by its own program.
    Agent,
    /// A skill that runs a pipeline of stages.
    Pipeline,
    /// Nothing: a handoff is judged by what another act left behind.
    Nothing,
}

impl CommandAction {
    /// What a recording of this action is found by: what is done, with which values and which files. The same text for
    /// the same act, wherever it stands and whatever is claimed about it.
    pub fn key(&self, dialect: Dialect) -> String {
        self.key_with(dialect, &self.inputs)
    }

    /// The same, with other files than those that were there when the suite was read.
    pub fn key_with(&self, dialect: Dialect, inputs: &BTreeMap<String, String>) -> String {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update(text.len().to_le_bytes());
            hash.update(text);
        };
        add(dialect.as_str());
        add("command");
        add(&self.template);
        let used: BTreeSet<&str> = dialect.placeholders(&self.template).into_iter().collect();
        for (name, value) in self.variables.iter().filter(|(name, _)| used.contains(name.as_str())) {
            add("variable");
            add(name);
            add(value);
        }
        for (path, digest) in inputs {
            add("input");
            add(path);
            add(digest);
        }
        hash.finalize().iter().take(16).fold(String::with_capacity(32), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

impl Case {
    /// The same case at another place, as when a test is inserted above it.
    pub fn moved(&self, to: Pointer) -> Case {
        if self.file.is_some() {
            return self.clone();
        }
        let place = |at: &Pointer| at.below(&self.at).map_or_else(|| at.clone(), |rest| to.join(&rest));
        let mut case = self.clone();
        for claim in &mut case.claims {
            claim.at = place(&claim.at);
        }
        match &mut case.action {
            Action::Command(command) => command.at = place(&command.at),
            Action::Prompt(prompt) => prompt.at = place(&prompt.at),
            Action::Agent(agent) => agent.at = place(&agent.at),
            Action::Trigger(trigger) => trigger.at = place(&trigger.at),
            Action::None => {}
        }
        case.at = to;
        case
    }
}

impl Action {
    /// The node where the author wrote what to do.
    pub fn at(&self) -> Option<&Pointer> {
        match self {
            Action::Command(command) => Some(&command.at),
            Action::Prompt(prompt) => Some(&prompt.at),
            Action::Agent(agent) => Some(&agent.at),
            Action::Trigger(trigger) => Some(&trigger.at),
            Action::None => None,
        }
    }

    /// Who acts, as reports name it: the models, `command`, or `gateway`.
    pub fn subjects(&self) -> Vec<String> {
        match self {
            Action::Command(_) => vec!["command".to_owned()],
            Action::Prompt(prompt) => prompt.models.clone(),
            Action::Agent(agent) => agent.subjects(),
            Action::Trigger(_) => vec!["gateway".to_owned()],
            Action::None => Vec::new(),
        }
    }
}
