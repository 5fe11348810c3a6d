//! Transcripts of Claude Code: one JSON value per line, and several lines per message.

use serde_json::Value;

use super::{
    conversation::{Builder, Call, Conversation, Imported, Outcome, Source, Unread, append, may_call, newer, text},
    lines::Lines,
};
use crate::evidence::Usage;

/// The newest major version whose transcripts are known.
const KNOWN_VERSION: u64 = 2;

pub(super) fn is_one(value: &Value) -> bool {
    let is_message = matches!(text(value, "type"), Some("user" | "assistant"));
    is_message && value.get("message").is_some_and(Value::is_object)
}

#[derive(Default)]
struct Reader {
    sessions: Vec<(String, Builder)>,
    unread: Unread,
    /// Ids of lines: a resumed session repeats those of the one before.
    seen: std::collections::HashSet<String>,
    newer: Option<String>,
}

pub(super) fn read(lines: &Lines) -> Imported {
    let mut reader = Reader::default();
    for (_, value) in &lines.values {
        reader.line(value);
    }
    let conversations: Vec<Conversation> = reader.sessions.into_iter().map(|(_, builder)| builder.finish()).collect();
    let notes = reader.newer.into_iter().chain(reader.unread.notes()).collect();
    Imported { source: Source::ClaudeCode, conversations, notes }
}

impl Reader {
    fn line(&mut self, value: &Value) {
        if self.newer.is_none() {
            self.newer = text(value, "version").and_then(|version| newer("Claude Code", version, KNOWN_VERSION));
        }
        let kind = text(value, "type").unwrap_or_default();
        let session = ["sessionId", "session_id"].iter().find_map(|key| text(value, key)).unwrap_or_default();
        let is_repeated = text(value, "uuid").is_some_and(|uuid| !self.seen.insert(uuid.to_owned()));
        let is = |key: &str| value.get(key).and_then(Value::as_bool) == Some(true);
        let is_of_other = is("isSidechain") || value.get("parent_tool_use_id").is_some_and(Value::is_string);
        match kind {
            _ if is_repeated => self.unread.count("repeated line", kind),
            "user" | "assistant" if is_of_other => {
                self.unread.count("sidechain line", kind);
                self.session(session).conversation.has_others = true;
            }
            "user" if is("isMeta") || is("isCompactSummary") => self.unread.count("added line", kind),
            "user" => self.user(session, value),
            "assistant" => self.assistant(session, value),
            // `claude --output-format stream-json` ends with one.
            "result" => {
                let builder = self.session(session);
                let usage = value.get("usage").and_then(usage);
                let cost_usd = value.get("total_cost_usd").and_then(Value::as_f64);
                builder.conversation.usage = usage.map(|usage| Usage { cost_usd, ..usage });
                builder.conversation.duration_ms = value.get("duration_ms").and_then(Value::as_f64);
            }
            other => self.unread.count("line", other),
        }
    }

    fn session(&mut self, id: &str) -> &mut Builder {
        let at = self.sessions.iter().position(|(known, _)| known == id).unwrap_or_else(|| {
            self.sessions.push((id.to_owned(), Builder::default()));
            self.sessions.len() - 1
        });
        &mut self.sessions[at].1
    }

    fn user(&mut self, session: &str, line: &Value) {
        let content = &line["message"]["content"];
        let mut parts: Vec<&Value> = content.as_array().into_iter().flatten().collect();
        if content.is_string() {
            parts.push(content);
        }
        let at = self.session(session).at(text(line, "timestamp"));
        for part in parts {
            let written = part.as_str().or_else(|| text(part, "text").filter(|_| text(part, "type") == Some("text")));
            match (written, text(part, "type")) {
                (Some(written), _) if is_of_program(written) => self.unread.count("added text", ""),
                (Some(written), _) => self.session(session).user(written, at),
                (None, Some("tool_result")) => self.result(session, line, part, at),
                (None, other) => self.unread.count("part", other.unwrap_or("unknown")),
            }
        }
    }

    fn result(&mut self, session: &str, line: &Value, part: &Value, at: Option<i64>) {
        let id = text(part, "tool_use_id").unwrap_or_default();
        let (content, unread) = joined(&part["content"]);
        unread.iter().for_each(|kind| self.unread.count("result part", kind));
        let has_failed = part["is_error"].as_bool() == Some(true);
        let Some(call) = self.session(session).answered(id, at) else {
            self.unread.count("unmatched result", "");
            return;
        };
        call.outcome = outcome(&line["toolUseResult"], &content, has_failed);
        (call.result, call.has_failed) = (Some(Value::from(content)), has_failed);
    }

    fn assistant(&mut self, session: &str, line: &Value) {
        let message = &line["message"];
        let builder = self.session(session);
        let at = builder.at(text(line, "timestamp"));
        if line["isApiErrorMessage"].as_bool() == Some(true) {
            builder.conversation.error = Some(joined(&message["content"]).0);
            return;
        }
        let reply = builder.reply(text(message, "id"), at);
        reply.model = text(message, "model").map(str::to_owned).or(reply.model.take());
        reply.usage = usage(&message["usage"]).or(reply.usage);
        let mut unread = Vec::new();
        for part in message["content"].as_array().into_iter().flatten() {
            match text(part, "type") {
                Some("text") => append(&mut reply.text, text(part, "text").unwrap_or_default(), "\n"),
                Some("tool_use") => reply.calls.push(Call {
                    id: text(part, "id").unwrap_or_default().to_owned(),
                    name: text(part, "name").unwrap_or_default().to_owned(),
                    arguments: part["input"].clone(),
                    started_us: at,
                    ..Call::default()
                }),
                other => {
                    let kind = other.unwrap_or("unknown");
                    reply.has_unread_calls |= may_call(kind);
                    unread.push(kind);
                }
            }
        }
        if let Some(whole) = message["content"].as_str() {
            append(&mut reply.text, whole, "\n");
        }
        unread.iter().for_each(|kind| self.unread.count("part", kind));
    }
}

/// Whether the program wrote a text in the name of the user: a command of its own, or a reminder.
fn is_of_program(text: &str) -> bool {
    const TAGS: [&str; 6] = [
        "<command-name>", "<command-message>", "<local-command-stdout>", "<local-command-caveat>", "<system-reminder>",
        "<bash-input>",
    ];
    TAGS.iter().any(|tag| text.trim_start().starts_with(tag))
}

/// Returns the texts of a content, and the types of its other parts.
fn joined(content: &Value) -> (String, Vec<String>) {
    let (mut all, mut others) = (content.as_str().unwrap_or_default().to_owned(), Vec::new());
    for part in content.as_array().into_iter().flatten() {
        match text(part, "text") {
            Some(text) => append(&mut all, text, "\n"),
            None => others.push(text(part, "type").unwrap_or("unknown").to_owned()),
        }
    }
    (all, others)
}

fn outcome(result: &Value, content: &str, has_failed: bool) -> Outcome {
    let stdout = text(result, "stdout").map(str::to_owned);
    let stderr = text(result, "stderr").map(str::to_owned);
    let is = |key: &str| result[key].as_bool() == Some(true);
    let is_open = is("interrupted") || result["backgroundTaskId"].is_string();
    let (exit_code, rest) = match content.strip_prefix("Exit code ") {
        Some(rest) if has_failed => {
            let (code, rest) = rest.split_once('\n').unwrap_or((rest, ""));
            (code.trim().parse().ok(), Some(rest.to_owned()))
        }
        Some(_) | None => (None, None),
    };
    // It says in words what another exit code than 0 means, if that is not an error.
    let is_explained = result["returnCodeInterpretation"].is_string();
    let is_known = !has_failed && !is_open && !is_explained && stdout.is_some();
    Outcome { stdout: stdout.or(rest), stderr, exit_code: exit_code.or(is_known.then_some(0)), is_open }
}

fn usage(usage: &Value) -> Option<Usage> {
    let count = |key: &str| usage[key].as_u64();
    let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"].into_iter().filter_map(count).sum::<u64>();
    let input_tokens = count("input_tokens")?.saturating_add(cached);
    Some(Usage { input_tokens, output_tokens: count("output_tokens")?, cost_usd: None })
}
