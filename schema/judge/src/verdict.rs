//! The verdicts of claims about evidence.

mod failure;
mod place;
mod row;

use serde::{Deserialize, Serialize};

use crate::{
    act::Act,
    codes::codes,
    evidence::{Context, Need},
};
use speclens_yaml::Pointer;

pub use failure::FailureCode;
pub use place::{FilePlace, LinePart, Related, RelatedPlace};
pub use row::{At, Judged, Part, Row};

/// A claim that can be judged: value in, value out. No I/O, no clock, no randomness.
pub trait Check: Send + Sync + std::fmt::Debug {
    /// Returns the observations that the claim needs beyond the act itself.
    fn needs(&self, _context: &Context) -> Vec<Need> {
        Vec::new()
    }

    /// Returns one verdict per result that the format's tool would report, in its order.
    fn check(&self, act: Act<'_>) -> Vec<Verdict>;

    /// Returns all texts in the claim that are compared with observations. A secret in them is masked in the verdicts.
    fn texts(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the minimum score, if a score decides.
    fn threshold(&self) -> Option<f64> {
        None
    }

    /// Returns the handoff that it judges as a whole, if that has a separate report.
    fn handover(&self) -> Option<&Handover> {
        None
    }
}

/// A handoff between two agents, with its contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    /// The agent that delegates.
    pub from: String,
    /// The agent that takes over.
    pub to: String,
    /// The path of the contract, relative to the root of the workspace.
    pub contract: String,
}

/// The verdict of a claim, or of a part of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The decisive part, relative to the claim.
    pub at: Pointer,
    /// The format's name for this kind of result, such as `tool_called`.
    pub kind: &'static str,
    /// The format's label, such as `Tool "a" called`.
    pub label: String,
    /// KindLM's failure code, such as `TOOL_CALL_MISSING`.
    pub code: Option<FailureCode>,
    /// The format's score, 0 to 1.
    pub score: Option<f64>,
    /// The outcome.
    pub outcome: Outcome,
    /// Related places.
    pub related: Vec<Related>,
}

/// The outcome of a claim.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// It holds.
    Pass,
    /// It does not hold.
    Fail(Mismatch),
    /// It does not hold, which the format makes a warning.
    Warn(Mismatch),
    /// It does not apply, for this reason.
    Skip(String),
    /// A necessary observation is missing, for this reason.
    Unknown(String),
    /// The claim itself has an error, for this reason.
    Error(String),
}

/// Expected and actual values.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mismatch {
    /// A summary in one sentence, with the facts of the tool's own message.
    pub message: String,
    /// The expected value.
    pub expected: String,
    /// The actual value, in full.
    pub actual: String,
    /// Explanations: the closest candidate, a difference, a place.
    pub notes: Vec<String>,
    /// Remedies, each an imperative.
    pub help: Vec<String>,
}

impl Mismatch {
    /// A mismatch without notes and help.
    pub fn new(message: impl Into<String>, expected: impl Into<String>, actual: impl Into<String>) -> Mismatch {
        Mismatch { message: message.into(), expected: expected.into(), actual: actual.into(), ..Mismatch::default() }
    }

    /// Adds explanations.
    #[must_use]
    pub fn notes(self, notes: impl IntoIterator<Item = String>) -> Mismatch {
        Mismatch { notes: self.notes.into_iter().chain(notes).collect(), ..self }
    }

    /// Adds remedies.
    #[must_use]
    pub fn help(self, help: impl IntoIterator<Item = impl Into<String>>) -> Mismatch {
        Mismatch { help: self.help.into_iter().chain(help.into_iter().map(Into::into)).collect(), ..self }
    }

    /// Returns the notes and then the help, each with its label.
    pub fn labelled(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let notes = self.notes.iter().map(|note| ("note", note.as_str()));
        notes.chain(self.help.iter().map(|help| ("help", help.as_str())))
    }
}

codes! {
    /// Status of a verdict, an attempt, a test or a suite, from best to worst.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
    #[serde(rename_all = "lowercase")]
    pub enum Status;

    /// The test or the assertion did not run: it is skipped, or does not apply.
    Skip = "skip";
    /// Every assertion holds.
    Pass = "pass";
    /// An assertion does not hold, and the format makes that a warning.
    Warn = "warn";
    /// The result cannot be decided, because what the assertion needs was not recorded. The message has the reason. It
    /// is neither a pass nor a failure; `speclens run` ends with exit status 3.
    Unknown = "unknown";
    /// An assertion does not hold.
    Fail = "fail";
    /// The run or an assertion ended with an error, so there is no result.
    Error = "error";
}

impl Verdict {
    /// Returns all its texts.
    pub fn texts(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.label];
        match &mut self.outcome {
            Outcome::Pass => {}
            Outcome::Fail(mismatch) | Outcome::Warn(mismatch) => {
                texts.extend([&mut mismatch.message, &mut mismatch.expected, &mut mismatch.actual]);
                texts.extend(mismatch.notes.iter_mut().chain(&mut mismatch.help));
            }
            Outcome::Skip(reason) | Outcome::Unknown(reason) | Outcome::Error(reason) => texts.push(reason),
        }
        texts.extend(self.related.iter_mut().flat_map(Related::texts));
        texts
    }
}

impl Outcome {
    /// Returns the outcome as a status.
    pub fn status(&self) -> Status {
        match self {
            Outcome::Pass => Status::Pass,
            Outcome::Fail(_) => Status::Fail,
            Outcome::Warn(_) => Status::Warn,
            Outcome::Skip(_) => Status::Skip,
            Outcome::Unknown(_) => Status::Unknown,
            Outcome::Error(_) => Status::Error,
        }
    }

    /// Returns the mismatch of a claim that does not hold.
    pub fn mismatch(&self) -> Option<&Mismatch> {
        match self {
            Outcome::Fail(mismatch) | Outcome::Warn(mismatch) => Some(mismatch),
            Outcome::Pass | Outcome::Skip(_) | Outcome::Unknown(_) | Outcome::Error(_) => None,
        }
    }

    /// Returns the message for the user; empty for a pass.
    pub fn message(&self) -> &str {
        match self {
            Outcome::Pass => "",
            Outcome::Fail(mismatch) | Outcome::Warn(mismatch) => &mismatch.message,
            Outcome::Skip(reason) | Outcome::Unknown(reason) | Outcome::Error(reason) => reason,
        }
    }
}
