//! The formats that are understood. A closed set: what differs between them is decided here.

pub mod clawspec;
pub mod cli_bench;
mod count;
pub mod kindlm;
mod lenient;
pub(crate) mod other_names;

pub use crate::document::ScalarRules;
pub use count::Count;
use serde::{Deserialize, Serialize};

use crate::{
    document::Pointer,
    evidence::{Concealed, Evidence, Usage},
    mask::Secrets,
    problem::Severity,
    suite::Subject,
    verdict::{Status, Verdict},
};

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
    /// Returns how bad it is that the program the format comes from rejects a file, or reads it differently: bad where only
    /// that program can run it, and worth a hint where speclens runs it.
    pub fn upstream_severity(self) -> Severity {
        match self {
            Dialect::KindLm => Severity::Hint,
            Dialect::CliBench | Dialect::ClawSpec => Severity::Warning,
        }
    }

    /// The format's name as reports write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Dialect::KindLm => "kindlm",
            Dialect::CliBench => "cli-bench",
            Dialect::ClawSpec => "clawspec",
        }
    }

    /// Returns the name of the program that the format comes from, as messages write it.
    pub fn program(self) -> &'static str {
        match self {
            Dialect::KindLm => "KindLM",
            Dialect::CliBench => "cli-bench",
            Dialect::ClawSpec => "ClawSpec",
        }
    }

    /// Returns the key that names a case.
    pub fn name_key(self) -> &'static str {
        match self {
            Dialect::KindLm | Dialect::ClawSpec => "name",
            Dialect::CliBench => "id",
        }
    }

    /// Puts stars in place of secrets, before anything is judged, recorded or shown. What is masked already stays so.
    pub fn mask(self, evidence: &mut Evidence, secrets: &Secrets) {
        if secrets.is_empty() {
            return;
        }
        evidence.mask_observed(secrets);
        if let Some(error) = &mut evidence.error {
            error.message = secrets.mask(&error.message);
        }
        let Some(ran) = &mut evidence.command else { return };
        for capture in std::iter::once(&mut ran.command).chain(&mut ran.stderr) {
            if let Some(masked) = secrets.mask_capture(capture) {
                *capture = masked;
            }
        }
        if let Some(stdout) = &mut ran.stdout
            && let Some(mut masked) = secrets.mask_capture(stdout)
        {
            let concealed = match self {
                Dialect::KindLm => kindlm::protocol::concealed(stdout, &masked),
                // Nothing is reported in the output.
                Dialect::CliBench | Dialect::ClawSpec => Concealed::Nothing,
            };
            masked.concealed = concealed.max(stdout.concealed);
            *stdout = masked;
        }
    }

    /// Reads what a run wrote by the format's protocol. Recordings hold only the raw streams, so this is done
    /// after a run, and again whenever a recording is read.
    pub fn interpret(self, evidence: &mut Evidence) {
        match self {
            Dialect::KindLm => evidence.output = evidence.stdout().map(kindlm::protocol::interpret),
            // Nothing is reported in the output.
            Dialect::CliBench | Dialect::ClawSpec => return,
        }
        // A command has no price: the format counts it as nothing.
        let ran = evidence.exit().is_some();
        if ran && evidence.usage.is_none() {
            evidence.usage = Some(Usage { cost_usd: Some(0.0), ..Usage::default() });
        }
    }

    /// Returns whether what a test leaves running in the background serves the tests that follow: a KindLM test may start the
    /// server that later tests talk to. Elsewhere each test starts from its own setup.
    pub fn keeps_background(self) -> bool {
        match self {
            Dialect::KindLm => true,
            Dialect::CliBench | Dialect::ClawSpec => false,
        }
    }

    /// How plain scalars are read.
    pub fn scalar_rules(self) -> ScalarRules {
        match self {
            Dialect::KindLm => ScalarRules::Yaml12,
            Dialect::CliBench => ScalarRules::Yaml12Merging,
            Dialect::ClawSpec => ScalarRules::Yaml11,
        }
    }
}

/// The conditions that a suite puts on its whole run.
#[derive(Clone, Debug)]
pub enum Gates {
    /// KindLM's `gates`.
    KindLm(Box<kindlm::Gates>),
    /// cli-bench's `thresholds`.
    CliBench(Box<cli_bench::Gates>),
    /// The format has none.
    None,
}

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
#[derive(Clone, Debug, PartialEq)]
pub struct GateReport {
    /// Every gate, in the format's order.
    pub gates: Vec<GateOutcome>,
    /// Whether gates written in the file allow the failed cases there are. Never set by a default.
    pub rescued: bool,
}

impl Gates {
    /// Judges a finished run.
    pub fn evaluate(&self, cases: &[CaseOutcome<'_>]) -> GateReport {
        match self {
            Gates::KindLm(gates) => gates.evaluate(cases),
            Gates::CliBench(gates) => gates.evaluate(cases),
            Gates::None => GateReport { gates: Vec::new(), rescued: false },
        }
    }

    /// Returns whether the gate over the attempts of a subject's model has an answer that no further attempt can change:
    /// `made` counts those that were made, of so many that are planned. `false` where no gate is only about them.
    pub fn is_decided(&self, subject: &Subject, made: Count, planned: usize) -> bool {
        match self {
            Gates::CliBench(gates) => subject.model_id().is_some_and(|model| gates.is_decided(model, made, planned)),
            // They measure averages, which any attempt moves.
            Gates::KindLm(_) | Gates::None => false,
        }
    }

    /// Returns whether such a gate exists.
    pub fn can_be_decided(&self, subject: &Subject) -> bool {
        match self {
            Gates::CliBench(gates) => subject.model_id().is_some_and(|model| gates.can_be_decided(model)),
            Gates::KindLm(_) | Gates::None => false,
        }
    }
}
