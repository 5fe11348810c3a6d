//! Trace files: written by a collector, an SDK or Opik, as one JSON value or one per line.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Deserialize;
use serde_json::Value;

use super::{
    exported::Signals,
    opik::{OpikSpan, OpikTrace},
    otlp::{LogsRequest, MetricsRequest, TracesRequest},
};

#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// Data exported over OTLP.
    pub signals: Signals,
    pub traces: Vec<OpikTrace>,
    pub spans: Vec<OpikSpan>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The line, counted from 1.
    pub line: usize,
    pub message: String,
}

pub fn read_file(text: &str) -> Result<Stored, FileError> {
    let mut stored = Stored::default();
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    loop {
        let from = values.byte_offset();
        let line = |offset: usize| text[..offset.min(text.len())].matches('\n').count() + 1;
        match values.next() {
            None => break,
            Some(Err(error)) => {
                let message = format!("not valid JSON: {error}");
                return Err(FileError { line: error.line().max(1), message });
            }
            Some(Ok(value)) => {
                let begins = from + text[from..].len() - text[from..].trim_start().len();
                stored.add_value(value).map_err(|message| FileError { line: line(begins), message })?;
            }
        }
    }
    if stored.signals.spans.is_empty() && stored.traces.is_empty() && stored.spans.is_empty() {
        return Err(FileError { line: 1, message: "it contains no spans".to_owned() });
    }
    Ok(stored)
}

/// Returns whether a value of a file looks like an export, a trace or a span.
pub fn is_stored(value: &Value) -> bool {
    let has = |key: &str| value.get(key).is_some();
    ["resourceSpans", "resourceLogs", "resourceMetrics", "trace_id", "parent_span_id", "spans", "traces"]
        .into_iter()
        .any(has)
        || has("id") && has("start_time")
}

impl Stored {
    pub fn add(&mut self, other: Stored) {
        let Stored { signals, traces, spans } = other;
        self.signals.spans.extend(signals.spans);
        self.signals.unassigned += signals.unassigned;
        self.signals.logs.extend(signals.logs);
        self.signals.points.extend(signals.points);
        self.traces.extend(traces);
        self.spans.extend(spans);
    }

    /// Returns the traces of Opik, each with its spans. Spans of a trace that is not stored, or that name none, form
    /// one of their own, which has no end.
    pub fn of_opik(&self) -> (Vec<OpikTrace>, HashMap<&str, Vec<OpikSpan>>) {
        let mut spans: HashMap<&str, Vec<OpikSpan>> = HashMap::new();
        for span in &self.spans {
            spans.entry(&span.trace_id).or_default().push(span.clone());
        }
        let mut traces = self.traces.clone();
        let known: HashSet<&str> = self.traces.iter().map(|trace| trace.id.as_str()).collect();
        let others: BTreeMap<&str, &Vec<OpikSpan>> =
            spans.iter().filter(|(id, _)| !known.contains(*id)).map(|(id, spans)| (*id, spans)).collect();
        traces.extend(others.into_iter().map(|(id, spans)| {
            let start_time = spans.iter().filter_map(|span| span.start_time.clone()).min();
            OpikTrace { id: id.to_owned(), start_time, ..OpikTrace::default() }
        }));
        (traces, spans)
    }

    /// Adds a value of a file: an export, a trace or a span, or a list of them.
    pub fn add_value(&mut self, value: Value) -> Result<(), String> {
        let Value::Object(members) = value else {
            let Value::Array(items) = value else { return Err(NO_TRACE.to_owned()) };
            return items.into_iter().try_for_each(|item| self.add_value(item));
        };
        let has = |key: &str| members.contains_key(key);
        if has("resourceSpans") {
            let found = Signals::from(part::<TracesRequest>(Value::Object(members))?);
            self.signals.spans.extend(found.spans);
            self.signals.unassigned += found.unassigned;
        } else if has("resourceLogs") {
            self.signals.logs.extend(Signals::from(part::<LogsRequest>(Value::Object(members))?).logs);
        } else if has("resourceMetrics") {
            self.signals.points.extend(Signals::from(part::<MetricsRequest>(Value::Object(members))?).points);
        } else if ["trace_id", "parent_span_id", "type"].into_iter().any(has) {
            self.spans.push(part(Value::Object(members))?);
        } else if has("spans") || has("traces") {
            for (key, value) in members {
                // `opik export` writes a file for each trace.
                let is_trace = key == "trace" && value.is_object();
                if is_trace || matches!(key.as_str(), "traces" | "spans") && !value.is_null() {
                    self.add_value(value)?;
                }
            }
        } else if has("id") && has("start_time") {
            self.traces.push(part(Value::Object(members))?);
        } else {
            return Err(NO_TRACE.to_owned());
        }
        Ok(())
    }
}

const NO_TRACE: &str =
    "expected OTLP/JSON (`resourceSpans`, `resourceLogs` or `resourceMetrics`), or a trace or span of Opik";

fn part<T: for<'de> Deserialize<'de>>(value: Value) -> Result<T, String> {
    serde_json::from_value(value).map_err(|error| error.to_string())
}
