//! The turns of an act, and the event that ended it.

use serde::{Deserialize, Serialize};

use super::{Capture, ToolCall, Usage};

/// One answer of a model, or of an agent that reports its answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// The text, with secrets masked.
    pub text: Capture,
    /// The tool calls, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Tokens and cost; `None` if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Duration of the answer; `None` if not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

/// Event that ended an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The process exited.
    Exit,
    /// The agent finished.
    Done,
    /// The gateway responded.
    Answer,
    /// The gateway log reported the end.
    Log,
    /// The outermost span of the trace ended.
    RootSpan,
    /// All assertions were satisfied.
    Satisfied,
    /// The agent reached the limit of turns.
    TurnLimit,
    /// The time limit was reached.
    Deadline,
}

impl Ended {
    /// Returns whether nothing more can happen: events that had not happened by then did not happen.
    pub fn is_final(self) -> bool {
        match self {
            Ended::Exit | Ended::Done | Ended::Answer | Ended::Log | Ended::RootSpan | Ended::TurnLimit => true,
            // It may continue; only the claims at that time do not depend on that.
            Ended::Satisfied | Ended::Deadline => false,
        }
    }
}
