//! Phases in which the claims of a case are judged.

use std::fmt;

/// Phase of a claim, in formats with phases. Named as in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Preconditions of a scenario.
    Given,
    /// Assertions after a scenario.
    Then,
    /// Comparison of a scenario with its stored baseline.
    Regression,
    /// Assertions before the callee of a handoff works.
    PreDelegation,
    /// Assertions after the callee of a handoff has worked.
    PostDelegation,
    /// Files and handoffs of each stage of a pipeline.
    Stages,
    /// Deterministic assertions about the result of a pipeline.
    Deterministic,
    /// Assertions of a judge about the result of a pipeline.
    Semantic,
    /// Conditions on a whole pipeline.
    PipelineHealth,
}

impl Phase {
    /// Returns the key in the file, which is also the word in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Given => "given",
            Phase::Then => "then",
            Phase::Regression => "regression",
            Phase::PreDelegation => "pre_delegation",
            Phase::PostDelegation => "post_delegation",
            Phase::Stages => "stages",
            Phase::Deterministic => "deterministic",
            Phase::Semantic => "semantic",
            Phase::PipelineHealth => "pipeline_health",
        }
    }

    /// Whether the action does not start if a claim of this phase does not hold. If so, the claims of the other phases
    /// are skipped.
    pub fn is_precondition(self) -> bool {
        match self {
            Phase::Given => true,
            Phase::Then
            | Phase::Regression
            | Phase::PreDelegation
            | Phase::PostDelegation
            | Phase::Stages
            | Phase::Deterministic
            | Phase::Semantic
            | Phase::PipelineHealth => false,
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}
