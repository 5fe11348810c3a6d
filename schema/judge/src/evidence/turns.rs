//! What was said and called in an act, and what ended it.

use serde::{Deserialize, Serialize};

use super::{Capture, ToolCall, Usage};

/// One answer of a model, or of an agent that reports its answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// What it said, secrets masked.
    pub text: Capture,
    /// What it called, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<ToolCall>,
    /// Tokens and money. `None`: not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Time that the answer took. `None`: not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

/// What ended an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The process returned.
    Exit,
    /// Who acted said that it was done.
    Done,
    /// The answer of the gateway said so.
    Answer,
    /// A line of the gateway log said so.
    Log,
    /// The outermost span of the trace ended.
    RootSpan,
    /// Everything that was claimed had happened.
    Satisfied,
    /// The limit of turns was reached.
    TurnLimit,
    /// The time that the format gives to the act was over.
    Deadline,
}

impl Ended {
    /// Whether nothing more can happen: what had not happened by then did not happen.
    pub fn is_final(self) -> bool {
        match self {
            Ended::Exit | Ended::Done | Ended::Answer | Ended::Log | Ended::RootSpan | Ended::TurnLimit => true,
            // It may go on; only what was claimed then does not depend on that.
            Ended::Satisfied | Ended::Deadline => false,
        }
    }
}
