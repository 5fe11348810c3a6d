//! What one attempt left behind. Plain data: judging reads it, a recording is it.

mod observed;
mod workspace;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use observed::{Answer, CommandAnswer, CommandLog, Content, Need, Observation, PathState, RanCommand};
pub use workspace::{
    Address, FilesAnswer, FilesNeed, Moment, Presence, ResponseAnswer, ResponseNeed, ScoreAnswer, ScoreNeed, SeenFile,
    Span, SpanKind, TemplateValues, Tokens, Trace, TraceAnswer, VariablesNeed,
};

/// What was observed of one attempt. `None` means "not observed": a claim about it is
/// [`Outcome::Unknown`](crate::verdict::Outcome::Unknown), never a pass.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Evidence {
    /// The circumstances, frozen when the attempt began.
    pub context: Context,
    /// The command line after its templates were expanded.
    pub command: Option<String>,
    /// How the process ended.
    pub exit: Option<Exit>,
    /// Standard output as decoded, secrets masked.
    pub stdout: Option<Capture>,
    /// Standard error as decoded, secrets masked.
    pub stderr: Option<Capture>,
    /// What the standard output means by the protocol of the dialect. Derived, so not stored.
    #[serde(skip)]
    pub output: Option<Output>,
    /// The commands that an agent ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commands: Option<CommandLog>,
    /// What was observed on behalf of claims, in the order of the observations.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub observations: Vec<Observation>,
    /// From start to end.
    pub duration_ms: Option<f64>,
    /// Tokens and money.
    pub usage: Option<Usage>,
    /// Why the attempt broke, if it did. There are no verdicts then.
    pub error: Option<RunError>,
}

/// The circumstances of an attempt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Context {
    /// When the attempt began, RFC 3339.
    pub started: String,
    /// The run that the attempt belonged to.
    pub run_id: String,
    /// What the templates in claims stand for, where the format has such templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub templates: Option<TemplateValues>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exit {
    /// The exit status, when the process returned.
    pub code: Option<i32>,
    /// The signal, when one ended it.
    pub signal: Option<i32>,
}

/// A stream as far as it was kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capture {
    /// The text, invalid UTF-8 replaced by U+FFFD.
    pub text: String,
    /// Whether something was cut off at the end, because the stream was longer than the limit.
    pub cut: bool,
}

/// Standard output, read by the dialect's protocol.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Output {
    /// The text without protocol events, trimmed.
    pub text: String,
    /// The structured output, when one was reported.
    pub json: Option<Value>,
    /// The tool calls in order.
    pub tool_calls: Vec<ToolCall>,
    /// Whether the end is missing.
    pub cut: bool,
}

/// One call of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// The caller's id, or a generated one.
    pub id: String,
    /// The tool.
    pub name: String,
    /// What it was called with: an object or an array.
    pub arguments: Value,
}

/// Tokens and money.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens received.
    pub output_tokens: u64,
    /// US dollars; nothing when the price is not known.
    pub cost_usd: Option<f64>,
}

/// Why an attempt broke.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    /// What kind of accident.
    pub kind: RunErrorKind,
    /// What happened and what to do.
    pub message: String,
}

/// The kinds of accident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunErrorKind {
    /// The deadline passed.
    TimedOut,
    /// The process could not be started.
    Spawn,
    /// A template names a variable that has no value.
    MissingVariable,
    /// The run was cancelled.
    Cancelled,
    /// This version cannot perform the action.
    Unsupported,
}
