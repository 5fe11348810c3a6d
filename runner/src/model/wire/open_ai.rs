//! Chat completions, which most providers speak: `POST /chat/completions`.

use serde_json::{Map, Value, json};
use speclens_schema::evidence::{Ends, Unfinished};

use super::{
    chat::{self, Style},
    values::{Counts, found, is_text, joined, object, text_at, unread, unread_after_first, usage},
};
use crate::model::{Reply, Request};

const STYLE: Style = Style { has_texts_and_ids: true, empty: Value::Null };

/// Fields of a message that its provider expects back with the results of its calls.
const CARRIED: &[&str] = &["reasoning_content", "reasoning_details"];

const COUNTS: Counts<'_> = Counts {
    sent: &["/usage/prompt_tokens"],
    received: &["/usage/completion_tokens"],
    total: Some("/usage/total_tokens"),
};

pub(super) fn body(model: &str, request: &Request) -> Value {
    let sampling = &request.sampling;
    object([
        ("model", Some(json!(model))),
        ("messages", Some(chat::messages(request, &STYLE))),
        ("temperature", sampling.temperature.map(|it| json!(it))),
        ("max_tokens", sampling.max_tokens.map(|it| json!(it))),
        ("top_p", sampling.top_p.map(|it| json!(it))),
        ("seed", sampling.seed.map(|it| json!(it))),
        ("stop", sampling.stop.as_ref().map(|it| json!(it))),
        ("tools", chat::tools(request)),
    ])
}

pub(super) fn reply(body: &Value) -> Result<Reply, &'static str> {
    let message = found(body, "/choices/0/message").ok_or("`choices[0].message`")?;
    let calls = chat::calls(message, "call")?;
    let carried = CARRIED.iter().filter_map(|key| Some(((*key).to_owned(), message.get(*key)?.clone())));
    let carried: Map<String, Value> = carried.filter(|(_, value)| !value.is_null() && !calls.is_empty()).collect();
    Ok(Reply {
        text: joined(message.get("content")),
        calls_gap: None,
        usage: usage(body, &COUNTS),
        carried: (!carried.is_empty()).then_some(Value::Object(carried)),
        unfinished: unfinished(body),
        calls,
    })
}

/// Returns the reason why the first choice is incomplete.
pub(super) fn unfinished(body: &Value) -> Option<Unfinished> {
    let refused = || text_at(body, "/choices/0/message/refusal").map(|_| Unfinished::Refused("refusal".to_owned()));
    let failed = || found(body, "/choices/0/error").map(|_| Unfinished::Other("error".to_owned()));
    Ends::OPEN_AI
        .unfinished(body.pointer("/choices/0/finish_reason"))
        .or_else(refused)
        .or_else(failed)
        .or_else(|| unread(body.pointer("/choices/0/message/content"), is_text))
        .or_else(|| unread_after_first(body.get("choices")))
}
