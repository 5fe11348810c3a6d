//! JSON that the protocols have in common: its parts are found, put together, and read as texts, calls and counts.

use serde_json::{Map, Value, json};
use speclens_schema::{
    check::json,
    evidence::{UNREADABLE_ARGUMENTS, Usage},
};

use crate::model::{Message, Request, Unfinished};

pub(super) fn system(request: &Request) -> Option<&str> {
    Some(request.system.as_str()).filter(|text| !text.is_empty())
}

/// Returns an object with the members that have a value.
pub(super) fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let present = members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(present.collect::<Map<_, _>>())
}

/// Returns the value at a JSON pointer that is not null.
pub(super) fn found<'b>(body: &'b Value, place: &str) -> Option<&'b Value> {
    body.pointer(place).filter(|value| !value.is_null())
}

pub(super) fn text_at(body: &Value, place: &str) -> Option<String> {
    found(body, place)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Joins the texts of a list of parts, such as `[{"type": "text", "text": "…"}]`. A string is its own text.
pub(super) fn joined(content: Option<&Value>) -> String {
    match content {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            let texts =
                parts.iter().filter(|part| part.get("thought").is_none_or(|thought| thought != &Value::Bool(true)));
            texts.filter_map(|part| part.get("text")?.as_str()).collect()
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => String::new(),
    }
}

/// Returns the tokens of an answer; `None` if it counts none.
pub(super) fn usage(body: &Value, sent: &str, received: &str) -> Option<Usage> {
    let count = |place| body.pointer(place).and_then(Value::as_u64);
    let (sent, received) = (count(sent), count(received));
    (sent.is_some() || received.is_some()).then(|| Usage {
        input_tokens: sent.unwrap_or(0),
        output_tokens: received.unwrap_or(0),
        cost_usd: None,
    })
}

/// Returns the messages with only their roles and texts.
pub(super) fn plain_messages(request: &Request) -> Value {
    let system = system(request).map(|text| ("system", text));
    let messages = request.messages.iter().map(|message| match message {
        Message::User(text) => ("user", text.as_str()),
        Message::Prefill(text) => ("assistant", text.as_str()),
        Message::Model(reply) => ("assistant", reply.text.as_str()),
        Message::Result { text, .. } => ("tool", text.as_str()),
    });
    system.into_iter().chain(messages).map(|(role, content)| json!({ "role": role, "content": content })).collect()
}

/// Returns the arguments of a call: models write them as the text of an object, and sometimes as an invalid one, which
/// becomes [`UNREADABLE_ARGUMENTS`] of its text.
pub(super) fn arguments(written: Option<&Value>) -> Value {
    match written {
        None => Value::Object(Map::new()),
        Some(Value::String(text)) if text.is_empty() => Value::Object(Map::new()),
        Some(Value::String(text)) => json::parse(text).unwrap_or_else(|_| json!({ UNREADABLE_ARGUMENTS: text })),
        Some(other) => other.clone(),
    }
}

pub(super) fn unfinished(reason: Option<&str>, cut_off: &str, refusals: &[&str]) -> Option<Unfinished> {
    let reason = reason?;
    if reason == cut_off {
        return Some(Unfinished::CutOff);
    }
    refusals.contains(&reason).then(|| Unfinished::Refused(reason.to_owned()))
}
