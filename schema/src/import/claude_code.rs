//! Transcripts of Claude Code: one JSON value per line, and several lines per message.

use std::collections::HashMap;

use serde_json::Value;

use super::{
    conversation::{Builder, Call, Conversation, Imported, Outcome, Source, append, newer, text},
    lines::Lines,
    unread::Unread,
};
use crate::evidence::{Ends, Usage};

/// The newest major version whose transcripts are known.
const KNOWN_VERSION: u64 = 2;

pub(super) fn is_one(value: &Value) -> bool {
    let is_message = matches!(text(value, "type"), Some("user" | "assistant"));
    is_message && value.get("message").is_some_and(Value::is_object)
}

#[derive(Default)]
struct Reader<'l> {
    sessions: Vec<(String, Builder)>,
    unread: Unread,
    /// The messages by the ids of their lines: a resumed session repeats those of the one before.
    seen: HashMap<&'l str, &'l Value>,
    newer: Option<String>,
}

pub(super) fn read(lines: &Lines) -> Imported {
    let mut reader = Reader::default();
    for (_, value) in &lines.values {
        reader.line(value);
    }
    let finish = |(_, mut builder): (String, Builder)| {
        builder.count_unanswered();
        builder.finish()
    };
    let conversations: Vec<Conversation> = reader.sessions.into_iter().map(finish).collect();
    let notes = reader.newer.into_iter().collect();
    Imported { source: Source::ClaudeCode, conversations, notes, unread: reader.unread }
}

impl<'l> Reader<'l> {
    fn line(&mut self, value: &'l Value) {
        if self.newer.is_none() {
            self.newer = text(value, "version").and_then(|version| newer("Claude Code", version, KNOWN_VERSION));
        }
        let kind = text(value, "type").unwrap_or_default();
        let id = ["sessionId", "session_id"].iter().find_map(|key| text(value, key));
        let session = id.unwrap_or_default();
        let before = text(value, "uuid").and_then(|uuid| self.seen.insert(uuid, &value["message"]));
        let is = |key: &str| value.get(key).and_then(Value::as_bool) == Some(true);
        let is_of_other = is("isSidechain") || value.get("parent_tool_use_id").is_some_and(Value::is_string);
        // A stream ends with a line about its result, and a transcript does not.
        if value.get("sessionId").is_none() && id.is_some() {
            self.session(session).says_end = true;
        }
        match kind {
            _ if before.is_some_and(|before| *before == value["message"]) => self.unread("repeated line", kind, id),
            "user" | "assistant" if is_of_other => {
                self.unread("sidechain line", kind, id);
                self.session(session).conversation.has_others = true;
            }
            "user" if (is("isMeta") || is("isCompactSummary")) && !has_result(value) => {
                self.unread("added line", kind, id)
            }
            "user" => self.user(session, value),
            "assistant" => self.assistant(session, value),
            "result" => self.end(session, value),
            other => self.unread("line", &detail(value, other), id),
        }
    }

    /// Counts a part of a session; of all of them, if it does not say of which.
    fn unread(&mut self, kind: &'static str, name: &str, session: Option<&str>) {
        let known = self.sessions.iter_mut().find(|(known, _)| Some(known.as_str()) == session);
        match known {
            Some((_, builder)) => builder.unread(kind, name),
            None => self.unread.count(kind, name),
        }
    }

    fn session(&mut self, id: &str) -> &mut Builder {
        let at = self.sessions.iter().position(|(known, _)| known == id).unwrap_or_else(|| {
            self.sessions.push((id.to_owned(), Builder::default()));
            self.sessions.len() - 1
        });
        &mut self.sessions[at].1
    }

    /// Reads the last line of `claude --output-format stream-json`.
    fn end(&mut self, session: &str, line: &Value) {
        let builder = self.session(session);
        let conversation = &mut builder.conversation;
        let usage = line.get("usage").and_then(usage);
        let cost_usd = line.get("total_cost_usd").and_then(Value::as_f64);
        conversation.usage = usage.map(|usage| Usage { cost_usd, ..usage });
        conversation.duration_ms = line.get("duration_ms").and_then(Value::as_f64);
        let subtype = text(line, "subtype").unwrap_or("success");
        if subtype != "success" || line["is_error"].as_bool() == Some(true) {
            let reason = text(line, "result").filter(|reason| !reason.is_empty()).unwrap_or(subtype);
            conversation.error = Some(format!("the session failed: {reason}"));
        }
        if let Some(reply) = conversation.replies.last_mut() {
            reply.end(&Ends::ANTHROPIC, line.get("stop_reason"));
        }
        builder.says_end = true;
        conversation.is_complete = conversation.is_answered();
    }

    fn user(&mut self, session: &str, line: &Value) {
        let content = &line["message"]["content"];
        let mut parts: Vec<&Value> = content.as_array().into_iter().flatten().collect();
        if content.is_string() {
            parts.push(content);
        }
        let builder = self.session(session);
        if !content.is_string() && !content.is_array() {
            builder.unread("message", "user");
        }
        let at = builder.at(text(line, "timestamp"));
        for part in parts {
            let written = part.as_str().or_else(|| text(part, "text").filter(|_| text(part, "type") == Some("text")));
            match (written, text(part, "type")) {
                (Some(written), _) if written.starts_with("[Request interrupted by user") => builder.interrupt(),
                (Some(written), _) if is_of_program(written) => builder.unread("added text", ""),
                (Some(written), _) => builder.user(written, at),
                (None, Some("tool_result")) => result(builder, line, part, at),
                (None, other) => builder.unread("input part", other.unwrap_or("unknown")),
            }
        }
    }

    fn assistant(&mut self, session: &str, line: &Value) {
        let message = &line["message"];
        let builder = self.session(session);
        let at = builder.at(text(line, "timestamp"));
        let has_failed = line["isApiErrorMessage"].as_bool() == Some(true) || line["error"].is_string();
        // The program writes these in the name of a model.
        if has_failed || text(message, "model") == Some("<synthetic>") {
            match has_failed {
                true => builder.conversation.error = Some(joined(&message["content"]).0),
                false => builder.unread("added line", "assistant"),
            }
            return;
        }
        let reply = builder.reply(text(message, "id"), at);
        reply.model = text(message, "model").map(str::to_owned).or(reply.model.take());
        reply.usage = usage(&message["usage"]).or(reply.usage);
        reply.end(&Ends::ANTHROPIC, message.get("stop_reason"));
        if let Some(whole) = message["content"].as_str() {
            append(&mut reply.text, whole, "\n");
        } else if !message["content"].is_array() {
            builder.unread("message", "assistant");
        }
        for part in message["content"].as_array().into_iter().flatten() {
            match (text(part, "type"), text(part, "text")) {
                (Some("text"), Some(said)) => builder.say(said),
                (Some("tool_use"), _) => builder.call(Call {
                    id: text(part, "id").unwrap_or_default().to_owned(),
                    name: text(part, "name").unwrap_or_default().to_owned(),
                    arguments: part["input"].clone(),
                    started_us: at,
                    ..Call::default()
                }),
                (kind, _) => builder.unread("part", kind.unwrap_or("unknown")),
            }
        }
    }
}

fn has_result(line: &Value) -> bool {
    let mut parts = line["message"]["content"].as_array().into_iter().flatten();
    parts.any(|part| text(part, "type") == Some("tool_result"))
}

/// Returns the type of a line, with that of what it is about.
fn detail(line: &Value, kind: &str) -> String {
    let detail = match kind {
        "system" => text(line, "subtype"),
        "progress" => text(&line["data"], "type"),
        // A text of the user that was sent while the model worked.
        "attachment" => text(&line["attachment"], "type").filter(|kind| *kind == "queued_command"),
        _ => None,
    };
    detail.map_or_else(|| kind.to_owned(), |detail| format!("{kind}/{detail}"))
}

fn result(builder: &mut Builder, line: &Value, part: &Value, at: Option<i64>) {
    let (content, unread) = joined(&part["content"]);
    unread.iter().for_each(|kind| builder.unread("result part", kind));
    let Some(call) = builder.answered(text(part, "tool_use_id").unwrap_or_default(), at) else { return };
    call.has_failed = part["is_error"].as_bool() == Some(true);
    let own = ["toolUseResult", "tool_use_result"].iter().find_map(|key| line.get(*key)).unwrap_or(&Value::Null);
    call.outcome = outcome(own, &content, call.has_failed);
    // The user, the settings or a hook may have refused a call that failed, and each says so in its own words.
    call.has_run = !call.has_failed || call.outcome.exit_code.is_some();
    call.result = unread.is_empty().then(|| Value::from(content));
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

/// Returns what is known of a command. The text that the model got does not say what is standard output.
fn outcome(result: &Value, content: &str, has_failed: bool) -> Outcome {
    let stdout = text(result, "stdout").map(str::to_owned);
    let stderr = text(result, "stderr").map(str::to_owned);
    let is = |key: &str| result[key].as_bool() == Some(true);
    let is_open = is("interrupted") || result["backgroundTaskId"].is_string();
    let is_shortened = |text: &String| text.contains(" truncated]");
    let is_cut = result["persistedOutputPath"].is_string()
        || content.trim_start().starts_with("<persisted-output>")
        || [&stdout, &stderr].into_iter().flatten().any(is_shortened);
    let exit_code = content.strip_prefix("Exit code ").filter(|_| has_failed);
    let exit_code = exit_code.and_then(|rest| rest.lines().next()?.trim().parse().ok());
    // It says in words what another exit code than 0 means, if that is not an error.
    let is_explained = result["returnCodeInterpretation"].is_string();
    let is_known = !has_failed && !is_open && !is_explained && stdout.is_some();
    Outcome { stdout, stderr, exit_code: exit_code.or(is_known.then_some(0)), is_open: is_open || is_cut }
}

fn usage(usage: &Value) -> Option<Usage> {
    let count = |key: &str| usage[key].as_u64();
    let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"].into_iter().filter_map(count).sum::<u64>();
    let input_tokens = count("input_tokens")?.saturating_add(cached);
    Some(Usage { input_tokens, output_tokens: count("output_tokens")?, cost_usd: None })
}
