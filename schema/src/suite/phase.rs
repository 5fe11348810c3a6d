//! The phases in which the claims of a case are judged.

use std::fmt;

/// The part of a case that a claim belongs to, in formats that have such parts. Named as the file names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// What must hold before a scenario is started.
    Given,
    /// What must hold after it.
    Then,
    /// How a scenario differs from its stored baseline.
    Regression,
    /// What must hold of a handoff before the callee works.
    PreDelegation,
    /// What must hold after that.
    PostDelegation,
    /// What each stage of a pipeline leaves, and how it hands over.
    Stages,
    /// What can be decided of a pipeline's result.
    Deterministic,
    /// What a judge says of it.
    Semantic,
    /// The health of a pipeline as a whole.
    PipelineHealth,
}

impl Phase {
    /// Returns the key in the file, and the word in reports.
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

    /// Whether the act does not begin where a claim of this phase does not hold. The claims of the other phases are
    /// skipped then.
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
