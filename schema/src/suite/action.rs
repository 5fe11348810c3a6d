//! What a test does, and the key under which the evidence of it is recorded.

use std::{collections::BTreeMap, fmt::Write, sync::Arc};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{
    Subject,
    parts::{self, Parts},
};
use crate::{
    dialect::{Dialect, clawspec::config::Config, cli_bench::config::HelpMode},
    document::Pointer,
};

/// Files by path, each with a digest of its content.
pub type Inputs = BTreeMap<String, String>;

/// What a test does.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Runs a shell command.
    Command(CommandAction),
    /// Asks a model.
    Prompt(PromptAction),
    /// Lets an agent work on a task.
    Agent(Box<AgentAction>),
    /// Calls a skill or an agent that runs elsewhere.
    Trigger(TriggerAction),
    /// Nothing that can be made out: the test has a mistake where its action should be.
    None,
}

/// The kinds of actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    /// [`Action::Command`].
    Command,
    /// [`Action::Prompt`].
    Prompt,
    /// [`Action::Agent`].
    Agent,
    /// [`Action::Trigger`].
    Trigger,
    /// [`Action::None`].
    None,
}

/// A shell command.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommandAction {
    /// The node that holds the command.
    #[serde(skip)]
    pub at: Pointer,
    /// The command as written.
    pub template: String,
    /// The values of its placeholders.
    pub variables: BTreeMap<String, String>,
    /// The command with its placeholders filled, or the names that have no value. Follows from the fields above.
    #[serde(skip)]
    pub expanded: Result<String, Vec<String>>,
    /// Files of the workspace that the command names, with a digest of their content: when one changes,
    /// what was recorded is stale. Part of the key by its own parameter, because files change while commands run.
    #[serde(skip)]
    pub inputs: Inputs,
    /// The deadline. Not part of what is done: a longer one makes no recording stale.
    #[serde(skip)]
    pub timeout_ms: u64,
}

/// A question for a model. This version does not ask it; it is here so that such a test is listed,
/// and reported as unknown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromptAction {
    /// The node that names the prompt.
    #[serde(skip)]
    pub at: Pointer,
    /// The name of the prompt.
    pub prompt: String,
    /// The ids of the models that are asked. The subject of an attempt says which of them it is.
    #[serde(skip)]
    pub models: Vec<String>,
}

/// A task for an agent that may run shell commands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentAction {
    /// The node that says what to do.
    #[serde(skip)]
    pub at: Pointer,
    /// What the agent is to achieve.
    pub intent: String,
    /// How often the model may answer.
    pub max_turns: u32,
    /// The task's own environment variables; they override those of the suite.
    pub env: BTreeMap<String, String>,
    /// Shell commands that run before the agent, after those of the suite.
    pub setup: Vec<String>,
    /// Shell commands that run when everything has been observed: no part of what is done until then.
    #[serde(skip)]
    pub teardown: Vec<String>,
    /// The directory whose content the agent finds, instead of the suite's.
    pub scaffold: Option<String>,
    /// The deadline of the whole task. Not part of what is done: a longer one makes no recording stale.
    #[serde(skip)]
    pub timeout_ms: Option<u64>,
    /// Commands that are run to judge what the agent did. Which they are is not a part of what is done.
    #[serde(skip)]
    pub verify: Vec<String>,
    /// Files of the workspace that its commands and `cli` name, with a digest of their content. Part of the key by its own
    /// parameter, as those of a command are.
    #[serde(skip)]
    pub inputs: Inputs,
    /// What all tasks of the suite share.
    pub surroundings: Arc<AgentSurroundings>,
}

/// What all agent tasks of a suite share.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AgentSurroundings {
    /// The program that the tasks are about.
    pub cli: String,
    /// The shell command that prints its version.
    pub version_command: Option<String>,
    /// The ids of the models that act, each on its own. The subject of an attempt says which of them it is.
    #[serde(skip)]
    pub models: Vec<String>,
    /// The scripts that play models of the suite, each with a digest of its content, as they were when it was read.
    #[serde(skip)]
    pub scripts: Inputs,
    /// How a model learns about the program; every task runs once in each mode, which its subject names.
    #[serde(skip)]
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
    #[serde(skip)]
    pub redact_env: Vec<String>,
    /// Regular expressions; what they match is masked.
    #[serde(skip)]
    pub redact_patterns: Vec<String>,
}

impl AgentAction {
    /// Returns the environment variables, those of the task over those of the suite.
    pub fn environment(&self) -> BTreeMap<&str, &str> {
        let all = self.surroundings.env.iter().chain(&self.env);
        all.map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// Returns the directory whose content the agent finds.
    pub fn scaffold(&self) -> Option<&str> {
        self.scaffold.as_deref().or(self.surroundings.scaffold.as_deref())
    }

    /// Returns who acts: each model in each help mode. What is not empty is taken instead of what the suite says.
    fn subjects_of<'a>(&'a self, models: &'a [String], help_modes: &'a [HelpMode]) -> Vec<Subject> {
        let default = [HelpMode::default()];
        let models = if models.is_empty() { &self.surroundings.models } else { models };
        let modes = [help_modes, &self.surroundings.help_modes].into_iter().find(|modes| !modes.is_empty());
        let modes = modes.unwrap_or(default.as_slice());
        let each = |model: &String| modes.iter().map(|mode| Subject::model(model, Some(*mode))).collect::<Vec<_>>();
        models.iter().flat_map(each).collect()
    }
}

/// A call of a skill or an agent that runs elsewhere.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TriggerAction {
    /// The node that says what to send.
    #[serde(skip)]
    pub at: Pointer,
    /// The contract that says so, from the root of the workspace. Scenarios of two contracts may be equal in all else,
    /// and each has what its own run left behind.
    pub contract: String,
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
    /// The files that say what the target is, each with a digest of its content: when one changes, what was recorded is
    /// stale. Part of the key by its own parameter.
    #[serde(skip)]
    pub inputs: Inputs,
    /// The settings of the workspace. Not part of what is done: a gateway at another address is asked for the same.
    #[serde(skip)]
    pub settings: Arc<Config>,
    /// For how long the end of the run is awaited. Not part of what is done: a longer wait makes no recording stale.
    #[serde(skip)]
    pub timeout_ms: u64,
    /// How long to wait between two looks at what the run left behind so far.
    #[serde(skip)]
    pub poll_ms: u64,
}

impl TriggerAction {
    /// `timeout_ms` of a contract that does not say how long its scenarios take.
    pub(crate) const TIMEOUT_MS: u64 = 60_000;
    /// `poll_ms` of a contract that does not say how often to look.
    pub(crate) const POLL_MS: u64 = 250;
}

/// What is started from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
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

impl From<&Action> for ActionKind {
    fn from(action: &Action) -> ActionKind {
        action.kind()
    }
}

impl Action {
    /// Returns the kind of action.
    pub fn kind(&self) -> ActionKind {
        match self {
            Action::Command(_) => ActionKind::Command,
            Action::Prompt(_) => ActionKind::Prompt,
            Action::Agent(_) => ActionKind::Agent,
            Action::Trigger(_) => ActionKind::Trigger,
            Action::None => ActionKind::None,
        }
    }

    /// Returns the node where the author wrote what to do.
    pub fn at(&self) -> Option<&Pointer> {
        match self {
            Action::Command(command) => Some(&command.at),
            Action::Prompt(prompt) => Some(&prompt.at),
            Action::Agent(agent) => Some(&agent.at),
            Action::Trigger(trigger) => Some(&trigger.at),
            Action::None => None,
        }
    }

    /// Whether it does the same each time: then one attempt shows what another test does that is equal in all of it.
    pub fn is_repeatable(&self) -> bool {
        match self {
            Action::Command(_) => true,
            Action::Prompt(_) | Action::Agent(_) | Action::Trigger(_) | Action::None => false,
        }
    }

    /// Whether a subject may act in it, whether the suite names it or somebody who runs it.
    pub fn admits(&self, subject: &Subject) -> bool {
        match self {
            Action::Agent(_) | Action::Prompt(_) => subject.model_id().is_some(),
            Action::Command(_) | Action::Trigger(_) | Action::None => self.subjects().contains(subject),
        }
    }

    /// Returns who acts: one subject for each attempt of a repetition.
    pub fn subjects(&self) -> Vec<Subject> {
        self.subjects_of(&[], &[])
    }

    /// Returns the same, where the command line or the editor names the models or the help modes: what is not empty
    /// replaces what the suite says.
    pub fn subjects_of(&self, models: &[String], help_modes: &[HelpMode]) -> Vec<Subject> {
        match self {
            Action::Command(_) => vec![Subject::Command],
            Action::Prompt(prompt) => {
                let models = if models.is_empty() { &prompt.models } else { models };
                models.iter().map(|model| Subject::model(model, None)).collect()
            }
            Action::Agent(agent) => agent.subjects_of(models, help_modes),
            Action::Trigger(trigger) => vec![Subject::Gateway { target: trigger.target.clone() }],
            Action::None => Vec::new(),
        }
    }

    /// Returns the key of an attempt: the digest of who acts and of everything that is done, with these files. The same
    /// for the same act, wherever it is written and whatever is claimed about it.
    ///
    /// What is hashed is the action as serde writes it, so each new field is part of the key unless it is omitted on
    /// purpose.
    pub fn key(&self, dialect: Dialect, subject: &Subject, inputs: &Inputs) -> String {
        let act = self.act(dialect, subject, inputs);
        // Texts and maps with texts as keys: nothing in it can fail to be written.
        let written = serde_json::to_vec(&act).unwrap_or_default();
        Sha256::digest(written).iter().take(KEY_BYTES).fold(String::with_capacity(KEY_BYTES * 2), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    }
}

impl Action {
    fn act<'a>(&'a self, dialect: Dialect, subject: &'a Subject, inputs: &'a Inputs) -> Act<'a> {
        Act { dialect, subject, action: self, inputs }
    }

    /// Returns the parts that the key is made of.
    pub fn parts(&self, dialect: Dialect, subject: &Subject, inputs: &Inputs) -> Parts {
        parts::parts(&self.act(dialect, subject, inputs))
    }
}

/// What a key is made of.
#[derive(Serialize)]
struct Act<'a> {
    dialect: Dialect,
    subject: &'a Subject,
    action: &'a Action,
    inputs: &'a Inputs,
}

const KEY_BYTES: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    fn command(template: &str) -> Action {
        Action::Command(CommandAction {
            at: Pointer::root().key("command"),
            template: template.to_owned(),
            variables: BTreeMap::from([("name".to_owned(), "value".to_owned())]),
            expanded: Ok(template.to_owned()),
            inputs: Inputs::new(),
            timeout_ms: 1000,
        })
    }

    fn agent(surroundings: AgentSurroundings) -> Action {
        Action::Agent(Box::new(AgentAction {
            at: Pointer::root(),
            intent: "list the files".to_owned(),
            max_turns: 3,
            env: BTreeMap::new(),
            setup: Vec::new(),
            teardown: Vec::new(),
            scaffold: None,
            timeout_ms: None,
            verify: Vec::new(),
            inputs: Inputs::new(),
            surroundings: Arc::new(surroundings),
        }))
    }

    fn trigger(contract: &str) -> Action {
        Action::Trigger(TriggerAction {
            at: Pointer::root(),
            contract: contract.to_owned(),
            kind: TriggerKind::Nothing,
            target: String::new(),
            trigger: String::new(),
            invoke: None,
            params: None,
            inputs: Inputs::new(),
            settings: Arc::default(),
            timeout_ms: TriggerAction::TIMEOUT_MS,
            poll_ms: TriggerAction::POLL_MS,
        })
    }

    fn key(action: &Action, subject: &Subject) -> String {
        action.key(Dialect::KINDLM, subject, &Inputs::new())
    }

    #[test]
    fn place_deadline_and_claims_are_no_part_of_a_key() {
        let here = command("echo a");
        let Action::Command(mut there) = here.clone() else { unreachable!() };
        there.at = Pointer::root().key("tests").index(3);
        there.timeout_ms = 9;
        assert_eq!(key(&here, &Subject::Command), key(&Action::Command(there), &Subject::Command));
    }

    #[test]
    fn every_part_of_the_act_changes_its_key() {
        let base = key(&command("echo a"), &Subject::Command);
        assert_ne!(base, key(&command("echo b"), &Subject::Command));
        assert_ne!(base, command("echo a").key(Dialect::CLAWSPEC, &Subject::Command, &Inputs::new()));
        let inputs = Inputs::from([("a.txt".to_owned(), "digest".to_owned())]);
        assert_ne!(base, command("echo a").key(Dialect::KINDLM, &Subject::Command, &inputs));
        let Action::Command(mut other) = command("echo a") else { unreachable!() };
        other.variables.insert("name".to_owned(), "another".to_owned());
        assert_ne!(base, key(&Action::Command(other), &Subject::Command));
    }

    #[test]
    fn the_same_act_of_two_models_or_modes_or_contracts_has_two_keys() {
        let task = agent(AgentSurroundings::default());
        let (one, other) = (Subject::model("a/one", None), Subject::model("b/two", None));
        assert_ne!(key(&task, &one), key(&task, &other));
        assert_ne!(key(&task, &one), key(&task, &Subject::model("a/one", Some(HelpMode::Injected))));
        let gateway = Subject::Gateway { target: String::new() };
        assert_ne!(key(&trigger("contracts/a.yaml"), &gateway), key(&trigger("contracts/b.yaml"), &gateway));
    }

    #[test]
    fn another_model_beside_it_does_not_change_the_key_of_a_model() {
        let subject = Subject::model("a/one", None);
        let alone = AgentSurroundings { models: vec!["a/one".to_owned()], ..AgentSurroundings::default() };
        let both =
            AgentSurroundings { models: vec!["a/one".to_owned(), "b/two".to_owned()], ..AgentSurroundings::default() };
        assert_eq!(key(&agent(alone.clone()), &subject), key(&agent(both), &subject));
        let setup = AgentSurroundings { setup: vec!["make".to_owned()], ..alone.clone() };
        assert_ne!(key(&agent(alone), &subject), key(&agent(setup), &subject));
    }
}
