//! The trace of an act: what it did step by step, as the acting program reported it to a trace backend.

use serde::{Deserialize, Serialize};

/// The trace of the act, as an observability backend tells it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceAnswer {
    /// It was found.
    Found(Trace),
    /// No backend is configured, or it has no trace of the act. One that does not answer is
    /// [`Answer::Nothing`](super::Answer::Nothing).
    Missing(String),
}

/// A trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Time when it began, in microseconds of the Unix epoch.
    pub started_us: Option<i64>,
    /// Time when it ended.
    pub ended_us: Option<i64>,
    /// Its parts.
    pub spans: Vec<Span>,
    /// US dollars of the whole, where the backend distinguishes it from the parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Whether some are missing, because there were more than are kept.
    pub cut: bool,
    /// Whether its outermost part was not seen to end, so more may have followed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    /// How it is known to be that of the act. `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<Joined>,
}

/// How a trace is known to be that of an act.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Joined {
    /// It carries the mark that the program was started with.
    Mark,
    /// A line of the gateway log about the run has its id.
    LoggedId,
    /// It carries the id of the run.
    RunId,
    /// It carries the session key, or the hash of it.
    Session,
    /// It began while the act went on, and no other did.
    Window,
}

/// A part of a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// Its id, unique in the trace. Empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The id of the part that it belongs to. `None`: it is outermost, or this is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// What it did.
    pub kind: SpanKind,
    /// Its name: of the tool, the model, the agent.
    pub name: String,
    /// The model, where the backend distinguishes it from the name.
    pub model: Option<String>,
    /// Time when it began, in microseconds of the Unix epoch.
    pub started_us: Option<i64>,
    /// Time when it ended.
    pub ended_us: Option<i64>,
    /// Time that it took, where the backend distinguishes it from its times.
    pub duration_ms: Option<f64>,
    /// Its tokens. `None` if unknown.
    pub tokens: Option<Tokens>,
    /// US dollars. `None` if unknown.
    pub cost_usd: Option<f64>,
    /// What went wrong in it.
    pub error: Option<String>,
}

/// What a part of a trace did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpanKind {
    /// It asked a model.
    Llm,
    /// It called a tool.
    #[default]
    Tool,
    /// It handed over to another agent.
    Subagent,
    /// It did something else: it holds other parts, or is work of the program itself.
    Other,
}

/// Tokens of one call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    /// Sent.
    pub input: u64,
    /// Received.
    pub output: u64,
    /// Both, as the backend counts.
    pub total: u64,
}
