//! Suites, to which every dialect lowers: cases with an action, and claims about its evidence. The runner
//! and the editor use only these.

mod action;
mod changes;
mod named;
mod prompt;
mod subject;
pub mod task_files;
mod written;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
    sync::Arc,
};

use crate::{
    document::{Document, Pointer},
    evidence::{AskedModel, Context, Need, ObservationTime, merged},
    files::Inputs,
    format::{Dialect, Traced},
    gates::Gates,
    gateway::config::Config,
    verdict::{Check, Status},
};

pub use action::{Action, ActionKind, AgentAction, AgentSurroundings, CommandAction, TriggerAction, TriggerKind};
pub use changes::{Parts, changes};
pub use named::{few_paths_of, inputs_of, inputs_of_task, lexical, outputs_of, outsiders_of};
pub use prompt::{PromptAction, PromptModel, PromptTexts, Sampling, SimulatedTool};
pub use subject::{AgentProgram, HelpMode, Subject, program_of, short_names};
pub use written::{WrittenCase, case_items, list_of_cases, name_of_item, written_case, written_cases};

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
        let Some(shared) = agents().next().map(|agent| &agent.surroundings) else {
            let asked = self.asked_models();
            let services = asked.iter().filter_map(|asked| asked.service.as_ref());
            let variables =
                services.flat_map(|service| service.values()).map(|(name, value)| (name.to_owned(), value.to_owned()));
            let env = self.key_variables().into_iter().collect();
            return Redactions { env, variables: variables.collect(), ..Redactions::default() };
        };
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
        self.asked_models().iter().flat_map(AskedModel::variables).map(str::to_owned).collect()
    }

    /// Returns the models that are asked by prompts and by claims.
    fn asked_models(&self) -> Vec<AskedModel> {
        let claims = self.cases.iter().flat_map(|case| &case.claims);
        let needs = claims.flat_map(|claim| claim.check.needs(&Context::default()));
        let judges = needs.filter_map(|need| Some(need.question()?.peer.clone()));
        let models = self.cases.iter().flat_map(|case| match &case.action {
            Action::Prompt(prompt) => prompt.models.as_slice(),
            Action::Command(_) | Action::Agent(_) | Action::Trigger(_) | Action::None => &[],
        });
        judges.chain(models.map(|model| model.asked.clone())).collect()
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
        // Where some claims are left out, the gates would measure the rest only.
        let gates = match self.dialect.traced() {
            Traced::All => self.gates.clone(),
            Traced::None | Traced::AboutTraces => Gates::default(),
        };
        Some(Suite { cases: cases.into_iter().map(Arc::new).collect(), gates, ..self.clone() })
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
