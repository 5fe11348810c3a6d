//! Scripted gateways: files that simulate an OpenClaw gateway and its agents. A format of speclens;
//! such a file contains no tests.

mod kind;
mod lint;

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{
    document::Pointer,
    json_schema::SpecFile,
    script::{
        Line,
        read::{Places, read_valid},
    },
    template::{MissingValue, TemplateSyntax, Variable, expanded, trimmed_placeholders},
    words::{AgentName, Name, ScriptFile, ScriptText, ToolName},
};

/// Suffix of the names of such files.
pub const ENDING: &str = ".gateway.yaml";

/// A scripted gateway: `NAME.gateway.yaml`.
/// It simulates an OpenClaw gateway and its agents locally, without a network or an API key.
///
/// ```yaml
/// runs:
///   - when: { skill: /daily-brief }
///     agent: main
///     steps:
///       - tool: { name: memory.search, ms: 5 }
///       - model: { name: claude-sonnet-4-6, input_tokens: 900, output_tokens: 120, cost_usd: 0.004 }
///       - write: { path: "memory/drafts/{{today}}-brief.md", content: "# Hook\n" }
/// scores:
///   - { asked: Is it clear, score: 4 }
/// ```
///
/// `speclens.yaml` names it as `clawspec: { gateway: NAME.gateway.yaml }`. A run of ClawSpec scenarios starts it on a
/// free port and stops it afterwards. It replaces the gateway at `gateway_base_url` and the `openclaw` program: it
/// answers the webhook, `/health` and `/qa/judge`, writes the gateway log, and sends spans to the receiver of the run.
///
/// A script behaves the same in every run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GatewayScript {
    /// Scripted runs. The first one whose conditions hold is played.
    ///
    /// If no run matches, the webhook responds with status 422, and the `openclaw` program fails.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [[{ "when": { "skill": "/daily-brief" }, "steps": [] }]]))]
    pub runs: Vec<Run>,
    /// Response of `/health`. Defaults to status 200.
    pub health: Option<Health>,
    /// Answers of the judge at `/qa/judge`. The first one whose `asked` occurs in the question is used.
    ///
    /// If none matches, the response has status 404, and the result of the assertion is unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<Score>,
    /// Log of the gateway.
    pub log: Option<Log>,
    /// Whether each run sends its spans to the receiver of traces.
    #[schemars(extend("default" = true))]
    pub spans: Option<bool>,
}

/// A scripted run.
///
/// ```yaml
/// - when: { skill: /daily-brief, params: { topic: tea } }
///   steps:
///     - spawn: { agent: copywriter }
///     - wait_ms: 20
///     - write: { path: "memory/{{today}}.md", content: "# Tea\n" }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct Run {
    /// Conditions that start the run.
    pub when: When,
    /// Name of the agent in the log and the trace. Defaults to the agent of `when`, or else `main`.
    #[schemars(extend("default" = "main", "examples" = ["main"]))]
    pub agent: Option<AgentName>,
    /// Steps of the run, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Whether the run ends after its last step.
    ///
    /// With `true`, the end of the run is logged, and its outermost span ends. With `false`, the run never ends, and the
    /// `openclaw` program does not exit.
    #[schemars(extend("default" = true))]
    pub done: Option<bool>,
}

/// Conditions of a run: `skill` or `agent`, and optional further conditions.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("oneOf" = [{ "required": ["skill"] }, { "required": ["agent"] }]))]
pub struct When {
    /// Slash command of the webhook request, up to the first space.
    #[schemars(extend("examples" = ["/daily-brief"]))]
    pub skill: Option<Name>,
    /// Id of the agent that `openclaw agent`, or the step `spawn` of another run, starts.
    #[schemars(extend("examples" = ["copywriter"]))]
    pub agent: Option<AgentName>,
    /// String in the message of the request.
    #[schemars(extend("examples" = ["write about tea"]))]
    pub says: Option<Name>,
    /// Parameters that the request must have; it may have others.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schemars(extend("examples" = [{ "topic": "tea" }]))]
    pub params: Map<String, Value>,
}

/// A step of a run: a mapping with exactly one key.
///
/// `tool`, `model` and `spawn` write a log line and a span, like a real gateway. `log` writes only a log line, `span`
/// only a span.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("minProperties" = 1, "maxProperties" = 1, "x-claims" = true))]
pub struct Step {
    /// Responds to the caller of the run.
    ///
    /// Without this step, the webhook responds before the first step with status 200 and the id of the run, and the
    /// `openclaw` program responds after the last step.
    pub answer: Option<Reply>,
    /// Writes a file of the workspace. A file that exists is replaced.
    pub write: Option<Written>,
    /// Appends to a file of the workspace. A file that does not exist is created.
    pub append: Option<Written>,
    /// Calls a tool.
    pub tool: Option<ToolCall>,
    /// Asks a model.
    pub model: Option<ModelCall>,
    /// Delegates to another agent with the tool `sessions_spawn`, and waits until its run has ended.
    ///
    /// Script that agent as a separate run in this file, with `when: { agent: NAME }`.
    pub spawn: Option<Spawn>,
    /// Writes a line to the log, unchanged.
    #[schemars(extend("examples" = ["run_id={{run_id}} approved"]))]
    pub log: Option<ScriptText>,
    /// Sends a span.
    pub span: Option<SpanSent>,
    /// Waits for a number of milliseconds.
    #[schemars(range(min = 0, max = 3_600_000), extend("examples" = [20]))]
    pub wait_ms: Option<u64>,
}

/// A response to the caller of a run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Reply {
    /// Status of the webhook's response.
    ///
    /// The `openclaw` program exits with code 1 if the status is not from 200 to 299.
    #[schemars(range(min = 200, max = 599), extend("default" = 200, "examples" = [202]))]
    pub status: Option<u16>,
    /// Body, as JSON; a string is sent unchanged. By default, it contains the id of the run as `runId`.
    #[schemars(extend("x-template" = "gateway", "examples" = [{ "runId": "{{run_id}}", "status": "ok" }]))]
    pub body: Option<Value>,
}

/// A file of the workspace and its content.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct Written {
    /// Path relative to the root of the workspace, and inside it.
    #[schemars(extend("examples" = ["memory/drafts/{{today}}.md"]))]
    pub path: ScriptFile,
    /// Content to write.
    #[schemars(extend("x-template" = "gateway", "examples" = ["# Hook\n"]))]
    pub content: String,
}

/// A tool call.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// Name of the tool.
    #[schemars(extend("examples" = ["memory.search"]))]
    pub name: ToolName,
    /// Duration in milliseconds.
    #[schemars(range(min = 0, max = 3_600_000), extend("default" = 0, "examples" = [5]))]
    pub ms: Option<u64>,
    /// Error of its span. None by default.
    #[schemars(extend("examples" = ["not found"]))]
    pub error: Option<Name>,
}

/// A model call.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct ModelCall {
    /// Name of the model.
    #[schemars(extend("examples" = ["claude-sonnet-4-6"]))]
    pub name: Name,
    /// Input tokens.
    #[serde(default)]
    #[schemars(extend("examples" = [900]))]
    pub input_tokens: u64,
    /// Output tokens.
    #[serde(default)]
    #[schemars(extend("examples" = [120]))]
    pub output_tokens: u64,
    /// Cost in US dollars. Unknown by default.
    #[schemars(range(min = 0), extend("examples" = [0.004]))]
    pub cost_usd: Option<f64>,
    /// Duration in milliseconds.
    #[schemars(range(min = 0, max = 3_600_000), extend("default" = 0, "examples" = [5]))]
    pub ms: Option<u64>,
    /// Error of its span. None by default.
    #[schemars(extend("examples" = ["overloaded"]))]
    pub error: Option<Name>,
}

/// A handoff to another agent.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct Spawn {
    /// Agent that takes over.
    #[schemars(extend("examples" = ["copywriter"]))]
    pub agent: AgentName,
    /// Message to the agent.
    #[schemars(extend("examples" = ["write about tea"]))]
    pub task: Option<ScriptText>,
}

/// A span.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct SpanSent {
    /// Name of the span.
    #[schemars(extend("examples" = ["openclaw.context.assembled"]))]
    pub name: ScriptText,
    /// Attributes of the span, such as those of the OpenTelemetry semantic conventions.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(extend("x-template" = "gateway", "examples" = [{ "gen_ai.operation.name": "retrieval" }]))]
    pub attributes: Map<String, Value>,
    /// Duration in milliseconds.
    #[schemars(range(min = 0, max = 3_600_000), extend("default" = 0, "examples" = [5]))]
    pub ms: Option<u64>,
    /// Error of the span. None by default.
    #[schemars(extend("examples" = ["not found"]))]
    pub error: Option<Name>,
}

/// Response of `/health`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Health {
    /// Status of the response.
    #[schemars(range(min = 200, max = 599), extend("default" = 200, "examples" = [503]))]
    pub status: Option<u16>,
    /// Body of the response.
    #[schemars(extend("examples" = ["{\"ok\": true}"]))]
    pub body: Option<String>,
}

/// An answer of the judge.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
pub struct Score {
    /// String in the rubric or in the text to score. Without it, the score applies to every question.
    #[schemars(extend("examples" = ["Is it clear"]))]
    pub asked: Option<Name>,
    /// Score that the judge gives.
    #[schemars(extend("examples" = [4]))]
    pub score: f64,
    /// Reason for the score.
    #[schemars(extend("examples" = ["It names a date."]))]
    pub reasoning: Option<String>,
}

/// Log of the gateway.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Log {
    /// Path relative to the root of the workspace. It replaces `gateway_log_pattern` in a run.
    ///
    /// Defaults to `gateway_log_pattern` if that is a relative path, or else to
    /// `.speclens/gateway/openclaw-{{today}}.log`.
    #[schemars(extend("examples" = ["memory/logs/gateway-{{today}}.log"], "x-template-names" = ["today"]))]
    pub path: Option<ScriptFile>,
    /// Format of the log lines.
    #[schemars(extend("default" = "key-value", "x-synonyms" = ["form"]))]
    pub format: Option<LogForm>,
}

/// Format of the log lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogForm {
    /// Words of the form `key=value`, as read by ClawSpec: tools, sessions and tokens.
    #[default]
    #[serde(rename = "key-value")]
    #[schemars(extend("x-synonyms" = ["words"]))]
    Words,
    /// JSON lines, as written by OpenClaw: tools and the end of the run, with the trace id.
    Json,
    /// No log.
    None,
}

impl Log {
    /// Default of `path` if the log of the settings is not in the workspace.
    pub const PATH: &'static str = ".speclens/gateway/openclaw-{{today}}.log";
}

/// Action of a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum StepAction<'s> {
    /// [`Step::answer`].
    Answer(&'s Reply),
    /// [`Step::write`].
    Write(&'s Written),
    /// [`Step::append`].
    Append(&'s Written),
    /// [`Step::tool`].
    Tool(&'s ToolCall),
    /// [`Step::model`].
    Model(&'s ModelCall),
    /// [`Step::spawn`].
    Spawn(&'s Spawn),
    /// [`Step::log`].
    Log(&'s ScriptText),
    /// [`Step::span`].
    Span(&'s SpanSent),
    /// [`Step::wait_ms`].
    Wait(u64),
}

impl Step {
    /// Returns the action of the step. `None` for a step without a key.
    pub fn action(&self) -> Option<StepAction<'_>> {
        let Step { answer, write, append, tool, model, spawn, log, span, wait_ms } = self;
        answer
            .as_ref()
            .map(StepAction::Answer)
            .or(write.as_ref().map(StepAction::Write))
            .or(append.as_ref().map(StepAction::Append))
            .or(tool.as_ref().map(StepAction::Tool))
            .or(model.as_ref().map(StepAction::Model))
            .or(spawn.as_ref().map(StepAction::Spawn))
            .or(log.as_ref().map(StepAction::Log))
            .or(span.as_ref().map(StepAction::Span))
            .or(wait_ms.map(StepAction::Wait))
    }
}

/// Origin of a run.
#[derive(Clone, Copy, Debug)]
pub enum Started<'a> {
    /// The webhook, with a slash command.
    Skill {
        /// Command, with the text after it.
        command: &'a str,
    },
    /// The program `openclaw`, or another run.
    Agent {
        /// Id of the agent.
        id: &'a str,
    },
}

impl When {
    /// Whether the conditions hold.
    pub fn holds(&self, started: Started<'_>, message: &str, params: &Map<String, Value>) -> bool {
        let is_meant = match started {
            Started::Skill { command } => self.skill.as_ref().is_some_and(|skill| {
                let rest = command.trim().strip_prefix(skill.trim());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace))
            }),
            Started::Agent { id } => self.agent.as_ref().is_some_and(|agent| **agent == *id),
        };
        is_meant
            && self.says.as_ref().is_none_or(|text| message.contains(&**text))
            && self.params.iter().all(|(name, value)| params.get(name).is_some_and(|found| equals(value, found)))
    }
}

/// Whether two parameters are equal. Numbers are compared as doubles: a request writes 1 as `1` or `1.0`.
fn equals(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equals(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(name, value)| other.get(name).is_some_and(|found| equals(value, found)))
        }
        (
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_),
            _,
        ) => one == other,
    }
}

const FILES: &[&str] = &["gateway"];

/// All variables.
const VARIABLES: &[Variable] = &[
    Variable { name: "run_id", docs: "The id of the run.", files: FILES },
    Variable { name: "session_key", docs: "The session key of the run.", files: FILES },
    Variable { name: "today", docs: "The date in UTC, such as `2026-05-14`.", files: FILES },
    Variable { name: "now", docs: "The current time in UTC, such as `2026-05-14T12:00:00Z`.", files: FILES },
];

/// Syntax of the templates.
pub const SYNTAX: TemplateSyntax = TemplateSyntax {
    word: "gateway",
    texts: "Scripted gateways: all strings",
    docs: "Spaces around a name are ignored. An unknown name is an error.",
    allows_blanks: true,
    variables: VARIABLES,
    known_values: &[],
    missing_value: Some(MissingValue { note: "the script is not played", elsewhere: None }),
};

/// Expands the placeholders of a text. Those without a value are kept.
pub fn expand<'v>(text: &'v str, value_of: impl Fn(&str) -> Option<Cow<'v, str>>) -> String {
    expanded(text, &trimmed_placeholders(text), value_of)
}

/// A scripted gateway, ready to be played.
#[derive(Clone, Debug, PartialEq)]
pub struct Lines {
    /// A scripted run.
    pub runs: Vec<RunLines>,
    /// Response of `/health`.
    pub health: Health,
    /// Answers of the judge.
    pub scores: Vec<Score>,
    /// Path of the log, with unexpanded templates; `None` if the script does not set it.
    pub log: Option<String>,
    /// Format of the log lines.
    pub form: LogForm,
    /// Whether runs send spans.
    pub spans: bool,
}

/// A run, with the line numbers of its steps.
#[derive(Clone, Debug, PartialEq)]
pub struct RunLines {
    /// Line number of its start, from 1.
    pub number: usize,
    /// Conditions that start the run.
    pub when: When,
    /// Agent of the run.
    pub agent: String,
    /// Steps of the run, in order.
    pub steps: Vec<Line<Step>>,
    /// Whether the run ends.
    pub done: bool,
}

/// Parses a scripted gateway. The error contains the line of the first problem, and can follow the name of the file.
pub fn read(text: &str) -> Result<Lines, String> {
    let (script, places): (GatewayScript, Places) = read_valid(text, SpecFile::GATEWAY)?;
    let runs = Pointer::root().key("runs");
    let run = |(index, run): (usize, Run)| {
        let at = runs.index(index);
        let Run { when, agent, steps, done } = run;
        let agent = agent.or_else(|| when.agent.clone());
        RunLines {
            number: places.line_of(&at),
            agent: agent.map_or_else(|| "main".to_owned(), |agent| agent.0),
            when,
            steps: places.numbered(&at.key("steps"), steps),
            done: done.unwrap_or(true),
        }
    };
    let log = script.log.unwrap_or_default();
    Ok(Lines {
        runs: script.runs.into_iter().enumerate().map(run).collect(),
        health: script.health.unwrap_or_default(),
        scores: script.scores,
        log: log.path.map(|path| path.0),
        form: log.format.unwrap_or_default(),
        spans: script.spans.unwrap_or(true),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCRIPT: &str = "# a\nruns:\n  - when: {skill: /brief}\n    steps:\n      - tool: {name: a}\n      - wait_ms: 5\n  - when: {agent: copy}\n    done: false\nlog: {format: json}\n";

    #[test]
    fn runs_and_steps_have_their_lines() {
        for text in [SCRIPT.to_owned(), SCRIPT.replace('\n', "\r\n"), SCRIPT.replace("/brief", "'/brief'")] {
            let lines = read(&text).unwrap();
            assert_eq!(lines.runs.iter().map(|run| run.number).collect::<Vec<_>>(), [3, 7]);
            assert_eq!(lines.runs[0].steps.iter().map(|step| step.number).collect::<Vec<_>>(), [5, 6]);
            let agents: Vec<&str> = lines.runs.iter().map(|run| run.agent.as_str()).collect();
            assert_eq!(agents, ["main", "copy"]);
            assert_eq!(lines.runs.iter().map(|run| run.done).collect::<Vec<_>>(), [true, false]);
            assert_eq!((lines.form, lines.log, lines.spans), (LogForm::Json, None, true));
        }
    }

    #[test]
    fn a_gateway_with_an_error_is_refused_with_its_line() {
        for (text, expected) in [
            ("runs: 1\n", "line 1: "),
            ("runs:\n- when: {skill: /a}\n  steps:\n  - tool: {}\n", "line 4: "),
            ("runs:\n- when: {skill: /a}\n  steps:\n  - log: '{{to_day}}'\n", "line 4: "),
            ("runs:\n- when: {skill: /a}\n  steps:\n  - write: {path: ../a, content: b}\n", "line 4: "),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.starts_with(expected), "{text}{error}");
        }
        assert_eq!(read("").unwrap_err(), "line 1: the file is empty");
    }
}
