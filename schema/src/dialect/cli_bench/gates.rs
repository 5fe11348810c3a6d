//! `thresholds`: the least pass rate of each model.

use crate::dialect::{CaseOutcome, GateReport};

/// The thresholds of one suite.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gates {}

impl Gates {
    /// Judges a finished run.
    pub fn evaluate(&self, _cases: &[CaseOutcome<'_>]) -> GateReport {
        GateReport { gates: Vec::new(), rescued: false }
    }
}
