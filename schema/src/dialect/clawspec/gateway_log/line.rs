//! One line of the gateway log.
//!
//! There are two formats: lines of `key=value` words, and the JSON lines of OpenClaw gateways. A JSON line contains the
//! logged values under numbers (`"0"` the part of the gateway, then fields, then the message), the level under
//! `_meta.logLevelName`, and the trace under `traceId`. A truncated line is read up to its end.

use std::fmt;

use serde::de::{Deserializer as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value};

/// Content of one line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Line {
    /// The run.
    pub run: Option<String>,
    /// Id of the session.
    pub session: Option<String>,
    /// Keys of the session: the gateway's, and the requested one.
    pub keys: Vec<String>,
    /// The trace.
    pub trace: Option<String>,
    /// Whether the session was created for this run only.
    pub has_own_session: bool,
    /// Whether the log contains tool calls, which a gateway logs only at level `debug`.
    pub is_detailed: bool,
    /// Whether the line is a warning or an error.
    pub is_warning: bool,
    /// Events of the line.
    pub events: Vec<Event>,
}

/// An event in a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// A tool was called.
    Call {
        /// Name of the tool.
        tool: String,
        /// Agent to start, for `sessions_spawn`.
        to_agent: Option<String>,
        /// Id of that agent's run.
        child_run: Option<String>,
    },
    /// An agent started to work.
    Session {
        /// Id of the agent.
        agent: String,
    },
    /// Tokens were used.
    Usage {
        /// Number of input tokens.
        input: u64,
        /// Number of output tokens.
        output: u64,
        /// Total number of tokens.
        total: u64,
    },
    /// Another program took over the run. Its tool calls are not in the log.
    OtherProgram,
    /// The run has ended.
    Done,
    /// Lines of unknown runs were dropped.
    Dropped,
}

/// Tool that starts a run of another agent.
pub const SPAWN: &str = "sessions_spawn";

impl Line {
    /// Reads a line. A line in any other format is empty.
    pub fn read(text: &str) -> Line {
        let mut line = Line::default();
        if text.trim_start().starts_with('{') {
            let logged = Logged::read(text);
            line.trace = logged.text("traceId");
            line.is_detailed = matches!(logged.level.as_deref(), Some("TRACE" | "DEBUG"));
            line.is_warning = matches!(logged.level.as_deref(), Some("WARN" | "ERROR" | "FATAL"));
            line.take_fields(&logged.fields);
            if logged.fields.contains_key("dropped") {
                line.events.push(Event::Dropped);
            }
            if let Some(message) = &logged.message {
                line.take_message(message);
            }
        } else {
            line.take_message(text.trim_end());
        }
        line
    }

    /// Returns the agent of a session that another agent started.
    pub(crate) fn delegate(&self) -> Option<(&str, &str)> {
        self.keys.iter().find_map(|key| Some((key.as_str(), delegate(key)?)))
    }

    fn take_fields(&mut self, fields: &Map<String, Value>) {
        let text = |name: &str| fields.get(name).and_then(Value::as_str).and_then(known).map(str::to_owned);
        self.run = text("runId");
        self.session = text("sessionId");
        self.keys.extend(["sessionKey", "logicalSessionKey"].into_iter().filter_map(text));
        self.has_own_session = fields.contains_key("logicalSessionKey");
    }

    fn take_message(&mut self, message: &str) {
        match value(message, "run_id=") {
            Some((run, rest)) => self.take_words(run, rest),
            None => self.take_sentence(message),
        }
    }

    /// Reads words: `run_id=… tool=… agent=…`, `run_id=… session_started agent=…`, `run_id=… token_usage input=…`.
    fn take_words(&mut self, run: &str, rest: &str) {
        self.run = Some(run.to_owned());
        self.is_detailed = true;
        if let Some((agent, _)) = value(rest, "session_started agent=") {
            self.events.push(Event::Session { agent: agent.to_owned() });
        }
        self.events.extend(usage(rest));
        self.events.extend(call(rest));
    }

    /// Reads a sentence of an OpenClaw gateway, such as `embedded run tool start: runId=… tool=… toolCallId=…`.
    fn take_sentence(&mut self, message: &str) {
        let named = |key: &str| value(message, key).and_then(|(text, _)| known(text)).map(str::to_owned);
        let ended = message.split_once("[agent] run ").and_then(|(_, rest)| rest.split_once(" ended with "));
        let run = named("runId=").or_else(|| ended.map(|(run, _)| run.to_owned()));
        self.run = self.run.take().or(run);
        self.session = self.session.take().or_else(|| named("sessionId="));
        if self.keys.is_empty() {
            self.keys.extend(named("sessionKey="));
        }
        let says = |text: &str| message.contains(text);
        if says("embedded run tool start") || says("embedded run start") {
            self.is_detailed = true;
        }
        if says("embedded run tool start")
            && let Some((tool, _)) = value(message, " tool=")
        {
            self.events.push(Event::Call { tool: tool.to_owned(), to_agent: None, child_run: None });
        }
        if says("embedded run through CLI backend") {
            self.events.push(Event::OtherProgram);
        }
        if says("embedded run done") || says("hook agent run completed") || ended.is_some() {
            self.events.push(Event::Done);
        }
    }
}

/// Returns the agent in the key of a session that another agent started: `agent:<agent>:subagent:…`.
fn delegate(key: &str) -> Option<&str> {
    let mut parts = key.splitn(4, ':');
    let (start, agent, kind) = (parts.next()?, parts.next()?, parts.next()?);
    (start == "agent" && matches!(kind, "subagent" | "acp")).then_some(agent)
}

/// Returns a value unless it is a placeholder.
fn known(text: &str) -> Option<&str> {
    (!matches!(text, "" | "unknown" | "undefined" | "null")).then_some(text)
}

/// Returns the word after a key, and the rest.
fn value<'t>(text: &'t str, key: &str) -> Option<(&'t str, &'t str)> {
    let start = text.find(key)? + key.len();
    let rest = &text[start..];
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    (end > 0).then(|| (&rest[..end], &rest[end..]))
}

/// Reads a tool call. Of several `tool=`, the last one with an `agent=` after it counts.
fn call(rest: &str) -> Option<Event> {
    let agent = rest.rfind("agent=")?;
    let start = rest[..agent].rfind("tool=")?;
    let (tool, _) = value(&rest[start..], "tool=")?;
    let (_, behind) = value(&rest[agent..], "agent=")?;
    let spawned = value(behind, "params.agentId=");
    let child_run = spawned.and_then(|(_, rest)| value(rest, "child_run_id="));
    Some(Event::Call {
        tool: tool.to_owned(),
        to_agent: spawned.map(|(agent, _)| agent.to_owned()),
        child_run: child_run.map(|(run, _)| run.to_owned()),
    })
}

fn usage(rest: &str) -> Option<Event> {
    let rest = &rest[rest.find("token_usage input=")? + "token_usage ".len()..];
    let mut words = rest.split(' ');
    let mut number = |key: &str| -> Option<u64> {
        let word = words.next()?.strip_prefix(key)?;
        let digits = word.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(word.len());
        word[..digits].parse().ok()
    };
    Some(Event::Usage { input: number("input=")?, output: number("output=")?, total: number("total=")? })
}

/// Content of a JSON line.
#[derive(Debug, Default)]
struct Logged {
    /// Fields that were logged next to the message, which take precedence, and those that the gateway always adds.
    fields: Map<String, Value>,
    message: Option<String>,
    level: Option<String>,
}

impl Logged {
    fn read(text: &str) -> Logged {
        let mut logged = Logged::default();
        // A truncated line causes an error at its end; everything before it has been read.
        let _ = serde_json::Deserializer::from_str(text).deserialize_map(&mut logged);
        logged
    }

    fn text(&self, name: &str) -> Option<String> {
        self.fields.get(name).and_then(Value::as_str).and_then(known).map(str::to_owned)
    }

    fn take(&mut self, name: &str, value: Value) {
        let is_logged = name.bytes().all(|byte| byte.is_ascii_digit());
        match value {
            // Names of the parts of the gateway are JSON too.
            Value::String(text) if is_logged && text.starts_with('{') => {}
            Value::String(text) if is_logged => self.message = Some(text),
            Value::Object(fields) if is_logged => self.fields.extend(fields),
            Value::Object(meta) if name == "_meta" => {
                self.level = meta.get("logLevelName").and_then(Value::as_str).map(str::to_owned);
            }
            Value::String(text) if matches!(name, "message" | "msg") => {
                self.message.get_or_insert(text);
            }
            value if FIELDS.contains(&name) => {
                self.fields.entry(name).or_insert(value);
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_) => {
            }
        }
    }
}

/// Fields to read that are not logged under a number.
const FIELDS: [&str; 5] = ["runId", "sessionId", "sessionKey", "traceId", "dropped"];

impl<'de> Visitor<'de> for &mut Logged {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a line of a log")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            let is_read = name.bytes().all(|byte| byte.is_ascii_digit())
                || matches!(name.as_str(), "_meta" | "message" | "msg")
                || FIELDS.contains(&name.as_str());
            if is_read {
                let value = members.next_value()?;
                self.take(&name, value);
            } else {
                members.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}
