//! Rollouts of Codex: one JSON value per line, each in an envelope, or without one in the oldest versions.

use serde_json::{Value, json};

use super::{
    commands::command_of,
    conversation::{Builder, Call, Conversation, Imported, Outcome, Source, append, arguments, newer, text},
    lines::Lines,
    unread::Unread,
};
use crate::evidence::{Unfinished, Usage};

/// The newest major version whose rollouts are known.
const KNOWN_VERSION: u64 = 0;

const ENVELOPES: [&str; 5] = ["session_meta", "response_item", "event_msg", "turn_context", "compacted"];

pub(super) fn is_one(value: &Value) -> bool {
    let kind = text(value, "type").unwrap_or_default();
    let is_bare = match kind {
        "message" => value.get("role").is_some() && value["content"].is_array(),
        "function_call" | "function_call_output" | "local_shell_call" => value.get("call_id").is_some(),
        _ => false,
    };
    ENVELOPES.contains(&kind) && value.get("payload").is_some() || is_bare
}

#[derive(Default)]
struct Reader {
    done: Vec<Conversation>,
    builder: Builder,
    newer: Option<String>,
    model: Option<String>,
    /// Number of the current request to the model: what it answers is one reply.
    request: usize,
    is_asked: bool,
}

pub(super) fn read(lines: &Lines) -> Imported {
    let mut reader = Reader::default();
    for (_, value) in &lines.values {
        reader.line(value);
    }
    reader.end();
    Imported {
        source: Source::Codex,
        conversations: reader.done,
        notes: reader.newer.into_iter().collect(),
        unread: Unread::default(),
    }
}

impl Reader {
    fn line(&mut self, line: &Value) {
        let at = self.builder.at(text(line, "timestamp"));
        let payload = &line["payload"];
        match text(line, "type") {
            Some("session_meta") => self.session(payload),
            Some("response_item") => self.item(payload, at),
            Some("event_msg") => self.event(payload),
            Some("turn_context") if payload.is_object() => {
                self.model = text(payload, "model").map(str::to_owned).or(self.model.take());
            }
            Some("compacted") => self.builder.unread("line", "compacted"),
            // The first line of the oldest versions.
            None if line.get("id").is_some() && line.get("instructions").is_some() => self.session(line),
            Some(_) if is_one(line) || line.get("payload").is_none() => self.item(line, at),
            Some(other) => self.builder.unread("line", other),
            None => self.builder.unread("line", text(line, "record_type").unwrap_or("unknown")),
        }
    }

    fn session(&mut self, meta: &Value) {
        // A resumed session has its beginning again.
        if !self.builder.conversation.replies.is_empty() {
            self.end();
            self.is_asked = false;
        }
        let instructions = text(meta, "instructions").or_else(|| text(&meta["base_instructions"], "text"));
        if let Some(instructions) = instructions.filter(|text| !text.is_empty()) {
            self.builder.system(instructions);
        }
        self.newer = text(meta, "cli_version").and_then(|version| newer("Codex", version, KNOWN_VERSION));
    }

    fn end(&mut self) {
        let mut builder = std::mem::take(&mut self.builder);
        builder.count_unanswered();
        self.done.push(builder.finish());
    }

    fn item(&mut self, item: &Value, at: Option<i64>) {
        let kind = text(item, "type").unwrap_or("unknown");
        let id = text(item, "call_id").or_else(|| text(item, "id")).unwrap_or_default();
        match kind {
            "message" => self.message(item, at),
            "function_call" | "custom_tool_call" | "local_shell_call" => {
                let (name, arguments) = match kind {
                    "function_call" => (text(item, "name"), arguments(text(item, "arguments").unwrap_or_default())),
                    "custom_tool_call" => (text(item, "name"), json!({ "input": item["input"] })),
                    _ => (Some("local_shell"), json!({ "command": item["action"]["command"] })),
                };
                let name = name.unwrap_or_default().to_owned();
                self.reply(at);
                self.builder.call(Call { id: id.to_owned(), name, arguments, started_us: at, ..Call::default() });
            }
            "function_call_output" | "custom_tool_call_output" | "local_shell_call_output" => {
                self.is_asked = false;
                let (content, outcome, unread) = output(&item["output"]);
                unread.iter().for_each(|kind| self.builder.unread("result part", kind));
                let Some(call) = self.builder.answered(id, at) else { return };
                let is_refused = item["output"]["success"].as_bool() == Some(false);
                call.has_failed = outcome.exit_code.is_some_and(|code| code != 0) || is_refused;
                // A command that was refused has an answer, too, and it has no such lines.
                let is_shown = outcome.exit_code.is_some() || outcome.is_open;
                call.has_run = is_shown || !is_refused && command_of(call).is_none();
                (call.result, call.outcome) = (unread.is_empty().then(|| Value::from(content)), outcome);
            }
            other => self.builder.unread("item", other),
        }
    }

    /// Returns the reply to the current request.
    fn reply(&mut self, at: Option<i64>) -> &mut super::conversation::Reply {
        self.request += usize::from(!std::mem::replace(&mut self.is_asked, true));
        let reply = self.builder.reply(Some(&self.request.to_string()), at);
        reply.model = self.model.clone().or(reply.model.take());
        reply
    }

    fn message(&mut self, item: &Value, at: Option<i64>) {
        let mut said = String::new();
        let role = text(item, "role");
        let kind_of_part = if role == Some("assistant") { "part" } else { "input part" };
        if !item["content"].is_array() {
            self.builder.unread("message", "unknown");
        }
        for part in item["content"].as_array().into_iter().flatten() {
            match (text(part, "type"), text(part, "text")) {
                (Some("input_text" | "output_text" | "text"), Some(text)) => append(&mut said, text, "\n"),
                (kind, _) => self.builder.unread(kind_of_part, kind.unwrap_or("unknown")),
            }
        }
        match role {
            Some("assistant") => {
                let reply = self.reply(at);
                append(&mut reply.text, &said, "\n");
                if text(item, "status") == Some("incomplete") {
                    reply.unfinished = Some(Unfinished::CutOff);
                }
            }
            Some("user") if !is_context(&said) => {
                self.is_asked = false;
                self.builder.user(&said, at);
            }
            // What the program tells the model about its surroundings is the same as instructions.
            Some("user" | "developer" | "system") if self.builder.conversation.replies.is_empty() => {
                self.builder.system(&said);
            }
            role => self.builder.unread("message", role.unwrap_or("unknown")),
        }
    }

    fn event(&mut self, event: &Value) {
        match text(event, "type") {
            Some("token_count") => {
                let info = &event["info"];
                // Of the last request; the total includes earlier sessions.
                if let (Some(usage), Some(reply)) =
                    (usage(&info["last_token_usage"]), self.builder.conversation.replies.last_mut())
                {
                    reply.usage = Some(usage);
                }
            }
            Some("task_complete" | "turn_complete") => {
                self.builder.says_end = true;
                self.builder.conversation.is_complete = true;
            }
            Some("task_started" | "turn_started") => {
                (self.builder.conversation.is_complete, self.builder.says_end) = (false, true);
            }
            Some("error") => {
                self.builder.conversation.error = text(event, "message").map(str::to_owned);
            }
            Some("turn_aborted") => {
                self.builder.interrupt();
                (self.builder.conversation.is_complete, self.builder.says_end) = (false, true);
            }
            // These repeat items.
            Some("agent_message") => self.builder.repeats(text(event, "message").unwrap_or_default()),
            Some("user_message" | "agent_reasoning" | "agent_reasoning_raw_content") => {}
            Some(kind) if event["call_id"].is_string() => {
                self.builder.about(kind, text(event, "call_id").unwrap_or_default());
            }
            other => self.builder.unread("event", other.unwrap_or("unknown")),
        }
    }
}

/// Whether the program wrote a text in the name of the user.
fn is_context(text: &str) -> bool {
    const BEGINNINGS: [&str; 5] = [
        "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<INSTRUCTIONS>", "<turn_aborted>",
    ];
    BEGINNINGS.iter().any(|beginning| text.trim_start().starts_with(beginning))
}

fn usage(usage: &Value) -> Option<Usage> {
    let count = |key: &str| usage[key].as_u64();
    Some(Usage { input_tokens: count("input_tokens")?, output_tokens: count("output_tokens")?, cost_usd: None })
}

/// Returns the text that the model got, what it says of a command, and the types of parts that are no text. The end of a
/// command is in JSON with metadata, or in a few lines before the output, which mixes both streams.
fn output(output: &Value) -> (String, Outcome, Vec<String>) {
    let (mut content, mut unread) = (String::new(), Vec::new());
    let (whole, parts) = match output {
        Value::Object(members) => (members.get("content"), members.get("content_items")),
        Value::Array(_) | Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {
            (Some(output), Some(output))
        }
    };
    append(&mut content, whole.and_then(Value::as_str).unwrap_or_default(), "\n");
    for part in parts.and_then(Value::as_array).into_iter().flatten() {
        match text(part, "text") {
            Some(text) => append(&mut content, text, "\n"),
            None => unread.push(text(part, "type").unwrap_or("unknown").to_owned()),
        }
    }
    let code = |value: &Value| i32::try_from(value.as_i64()?).ok();
    let read = serde_json::from_str::<Value>(&content).unwrap_or_default();
    if let (Some(_), Some(metadata)) = (text(&read, "output"), read.get("metadata")) {
        return (content, Outcome { exit_code: code(&metadata["exit_code"]), ..Outcome::default() }, unread);
    }
    let Some((head, _)) = content.split_once("Output:\n").filter(|(head, _)| is_head(head)) else {
        return (content, Outcome::default(), unread);
    };
    let exit_code = head.lines().find_map(|line| {
        let code = ["Exit code: ", "Process exited with code "].iter().find_map(|start| line.strip_prefix(start))?;
        code.trim().parse().ok()
    });
    let outcome = Outcome { exit_code, is_open: head.contains("Process running"), ..Outcome::default() };
    (content, outcome, unread)
}

/// Whether lines are those before the output of a command.
fn is_head(head: &str) -> bool {
    const BEGINNINGS: [&str; 7] = [
        "Exit code: ", "Process exited", "Process running", "Wall time: ", "Chunk ID: ", "Total output lines: ",
        "Original token count: ",
    ];
    head.lines().all(|line| BEGINNINGS.iter().any(|beginning| line.starts_with(beginning)))
}
