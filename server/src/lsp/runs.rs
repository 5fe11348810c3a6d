//! Runs that the editor starts: from a lens, an action, or a command. A worker decides whether a run begins; it then
//! continues in the background, and its events come back as messages.

mod follower;
mod output;
mod plan;

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower_lsp_server::gen_lsp_types as lsp;

use crate::results::{Results, SuiteId};

pub(super) use follower::{Follower, Shown};
pub(super) use output::output;
pub(super) use plan::{Begun, End, NOT_OPEN, Operation, Plan, Refused, Wanted, decide, perform};

/// The runs that are requested or under way, by number.
#[derive(Default)]
pub(super) struct Runs {
    runs: BTreeMap<u32, Run>,
    last: u32,
}

/// A run that is requested or under way.
struct Run {
    cancel: CancellationToken,
    /// The document in which it was requested.
    uri: String,
    wanted: Wanted,
    /// `None` until it has begun.
    follower: Option<Follower>,
}

/// The runs to cancel. `None` does not restrict the choice.
#[derive(Clone, Debug, Default)]
pub(super) struct Chosen {
    pub run: Option<u64>,
    pub uri: Option<String>,
    pub test: Option<String>,
}

impl Runs {
    pub(super) fn request(&mut self, uri: &str, wanted: Wanted) -> u32 {
        self.last += 1;
        let run = Run { cancel: CancellationToken::new(), uri: uri.to_owned(), wanted, follower: None };
        self.runs.insert(self.last, run);
        self.last
    }

    /// Removes a run. Returns what followed it, if it had begun.
    pub(super) fn remove(&mut self, number: u32) -> Option<Follower> {
        self.runs.remove(&number)?.follower
    }

    /// Begins a requested run, without the tests that other runs are running; otherwise removes it.
    pub(super) fn begin(
        &mut self,
        number: u32,
        decided: Result<Plan, Refused>,
    ) -> Result<(Arc<Plan>, CancellationToken), Refused> {
        let Some(run) = self.runs.remove(&number).filter(|run| !run.cancel.is_cancelled()) else {
            return Err(Refused::Cancelled);
        };
        let mut plan = decided?;
        let is_whole = matches!(run.wanted, Wanted::File);
        let begun = || self.runs.values().filter_map(|other| Some((other, other.follower.as_ref()?)));
        let same = begun().any(|(other, _)| matches!(other.wanted, Wanted::File) && other.uri == run.uri);
        // Two runs of the same test would interfere.
        let is_free = |case: &usize| {
            let name = &plan.suite.cases[*case].name;
            !begun().any(|(_, follower)| follower.plan.id == plan.id && follower.left.contains_key(name))
        };
        plan.cases = plan.cases.iter().copied().filter(is_free).collect();
        if plan.cases.is_empty() || (is_whole && same) {
            let message = match &run.wanted {
                Wanted::Tests(names) if names.len() == 1 => {
                    format!("`{}` is already running; stop it to run it again", names[0])
                }
                Wanted::Tests(_) => "these tests are already running; stop them to run them again".to_owned(),
                Wanted::File => "the tests of this file are already running; stop them to run them again".to_owned(),
            };
            let refused = Refused::Because(lsp::MessageType::Info, message);
            return Err(refused.masked(plan.prepared.secrets()));
        }
        let (plan, cancel) = (Arc::new(plan), run.cancel.clone());
        self.runs.insert(number, Run { follower: Some(Follower::new(Arc::clone(&plan))), ..run });
        Ok((plan, cancel))
    }

    pub(super) fn follower(&mut self, number: u32) -> Option<&mut Follower> {
        self.runs.get_mut(&number)?.follower.as_mut()
    }

    pub(super) fn are_active(&self) -> bool {
        self.runs.values().any(|run| run.follower.is_some())
    }

    pub(super) fn results_of(&self, suite: &SuiteId) -> Option<Arc<Results>> {
        let mut begun = self.runs.values().filter_map(|run| run.follower.as_ref());
        begun.find(|follower| follower.plan.id == *suite).map(|follower| Arc::clone(&follower.plan.results))
    }

    /// Cancels runs under way, and those that are about to begin. Returns how many: those that end already do not count.
    /// `suite_of` is the suite of a document: all its files share the runs of a test.
    pub(super) fn cancel(&self, chosen: &Chosen, suite_of: impl Fn(&str) -> Option<SuiteId>) -> usize {
        let own = chosen.uri.as_deref().and_then(&suite_of);
        let is_chosen = |(number, run): &(&u32, &Run)| {
            let suite = || match &run.follower {
                Some(follower) => Some(follower.plan.id.clone()),
                None => suite_of(&run.uri),
            };
            let runs = |test: &String| match (&run.follower, &run.wanted) {
                (Some(follower), _) => follower.left.contains_key(test),
                (None, Wanted::Tests(names)) => names.contains(test),
                (None, Wanted::File) => true,
            };
            chosen.run.is_none_or(|chosen| chosen == u64::from(**number))
                && chosen.uri.as_ref().is_none_or(|uri| *uri == run.uri || (own.is_some() && own == suite()))
                && chosen.test.as_ref().is_none_or(runs)
        };
        let chosen = self.runs.iter().filter(is_chosen).map(|(_, run)| &run.cancel);
        chosen.filter(|cancel| !cancel.is_cancelled()).map(CancellationToken::cancel).count()
    }

    pub(super) fn cancel_by_token(&self, token: &lsp::ProgressToken) {
        if let Some((_, run)) = self.runs.iter().find(|(number, _)| progress_token(**number) == *token) {
            run.cancel.cancel();
        }
    }

    /// Returns the numbers of the runs of a suite, each with the names of its tests that have not ended.
    pub(super) fn of_suite(&self, suite: &SuiteId) -> Vec<(u32, Vec<String>)> {
        let begun = self.runs.iter().filter_map(|(number, run)| Some((*number, run.follower.as_ref()?)));
        let own = begun.filter(|(_, follower)| follower.plan.id == *suite);
        own.map(|(number, follower)| (number, follower.left.keys().cloned().collect())).collect()
    }

    pub(super) fn under_way(&self) -> Vec<Value> {
        let begun = self.runs.iter().filter_map(|(number, run)| Some((number, run, run.follower.as_ref()?)));
        let tests = |follower: &Follower| follower.left.keys().cloned().collect::<Vec<_>>();
        begun.map(|(number, run, it)| json!({ "run": number, "uri": run.uri, "tests": tests(it) })).collect()
    }
}

pub(super) fn progress_token(number: u32) -> lsp::ProgressToken {
    lsp::ProgressToken::String(format!("speclens/run/{number}"))
}
