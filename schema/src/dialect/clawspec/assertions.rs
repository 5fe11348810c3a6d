//! Assertion types: each is one Rust type that defines its fields, the evidence that it needs, and how it is judged.

mod artifacts;
mod behavioral;
mod golden;
pub(crate) mod log;
mod preconditions;
mod semantic;
mod state;
mod trace;
pub(crate) mod trace_limits;
mod trace_notes;

pub(crate) use artifacts::{ArtifactAbsentWords, ArtifactContains, ArtifactExists};
pub(crate) use behavioral::{DecisionRoutedTo, GatewayResponse, LogEntry};
pub(crate) use golden::ArtifactMatchesGolden;
pub(crate) use log::{DelegationOccurred, TokenBudget, ToolNotCalled, ToolNotPermitted, ToolWasCalled};
pub(crate) use preconditions::{EnvPresent, FileAbsent, FilePresent, GatewayHealthy};
pub(crate) use semantic::{AgentIdentityConsistent, LlmJudge};
pub(crate) use state::StateFile;
pub(crate) use trace::{DelegationPath, LlmCallCount, ModelUsed, NoSpanErrors, ToolNotInvoked, ToolSequence};
pub(crate) use trace_limits::{PerSpanBudget, TraceCost, TraceDuration, TraceTokenBudget};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    dialect::clawspec::{claim::AssertionType, scoped_evidence::ScopedEvidence},
    verdict::{Judged, Row},
};

/// Declares a type that is never evaluated.
macro_rules! unsupported {
    ($(#[$doc:meta])* $variant:ident = $name:literal) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
        pub struct $variant {}

        impl AssertionType for $variant {
            const NAME: &'static str = $name;

            fn judge(&self, _seen: &ScopedEvidence<'_>) -> Judged {
                Err(Row::broken("", concat!("`", $name, "` cannot be evaluated: nothing defines what it checks")))
            }
        }
    };
}

unsupported! {
    /// A Slack message was sent. This type cannot be evaluated.
    ///
    /// ClawSpec accepts the type, but aborts every scenario that uses it.
    SlackMessageSent = "slack_message_sent"
}

unsupported! {
    /// An email was received. This type cannot be evaluated.
    ///
    /// ClawSpec accepts the type, but aborts every scenario that uses it.
    EmailReceived = "email_received"
}

#[cfg(test)]
mod tests;
