//! Trace files: written by a collector, an SDK or Opik, as one JSON value or one per line.

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
                stored.take(value).map_err(|message| FileError { line: line(begins), message })?;
            }
        }
    }
    if stored.signals.spans.is_empty() && stored.traces.is_empty() && stored.spans.is_empty() {
        return Err(FileError { line: 1, message: "it contains no spans".to_owned() });
    }
    Ok(stored)
}

impl Stored {
    fn take(&mut self, value: Value) -> Result<(), String> {
        let Value::Object(members) = value else {
            let Value::Array(items) = value else { return Err(NO_TRACE.to_owned()) };
            return items.into_iter().try_for_each(|item| self.take(item));
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
        } else if has("trace_id") {
            self.spans.push(part(Value::Object(members))?);
        } else if has("spans") || has("traces") {
            for (key, value) in members {
                // `opik export` writes a file for each trace.
                let is_trace = key == "trace" && value.is_object();
                if is_trace || matches!(key.as_str(), "traces" | "spans") && value.is_array() {
                    self.take(value)?;
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
