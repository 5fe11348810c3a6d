//! What the assertions have in common as claims about a finished task.

use std::fmt::Debug;

use super::observed::After;
use crate::{
    evidence::{Context, Evidence, Need},
    verdict::{Check, Provisional, Verdict},
};

/// How an assertion is judged.
pub(super) trait Judged: Debug + Send + Sync {
    /// Results that are final only once the task has ended.
    const PROVISIONAL: Provisional = Provisional::Nothing;

    /// Returns the observations that it needs beyond the task itself.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// Judges the evidence, for the state after the commands that are before it in the list.
    fn judge(&self, evidence: &Evidence, after: &After) -> Verdict;

    /// Returns the texts that are compared with observations.
    fn texts(&self) -> Vec<String>;
}

/// An assertion, with its position in the list.
#[derive(Debug)]
pub(super) struct Claim<A> {
    pub(super) assertion: A,
    pub(super) after: After,
}

impl<A: Judged> Check for Claim<A> {
    fn needs(&self, _: &Context) -> Vec<Need> {
        self.assertion.needs()
    }

    fn check(&self, evidence: &Evidence) -> Vec<Verdict> {
        vec![self.assertion.judge(evidence, &self.after)]
    }

    fn provisional(&self) -> Provisional {
        A::PROVISIONAL
    }

    fn texts(&self) -> Vec<String> {
        self.assertion.texts()
    }
}
