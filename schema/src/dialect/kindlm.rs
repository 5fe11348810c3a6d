//! KindLM: `kindlm.yaml`.
//!
//! What a file may say stands in [`config`], from the whole down to its parts; [`expect`] holds the claims.

pub mod compliance;
pub mod config;
pub mod expect;
pub mod protocol;
pub mod providers;
pub mod test;
pub mod trace;

use super::{CaseOutcome, GateReport};

/// The conditions on a run.
#[derive(Clone, Debug, Default)]
pub struct Gates {}

impl Gates {
    /// Judges a finished run.
    pub fn evaluate(&self, _cases: &[CaseOutcome<'_>]) -> GateReport {
        GateReport { gates: Vec::new(), rescued: false }
    }
}
