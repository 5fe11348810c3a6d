//! Actions: what is done in an attempt, and the key by which its recording is found.

use std::{collections::BTreeMap, sync::Arc};

use serde::Serialize;
use sha2::{Digest, Sha256};

use super::{
    changes::{Parts, parts},
    prompt::{PromptAction, PromptModel},
    subject::{HelpMode, Subject},
};
use crate::{
    check::text::hexadecimal,
    document::Pointer,
    files::Inputs,
    gateway::{config::Config, params::Params},
};

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Action {
    /// Runs a shell command.
    Command(CommandAction),
    /// Asks a model.
    Prompt(Box<PromptAction>),
    /// Lets an agent work on a task.
    Agent(Box<AgentAction>),
    /// Calls a skill or an agent that runs elsewhere.
    Trigger(TriggerAction),
    /// No valid action: the test has an error in its place.
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ActionKind {
    Command,
    Prompt,
    Agent,
    Trigger,
    None,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CommandAction {
    /// Node with the command.
    #[serde(skip)]
    pub at: Pointer,
    /// Command as written.
    pub template: String,
    /// Values of its placeholders.
    pub variables: BTreeMap<String, String>,
    /// Command with its placeholders expanded, or the names without a value. Derived from the fields above.
    #[serde(skip)]
    pub expanded: Result<String, Vec<String>>,
    /// Files of the workspace that the command names, with a digest of their content: if one changes,
    /// the recording is stale. A separate parameter of the key, because files change while commands run.
    #[serde(skip)]
    pub inputs: Inputs,
    /// Timeout. Not part of the key: a longer timeout does not make recordings stale.
    #[serde(skip)]
    pub timeout_ms: u64,
}

/// A task for an agent that may run shell commands.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AgentAction {
    /// Node with the task.
    #[serde(skip)]
    pub at: Pointer,
    /// Goal of the agent.
    pub intent: String,
    /// Maximum number of replies of the model.
    pub max_turns: u32,
    /// Environment variables of the task; they override those of the suite.
    pub env: BTreeMap<String, String>,
    /// Shell commands that run before the agent, after those of the suite.
    pub setup: Vec<String>,
    /// Shell commands that run after all evidence is collected, and so do not affect it.
    #[serde(skip)]
    pub teardown: Vec<String>,
    /// Directory whose content is copied for the agent, instead of the suite's.
    pub scaffold: Option<String>,
    /// Timeout of the whole task. Not part of the key: a longer timeout does not make recordings stale.
    #[serde(skip)]
    pub timeout_ms: Option<u64>,
    /// Commands that check the result of the agent. Not part of the key.
    #[serde(skip)]
    pub verify: Vec<String>,
    /// Files of the workspace that its commands and `cli` name, with a digest of their content. A separate parameter of
    /// the key, like those of a command.
    #[serde(skip)]
    pub inputs: Inputs,
    /// Properties that all tasks of the suite share.
    pub surroundings: Arc<AgentSurroundings>,
}

/// Properties that all agent tasks of a suite share.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct AgentSurroundings {
    /// Program that the tasks are about.
    pub cli: String,
    /// Shell command that prints the program's version.
    pub version_command: Option<String>,
    /// Ids of the models, each of which acts separately. The subject of an attempt is one of them.
    #[serde(skip)]
    pub models: Vec<String>,
    /// Scripts of the suite's models, each with a digest of its content, as of when the suite was read.
    #[serde(skip)]
    pub scripts: Inputs,
    /// Help modes; every task runs once in each mode, which is part of its subject.
    #[serde(skip)]
    pub help_modes: Vec<HelpMode>,
    /// Text to add to the agent's instructions.
    pub system_prompt: Option<String>,
    /// Environment variables of every task.
    pub env: BTreeMap<String, String>,
    /// Shell commands that run before every task.
    pub setup: Vec<String>,
    /// Directory whose content every task starts with.
    pub scaffold: Option<String>,
    /// Directory in which all tasks work; without it, each run has a new one.
    pub workdir: Option<String>,
    /// Names of environment variables whose values are masked.
    #[serde(skip)]
    pub redact_env: Vec<String>,
    /// Regular expressions whose matches are masked.
    #[serde(skip)]
    pub redact_patterns: Vec<String>,
}

impl AgentAction {
    /// Returns the environment variables; those of the task override those of the suite.
    pub fn environment(&self) -> BTreeMap<&str, &str> {
        let all = self.surroundings.env.iter().chain(&self.env);
        all.map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// Returns the directory whose content is copied for the agent.
    pub fn scaffold(&self) -> Option<&str> {
        self.scaffold.as_deref().or(self.surroundings.scaffold.as_deref())
    }

    /// Returns the subjects: each model in each help mode. Lists that are not empty replace those of the suite.
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
    /// Node with the text to send.
    #[serde(skip)]
    pub at: Pointer,
    /// Path of the contract, relative to the root of the workspace. Scenarios of two contracts may be equal otherwise,
    /// but each has its own evidence.
    pub contract: String,
    /// Kind of the target.
    pub kind: TriggerKind,
    /// Directory of the target, relative to the root of the workspace.
    pub target: String,
    /// Slash command of a skill; the id of an agent, or a string that contains it.
    pub trigger: String,
    /// Text to send, with unexpanded templates; `None` for a pipeline, and if there is nothing to do.
    pub invoke: Option<String>,
    /// Additional data, with unexpanded templates.
    pub params: Option<Params>,
    /// Files that define the target, each with a digest of its content: if one changes, the recording is
    /// stale. A separate parameter of the key.
    #[serde(skip)]
    pub inputs: Inputs,
    /// Settings of the workspace. Not part of the key: the address of the gateway does not affect the request.
    #[serde(skip)]
    pub settings: Arc<Config>,
    /// Timeout of the run. Not part of the key: a longer timeout does not make recordings stale.
    #[serde(skip)]
    pub timeout_ms: u64,
    /// Milliseconds between checks of the evidence so far.
    #[serde(skip)]
    pub poll_ms: u64,
}

impl TriggerAction {
    /// Default of `timeout_ms` if a contract does not set it.
    pub(crate) const TIMEOUT_MS: u64 = 60_000;
    /// Default of `poll_ms` if a contract does not set it.
    pub(crate) const POLL_MS: u64 = 250;
}

/// Kind of an external target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum TriggerKind {
    /// A skill, by a call to the gateway.
    Skill,
    Agent,
    /// A skill that runs a pipeline of stages.
    Pipeline,
    /// No target: a handoff is judged by the evidence of another action.
    Nothing,
}

impl From<&Action> for ActionKind {
    fn from(action: &Action) -> ActionKind {
        action.kind()
    }
}

impl Action {
    pub fn kind(&self) -> ActionKind {
        match self {
            Action::Command(_) => ActionKind::Command,
            Action::Prompt(_) => ActionKind::Prompt,
            Action::Agent(_) => ActionKind::Agent,
            Action::Trigger(_) => ActionKind::Trigger,
            Action::None => ActionKind::None,
        }
    }

    /// Returns the node with the action.
    pub fn at(&self) -> Option<&Pointer> {
        match self {
            Action::Command(command) => Some(&command.at),
            Action::Prompt(prompt) => Some(&prompt.at),
            Action::Agent(agent) => Some(&agent.at),
            Action::Trigger(trigger) => Some(&trigger.at),
            Action::None => None,
        }
    }

    /// Whether the action is assumed to be deterministic, so its evidence is valid for other tests with an equal one.
    pub fn is_repeatable(&self) -> bool {
        match self {
            Action::Command(_) => true,
            Action::Prompt(_) | Action::Agent(_) | Action::Trigger(_) | Action::None => false,
        }
    }

    /// Whether a subject may perform the action, named by the suite or by the user.
    pub fn admits(&self, subject: &Subject) -> bool {
        match self {
            Action::Agent(_) | Action::Prompt(_) => subject.model_id().is_some(),
            Action::Command(_) | Action::Trigger(_) | Action::None => self.subjects().contains(subject),
        }
    }

    /// Returns the subjects: one for each attempt of a repetition.
    pub fn subjects(&self) -> Vec<Subject> {
        self.subjects_of(&[], &[])
    }

    /// Returns the subjects if the command line or the editor sets the models or the help modes: lists that are not
    /// empty replace those of the suite.
    pub fn subjects_of(&self, models: &[String], help_modes: &[HelpMode]) -> Vec<Subject> {
        match self {
            Action::Command(_) => vec![Subject::Command],
            Action::Prompt(prompt) => {
                let own = prompt.models.iter().map(|model| &model.id);
                let models: Vec<&String> = if models.is_empty() { own.collect() } else { models.iter().collect() };
                models.into_iter().map(|model| Subject::model(model, None)).collect()
            }
            Action::Agent(agent) => agent.subjects_of(models, help_modes),
            Action::Trigger(trigger) => vec![Subject::Gateway { target: trigger.target.clone() }],
            Action::None => Vec::new(),
        }
    }

    /// Returns the key of an attempt: the digest of the format's name, the subject, the action and these files. Equal
    /// for equal actions, regardless of their location and claims.
    ///
    /// The hash covers the serialized action, so a new field is part of the key unless it is excluded
    /// explicitly.
    pub fn key(&self, dialect: &str, subject: &Subject, inputs: &Inputs) -> String {
        let key_content = self.key_content(dialect, subject, inputs);
        // Strings, and maps with strings as keys, can always be serialized.
        let written = serde_json::to_vec(&key_content).unwrap_or_default();
        hexadecimal(&Sha256::digest(written)[..KEY_BYTES])
    }
}

impl Action {
    fn key_content<'a>(&'a self, dialect: &'a str, subject: &'a Subject, inputs: &'a Inputs) -> KeyContent<'a> {
        let model = match self {
            Action::Prompt(prompt) => subject.model_id().map(|id| prompt.model(id)),
            Action::Command(_) | Action::Agent(_) | Action::Trigger(_) | Action::None => None,
        };
        KeyContent { dialect, subject, model, action: self, inputs }
    }

    pub fn parts(&self, dialect: &str, subject: &Subject, inputs: &Inputs) -> Parts {
        parts(&self.key_content(dialect, subject, inputs))
    }
}

#[derive(Serialize)]
struct KeyContent<'a> {
    dialect: &'a str,
    subject: &'a Subject,
    /// The subject as the suite describes it: changes of the other models do not matter.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<PromptModel>,
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
        action.key("kindlm", subject, &Inputs::new())
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
        assert_ne!(base, command("echo a").key("clawspec", &Subject::Command, &Inputs::new()));
        let inputs = Inputs::from([("a.txt".to_owned(), "digest".to_owned())]);
        assert_ne!(base, command("echo a").key("kindlm", &Subject::Command, &inputs));
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
