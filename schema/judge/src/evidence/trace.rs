//! The trace of an act: its steps, as the acting program reported them to a trace backend.

use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceAnswer {
    Found(Trace),
    /// No backend is configured. One that does not answer, or has no trace of the act, is
    /// [`Answer::Nothing`](super::Answer::Nothing).
    Missing(String),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Time when it began, in microseconds of the Unix epoch.
    pub started_us: Option<i64>,
    pub ended_us: Option<i64>,
    pub spans: Vec<Span>,
    /// US dollars in total, if the backend reports it separately from the parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Whether parts are missing: there were too many spans, or an export was refused, or another span names one as its
    /// parent, or the program left out attributes.
    pub cut: bool,
    /// Whether the end of its outermost span was not seen, so more may have followed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unfinished: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unseen_tools: bool,
    /// Number of other traces of agents' work that began during the act, and may be part of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unassigned: usize,
    /// Whether secrets are masked in names, which may be those that a claim is about.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub masked: bool,
    /// The way in which it was matched to the act; `None` if unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub joined: Option<TraceMatch>,
}

impl Trace {
    pub fn gap(&self) -> Option<&'static str> {
        if self.cut {
            return Some("parts of the trace were not recorded, and they could change the result");
        }
        if self.unfinished {
            return Some("the trace has not ended, and later spans could change the result");
        }
        if self.masked {
            return Some("a secret is masked in the trace, which could change the result");
        }
        (self.unassigned > 0).then_some("other traces of agents began during the run, and they could be a part of it")
    }
}

pub const UNSEEN_TOOLS: &str = "a model asked for tools, but the trace has no spans of tools";

fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TraceMatch {
    Mark,
    LoggedId,
    RunId,
    Session,
    Window,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Span {
    /// The id, unique in the trace; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The id of its parent; `None` if it is outermost, or this is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    pub kind: SpanKind,
    pub name: String,
    pub model: Option<String>,
    /// Start time, in microseconds since the Unix epoch.
    pub started_us: Option<i64>,
    pub ended_us: Option<i64>,
    pub duration_ms: Option<f64>,
    /// The tokens; `None` if unknown.
    pub tokens: Option<Tokens>,
    /// US dollars; `None` if unknown.
    pub cost_usd: Option<f64>,
    pub error: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SpanKind {
    Llm,
    #[default]
    Tool,
    Subagent,
    /// Anything else: it contains other spans, or is work of the program itself.
    Other,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tokens {
    pub input: u64,
    pub output: u64,
    pub total: u64,
}

impl Tokens {
    /// Returns the three numbers if two of them, or the two parts, are known.
    pub(crate) fn of(input: Option<u64>, output: Option<u64>, total: Option<u64>) -> Option<Tokens> {
        let rest = |part: Option<u64>| total?.checked_sub(part?);
        let (input, output) = (input.or_else(|| rest(output))?, output.or_else(|| rest(input))?);
        Some(Tokens { input, output, total: total.unwrap_or(input.saturating_add(output)) })
    }
}
