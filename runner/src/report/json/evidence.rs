//! The evidence in the report.

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use speclens_schema::{
    evidence::{Change, ChangedFile, Ended, Evidence, Exit, Ran, ToolCall, Turn, Usage},
    mask::{shown, shown_value},
};

/// Evidence of an attempt.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct EvidenceEntry {
    /// Output without protocol events, trimmed; null if nothing ran.
    output_text: Option<String>,
    /// Structured output; absent if none was reported.
    #[serde(skip_serializing_if = "Option::is_none")]
    output_json: Option<Value>,
    /// Tool calls, in order.
    tool_calls: Vec<ToolCallEntry>,
    /// Commands that ran, in order: the test's own, or those of the agent.
    commands: Vec<CommandEntry>,
    /// Exit status of the test's own command; null if nothing ran, or if TERM or KILL ended it. Another signal counts
    /// as 1, as in KindLM.
    exit_code: Option<i32>,
    /// Signal that ended the command; absent if it exited on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// Standard output of the command.
    stdout: Option<String>,
    /// Standard error of the command.
    stderr: Option<String>,
    /// Replies of the model, in order; empty without a model.
    turns: Vec<TurnEntry>,
    /// Files that the attempt created, changed or removed, if it had its own directory.
    files: Vec<FileEntry>,
    /// Event that ended the attempt; null if no end was observed.
    stopped: Option<Ended>,
    /// Tokens and cost.
    usage: Option<Usage>,
}

/// A command that ran.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct CommandEntry {
    /// Text that the shell received, with template variables replaced.
    command: String,
    /// Exit status; null if it did not run, or if TERM or KILL ended it. Another signal counts as 1, as in KindLM.
    exit_code: Option<i32>,
    /// Signal that ended the command; absent if it exited on its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    /// Standard output; null if it was not observed.
    stdout: Option<String>,
    /// Standard error; null if it was not observed.
    stderr: Option<String>,
    /// Duration in milliseconds; null if it was not observed.
    duration_ms: Option<f64>,
}

/// A file that an attempt created, changed or removed.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct FileEntry {
    /// Path of the file, relative to the directory of the attempt.
    path: String,
    /// Change of the file.
    change: Change,
    /// Size in bytes; null if the file was removed.
    size: Option<u64>,
    /// Content of the file; null if it is not text, or too long.
    text: Option<String>,
}

/// A reply of the model.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct TurnEntry {
    /// Text of the reply.
    text: String,
    /// Tool calls in the reply, in order.
    tool_calls: Vec<ToolCallEntry>,
    /// Tokens and cost; null if they were not reported.
    usage: Option<Usage>,
    /// Duration in milliseconds; null if it was not observed.
    duration_ms: Option<f64>,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
struct ToolCallEntry {
    /// Id from the caller, or a generated one.
    id: String,
    /// Name of the tool.
    name: String,
    /// Arguments of the call.
    arguments: Value,
}

impl EvidenceEntry {
    /// Returns the entry of interpreted evidence.
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
            usage: evidence.usage,
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
            usage: turn.usage,
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
