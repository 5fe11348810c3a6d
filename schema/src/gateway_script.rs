//! Scripted gateways: files that say what happens in place of an OpenClaw gateway and its agents. A format of our own;
//! nothing in such a file is a test.

mod kind;
mod lint;
mod read;
mod template;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::words::{AgentName, Name, ScriptFile, ScriptText, ToolName};

pub use read::{Lines, RunLines, read};
pub use template::{FILLING, expand};

/// How the names of such files end.
pub const ENDING: &str = ".gateway.yaml";

/// A scripted gateway: `NAME.gateway.yaml`. It plays an OpenClaw gateway and its agents on this machine, without a network
/// and without a key.
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
/// `speclens.yaml` names it as `clawspec: { gateway: NAME.gateway.yaml }`. A run of ClawSpec scenarios then starts it on a
/// free port and ends it. It takes the place of the gateway at `gateway_base_url` and of the program `openclaw`: it answers
/// the webhook, `/health` and `/qa/judge`, writes the gateway's log, and sends spans to the receiver of the run.
///
/// The same script does the same in every run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct GatewayScript {
    /// What happens when something is started. The first run whose conditions hold is played.
    ///
    /// Where none holds, the webhook answers with the status 422, and the program `openclaw` fails.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("examples" = [[{ "when": { "skill": "/daily-brief" }, "steps": [] }]]))]
    pub runs: Vec<Run>,
    /// The answer at `/health`. The status is 200 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// What the judge at `/qa/judge` answers. The first score counts whose `asked` occurs in the question.
    ///
    /// Where none does, the answer has the status 404, and the assertion is not decided.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scores: Vec<Score>,
    /// The log that the gateway writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<Log>,
    /// Whether each run sends its spans to the receiver of traces. `true` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub spans: Option<bool>,
}

/// What happens when something is started.
///
/// ```yaml
/// - when: { skill: /daily-brief, params: { topic: tea } }
///   steps:
///     - spawn: { agent: copywriter }
///     - wait_ms: 20
///     - write: { path: "memory/{{today}}.md", content: "# Tea\n" }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Run {
    /// What starts it.
    pub when: When,
    /// The agent that works, as the log and the trace name it. `main` when absent, or the agent of `when`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "main", "examples" = ["main"]))]
    pub agent: Option<AgentName>,
    /// What the run does, in this order. It does nothing when absent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    /// Whether the run ends after its last step. `true` when absent.
    ///
    /// At its end a line of the log says so, and its first span ends. With `false` it never ends, and the program `openclaw`
    /// does not return.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = true))]
    pub done: Option<bool>,
}

/// The conditions of a run: `skill` or `agent`, and what else must hold.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{ "required": ["skill"] }, { "required": ["agent"] }]))]
pub struct When {
    /// The slash command that the webhook is asked for. What follows it after a blank does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["/daily-brief"]))]
    pub skill: Option<Name>,
    /// The id of the agent that `openclaw agent` starts, or that the step `spawn` of another run starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["copywriter"]))]
    pub agent: Option<AgentName>,
    /// A text in the message that goes along.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["write about tea"]))]
    pub says: Option<Name>,
    /// Parameters that must go along with these values. Others may, too.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schemars(extend("examples" = [{ "topic": "tea" }]))]
    pub params: Map<String, Value>,
}

/// One thing that a run does: exactly one key.
///
/// `tool`, `model` and `spawn` write what a gateway writes of them: a line of the log, and a span. `log` and `span` write
/// only the one or the other.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
#[schemars(extend("minProperties" = 1, "maxProperties" = 1, "x-claims" = true))]
pub struct Step {
    /// Answers the one who started the run.
    ///
    /// Without this step the webhook is answered before the first step, with the status 200 and the id of the run, and the
    /// program `openclaw` answers after the last step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<Reply>,
    /// Writes a file of the workspace. A file that exists is replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Written>,
    /// Appends to a file of the workspace. A file that does not exist is created.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub append: Option<Written>,
    /// Calls a tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<ToolCall>,
    /// Asks a model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelCall>,
    /// Hands over to another agent with the tool `sessions_spawn`, and waits until its run has ended.
    ///
    /// What that agent does is a run of its own in this file, with `when: { agent: NAME }`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spawn: Option<Spawn>,
    /// Writes a line to the log, as it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["run_id={{run_id}} approved"]))]
    pub log: Option<ScriptText>,
    /// Sends a span.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span: Option<SpanSent>,
    /// Waits this number of milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 3_600_000), extend("examples" = [20]))]
    pub wait_ms: Option<u64>,
}

/// The answer to the one who started a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Reply {
    /// The status of the webhook's answer. 200 when absent.
    ///
    /// The program `openclaw` ends with exit code 1 where the status is not one of 200 to 299.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 200, max = 599), extend("default" = 200, "examples" = [202]))]
    pub status: Option<u16>,
    /// The body, as JSON; a text is sent as it is. It holds the id of the run as `runId` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-template" = "gateway", "examples" = [{ "runId": "{{run_id}}", "status": "ok" }]))]
    pub body: Option<Value>,
}

/// A file of the workspace, and what is written to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Written {
    /// The path, from the root of the workspace. It cannot lead out of it.
    #[schemars(extend("examples" = ["memory/drafts/{{today}}.md"]))]
    pub path: ScriptFile,
    /// What is written.
    #[schemars(extend("x-template" = "gateway", "examples" = ["# Hook\n"]))]
    pub content: String,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ToolCall {
    /// The name of the tool.
    #[schemars(extend("examples" = ["memory.search"]))]
    pub name: ToolName,
    /// How many milliseconds it takes. 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 3_600_000), extend("default" = 0, "examples" = [5]))]
    pub ms: Option<u64>,
    /// The error that its span ends with. None when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["not found"]))]
    pub error: Option<Name>,
}

/// A call of a model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ModelCall {
    /// The name of the model.
    #[schemars(extend("examples" = ["claude-sonnet-4-6"]))]
    pub name: Name,
    /// Tokens sent.
    #[serde(default)]
    #[schemars(extend("examples" = [900]))]
    pub input_tokens: u64,
    /// Tokens received.
    #[serde(default)]
    #[schemars(extend("examples" = [120]))]
    pub output_tokens: u64,
    /// The cost in US dollars. Not known when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0), extend("examples" = [0.004]))]
    pub cost_usd: Option<f64>,
    /// How many milliseconds it takes. 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 3_600_000), extend("default" = 0, "examples" = [5]))]
    pub ms: Option<u64>,
    /// The error that its span ends with. None when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["overloaded"]))]
    pub error: Option<Name>,
}

/// A handover to another agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Spawn {
    /// The agent that takes over.
    #[schemars(extend("examples" = ["copywriter"]))]
    pub agent: AgentName,
    /// The message to it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["write about tea"]))]
    pub task: Option<ScriptText>,
}

/// A span.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SpanSent {
    /// Its name.
    #[schemars(extend("examples" = ["openclaw.context.assembled"]))]
    pub name: ScriptText,
    /// Its attributes, such as those of the semantic conventions of OpenTelemetry.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    #[schemars(extend("x-template" = "gateway", "examples" = [{ "gen_ai.operation.name": "retrieval" }]))]
    pub attributes: Map<String, Value>,
    /// How many milliseconds it takes. 0 when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 3_600_000), extend("default" = 0, "examples" = [5]))]
    pub ms: Option<u64>,
    /// The error that it ends with. None when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["not found"]))]
    pub error: Option<Name>,
}

/// The answer at `/health`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Health {
    /// The status. 200 when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 200, max = 599), extend("default" = 200, "examples" = [503]))]
    pub status: Option<u16>,
    /// The body, as it is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["{\"ok\": true}"]))]
    pub body: Option<String>,
}

/// An answer of the judge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Score {
    /// A text in the rubric or in what is judged. The score is for every question when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["Is it clear"]))]
    pub asked: Option<Name>,
    /// The score.
    #[schemars(extend("examples" = [4]))]
    pub score: f64,
    /// Why the judge gives this score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["It names a date."]))]
    pub reasoning: Option<String>,
}

/// The log that the gateway writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Log {
    /// The file, from the root of the workspace. It takes the place of `gateway_log_pattern` in a run.
    ///
    /// When absent, it is that of `gateway_log_pattern` where this is a relative path, else
    /// `.speclens/gateway/openclaw-{{today}}.log`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["memory/logs/gateway-{{today}}.log"], "x-template-names" = ["today"]))]
    pub path: Option<ScriptFile>,
    /// How its lines are written. `words` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "words"))]
    pub form: Option<LogForm>,
}

/// How the lines of the log are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LogForm {
    /// Words of the form `key=value`, as the ClawSpec reference reads them: tools, sessions and tokens.
    #[default]
    Words,
    /// JSON lines, as OpenClaw writes them: tools and the end of the run, with the id of the trace.
    Json,
    /// There is no log.
    None,
}

impl Log {
    /// `path` when the key is absent, and the log of the settings is not in the workspace.
    pub const PATH: &'static str = ".speclens/gateway/openclaw-{{today}}.log";
}

/// One thing that a run does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Deed<'s> {
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
    /// Returns what the step does. `None` for a step without a key.
    pub fn deed(&self) -> Option<Deed<'_>> {
        let Step { answer, write, append, tool, model, spawn, log, span, wait_ms } = self;
        answer
            .as_ref()
            .map(Deed::Answer)
            .or(write.as_ref().map(Deed::Write))
            .or(append.as_ref().map(Deed::Append))
            .or(tool.as_ref().map(Deed::Tool))
            .or(model.as_ref().map(Deed::Model))
            .or(spawn.as_ref().map(Deed::Spawn))
            .or(log.as_ref().map(Deed::Log))
            .or(span.as_ref().map(Deed::Span))
            .or(wait_ms.map(Deed::Wait))
    }
}

/// What starts a run.
#[derive(Clone, Copy, Debug)]
pub enum Started<'a> {
    /// The webhook, with a slash command.
    Skill {
        /// The command, with what follows it.
        command: &'a str,
    },
    /// The program `openclaw`, or another run.
    Agent {
        /// The agent's id.
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
            && self.params.iter().all(|(name, value)| params.get(name) == Some(value))
    }
}
