//! What the assertions have in common as claims about a finished task.

use std::fmt::Debug;

use serde::Serialize;

use super::observed::After;
use crate::{
    act::Act,
    evidence::{Context, Need},
    mask::texts_of,
    verdict::{Check, Judged, Verdict},
};

/// How an assertion is judged.
pub(super) trait AssertionType: Debug + Serialize + Send + Sync {
    /// The name of the assertion.
    const NAME: &'static str;

    /// Returns the label in reports.
    fn label(&self) -> String;

    /// Returns the observations that it needs beyond the task itself.
    fn needs(&self) -> Vec<Need> {
        Vec::new()
    }

    /// Judges the act, for the state after the commands that are before it in the list. `Err` is an early result,
    /// equivalent to `Ok`. Its place is relative to the value of the assertion.
    fn judge(&self, act: Act<'_>, after: &After) -> Judged;
}

/// An assertion, with its position in the list.
#[derive(Debug)]
pub(super) struct Claim<A> {
    pub(super) assertion: A,
    pub(super) after: After,
}

impl<A: AssertionType> Check for Claim<A> {
    fn needs(&self, _: &Context) -> Vec<Need> {
        self.assertion.needs()
    }

    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let (Ok(row) | Err(row)) = self.assertion.judge(act, &self.after);
        vec![row.within(A::NAME).named(A::NAME, self.assertion.label())]
    }

    fn texts(&self) -> Vec<String> {
        texts_of(&serde_json::to_value(&self.assertion).unwrap_or_default())
    }
}
