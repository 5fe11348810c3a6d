//! Assertion types: each is one Rust type that defines its fields, the evidence that it needs, and how it is judged.

mod artifacts;
mod behavioral;
mod golden;
mod log;
mod preconditions;
mod semantic;
mod state;
mod trace;
mod trace_limits;
mod trace_notes;
mod unsupported;

pub(crate) use artifacts::{ArtifactAbsentWords, ArtifactContains, ArtifactExists};
pub(crate) use behavioral::{DecisionRoutedTo, GatewayResponse, LogEntry};
pub(crate) use golden::ArtifactMatchesGolden;
pub(crate) use log::{DelegationOccurred, TokenBudget, ToolNotCalled, ToolNotPermitted, ToolWasCalled};
pub(crate) use log::{LogFigures, own_log_needs};
pub(crate) use preconditions::{EnvPresent, FileAbsent, FilePresent, GatewayHealthy};
pub(crate) use semantic::{AgentIdentityConsistent, LlmJudge};
pub(crate) use state::StateFile;
pub(crate) use trace::{DelegationPath, LlmCallCount, ModelUsed, NoSpanErrors, ToolNotInvoked, ToolSequence};
pub(crate) use trace_limits::cost_of;
pub(crate) use trace_limits::{PerSpanBudget, TraceCost, TraceDuration, TraceTokenBudget};
pub(crate) use unsupported::{EmailReceived, SlackMessageSent};

#[cfg(test)]
mod tests;
