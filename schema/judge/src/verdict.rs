//! The verdicts of claims about evidence.

mod place;
mod row;

use crate::{
    acceptable::{self, Acceptable, Amount, Limit},
    act::Act,
    check::text::Near,
    evidence::{Context, Need},
    seen::Why,
};
use speclens_yaml::Pointer;

pub use crate::codes::{FailureCode, Status};
pub use place::{FilePlace, LinePart, Related, RelatedPlace};
pub use row::{At, Judged, Part, Row};

/// A claim that can be judged: value in, value out. No I/O, no clock, no randomness.
pub trait Check: Send + Sync + std::fmt::Debug {
    fn needs(&self, _context: &Context) -> Vec<Need> {
        Vec::new()
    }

    /// Returns one verdict per result that the format's tool would report, in its order.
    fn check(&self, act: Act<'_>) -> Vec<Verdict>;

    /// Returns all texts in the claim that are compared with observations. A secret in them is masked in the verdicts.
    fn texts(&self) -> Vec<String> {
        Vec::new()
    }

    fn threshold(&self) -> Option<f64> {
        None
    }

    fn handover(&self) -> Option<&Handover> {
        None
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handover {
    pub from: String,
    pub to: String,
    /// The path of the contract, relative to the root of the workspace.
    pub contract: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// The decisive part, relative to the claim.
    pub at: Pointer,
    pub kind: &'static str,
    /// The format's label, such as `Tool "a" called`.
    pub label: String,
    /// KindLM's failure code, such as `TOOL_CALL_MISSING`.
    pub code: Option<FailureCode>,
    pub score: Option<f64>,
    pub outcome: Outcome,
    pub related: Vec<Related>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    Pass,
    Fail(Mismatch),
    Warn(Mismatch),
    Skip(String),
    Unknown(String),
    Error(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mismatch {
    pub message: String,
    pub expected: String,
    pub actual: String,
    /// Explanations: the closest candidate, a difference, a place.
    pub notes: Vec<String>,
    pub help: Vec<String>,
    /// The observed text that comes closest to a missing one.
    pub closest: Option<String>,
    /// The value that would hold at the decisive part: what was observed.
    pub acceptable: Option<Acceptable>,
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

    /// Adds the closest text and its note.
    #[must_use]
    pub fn near(self, near: Option<Near>) -> Mismatch {
        match near {
            Some(Near { text, note }) => Mismatch { closest: Some(text), ..self.notes([note]) },
            None => self,
        }
    }

    /// Adds the value that would hold in place of the expected one.
    #[must_use]
    pub fn accepting(self, observed: impl Into<Acceptable>) -> Mismatch {
        Mismatch { acceptable: Some(observed.into()), ..self }
    }

    /// Adds the limit that the observed number keeps.
    #[must_use]
    pub fn accepting_limit(self, side: Limit, seen: f64, amount: Amount) -> Mismatch {
        Mismatch { acceptable: acceptable::limit(side, seen, amount), ..self }
    }

    /// Adds the closest text as the one that would hold, unless it was cut.
    #[must_use]
    pub fn accepting_closest(self) -> Mismatch {
        match self.closest.clone().filter(|closest| !closest.ends_with('…')) {
            Some(closest) => self.accepting(closest.trim()),
            None => self,
        }
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

impl Verdict {
    pub fn texts(&mut self) -> Vec<&mut String> {
        let mut texts = vec![&mut self.label];
        match &mut self.outcome {
            Outcome::Pass => {}
            Outcome::Fail(mismatch) | Outcome::Warn(mismatch) => {
                texts.extend([&mut mismatch.message, &mut mismatch.expected, &mut mismatch.actual]);
                texts.extend(mismatch.notes.iter_mut().chain(&mut mismatch.help).chain(&mut mismatch.closest));
            }
            Outcome::Skip(reason) | Outcome::Unknown(reason) | Outcome::Error(reason) => texts.push(reason),
        }
        texts.extend(self.related.iter_mut().flat_map(Related::texts));
        texts
    }
}

impl Outcome {
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

impl From<Why> for Outcome {
    fn from(why: Why) -> Outcome {
        match why {
            Why::Unknown(reason) => Outcome::Unknown(reason),
            Why::Skip(reason) => Outcome::Skip(reason),
            Why::Error(reason) => Outcome::Error(reason),
        }
    }
}
