//! Suites, to which every dialect lowers: cases with an action, and claims about its evidence. The runner
//! and the editor use only these.

mod named;
mod subject;
pub mod task_files;

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::{
    check::text::hexadecimal,
    document::{Document, NodeRef, Pointer},
    evidence::{Context, Need, ObservationTime, merged},
    files::Inputs,
    format::{Dialect, Traced},
    gates::Gates,
    gateway::{config::Config, params::Params},
    json_schema::{Cases, SpecFile},
    validate::Definition,
    verdict::{Check, Status},
};

pub use named::{few_paths_of, inputs_of, inputs_of_task, lexical, outputs_of, outsiders_of};
pub use subject::{AgentProgram, HelpMode, Subject, program_of, short_names};

/// A lowered suite. Lowering is total: a suite with errors still has every valid case.
#[derive(Clone, Debug)]
pub struct Suite {
    /// Format of the suite.
    pub dialect: Dialect,
    /// Name from the author.
    pub name: Option<String>,
    /// Tests, in the order of the file.
    pub cases: Vec<Arc<Case>>,
    /// Conditions on the whole run.
    pub gates: Gates,
    /// Maximum number of simultaneous attempts; if models act, of simultaneous requests to them.
    pub concurrency: usize,
    /// Files that settings declare as inputs of every command and task, as of when the suite was read.
    pub inputs: Inputs,
    /// Content of the directories that tasks start with, by name, as of when the suite was read.
    pub scaffolds: BTreeMap<String, Inputs>,
}

impl Suite {
    /// Returns an empty suite of a format.
    pub fn empty(dialect: Dialect) -> Suite {
        Suite {
            dialect,
            name: None,
            cases: Vec::new(),
            gates: Gates::default(),
            concurrency: 1,
            inputs: Inputs::new(),
            scaffolds: BTreeMap::new(),
        }
    }

    /// Returns the input files of an action, as of when the suite was read: those that it names
    /// and the declared ones.
    pub fn inputs(&self, action: &Action) -> Inputs {
        match action {
            Action::Command(command) => declared_and_named(&self.inputs, &command.inputs),
            Action::Agent(agent) => {
                let mut all = declared_and_named(&self.inputs, &agent.surroundings.scripts);
                all.extend(agent.inputs.clone());
                all.extend(agent.scaffold().and_then(|name| self.scaffolds.get(name)).cloned().unwrap_or_default());
                all
            }
            Action::Trigger(trigger) => declared_and_named(&self.inputs, &trigger.inputs),
            Action::Prompt(_) | Action::None => Inputs::new(),
        }
    }
}

pub fn declared_and_named(declared: &Inputs, named: &Inputs) -> Inputs {
    let mut all = declared.clone();
    all.extend(named.iter().map(|(path, digest)| (path.clone(), digest.clone())));
    all
}

/// Text that the suite itself masks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redactions {
    /// Names of environment variables.
    pub env: Vec<String>,
    /// Regular expressions.
    pub patterns: Vec<String>,
    /// Variables that the suite itself sets: names and values.
    pub variables: Vec<(String, String)>,
}

impl Suite {
    /// Returns what the suite masks in addition to the defaults.
    pub fn redactions(&self) -> Redactions {
        if let Some(token) = self.gateway().and_then(|settings| settings.gateway_auth_token.clone()) {
            let name = "gateway_auth_token".to_owned();
            return Redactions { env: vec![name.clone()], variables: vec![(name, token)], ..Redactions::default() };
        }
        let agents = || {
            self.cases.iter().filter_map(|case| match &case.action {
                Action::Agent(agent) => Some(agent),
                Action::Command(_) | Action::Prompt(_) | Action::Trigger(_) | Action::None => None,
            })
        };
        let Some(shared) = agents().next().map(|agent| &agent.surroundings) else { return Redactions::default() };
        let mut variables: Vec<(String, String)> = agents()
            .flat_map(|agent| agent.environment())
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        variables.sort();
        variables.dedup();
        Redactions { env: shared.redact_env.clone(), patterns: shared.redact_patterns.clone(), variables }
    }

    /// Returns the settings of the gateway that starts targets; `None` if there is no gateway.
    pub fn gateway(&self) -> Option<&Config> {
        self.cases.iter().find_map(|case| match &case.action {
            Action::Trigger(trigger) => Some(&*trigger.settings),
            Action::Command(_) | Action::Prompt(_) | Action::Agent(_) | Action::None => None,
        })
    }

    /// Returns the maximum number of simultaneous attempts for a number of cores. Agents mostly wait for their models,
    /// and their commands use the cores meanwhile; those that share a directory run one at a time.
    pub fn attempts_at_once(&self, cores: usize) -> usize {
        let agent = self.cases.iter().find_map(|case| match &case.action {
            Action::Agent(agent) => Some(agent),
            Action::Command(_) | Action::Prompt(_) | Action::Trigger(_) | Action::None => None,
        });
        match agent {
            Some(agent) if agent.surroundings.workdir.is_some() => 1,
            Some(_) => self.concurrency.max(cores),
            None => self.concurrency,
        }
    }
}

/// One test.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name, unique in a suite without errors.
    pub name: String,
    /// Location of the test.
    pub at: Pointer,
    /// File of the case, if it is not the suite's own: pointers and ranges refer to that file.
    pub file: Option<Arc<CaseFile>>,
    /// Labels to select the case by.
    pub tags: Vec<String>,
    /// Whether the author disabled the case.
    pub skip: bool,
    /// Number of attempts.
    pub repeat: u32,
    /// Number of attempts that must pass.
    pub needed: Needed,
    pub action: Action,
    /// Claims about each attempt.
    pub claims: Vec<Claim>,
    /// Whether the case and everything that it refers to are free of errors. The editor runs
    /// only such cases.
    pub intact: bool,
}

/// Number of attempts of a case that must pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Needed {
    /// Every attempt.
    #[default]
    All,
    /// One attempt.
    One,
}

impl Needed {
    /// Returns the status of a case with these attempts; `None` without attempts.
    pub fn status(self, attempts: impl Iterator<Item = Status> + Clone) -> Option<Status> {
        let has = |wanted: Status| attempts.clone().any(|status| status == wanted).then_some(wanted);
        match self {
            Needed::All => attempts.max(),
            // An attempt without a result might have passed, so a failure does not outweigh it.
            Needed::One => {
                let order = [Status::Pass, Status::Warn, Status::Error, Status::Unknown, Status::Fail, Status::Skip];
                order.into_iter().find_map(has)
            }
        }
    }
}

#[derive(Clone, Debug)]
pub struct CaseFile {
    /// Path, relative to the suite's directory.
    pub path: String,
    /// Text and tree.
    pub document: Document,
}

/// An assertion of the author.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Location of the claim.
    pub at: Pointer,
    pub phase: Option<Phase>,
    pub check: Arc<dyn Check>,
}

impl Claim {
    /// Whether the action does not start if the claim does not hold.
    pub fn is_precondition(&self) -> bool {
        self.phase.is_some_and(Phase::is_precondition)
    }
}

impl Suite {
    /// Returns the environment variables with the keys of models that claims ask.
    pub fn key_variables(&self) -> BTreeSet<String> {
        let claims = self.cases.iter().flat_map(|case| &case.claims);
        let needs = claims.flat_map(|claim| claim.check.needs(&Context::default()));
        needs.filter_map(|need| need.question()?.peer.key_env.clone()).collect()
    }
}

impl Case {
    /// Returns the evidence needed at this time to judge every claim, in the order of the claims.
    pub fn needs(&self, moment: ObservationTime, context: &Context) -> Vec<Need> {
        let needs = self.claims.iter().flat_map(|claim| claim.check.needs(context));
        merged(needs.filter(|need| need.moment() == moment))
    }

    /// Whether a claim can prevent the action.
    pub fn has_preconditions(&self) -> bool {
        self.claims.iter().any(Claim::is_precondition)
    }

    /// Returns the case at another location, for example after a test was inserted above it.
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

impl Suite {
    /// Returns the tests that a trace can judge, with the assertions that it can decide. `None` if the format has no
    /// such assertions.
    pub fn judged_by_trace(&self) -> Option<Suite> {
        let needs_trace = |case: &Case| {
            let mut case = case.clone();
            case.claims.retain(|claim| claim.check.needs(&Context::default()).contains(&Need::Trace));
            (!case.claims.is_empty()).then_some(case)
        };
        let cases: Vec<Case> = match self.dialect.traced() {
            Traced::None => return None,
            Traced::All => self.cases.iter().map(|case| Case::clone(case)).collect(),
            Traced::AboutTraces => self.cases.iter().filter_map(|case| needs_trace(case)).collect(),
        };
        Some(Suite { cases: cases.into_iter().map(Arc::new).collect(), gates: Gates::default(), ..self.clone() })
    }
}

/// Phase of a claim, in formats with phases. Named as in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Preconditions of a scenario.
    Given,
    /// Assertions after a scenario.
    Then,
    /// Comparison of a scenario with its stored baseline.
    Regression,
    /// Assertions before the callee of a handoff works.
    PreDelegation,
    /// Assertions after the callee of a handoff has worked.
    PostDelegation,
    /// Files and handoffs of each stage of a pipeline.
    Stages,
    /// Deterministic assertions about the result of a pipeline.
    Deterministic,
    /// Assertions of a judge about the result of a pipeline.
    Semantic,
    /// Conditions on a whole pipeline.
    PipelineHealth,
}

impl Phase {
    /// Returns the key in the file, which is also the word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Given => "given",
            Phase::Then => "then",
            Phase::Regression => "regression",
            Phase::PreDelegation => "pre_delegation",
            Phase::PostDelegation => "post_delegation",
            Phase::Stages => "stages",
            Phase::Deterministic => "deterministic",
            Phase::Semantic => "semantic",
            Phase::PipelineHealth => "pipeline_health",
        }
    }

    /// Whether the action does not start if a claim of this phase does not hold. If so, the claims of the other phases
    /// are skipped.
    pub fn is_precondition(self) -> bool {
        match self {
            Phase::Given => true,
            Phase::Then
            | Phase::Regression
            | Phase::PreDelegation
            | Phase::PostDelegation
            | Phase::Stages
            | Phase::Deterministic
            | Phase::Semantic
            | Phase::PipelineHealth => false,
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// Parts of an action by JSON Pointer, each with the first digits of the digest of its value. Values themselves are
/// not stored, because some of them are secret.
pub type Parts = BTreeMap<String, String>;

const DIGEST_BYTES: usize = 4;

fn parts(content: &impl Serialize) -> Parts {
    let mut found = Parts::new();
    collect(&serde_json::to_value(content).unwrap_or_default(), String::new(), &mut found);
    found
}

fn collect(value: &Value, at: String, found: &mut Parts) {
    let below = |name: &str| format!("{at}/{}", name.replace('~', "~0").replace('/', "~1"));
    match value {
        Value::Object(members) => members.iter().for_each(|(name, value)| collect(value, below(name), found)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(index, value)| collect(value, below(&index.to_string()), found));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            let digest = Sha256::digest(value.to_string());
            found.insert(at, hexadecimal(&digest[..DIGEST_BYTES]));
        }
    }
}

/// Returns the distinct differences of two actions in words: "the command", "variable `name`", "file `path`".
pub fn changes(before: &Parts, now: &Parts) -> Vec<String> {
    let mut names = Vec::new();
    let pointers = before.keys().chain(now.keys().filter(|pointer| !before.contains_key(*pointer)));
    for pointer in pointers.filter(|pointer| before.get(*pointer) != now.get(*pointer)) {
        let steps: Vec<String> =
            pointer.split('/').skip(1).map(|step| step.replace("~1", "/").replace("~0", "~")).collect();
        let steps: Vec<&str> = steps.iter().map(String::as_str).collect();
        let name = match steps.as_slice() {
            ["inputs", path] if path.ends_with('/') => format!("the content of `{path}`"),
            ["inputs", path] => format!("file `{path}`"),
            ["action", "command", "template"] => "the command".to_owned(),
            ["action", "command", "variables", name] => format!("variable `{name}`"),
            ["action", _, "env", name] | ["action", _, "surroundings", "env", name] => {
                format!("environment variable `{name}`")
            }
            ["action", _, "surroundings", field, ..] | ["action", _, field, ..] => format!("`{field}`"),
            ["subject", ..] => "who acts".to_owned(),
            ["dialect"] => "the format".to_owned(),
            _ => "what is done".to_owned(),
        };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

#[derive(Clone, Debug)]
pub struct WrittenCase<'d> {
    /// Name of the case.
    pub name: Cow<'d, str>,
    /// Node of the case; the root if the file is one case.
    pub node: NodeRef<'d>,
    /// Location of the node.
    pub at: Pointer,
    /// Whether the author disabled the case.
    pub skip: bool,
    pub does: ActionKind,
}

impl WrittenCase<'_> {
    pub fn has_preconditions(&self) -> bool {
        let list = || self.node.get(Phase::Given.as_str());
        self.does == ActionKind::Trigger && list().is_some_and(|list| list.items().next().is_some())
    }
}

/// Returns the named cases in a file, in document order. Cases of other files that it includes are
/// excluded.
pub fn written_cases(file: SpecFile, document: &Document) -> Vec<WrittenCase<'_>> {
    let Some(root) = document.root() else { return Vec::new() };
    match file.cases {
        Cases::List(list) | Cases::PartOfSuite(list) => {
            let at = Definition::list_at(list);
            let items = document.find(&at).into_iter().flat_map(NodeRef::items).enumerate();
            items.filter_map(|(index, node)| written_case(file, node, at.index(index))).collect()
        }
        Cases::Whole(name) => {
            let name = name(root).filter(|name| !name.is_empty());
            name.and_then(|name| case(file, Cow::Owned(name), root, Pointer::root())).into_iter().collect()
        }
        Cases::None => Vec::new(),
    }
}

pub fn list_of_cases(file: SpecFile) -> Option<Pointer> {
    file.case_list().map(Definition::list_at)
}

/// Returns the items of the list of cases, including those without a name; `None` if the file is one case, or has none.
/// The items are not read, so this is fast for long lists.
pub fn case_items(file: SpecFile, document: &Document) -> Option<impl Iterator<Item = NodeRef<'_>>> {
    let at = list_of_cases(file)?;
    Some(document.find(&at).into_iter().flat_map(NodeRef::items))
}

pub fn name_of_item(file: SpecFile, node: NodeRef<'_>) -> Option<&str> {
    node.get(file.name_key())?.as_str().filter(|name| !name.is_empty())
}

/// Returns an item of the list of cases, if it has a name. `at` is its location.
pub fn written_case(file: SpecFile, node: NodeRef<'_>, at: Pointer) -> Option<WrittenCase<'_>> {
    case(file, Cow::Borrowed(name_of_item(file, node)?), node, at)
}

fn case<'d>(file: SpecFile, name: Cow<'d, str>, node: NodeRef<'d>, at: Pointer) -> Option<WrittenCase<'d>> {
    let format = file.dialect()?.format();
    Some(WrittenCase { name, node, at, skip: format.is_skipped(node), does: format.act_of(node) })
}

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

/// A question for a model. This version does not run it, but lists such tests
/// and reports them as unknown.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromptAction {
    /// Node with the name of the prompt.
    #[serde(skip)]
    pub at: Pointer,
    pub prompt: String,
    /// Ids of the models to ask. The subject of an attempt is one of them.
    #[serde(skip)]
    pub models: Vec<String>,
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
                let models = if models.is_empty() { &prompt.models } else { models };
                models.iter().map(|model| Subject::model(model, None)).collect()
            }
            Action::Agent(agent) => agent.subjects_of(models, help_modes),
            Action::Trigger(trigger) => vec![Subject::Gateway { target: trigger.target.clone() }],
            Action::None => Vec::new(),
        }
    }

    /// Returns the key of an attempt: the digest of the subject, the action and these files. Equal
    /// for equal actions, regardless of their location and claims.
    ///
    /// The hash covers the serialized action, so a new field is part of the key unless it is excluded
    /// explicitly.
    pub fn key(&self, dialect: Dialect, subject: &Subject, inputs: &Inputs) -> String {
        let key_content = self.key_content(dialect, subject, inputs);
        // Strings, and maps with strings as keys, can always be serialized.
        let written = serde_json::to_vec(&key_content).unwrap_or_default();
        hexadecimal(&Sha256::digest(written)[..KEY_BYTES])
    }
}

impl Action {
    fn key_content<'a>(&'a self, dialect: Dialect, subject: &'a Subject, inputs: &'a Inputs) -> KeyContent<'a> {
        KeyContent { dialect, subject, action: self, inputs }
    }

    pub fn parts(&self, dialect: Dialect, subject: &Subject, inputs: &Inputs) -> Parts {
        parts(&self.key_content(dialect, subject, inputs))
    }
}

#[derive(Serialize)]
struct KeyContent<'a> {
    dialect: Dialect,
    subject: &'a Subject,
    action: &'a Action,
    inputs: &'a Inputs,
}

const KEY_BYTES: usize = 16;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{changes, parts};

    #[test]
    fn changed_parts_are_named_once_and_without_their_values() {
        let before = json!({
            "dialect": "kindlm",
            "subject": {"kind": "command"},
            "action": {"command": {"template": "run {{key}}", "variables": {"key": "hunter22"}}},
            "inputs": {"bin/run.sh": "1"},
        });
        let mut now = before.clone();
        assert!(changes(&parts(&before), &parts(&now)).is_empty());
        now["action"]["command"]["variables"]["key"] = json!("hunter23");
        now["action"]["command"]["variables"]["new"] = json!("x");
        now["inputs"] = json!({"bin/run.sh": "2", "a~b": "1"});
        let named = changes(&parts(&before), &parts(&now));
        assert_eq!(named, ["variable `key`", "file `bin/run.sh`", "variable `new`", "file `a~b`"]);
        assert!(!format!("{:?}", parts(&before)).contains("hunter22"));
    }

    #[test]
    fn parts_of_an_agent_task_are_named_by_their_fields() {
        let before =
            json!({"action": {"agent": {"intent": "a", "env": {"A": "1"}, "surroundings": {"setup": ["make"]}}}});
        let now = json!({"action": {"agent": {"intent": "b", "env": {}, "surroundings": {"setup": ["make", "ls"]}}}});
        let named = changes(&parts(&before), &parts(&now));
        assert_eq!(named, ["environment variable `A`", "`intent`", "`setup`"]);
    }
}

#[cfg(test)]
mod written_tests {
    use crate::{
        analysis::Analyzer, document::Document, files::MemoryFiles, json_schema::SpecFile, settings::Settings,
        suite::ActionKind,
    };

    use super::written_cases;

    /// Written cases have the same names, locations and actions as lowered ones.
    #[test]
    fn written_cases_are_those_that_lowering_finds() {
        let files = [
            (
                SpecFile::KINDLM,
                "tests:\n- {name: a, command: x}\n- {name: b, prompt: p}\n- {name: c, skip: true, command: y}\n",
            ),
            (SpecFile::CLI_BENCH, "cli: git\ntasks:\n- {id: a, intent: b}\n- id: c\n  intent: d\n"),
            (SpecFile::CLI_BENCH_TASKS, "- {id: a, intent: b}\n- id: c\n  intent: d\n"),
            (
                SpecFile::CLAWSPEC_SCENARIOS,
                "scenarios:\n- {name: a, when: {invoke: /x}}\n- name: b\n  when: {invoke: /y}\n",
            ),
            (SpecFile::CLAWSPEC_HANDOFF, "handoff: {from: a, to: b}\n"),
            (SpecFile::CLAWSPEC_PIPELINE, "pipeline: {name: a, trigger: /a}\nstages: []\n"),
        ];
        for (file, text) in files {
            for text in
                [text.to_owned(), text.replace("\n  ", "\n    ").replace("\n- ", "\n  - "), text.replace('\n', "\r\n")]
            {
                let text = if file == SpecFile::CLI_BENCH_TASKS {
                    text.replace("\n  - ", "\n- ").replace("\n    ", "\n  ")
                } else {
                    text
                };
                let document = Document::read(&text, file.scalar_rules());
                let suite =
                    Analyzer::new(file).analyze(&document, &MemoryFiles::new("/", []), &Settings::default()).suite;
                let lowered = suite.cases.iter().map(|case| {
                    let range = document.find(&case.at).unwrap().range();
                    (case.name.clone(), case.at.clone(), range, case.skip, case.action.kind())
                });
                let lowered: Vec<_> = lowered.collect();
                let written = written_cases(file, &document)
                    .into_iter()
                    .map(|case| (case.name.into_owned(), case.at, case.node.range(), case.skip, case.does));
                assert_eq!(written.collect::<Vec<_>>(), lowered, "{text}");
                assert!(lowered.iter().all(|(.., does)| *does != ActionKind::None) && !lowered.is_empty(), "{text}");
            }
        }
    }
}

#[cfg(test)]
mod action_tests {
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
