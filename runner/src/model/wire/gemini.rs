//! Gemini: `POST /models/MODEL:generateContent`.

use serde_json::{Value, json};
use speclens_schema::evidence::{Ends, ToolCall, Unfinished};

use super::{
    chat::function,
    values::{Counts, found, is_text, joined, object, system, text_at, unread, unread_after_first, usage},
};
use crate::model::{Message, Reply, Request};

/// The ids of calls that came without one; results name such calls by their tool alone.
const UNNAMED: &str = "gemini_call_";

const COUNTS: Counts<'_> = Counts {
    sent: &["/usageMetadata/promptTokenCount", "/usageMetadata/toolUsePromptTokenCount"],
    received: &["/usageMetadata/candidatesTokenCount", "/usageMetadata/thoughtsTokenCount"],
    total: Some("/usageMetadata/totalTokenCount"),
};

pub(super) fn body(request: &Request) -> Value {
    let sampling = &request.sampling;
    let generation = object([
        ("temperature", sampling.temperature.map(|it| json!(it))),
        ("maxOutputTokens", sampling.max_tokens.map(|it| json!(it))),
        ("topP", sampling.top_p.map(|it| json!(it))),
        ("stopSequences", sampling.stop.as_ref().map(|it| json!(it))),
    ]);
    let tools = || json!([{ "functionDeclarations": request.tools.iter().map(function).collect::<Value>() }]);
    object([
        ("contents", Some(contents(&request.messages))),
        ("generationConfig", Some(generation)),
        ("systemInstruction", system(request).map(|text| json!({ "parts": [{ "text": text }] }))),
        ("tools", (!request.tools.is_empty()).then(tools)),
    ])
}

fn contents(messages: &[Message]) -> Value {
    let mut contents: Vec<Value> = Vec::new();
    let mut follows_result = false;
    for message in messages {
        let (role, parts) = match message {
            Message::User(text) => ("user", vec![json!({ "text": text })]),
            Message::Prefill(text) => ("model", vec![json!({ "text": text })]),
            Message::Model(reply) => ("model", parts(reply)),
            Message::Result { call, tool, text } => ("function", vec![result(call, tool, text)]),
        };
        let is_result = matches!(message, Message::Result { .. });
        // The protocol wants all results of an answer in one message.
        match contents.last_mut().and_then(|last| last["parts"].as_array_mut()) {
            Some(last) if is_result && follows_result => last.extend(parts),
            Some(_) | None => contents.push(json!({ "role": role, "parts": parts })),
        }
        follows_result = is_result;
    }
    Value::Array(contents)
}

fn parts(reply: &Reply) -> Vec<Value> {
    if let Some(carried) = reply.carried.as_ref().and_then(Value::as_array) {
        return carried.clone();
    }
    let text = (!reply.text.is_empty() || reply.calls.is_empty()).then(|| json!({ "text": reply.text }));
    let calls = reply.calls.iter().map(|call| {
        let id = named(&call.id).map(Value::from);
        let members = [("id", id), ("name", Some(json!(call.name))), ("args", Some(call.arguments.clone()))];
        json!({ "functionCall": object(members) })
    });
    text.into_iter().chain(calls).collect()
}

fn named(call: &str) -> Option<&str> {
    (!call.starts_with(UNNAMED)).then_some(call)
}

/// Returns the result of a call, which must be an object.
fn result(call: &str, tool: &str, text: &str) -> Value {
    let value = serde_json::from_str::<Value>(text).ok();
    let response = value.filter(Value::is_object).unwrap_or_else(|| json!({ "result": text }));
    let members = [("id", named(call).map(Value::from)), ("name", Some(json!(tool))), ("response", Some(response))];
    json!({ "functionResponse": object(members) })
}

pub(super) fn reply(body: &Value) -> Result<Reply, &'static str> {
    let blocked = text_at(body, "/promptFeedback/blockReason").map(Unfinished::Refused);
    if found(body, "/candidates/0").is_none() && blocked.is_none() {
        return Err("`candidates[0]`");
    }
    let parts = found(body, "/candidates/0/content/parts");
    let has = |key: &str| parts.and_then(Value::as_array).is_some_and(|all| all.iter().any(|it| it.get(key).is_some()));
    let calls = parts.and_then(Value::as_array).into_iter().flatten().filter_map(|part| part.get("functionCall"));
    let calls = calls.enumerate().map(|(index, call)| {
        Some(ToolCall {
            id: text_at(call, "/id").unwrap_or_else(|| format!("{UNNAMED}{index}")),
            name: text_at(call, "/name")?,
            arguments: super::values::arguments(call.get("args")),
            result: None,
        })
    });
    let is_read = |part: &Value| {
        let is_signature = part.as_object().is_some_and(|part| part.keys().all(|key| key.starts_with("thought")));
        is_text(part) || part.get("functionCall").is_some() || is_signature
    };
    Ok(Reply {
        text: joined(parts),
        calls: calls.collect::<Option<_>>().ok_or("`name` in a call")?,
        calls_gap: None,
        usage: usage(body, &COUNTS),
        carried: (has("thoughtSignature") || has("thought")).then(|| parts.cloned()).flatten(),
        unfinished: Ends::GEMINI
            .unfinished(body.pointer("/candidates/0/finishReason"))
            .or(blocked)
            .or_else(|| unread(parts, is_read))
            .or_else(|| unread_after_first(body.get("candidates"))),
    })
}
