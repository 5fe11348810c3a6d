//! Logs of Inspect: one document with samples, each with its messages.

use std::collections::HashSet;

use serde_json::Value;

use super::{
    conversation::{Builder, Call, Conversation, Imported, Reply, Source, append, text, us},
    lines::Lines,
    unread::Unread,
};
use crate::evidence::{Ends, Usage};

/// The newest version of logs that is known.
const KNOWN_VERSION: u64 = 2;

pub(super) fn is_one(log: &Value) -> bool {
    log.get("eval").is_some_and(Value::is_object) && (log.get("samples").is_some() || log.get("status").is_some())
}

pub(super) fn read(lines: &Lines) -> Imported {
    let (mut unread, mut conversations, mut notes) = (Unread::default(), Vec::new(), Vec::new());
    for (_, log) in &lines.values {
        if !is_one(log) {
            unread.count("value", "unknown");
            continue;
        }
        let version = log["version"].as_u64().filter(|version| *version > KNOWN_VERSION);
        notes.extend(version.map(|version| {
            format!("Inspect's log has version {version}; the newest known version is {KNOWN_VERSION}")
        }));
        let model = text(&log["eval"], "model");
        let samples = log["samples"].as_array().into_iter().flatten();
        let is_over = matches!(text(log, "status"), None | Some("success" | "error"));
        conversations.extend(samples.map(|sample| conversation(sample, model, is_over)));
    }
    Imported { source: Source::Inspect, conversations, notes, unread }
}

fn conversation(sample: &Value, model: Option<&str>, is_over: bool) -> Conversation {
    let mut builder = Builder::default();
    let sample = &resolved(sample, &sample["attachments"], &mut builder);
    builder.at(text(sample, "started_at"));
    for message in sample["messages"].as_array().into_iter().flatten() {
        let role = text(message, "role");
        let (said, unread) = content(&message["content"]);
        let kind = match role {
            Some("assistant") => "part",
            Some("tool") => "result part",
            Some(_) | None => "input part",
        };
        unread.iter().for_each(|part| builder.unread(kind, part));
        match role {
            Some("system") => builder.system(&said),
            Some("user") => builder.user(&said, None),
            Some("assistant") => {
                let reply = builder.reply(text(message, "id"), None);
                reply.text = said;
                reply.model = text(message, "model").or(model).map(str::to_owned);
                message["tool_calls"].as_array().into_iter().flatten().for_each(|it| builder.call(call(it)));
            }
            Some("tool") => {
                let error = &message["error"];
                let reason = text(error, "message").unwrap_or_default();
                let id = text(message, "tool_call_id").unwrap_or_default();
                let Some(call) = builder.answered(id, None) else { continue };
                call.has_failed = !error.is_null();
                // A call that failed may have been refused.
                call.has_run = !call.has_failed;
                let said = if said.is_empty() { reason } else { &said };
                call.result = unread.is_empty().then(|| Value::from(said));
            }
            role => builder.unread("message", role.unwrap_or("unknown")),
        }
    }
    let mut graders = Graders::default();
    events(&sample["events"], &mut graders, &mut builder);
    let parts = ["scores", "store"].into_iter();
    let is_filled = |key: &&str| match &sample[*key] {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    parts.filter(is_filled).for_each(|key| builder.unread("sample part", key));
    let conversation = &mut builder.conversation;
    if let Some(reply) = conversation.replies.last_mut() {
        end(reply, &sample["output"]);
    }
    conversation.name = sample.get("id").map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
    let error = &sample["error"];
    conversation.error = (!error.is_null()).then(|| text(error, "message").unwrap_or("the sample failed").to_owned());
    conversation.duration_ms = sample["total_time"].as_f64().map(|seconds| seconds * 1000.0);
    // Those of other models are of graders.
    conversation.usage = model.and_then(|model| tokens(&sample["model_usage"][model]));
    // A sample in the log is over, unless a limit or an error ended it, or the evaluation was stopped.
    conversation.is_complete = is_over && sample["limit"].is_null() && error.is_null();
    builder.says_end = true;
    builder.count_unanswered();
    builder.finish()
}

/// Returns a value with the long texts, which are stored once.
fn resolved(value: &Value, attachments: &Value, builder: &mut Builder) -> Value {
    match value {
        Value::String(text) => match text.strip_prefix("attachment://") {
            Some(digest) if attachments[digest].is_string() => attachments[digest].clone(),
            Some(_) => {
                builder.unread("attachment", "");
                value.clone()
            }
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| resolved(item, attachments, builder)).collect(),
        Value::Object(members) => {
            members.iter().map(|(key, value)| (key.clone(), resolved(value, attachments, builder))).collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

/// Takes the end of a reply from an output.
fn end(reply: &mut Reply, output: &Value) {
    reply.end(&Ends::OPEN_AI, output.pointer("/choices/0/stop_reason"));
}

/// The part of a sample in which its answer is graded, whose requests are none of the agent's.
#[derive(Default)]
struct Graders<'e> {
    spans: HashSet<&'e str>,
    /// Whether a step of the older versions is one.
    is_in_step: bool,
}

impl<'e> Graders<'e> {
    /// Returns whether an event is of a grader.
    fn have(&mut self, event: &'e Value) -> bool {
        let is_grader = matches!(text(event, "type"), Some("scorer" | "scorers"));
        let of_span = |key: &str| text(event, key).is_some_and(|id| self.spans.contains(id));
        let is_inside = self.is_in_step || ["span_id", "parent_id"].into_iter().any(of_span);
        match text(event, "event") {
            Some("span_begin") if is_grader || is_inside => self.spans.extend(text(event, "id")),
            Some("step") if is_grader => self.is_in_step = text(event, "action") == Some("begin"),
            Some(_) | None => {}
        }
        is_inside
    }
}

/// Takes times and ends from events. One about a reply or a call that is not among the messages may be of another agent.
fn events<'e>(list: &'e Value, graders: &mut Graders<'e>, builder: &mut Builder) {
    for event in list.as_array().into_iter().flatten() {
        let kind = text(event, "event").unwrap_or("unknown");
        let is_known = match kind {
            "model" => is_of_reply(event, &mut builder.conversation),
            "tool" => is_of_call(event, &mut builder.conversation),
            _ => false,
        };
        let failed = kind == "model" && event["output"]["choices"].as_array().is_none_or(Vec::is_empty);
        match graders.have(event) {
            _ if is_known => {}
            true => builder.unread("event", "grader"),
            false if failed && !event["error"].is_null() => builder.unread("event", "failed request"),
            false => builder.unread("event", kind),
        }
        events(&event["events"], graders, builder);
    }
}

fn times(event: &Value) -> (Option<i64>, Option<i64>) {
    (text(event, "timestamp").and_then(us), text(event, "completed").and_then(us))
}

fn is_of_reply(event: &Value, conversation: &mut Conversation) -> bool {
    let output = &event["output"];
    let message = &output["choices"][0]["message"];
    let calls = || message["tool_calls"].as_array().into_iter().flatten().map(call).map(|call| call.id);
    let said = content(&message["content"]).0;
    let replies = &mut conversation.replies;
    let reply = match text(message, "id") {
        Some(id) if replies.iter().any(|reply| reply.id.is_some()) => {
            replies.iter_mut().find(|reply| reply.id.as_deref() == Some(id))
        }
        // Older versions have no ids.
        Some(_) | None => replies.iter_mut().find(|reply| {
            reply.started_us.is_none()
                && reply.text == said
                && reply.calls.iter().map(|call| call.id.clone()).eq(calls())
        }),
    };
    let Some(reply) = reply else { return false };
    (reply.started_us, reply.ended_us) = times(event);
    reply.usage = tokens(&output["usage"]);
    end(reply, output);
    true
}

fn is_of_call(event: &Value, conversation: &mut Conversation) -> bool {
    let mut calls = conversation.replies.iter_mut().flat_map(|reply| &mut reply.calls);
    let Some(call) = calls.find(|call| text(event, "id") == Some(&call.id)) else { return false };
    (call.started_us, call.ended_us) = times(event);
    true
}

/// Returns the text of a message, and the types of its other parts.
fn content(content: &Value) -> (String, Vec<String>) {
    let (mut all, mut others) = (content.as_str().unwrap_or_default().to_owned(), Vec::new());
    for part in content.as_array().into_iter().flatten() {
        match (text(part, "type"), text(part, "text")) {
            (Some("text"), Some(text)) => append(&mut all, text, "\n"),
            (kind, _) => others.push(kind.unwrap_or("unknown").to_owned()),
        }
    }
    (all, others)
}

fn call(call: &Value) -> Call {
    Call {
        id: text(call, "id").unwrap_or_default().to_owned(),
        name: text(call, "function").unwrap_or_default().to_owned(),
        arguments: call["arguments"].clone(),
        ..Call::default()
    }
}

fn tokens(usage: &Value) -> Option<Usage> {
    let count = |key: &str| usage[key].as_u64();
    let cached = ["input_tokens_cache_read", "input_tokens_cache_write"].into_iter().filter_map(count).sum::<u64>();
    Some(Usage {
        input_tokens: count("input_tokens")?.saturating_add(cached),
        output_tokens: count("output_tokens")?,
        cost_usd: usage["total_cost"].as_f64(),
    })
}
