//! Cohere's chat, version 2: `POST /v2/chat`.

use serde_json::{Value, json};

use super::{
    chat::{self, Style},
    values::{found, joined, object, unfinished, usage},
};
use crate::model::{Reply, Request};

pub(super) fn body(model: &str, request: &Request) -> Value {
    let sampling = &request.sampling;
    object([
        ("model", Some(json!(model))),
        ("messages", Some(chat::messages(request, &Style { has_texts_and_ids: true, empty: json!("") }))),
        ("temperature", sampling.temperature.map(|it| json!(it))),
        ("max_tokens", sampling.max_tokens.map(|it| json!(it))),
        ("p", sampling.top_p.map(|it| json!(it))),
        ("stop_sequences", sampling.stop.as_ref().map(|it| json!(it))),
        ("tools", chat::tools(request)),
    ])
}

pub(super) fn reply(body: &Value) -> Result<Reply, &'static str> {
    let message = found(body, "/message").ok_or("`message`")?;
    let reason = body.pointer("/finish_reason").and_then(Value::as_str);
    Ok(Reply {
        text: joined(message.get("content")),
        calls: chat::calls(message, "call")?,
        calls_gap: None,
        usage: usage(body, "/usage/tokens/input_tokens", "/usage/tokens/output_tokens"),
        carried: None,
        unfinished: unfinished(reason, "MAX_TOKENS", &["ERROR_TOXIC"]),
    })
}
