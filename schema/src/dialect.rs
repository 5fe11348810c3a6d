//! The formats that are understood. A closed set: what differs between them is decided here.

pub mod clawspec;
pub mod cli_bench;
mod count;
pub(crate) mod format;
pub mod kindlm;
mod lenient;

pub use crate::document::ScalarRules;
pub use count::Count;
pub use format::Gate;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{
    document::Pointer,
    evidence::Evidence,
    mask::Secrets,
    suite::Subject,
    verdict::{Status, Verdict},
};

use format::Format;

/// A format of test specs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// KindLM: `kindlm.yaml`.
    KindLm,
    /// cli-bench: `cli-bench.yaml` and the task files that it names.
    #[serde(rename = "cli-bench")]
    CliBench,
    /// ClawSpec: scenarios, handoffs, pipelines, and what belongs to them.
    ClawSpec,
}

impl Dialect {
    pub(crate) fn format(self) -> &'static dyn Format {
        match self {
            Dialect::KindLm => &kindlm::KindLm,
            Dialect::CliBench => &cli_bench::CliBench,
            Dialect::ClawSpec => &clawspec::ClawSpec,
        }
    }

    /// The format's name as reports write it.
    pub fn as_str(self) -> &'static str {
        self.format().name()
    }

    /// Returns the name of the program that the format comes from, as messages write it.
    pub fn program(self) -> &'static str {
        self.format().program()
    }

    /// Returns the key that names a case.
    pub fn name_key(self) -> &'static str {
        self.format().name_key()
    }

    /// Puts stars in place of secrets, before anything is judged, recorded or shown. What is masked already stays so.
    pub fn mask(self, evidence: &mut Evidence, secrets: &Secrets) {
        evidence.mask(secrets, |written, masked| self.format().concealed(written, masked));
    }

    /// Reads what a run wrote by the format's protocol.
    /// Recordings hold only the raw streams, so this is done after a run, and again whenever a recording is read.
    pub fn interpret(self, evidence: &mut Evidence) {
        self.format().interpret(evidence);
    }

    /// Returns whether what a test leaves running in the background serves the tests that follow: a KindLM test may start the
    /// server that later tests talk to. Elsewhere each test starts from its own setup.
    pub fn keeps_background(self) -> bool {
        self.format().keeps_background()
    }

    /// How plain scalars are read.
    pub fn scalar_rules(self) -> ScalarRules {
        self.format().scalar_rules()
    }
}

/// The conditions that a suite puts on its whole run. A format that has none has no gates to evaluate.
#[derive(Clone, Debug, Default)]
pub struct Gates(Option<Arc<dyn Gate>>);

/// What gates look at: the runs of one case, by subject.
#[derive(Clone, Debug)]
pub struct CaseOutcome<'a> {
    /// The result of the case.
    pub status: Status,
    /// One entry per attempt.
    pub runs: Vec<RunOutcome<'a>>,
    /// One entry per attempt that was left out, because it could not have changed the answer of a gate.
    pub left_out: Vec<&'a Subject>,
}

/// One attempt, as gates look at it.
#[derive(Clone, Debug)]
pub struct RunOutcome<'a> {
    /// Who acted.
    pub subject: &'a Subject,
    /// The attempt's status.
    pub status: Status,
    /// The verdicts of all claims.
    pub verdicts: Vec<&'a Verdict>,
    /// From start to end.
    pub duration_ms: Option<f64>,
    /// Whether it may have taken longer than that.
    pub duration_is_open: bool,
    /// US dollars.
    pub cost_usd: Option<f64>,
}

/// The answer of one gate.
#[derive(Clone, Debug, PartialEq)]
pub struct GateOutcome {
    /// The gate's name in the format.
    pub name: &'static str,
    /// Where it is written; nothing when the format's default applies.
    pub at: Option<Pointer>,
    /// Pass or fail.
    pub status: Status,
    /// The limit.
    pub expected: f64,
    /// The measured value.
    pub actual: f64,
    /// The whole story in one sentence.
    pub message: String,
}

/// What the gates make of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GateReport {
    /// Every gate, in the format's order.
    pub gates: Vec<GateOutcome>,
    /// Whether gates written in the file allow the failed cases there are. Never set by a default.
    pub rescued: bool,
}

impl Gates {
    /// The gates of a format.
    pub fn of(gates: impl Gate + 'static) -> Gates {
        Gates(Some(Arc::new(gates)))
    }

    /// Judges a finished run.
    pub fn evaluate(&self, cases: &[CaseOutcome<'_>]) -> GateReport {
        self.0.as_ref().map(|gates| gates.evaluate(cases)).unwrap_or_default()
    }

    /// Returns whether the gate over the attempts of a subject's model has an answer that no further attempt can change:
    /// `made` counts those that were made, of so many that are planned. `false` where no gate is only about them.
    pub fn is_decided(&self, subject: &Subject, made: Count, planned: usize) -> bool {
        self.0.as_ref().is_some_and(|gates| gates.is_decided(subject, made, planned))
    }

    /// Returns whether such a gate exists.
    pub fn can_be_decided(&self, subject: &Subject) -> bool {
        self.0.as_ref().is_some_and(|gates| gates.can_be_decided(subject))
    }
}
