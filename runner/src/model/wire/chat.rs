//! What the protocols that resemble chat completions have in common: the form of messages, tools and calls.

use serde_json::{Value, json};
use speclens_schema::evidence::ToolCall;

use super::values::{arguments, found, object, system, text_at};
use crate::model::{Message, Request, Tool};

/// The differences between these protocols.
pub(super) struct Style {
    /// Whether the arguments of a call are the text of a JSON object, and results name the call by its id.
    pub(super) has_texts_and_ids: bool,
    /// The content of a message that only calls tools.
    pub(super) empty: Value,
}

pub(super) fn messages(request: &Request, style: &Style) -> Value {
    let system = system(request).map(|text| json!({ "role": "system", "content": text }));
    let messages = request.messages.iter().map(|message| match message {
        Message::User(text) => json!({ "role": "user", "content": text }),
        Message::Model(reply) => {
            let calls =
                (!reply.calls.is_empty()).then(|| reply.calls.iter().map(|call| written(call, style)).collect());
            let is_empty = reply.text.is_empty() && calls.is_some();
            let mut message = object([
                ("role", Some(json!("assistant"))),
                ("content", Some(if is_empty { style.empty.clone() } else { Value::from(reply.text.as_str()) })),
                ("tool_calls", calls),
            ]);
            if let (Some(Value::Object(carried)), Some(message)) = (&reply.carried, message.as_object_mut()) {
                message.extend(carried.clone());
            }
            message
        }
        Message::Prefill(text) => json!({ "role": "assistant", "content": text }),
        Message::Result { call, text, .. } => object([
            ("role", Some(json!("tool"))),
            ("content", Some(json!(text))),
            ("tool_call_id", style.has_texts_and_ids.then(|| Value::from(call.as_str()))),
        ]),
    });
    system.into_iter().chain(messages).collect()
}

fn written(call: &ToolCall, style: &Style) -> Value {
    if style.has_texts_and_ids {
        let function = json!({ "name": call.name, "arguments": call.arguments.to_string() });
        json!({ "id": call.id, "type": "function", "function": function })
    } else {
        json!({ "function": { "name": call.name, "arguments": call.arguments } })
    }
}

/// Returns the tools; `None` without any.
pub(super) fn tools(request: &Request) -> Option<Value> {
    let tool = |tool: &Tool| json!({ "type": "function", "function": function(tool) });
    (!request.tools.is_empty()).then(|| request.tools.iter().map(tool).collect())
}

pub(super) fn function(tool: &Tool) -> Value {
    object([
        ("name", Some(Value::from(tool.name.as_str()))),
        ("description", tool.description.as_deref().map(Value::from)),
        ("parameters", tool.parameters.clone()),
    ])
}

/// Reads the calls of a message. Calls without an id get one of this kind, with a number.
pub(super) fn calls(message: &Value, kind: &str) -> Result<Vec<ToolCall>, &'static str> {
    let Some(calls) = found(message, "/tool_calls") else { return Ok(Vec::new()) };
    let call = |(index, call): (usize, &Value)| {
        Ok(ToolCall {
            id: text_at(call, "/id").unwrap_or_else(|| format!("{kind}_{index}")),
            name: text_at(call, "/function/name").ok_or("`function.name` in a call")?,
            arguments: arguments(call.pointer("/function/arguments")),
            result: None,
        })
    };
    calls.as_array().ok_or("list in `tool_calls`")?.iter().enumerate().map(call).collect()
}
