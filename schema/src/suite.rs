//! What every dialect lowers to: cases that act, and claims about what the act left behind. The runner
//! and the editor see only this.

mod action;
mod named;
mod parts;
mod phase;
mod subject;
mod traced;
mod written;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

pub use action::{
    Action, ActionKind, AgentAction, AgentSurroundings, CommandAction, Inputs, PromptAction, TriggerAction, TriggerKind,
};
pub use named::{few_paths_of, inputs_of, inputs_of_task, outputs_of, outsiders_of};
pub use parts::{Parts, changes};
pub use phase::Phase;
pub use subject::{AgentProgram, Subject, program_of, short_names};
pub use written::{WrittenCase, case_items, list_of_cases, name_of_item, written_case, written_cases};

use crate::{
    dialect::{Dialect, Gates, clawspec::config::Config},
    document::{Document, Pointer},
    evidence::{Context, Moment, Need, merged},
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
    /// Maximum number of attempts at the same time; where models act, how many requests to them.
    pub concurrency: usize,
    /// The files that settings declare as inputs of every command and task, as they were when the suite was read.
    pub inputs: Inputs,
    /// What is in the directories that tasks begin with, by their names, as it was when the suite was read.
    pub scaffolds: BTreeMap<String, Inputs>,
}

impl Suite {
    /// Returns a suite of a format in which nothing is.
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

    /// Returns the files that decide what an action does, as they were when the suite was read: those that it names,
    /// and those that are declared.
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

/// Returns the files that are declared, and those that a command names.
pub fn declared_and_named(declared: &Inputs, named: &Inputs) -> Inputs {
    let mut all = declared.clone();
    all.extend(named.iter().map(|(path, digest)| (path.clone(), digest.clone())));
    all
}

/// What a suite itself wants masked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Redactions {
    /// Names of environment variables.
    pub env: Vec<String>,
    /// Regular expressions.
    pub patterns: Vec<String>,
    /// The variables that the suite itself sets, by name, with their values.
    pub variables: Vec<(String, String)>,
}

impl Suite {
    /// Returns what the suite wants masked, beside what is masked everywhere.
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

    /// Returns the settings of the gateway at which targets are started; `None` where none is.
    pub fn gateway(&self) -> Option<&Config> {
        self.cases.iter().find_map(|case| match &case.action {
            Action::Trigger(trigger) => Some(&*trigger.settings),
            Action::Command(_) | Action::Prompt(_) | Action::Agent(_) | Action::None => None,
        })
    }

    /// Returns how many attempts may be under way at once on so many cores. Agents mostly wait for their models, and their
    /// commands use the cores meanwhile; those that share a directory wait for each other anyway.
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
    /// Its name, unique in the suite when the suite has no mistakes.
    pub name: String,
    /// The node of the test.
    pub at: Pointer,
    /// The file that it is in, where that is not the suite's own: pointers and ranges are those of that file then.
    pub file: Option<Arc<CaseFile>>,
    /// Labels to select it by.
    pub tags: Vec<String>,
    /// Whether the author switched it off.
    pub skip: bool,
    /// How often it is attempted.
    pub repeat: u32,
    /// Its effect.
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
    /// The part of the case that it belongs to, in formats that have such parts.
    pub phase: Option<Phase>,
    /// The claim itself.
    pub check: Arc<dyn Check>,
}

impl Claim {
    /// Returns whether the act does not begin where it does not hold.
    pub fn is_precondition(&self) -> bool {
        self.phase.is_some_and(Phase::is_precondition)
    }
}

impl Suite {
    /// Returns the environment variables that hold keys of models which claims ask.
    pub fn key_variables(&self) -> BTreeSet<String> {
        let claims = self.cases.iter().flat_map(|case| &case.claims);
        let needs = claims.flat_map(|claim| claim.check.needs(&Context::default()));
        needs.filter_map(|need| need.question()?.peer.key_env.clone()).collect()
    }
}

impl Case {
    /// Returns what must be observed at this moment so that every claim can be judged, in the order of the claims.
    pub fn needs(&self, moment: Moment, context: &Context) -> Vec<Need> {
        let needs = self.claims.iter().flat_map(|claim| claim.check.needs(context));
        merged(needs.filter(|need| need.moment() == moment))
    }

    /// Returns whether a claim decides that the act begins.
    pub fn has_preconditions(&self) -> bool {
        self.claims.iter().any(Claim::is_precondition)
    }

    /// Returns the same case at another place, as when a test is inserted above it.
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
