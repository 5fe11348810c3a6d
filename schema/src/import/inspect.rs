//! Logs of Inspect: one document with samples, each with its messages.

use serde_json::{Map, Value};

use super::{
    conversation::{Builder, Call, Conversation, Imported, Source, Unread, append, text, us},
    lines::Lines,
};
use crate::evidence::Usage;

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
        conversations.extend(samples.map(|sample| conversation(sample, model, &mut unread)));
    }
    notes.extend(unread.notes());
    Imported { source: Source::Inspect, conversations, notes }
}

fn conversation(sample: &Value, model: Option<&str>, unread: &mut Unread) -> Conversation {
    let mut builder = Builder::default();
    builder.at(text(sample, "started_at"));
    let nothing = Map::new();
    let attachments = sample["attachments"].as_object().unwrap_or(&nothing);
    for message in sample["messages"].as_array().into_iter().flatten() {
        let said = content(&message["content"], attachments, unread);
        match text(message, "role") {
            Some("system") => builder.system(&said),
            Some("user") => builder.user(&said, None),
            Some("assistant") => {
                let reply = builder.reply(text(message, "id"), None);
                reply.text = said;
                reply.model = text(message, "model").or(model).map(str::to_owned);
                reply.calls = message["tool_calls"].as_array().into_iter().flatten().map(call).collect();
            }
            Some("tool") => match builder.answered(text(message, "tool_call_id").unwrap_or_default(), None) {
                Some(call) => {
                    let error = text(&message["error"], "message");
                    call.has_failed = error.is_some();
                    call.result = Some(Value::from(if said.is_empty() { error.unwrap_or_default() } else { &said }));
                }
                None => unread.count("unmatched result", ""),
            },
            role => unread.count("message", role.unwrap_or("unknown")),
        }
    }
    for event in sample["events"].as_array().into_iter().flatten() {
        if !time(event, &mut builder.conversation) {
            unread.count("event", text(event, "event").unwrap_or("unknown"));
        }
    }
    let parts = ["scores", "store"].into_iter();
    let is_filled = |key: &&str| match &sample[*key] {
        Value::Object(members) => !members.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    };
    parts.filter(is_filled).for_each(|key| unread.count("sample part", key));
    let conversation = &mut builder.conversation;
    conversation.name = sample.get("id").map(|id| id.as_str().map_or_else(|| id.to_string(), str::to_owned));
    conversation.error = text(&sample["error"], "message").map(str::to_owned);
    conversation.duration_ms = sample["total_time"].as_f64().map(|seconds| seconds * 1000.0);
    // Those of other models are of graders.
    conversation.usage = model.and_then(|model| tokens(&sample["model_usage"][model]));
    // A sample in the log is over, unless a limit or an error ended it.
    conversation.is_complete = sample["limit"].is_null() && sample["error"].is_null();
    builder.says_end = true;
    builder.finish()
}

/// Notes the time of the reply or the call that an event is about. Returns whether it is about one.
fn time(event: &Value, conversation: &mut Conversation) -> bool {
    let times = (text(event, "timestamp").and_then(us), text(event, "completed").and_then(us));
    match text(event, "event") {
        Some("model") => {
            let output = &event["output"];
            let id = text(&output["choices"][0]["message"], "id");
            let reply = conversation.replies.iter_mut().find(|reply| id.is_some() && reply.id.as_deref() == id);
            let Some(reply) = reply else { return false };
            (reply.started_us, reply.ended_us) = times;
            reply.usage = tokens(&output["usage"]);
            true
        }
        Some("tool") => {
            let calls = conversation.replies.iter_mut().flat_map(|reply| &mut reply.calls);
            let Some(call) = calls.into_iter().find(|call| text(event, "id") == Some(&call.id)) else { return false };
            (call.started_us, call.ended_us) = times;
            true
        }
        Some(_) | None => false,
    }
}

/// Returns the text of a message. Long texts are stored once, as attachments.
fn content(content: &Value, attachments: &Map<String, Value>, unread: &mut Unread) -> String {
    let resolved = |text: &str| {
        let stored = text.strip_prefix("attachment://").and_then(|digest| attachments.get(digest)?.as_str());
        stored.unwrap_or(text).to_owned()
    };
    let mut all = content.as_str().map(resolved).unwrap_or_default();
    for part in content.as_array().into_iter().flatten() {
        match (text(part, "type"), text(part, "text")) {
            (Some("text"), Some(text)) => append(&mut all, &resolved(text), "\n"),
            (kind, _) => unread.count("part", kind.unwrap_or("unknown")),
        }
    }
    all
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
