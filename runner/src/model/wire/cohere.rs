//! Cohere's chat, version 2: `POST /v2/chat`.

use serde_json::{Value, json};
use speclens_schema::evidence::Ends;

use super::{
    chat::{self, Style},
    values::{Counts, found, is_text, joined, object, unread, usage},
};
use crate::model::{Reply, Request};

const COUNTS: Counts<'_> =
    Counts { sent: &["/usage/tokens/input_tokens"], received: &["/usage/tokens/output_tokens"], total: None };

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
    Ok(Reply {
        text: joined(message.get("content")),
        calls: chat::calls(message, "call")?,
        calls_gap: None,
        usage: usage(body, &COUNTS),
        carried: None,
        unfinished: Ends::COHERE
            .unfinished(body.get("finish_reason"))
            .or_else(|| unread(message.get("content"), is_text)),
    })
}
