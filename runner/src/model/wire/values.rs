//! JSON that the protocols have in common: its parts are found, put together, and read as texts, calls and counts.

use serde_json::{Map, Value, json};
use speclens_schema::{
    check::json,
    evidence::{UNREADABLE_ARGUMENTS, Unfinished, Usage, is_thought},
};

use crate::model::{Message, Request};

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

/// The places of the counts of an answer, as JSON pointers.
pub(super) struct Counts<'p> {
    /// Tokens that were sent: the first place has them, the others more of them if they are there.
    pub(super) sent: &'p [&'p str],
    /// The same of those that were received.
    pub(super) received: &'p [&'p str],
    pub(super) total: Option<&'p str>,
}

/// Returns the tokens of an answer; `None` if it does not count both, or a total of more.
pub(super) fn usage(body: &Value, counts: &Counts<'_>) -> Option<Usage> {
    let count = |place: &str| found(body, place).map(|count| count.as_u64());
    let sum = |places: &[&str]| {
        let [first, more @ ..] = places else { return None };
        let more = more.iter().filter_map(|place| count(place));
        more.fold(count(first)?, |sum, more| sum?.checked_add(more?))
    };
    let (sent, received) = (sum(counts.sent)?, sum(counts.received)?);
    let total = counts.total.and_then(count);
    let is_all = total.is_none_or(|total| total.is_some_and(|total| total <= sent.saturating_add(received)));
    is_all.then_some(Usage { input_tokens: sent, output_tokens: received, cost_usd: None })
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

pub(super) fn kind(part: &Value) -> &str {
    part.get("type").and_then(Value::as_str).unwrap_or_default()
}

/// Returns [`Unfinished::Unread`] if an answer has a part that is neither a thought nor read.
pub(super) fn unread(content: Option<&Value>, is_read: impl Fn(&Value) -> bool) -> Option<Unfinished> {
    let is_read = |part: &Value| is_thought(kind(part)) || is_read(part);
    let is_all = match content {
        None | Some(Value::Null | Value::String(_)) => true,
        Some(Value::Array(parts)) => parts.iter().all(is_read),
        Some(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => false,
    };
    (!is_all).then_some(Unfinished::Unread)
}

/// Whether a part is a text.
pub(super) fn is_text(part: &Value) -> bool {
    part.get("text").is_some_and(Value::is_string)
}

/// Returns [`Unfinished::Unread`] if a list has more answers than the first, which alone is read.
pub(super) fn unread_after_first(answers: Option<&Value>) -> Option<Unfinished> {
    answers.and_then(Value::as_array).filter(|answers| answers.len() > 1).map(|_| Unfinished::Unread)
}
