//! The types of assertions: each is one Rust type, with what it means, what it asks for, and how it is judged.

mod artifacts;
mod behavioral;
mod golden;
mod log;
mod preconditions;
mod semantic;
mod state;
mod trace;
mod trace_help;
mod trace_limits;
mod unsupported;

pub use artifacts::{ArtifactAbsentWords, ArtifactContains, ArtifactExists};
pub use behavioral::{DecisionRoutedTo, GatewayResponse, LogEntry};
pub use golden::ArtifactMatchesGolden;
pub use log::{DelegationOccurred, TokenBudget, ToolNotCalled, ToolNotPermitted, ToolWasCalled};
pub(crate) use log::{LogFigures, own_log_needs};
pub use preconditions::{EnvPresent, FileAbsent, FilePresent, GatewayHealthy};
pub use semantic::{AgentIdentityConsistent, Consistency, ConsistencyRuns, LlmJudge};
pub use state::StateFile;
pub use trace::{DelegationPath, LlmCallCount, ModelUsed, NoSpanErrors, SequenceMode, ToolNotInvoked, ToolSequence};
pub(crate) use trace_limits::cost_of;
pub use trace_limits::{PerSpanBudget, SpanType, TraceCost, TraceDuration, TraceTokenBudget};
pub use unsupported::{EmailReceived, SlackMessageSent};

#[cfg(test)]
mod tests;
