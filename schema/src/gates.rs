//! Gates: conditions of a suite on its whole run.

use std::{fmt::Debug, sync::Arc};

use crate::{
    document::Pointer,
    suite::Subject,
    verdict::{Status, Verdict},
    words::plural,
};

/// Conditions of a suite on its whole run.
pub trait Gate: Debug + Send + Sync {
    fn evaluate(&self, cases: &[CaseOutcome<'_>]) -> GateReport;

    /// Whether no further attempt can change the result of the gate over the attempts of a subject's model. `made`
    /// counts the finished attempts, `planned` is the number of all. `false` if there is no such gate.
    fn is_decided(&self, _subject: &Subject, _made: Count, _planned: usize) -> bool {
        false
    }

    /// Whether there is such a gate.
    fn can_be_decided(&self, _subject: &Subject) -> bool {
        false
    }

    /// Returns the cost in US dollars after which no attempt begins.
    fn budget_usd(&self) -> Option<f64> {
        None
    }
}

/// Conditions of a suite on its whole run. Empty for formats without gates.
#[derive(Clone, Debug, Default)]
pub struct Gates(Option<Arc<dyn Gate>>);

/// Runs of one case by subject, as input for gates.
#[derive(Clone, Debug)]
pub struct CaseOutcome<'a> {
    /// Result of the case.
    pub status: Status,
    /// One entry per attempt.
    pub runs: Vec<RunOutcome<'a>>,
    /// Verdicts of an attempt without evidence: all are unknown.
    pub unjudged: Vec<Verdict>,
    /// Subject of each attempt that was skipped because it could not have changed the result of a gate.
    pub left_out: Vec<&'a Subject>,
}

/// One attempt, as input for gates.
#[derive(Clone, Debug)]
pub struct RunOutcome<'a> {
    pub subject: &'a Subject,
    pub status: Status,
    pub verdicts: Vec<&'a Verdict>,
    /// Duration in milliseconds.
    pub duration_ms: Option<f64>,
    /// Whether the attempt may have taken longer.
    pub duration_is_open: bool,
    /// Cost of the subject and of judges in US dollars; `None` if a part of it is not known.
    pub cost_usd: Option<f64>,
}

impl CaseOutcome<'_> {
    /// Returns the verdicts of an attempt. One without a result leaves every assertion open.
    pub(crate) fn verdicts<'c>(&'c self, run: &'c RunOutcome<'_>) -> impl Iterator<Item = &'c Verdict> {
        let unjudged = if run.is_broken() { &self.unjudged[..] } else { &[] };
        run.verdicts.iter().copied().chain(unjudged)
    }
}

impl RunOutcome<'_> {
    /// Whether the attempt has no result.
    pub(crate) fn is_broken(&self) -> bool {
        self.verdicts.is_empty() && matches!(self.status, Status::Error | Status::Unknown)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct GateOutcome {
    /// Name of the gate in the format.
    pub name: &'static str,
    /// Origin of the limit.
    pub source: GateSource,
    /// Pass or fail.
    pub status: Status,
    /// Limit of the gate.
    pub expected: f64,
    /// Measured value.
    pub actual: f64,
    /// Result in one sentence.
    pub message: String,
}

/// Origin of the limit of a gate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GateSource {
    /// The default of the format.
    Default,
    /// `speclens.yaml`.
    Settings,
    Suite(Pointer),
}

/// The limit of a gate, with its origin.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Limit {
    pub(crate) value: f64,
    pub(crate) source: GateSource,
}

impl GateSource {
    pub fn in_suite(&self) -> Option<&Pointer> {
        match self {
            GateSource::Suite(at) => Some(at),
            GateSource::Default | GateSource::Settings => None,
        }
    }

    /// Whether the author set the limit.
    pub fn is_set(&self) -> bool {
        match self {
            GateSource::Suite(_) | GateSource::Settings => true,
            GateSource::Default => false,
        }
    }
}

/// Results of the gates for a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateReport {
    /// All gates, in the order of the format.
    pub gates: Vec<GateOutcome>,
    /// Whether gates that the author set allow the failed cases. Never set by a default.
    pub rescued: bool,
}

impl Gates {
    pub fn of(gates: impl Gate + 'static) -> Gates {
        Gates(Some(Arc::new(gates)))
    }

    pub fn evaluate(&self, cases: &[CaseOutcome<'_>]) -> GateReport {
        self.0.as_ref().map(|gates| gates.evaluate(cases)).unwrap_or_default()
    }

    /// Whether no further attempt can change the result of the gate over the attempts of a subject's model. `made`
    /// counts the finished attempts, `planned` is the number of all. `false` if there is no such gate.
    pub fn is_decided(&self, subject: &Subject, made: Count, planned: usize) -> bool {
        self.0.as_ref().is_some_and(|gates| gates.is_decided(subject, made, planned))
    }

    /// Returns the cost in US dollars after which no attempt begins.
    pub fn budget_usd(&self) -> Option<f64> {
        self.0.as_ref()?.budget_usd()
    }

    /// Whether there is such a gate.
    pub fn can_be_decided(&self, subject: &Subject) -> bool {
        self.0.as_ref().is_some_and(|gates| gates.can_be_decided(subject))
    }
}

/// Number of attempts by result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub passed: usize,
    /// Attempts without a result.
    pub open: usize,
    pub failed: usize,
}

impl Count {
    /// Adds an attempt.
    pub fn add(&mut self, status: Status) {
        match status {
            Status::Pass | Status::Warn | Status::Skip => self.passed += 1,
            Status::Unknown | Status::Error => self.open += 1,
            Status::Fail => self.failed += 1,
        }
    }

    /// Returns the number of attempts without a result, as a phrase.
    pub(crate) fn open_attempts(self) -> String {
        format!("{} without a result", plural(self.open, "attempt"))
    }

    /// Returns the number of attempts.
    pub fn all(self) -> usize {
        self.passed + self.open + self.failed
    }
}

/// Returns `count` as a share of `all`; 0 if `all` is 0.
pub(crate) fn share(count: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { count as f64 / all as f64 }
}
