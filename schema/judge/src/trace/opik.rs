//! Opik's REST API: requests and responses.

use std::collections::HashSet;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    assemble::{MAX_SPANS, shortened},
    conventions::DELEGATION,
    match_trace::Candidate,
};
use crate::{
    check::time,
    evidence::{Span, SpanKind, Tokens, Trace},
};

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct OpikTrace {
    pub id: String,
    /// The name; `None` if unknown.
    pub name: Option<String>,
    pub start_time: Option<String>,
    pub end_time: Option<String>,
    pub thread_id: Option<String>,
    pub tags: Option<Vec<String>>,
    pub metadata: Value,
    pub input: Value,
    pub output: Value,
    pub error_info: Value,
    /// US dollars in total.
    pub total_estimated_cost: Option<f64>,
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct OpikSpan {
    pub id: String,
    pub trace_id: String,
    pub parent_span_id: Option<String>,
    pub name: Option<String>,
    /// `llm`, `tool`, `general`, `guardrail`.
    pub r#type: Option<String>,
    pub start_time: Option<String>,
    pub end_time: Option<String>,
    /// Duration, in milliseconds.
    pub duration: Option<f64>,
    pub model: Option<String>,
    pub usage: Value,
    /// US dollars.
    pub total_estimated_cost: Option<f64>,
    pub metadata: Value,
    pub input: Value,
    pub output: Value,
    pub error_info: Value,
    pub error: Value,
}

#[derive(Clone, Copy, Debug)]
pub enum Search<'a> {
    Tag(&'a str),
    Metadata(&'a str, &'a str),
    Thread(&'a str),
    Input(&'a str),
    /// Traces that began between two times, ISO 8601.
    Window(&'a str, &'a str),
}

pub fn search_traces(project: Option<&str>, search: Search<'_>, limit: usize, after: Option<&str>) -> Value {
    let filter = |field: &str, operator: &str, key: &str, value: &str, kind: &str| json!({ "field": field, "operator": operator, "key": key, "value": value, "type": kind });
    let filters = match search {
        Search::Tag(tag) => vec![filter("tags", "contains", "", tag, "list")],
        Search::Metadata(key, value) => vec![filter("metadata", "=", key, value, "dictionary")],
        Search::Thread(id) => vec![filter("thread_id", "=", "", id, "string")],
        Search::Input(text) => vec![filter("input", "contains", "", text, "string")],
        Search::Window(from, to) => {
            vec![filter("start_time", ">=", "", from, "date_time"), filter("start_time", "<=", "", to, "date_time")]
        }
    };
    request(project, [("filters", Value::Array(filters))], limit, after)
}

pub fn search_spans(project: Option<&str>, trace: &str, limit: usize, after: Option<&str>) -> Value {
    request(project, [("trace_id", Value::from(trace)), ("filters", Value::Null)], limit, after)
}

fn request<const N: usize>(project: Option<&str>, own: [(&str, Value); N], limit: usize, after: Option<&str>) -> Value {
    let mut members = Map::new();
    if let Some(project) = project.filter(|project| !project.is_empty()) {
        members.insert("project_name".to_owned(), Value::from(project));
    }
    members.extend(own.map(|(key, value)| (key.to_owned(), value)));
    members.insert("limit".to_owned(), Value::from(limit));
    members.insert("last_retrieved_id".to_owned(), after.map_or(Value::Null, Value::from));
    members.insert("truncate".to_owned(), Value::Bool(true));
    Value::Object(members)
}

/// Reads a response: one object per line.
pub fn read<T: for<'de> Deserialize<'de>>(body: &str) -> Result<Vec<T>, String> {
    let lines = body.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(index, line)| {
            serde_json::from_str(line).map_err(|error| format!("line {} of the response: {error}", index + 1))
        })
        .collect()
}

fn us(text: Option<&String>) -> Option<i64> {
    time::parse(text?).and_then(|instant| instant.epoch_us(Some(0)))
}

pub fn assemble(trace: &OpikTrace, spans: &[OpikSpan]) -> Trace {
    let mut seen = HashSet::new();
    // Opik returns the youngest span first, also of those that began in the same instant.
    let spans = spans.iter().rev();
    let new = spans.filter(|span| span.id.is_empty() || seen.insert((&span.id, &span.name, &span.start_time)));
    let mut parts: Vec<Span> = new.map(part).collect();
    // A span without a time keeps its place after those that have one.
    parts.sort_by_key(|span| span.started_us.unwrap_or(i64::MAX));
    let cut = parts.len() > MAX_SPANS;
    parts.truncate(MAX_SPANS);
    Trace {
        started_us: us(trace.start_time.as_ref()),
        ended_us: us(trace.end_time.as_ref()),
        cost_usd: trace.total_estimated_cost.filter(|cost| *cost > 0.0),
        unfinished: us(trace.end_time.as_ref()).is_none(),
        cut,
        spans: parts,
        ..Trace::default()
    }
}

fn part(span: &OpikSpan) -> Span {
    let name = span.name.as_deref().unwrap_or_default();
    let kind = match span.r#type.as_deref().map(str::to_ascii_lowercase).as_deref() {
        Some("llm") => SpanKind::Llm,
        Some("tool") => SpanKind::Tool,
        // ClawSpec counts everything else as a tool, too.
        _ if hands_over(name, &span.metadata) => SpanKind::Subagent,
        _ => SpanKind::Tool,
    };
    let error = [&span.error_info, &span.error].into_iter().find_map(error_text);
    Span {
        id: span.id.clone(),
        parent: span.parent_span_id.clone().filter(|parent| !parent.is_empty()),
        kind,
        name: shortened(name, 1024),
        model: span.model.as_deref().filter(|model| !model.is_empty()).map(|model| shortened(model, 1024)),
        started_us: us(span.start_time.as_ref()),
        ended_us: us(span.end_time.as_ref()),
        duration_ms: span.duration,
        tokens: tokens(&span.usage),
        cost_usd: span.total_estimated_cost.or_else(|| number(&span.usage, &["cost", "total_cost"])),
        error: error.map(|error| shortened(&error, 4096)),
    }
}

fn hands_over(name: &str, metadata: &Value) -> bool {
    let name = name.to_lowercase();
    DELEGATION.iter().any(|key| metadata.get(key).is_some_and(|value| !value.is_null()))
        || ["subagent", "delegation", "spawn"].iter().any(|mark| name.contains(mark))
}

fn number(usage: &Value, keys: &[&str]) -> Option<f64> {
    keys.iter().find_map(|key| usage.get(key)?.as_f64())
}

fn tokens(usage: &Value) -> Option<Tokens> {
    let members = usage.as_object().filter(|members| !members.is_empty())?;
    let count = |keys: &[&str]| keys.iter().filter_map(|key| members.get(*key)?.as_u64()).max();
    let (input, output) = (count(&["prompt_tokens", "input_tokens"]), count(&["completion_tokens", "output_tokens"]));
    Tokens::of(input, output, count(&["total_tokens"]))
}

fn error_text(error: &Value) -> Option<String> {
    match error {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        Value::Object(members) if members.is_empty() => None,
        Value::Object(members) => {
            let text = |key: &str| members.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
            let message = text("message").or_else(|| text("exception_type"));
            Some(message.map_or_else(|| error.to_string(), str::to_owned))
        }
        Value::Bool(true) | Value::Number(_) | Value::Array(_) => Some(error.to_string()),
    }
}

const SESSIONS: [&str; 4] = ["sessionKey", "session_key", "sessionId", "session_id"];

impl OpikTrace {
    /// Returns the error that ended it.
    pub fn error(&self) -> Option<String> {
        error_text(&self.error_info)
    }

    fn says(&self, keys: &[&str], value: &str) -> bool {
        keys.iter().any(|key| self.metadata.get(key).and_then(Value::as_str) == Some(value))
    }
}

impl Candidate for OpikTrace {
    fn id(&self) -> String {
        self.id.clone()
    }

    fn has_mark(&self, mark: &str) -> bool {
        self.says(&[super::match_trace::ATTEMPT_ATTRIBUTE], mark)
    }

    fn names_run(&self, run: &str) -> bool {
        let tag = run_tag(run);
        self.tags.iter().flatten().any(|it| *it == tag || it == run)
            || self.says(&["runId", "run_id"], run)
            || !run.is_empty() && !self.input.is_null() && self.input.to_string().contains(run)
    }

    fn names_agent(&self, agent: &str) -> bool {
        self.name.as_ref().is_some_and(|name| name.contains(agent)) || self.says(&["agentId", "agent_id"], agent)
    }

    fn started_us(&self) -> Option<i64> {
        us(self.start_time.as_ref())
    }

    fn is_of_agent(&self) -> bool {
        true
    }

    fn sessions(&self) -> Vec<&str> {
        let named = SESSIONS.iter().filter_map(|key| self.metadata.get(key)?.as_str());
        self.thread_id.as_deref().into_iter().chain(named).collect()
    }
}
/// Returns the tag that ClawSpec gives to the trace of a run.
pub fn run_tag(run: &str) -> String {
    format!("clawspec:{run}")
}
