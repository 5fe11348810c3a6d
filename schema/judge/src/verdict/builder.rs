//! Builders of verdicts, shared by the claims of all formats.

use speclens_yaml::Pointer;

use super::{FailureCode, Mismatch, Outcome, Presence, Related, Verdict};

/// Maximum number of related locations of a verdict.
const MAX_RELATED: usize = 20;

/// A verdict without its outcome.
#[derive(Clone, Debug)]
pub struct VerdictBuilder {
    at: Pointer,
    kind: &'static str,
    label: String,
}

impl VerdictBuilder {
    /// Returns the builder for a part of a claim, under the tool's own name and label.
    pub fn new(at: Pointer, kind: &'static str, label: impl Into<String>) -> VerdictBuilder {
        VerdictBuilder { at, kind, label: label.into() }
    }

    /// Returns the same builder for another part of the claim.
    pub fn at(self, at: Pointer) -> VerdictBuilder {
        VerdictBuilder { at, ..self }
    }

    /// Returns the verdict with this outcome.
    pub fn verdict(self, outcome: Outcome) -> Verdict {
        let VerdictBuilder { at, kind, label } = self;
        Verdict { at, kind, label, code: None, score: None, outcome, related: Vec::new() }
    }

    /// Returns the verdict of a claim that holds.
    pub fn pass(self) -> Verdict {
        self.verdict(Outcome::Pass)
    }

    /// Returns the verdict of a claim that does not hold.
    pub fn fail(self, mismatch: Mismatch) -> Verdict {
        self.verdict(Outcome::Fail(mismatch))
    }

    /// Returns the verdict of a claim that something is in the evidence.
    pub fn found(self, found: Presence, mismatch: impl FnOnce() -> Mismatch) -> Verdict {
        match found {
            Presence::Yes => self.pass(),
            Presence::Unclear(reason) => self.unknown(reason),
            Presence::No => self.fail(mismatch()),
        }
    }

    /// Returns the verdict of a claim that lacks a necessary observation.
    pub fn unknown(self, reason: impl Into<String>) -> Verdict {
        self.verdict(Outcome::Unknown(reason.into()))
    }
}

impl Verdict {
    /// Returns the verdict of a claim as a whole.
    pub fn of(kind: &'static str, label: impl Into<String>, outcome: Outcome) -> Verdict {
        VerdictBuilder::new(Pointer::root(), kind, label).verdict(outcome)
    }

    /// Returns the verdict with the tool's failure code and score.
    pub fn rated(self, code: Option<FailureCode>, score: Option<f64>) -> Verdict {
        Verdict { code, score, ..self }
    }

    /// Returns the verdict with another outcome, without the code, score and related locations of the previous one.
    pub fn instead(self, outcome: Outcome) -> Verdict {
        Verdict { outcome, code: None, score: None, related: Vec::new(), ..self }
    }

    /// Returns the verdict, or unknown for this reason if a missing observation could change it.
    pub fn unless(self, uncertainty: Option<&str>) -> Verdict {
        match uncertainty {
            Some(reason) => self.instead(Outcome::Unknown(reason.to_owned())),
            None => self,
        }
    }

    /// Returns the verdict with the first few of these locations, if the claim does not hold.
    pub fn relating(mut self, related: impl IntoIterator<Item = Related>) -> Verdict {
        if self.outcome.mismatch().is_some() {
            self.related.extend(related.into_iter().take(MAX_RELATED));
        }
        self
    }
}
