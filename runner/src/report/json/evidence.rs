//! What was observed, as the report has it.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use speclens_schema::{
    evidence::{Change, ChangedFile, Ended, Evidence, Exit, Ran, ToolCall, Turn, Usage},
    mask::{shown, shown_value},
};

/// The observation.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EvidenceEntry {
    /// The output without protocol events, trimmed; null when nothing ran.
    output_text: Option<String>,
    /// The structured output; absent when none was reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_json: Option<Value>,
    /// The tool calls in order.
    tool_calls: Vec<ToolCallEntry>,
    /// The commands that ran, in order: the test's own, or those of the agent.
    commands: Vec<CommandEntry>,
    /// The exit status of the test's own command; null when nothing ran, or TERM or KILL ended it. Another signal counts
    /// as 1, as KindLM has it.
    exit_code: Option<i32>,
    /// The signal that ended it; absent when it returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// Its standard output.
    stdout: Option<String>,
    /// Its standard error.
    stderr: Option<String>,
    /// What was said and called, in order; empty where no model acted.
    turns: Vec<TurnEntry>,
    /// The files that the act created, changed or removed, where the directory was its own.
    files: Vec<FileEntry>,
    /// The event that ended the act; null when it was not seen to end.
    stopped: Option<Ended>,
    /// Tokens and money.
    usage: Option<UsageEntry>,
}

/// A command that ran.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct CommandEntry {
    /// The text that went to the shell, placeholders filled.
    command: String,
    /// The exit status; null when it did not run, or TERM or KILL ended it. Another signal counts as 1, as KindLM has it.
    exit_code: Option<i32>,
    /// The signal that ended it; absent when it returned.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// Standard output; null when it was not observed.
    stdout: Option<String>,
    /// Standard error; null when it was not observed.
    stderr: Option<String>,
    /// From start to end; null when it was not observed.
    duration_ms: Option<f64>,
}

/// A file that the act created, changed or removed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct FileEntry {
    /// Its path from the directory of the act.
    path: String,
    /// What happened to it.
    change: Change,
    /// Its size in bytes; null when it is not there any more.
    size: Option<u64>,
    /// Its text; null when it is not a text, or too long.
    text: Option<String>,
}

/// One answer of a model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct TurnEntry {
    /// What it said.
    text: String,
    /// What it called, in order.
    tool_calls: Vec<ToolCallEntry>,
    /// Tokens and money; null when they were not reported.
    usage: Option<UsageEntry>,
    /// Time that the answer took; null when it was not observed.
    duration_ms: Option<f64>,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct ToolCallEntry {
    /// The caller's id, or a generated one.
    id: String,
    /// The tool.
    name: String,
    /// What it was called with.
    arguments: Value,
}

/// Tokens and money.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct UsageEntry {
    /// Input tokens.
    input_tokens: u64,
    /// Output tokens.
    output_tokens: u64,
    /// US dollars, when the price is known.
    cost_usd: Option<f64>,
}

impl EvidenceEntry {
    /// Returns the entry of evidence that was interpreted.
    pub fn of(evidence: &Evidence) -> EvidenceEntry {
        let output = evidence.output.as_ref();
        EvidenceEntry {
            output_text: output.map(|output| shown(&output.text).into_owned()),
            output_json: output.and_then(|output| output.json.as_ref().map(shown_value)),
            tool_calls: output.into_iter().flat_map(|output| &output.tool_calls).map(ToolCallEntry::of).collect(),
            commands: evidence.all_commands().map(CommandEntry::of).collect(),
            exit_code: evidence.exit().and_then(Exit::recorded_code),
            signal: evidence.exit().and_then(|exit| exit.signal),
            stdout: evidence.stdout().map(|capture| capture.text.clone()),
            stderr: evidence.stderr().map(|capture| capture.text.clone()),
            turns: evidence.turns.iter().map(TurnEntry::of).collect(),
            files: evidence.files.iter().flat_map(|log| &log.files).map(FileEntry::of).collect(),
            stopped: evidence.ended,
            usage: evidence.usage.map(UsageEntry::of),
        }
    }
}

impl CommandEntry {
    fn of(ran: &Ran) -> CommandEntry {
        CommandEntry {
            command: ran.command.text.clone(),
            exit_code: ran.exit.and_then(Exit::recorded_code),
            signal: ran.exit.and_then(|exit| exit.signal),
            stdout: ran.stdout.as_ref().map(|capture| capture.text.clone()),
            stderr: ran.stderr.as_ref().map(|capture| capture.text.clone()),
            duration_ms: ran.duration_ms,
        }
    }
}

impl FileEntry {
    fn of(file: &ChangedFile) -> FileEntry {
        FileEntry {
            path: file.path.clone(),
            change: file.change,
            size: file.size,
            text: file.text.as_ref().map(|text| text.text.clone()),
        }
    }
}

impl TurnEntry {
    fn of(turn: &Turn) -> TurnEntry {
        TurnEntry {
            text: turn.text.text.clone(),
            tool_calls: turn.calls.iter().map(ToolCallEntry::of).collect(),
            usage: turn.usage.map(UsageEntry::of),
            duration_ms: turn.duration_ms,
        }
    }
}

impl ToolCallEntry {
    fn of(call: &ToolCall) -> ToolCallEntry {
        ToolCallEntry {
            id: shown(&call.id).into_owned(),
            name: shown(&call.name).into_owned(),
            arguments: shown_value(&call.arguments),
        }
    }
}

impl UsageEntry {
    fn of(usage: Usage) -> UsageEntry {
        UsageEntry { input_tokens: usage.input_tokens, output_tokens: usage.output_tokens, cost_usd: usage.cost_usd }
    }
}
