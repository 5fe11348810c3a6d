//! Anthropic's messages: `POST /v1/messages`.

use serde_json::{Value, json};
use speclens_schema::evidence::{Ends, ToolCall};

use super::values::{Counts, found, is_text, joined, kind, object, system, text_at, unread, usage};
use crate::model::{Message, Reply, Request, Tool};

/// Tokens from and for its cache are sent, too.
const COUNTS: Counts<'_> = Counts {
    sent: &["/usage/input_tokens", "/usage/cache_creation_input_tokens", "/usage/cache_read_input_tokens"],
    received: &["/usage/output_tokens"],
    total: None,
};

pub(super) fn body(model: &str, request: &Request) -> Value {
    let sampling = &request.sampling;
    let tools = || request.tools.iter().map(tool).collect();
    object([
        ("model", Some(json!(model))),
        ("max_tokens", Some(json!(sampling.max_tokens.unwrap_or_else(|| most_tokens(model))))),
        ("messages", Some(request.messages.iter().map(message).collect())),
        ("system", system(request).map(Value::from)),
        ("temperature", sampling.temperature.map(|it| json!(it))),
        ("top_p", sampling.top_p.map(|it| json!(it))),
        ("stop_sequences", sampling.stop.as_ref().map(|it| json!(it))),
        ("tools", (!request.tools.is_empty()).then(tools)),
    ])
}

/// The protocol requires a limit: as many tokens as each model of its kind can answer with.
fn most_tokens(model: &str) -> u32 {
    let is_old = model.contains("claude-3-") && !model.contains("claude-3-5") && !model.contains("claude-3-7");
    if is_old { 4096 } else { 8192 }
}

fn tool(tool: &Tool) -> Value {
    let nothing = || json!({ "type": "object", "properties": {} });
    json!({
        "name": tool.name,
        "description": tool.description.as_deref().unwrap_or_default(),
        "input_schema": tool.parameters.clone().unwrap_or_else(nothing),
    })
}

fn message(message: &Message) -> Value {
    match message {
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Prefill(text) => json!({ "role": "assistant", "content": text }),
        Message::Model(reply) => json!({ "role": "assistant", "content": content(reply) }),
        Message::Result { call, text, .. } => {
            json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": call, "content": text }] })
        }
    }
}

fn content(reply: &Reply) -> Value {
    if let Some(carried) = &reply.carried {
        return carried.clone();
    }
    if reply.calls.is_empty() {
        return json!(reply.text);
    }
    let text = (!reply.text.is_empty()).then(|| json!({ "type": "text", "text": reply.text }));
    let calls = reply
        .calls
        .iter()
        .map(|call| json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments }));
    text.into_iter().chain(calls).collect()
}

pub(super) fn reply(body: &Value) -> Result<Reply, &'static str> {
    let content = found(body, "/content").ok_or("`content`")?;
    let blocks = || content.as_array().into_iter().flatten();
    let calls = blocks().filter(|block| kind(block) == "tool_use").enumerate().map(|(index, block)| {
        Some(ToolCall {
            id: text_at(block, "/id").unwrap_or_else(|| format!("call_{index}")),
            name: text_at(block, "/name")?,
            arguments: super::values::arguments(block.get("input")),
            result: None,
        })
    });
    let texts: Value = blocks().filter(|block| kind(block) == "text").cloned().collect();
    let is_plain = blocks().all(|block| matches!(kind(block), "text" | "tool_use"));
    let is_read = |block: &Value| kind(block) == "tool_use" || kind(block) == "text" && is_text(block);
    Ok(Reply {
        text: joined(Some(&texts)),
        calls: calls.collect::<Option<_>>().ok_or("`name` in a call")?,
        usage: usage(body, &COUNTS),
        // A thought must come back with its signature.
        carried: (!is_plain).then(|| content.clone()),
        unfinished: Ends::ANTHROPIC.unfinished(body.get("stop_reason")).or_else(|| unread(Some(content), is_read)),
        calls_gap: None,
    })
}
