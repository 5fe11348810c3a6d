//! The protocols of providers: the body of a request, and what an answer says.

mod anthropic;
mod chat;
mod cohere;
mod embedding;
mod gemini;
mod ollama;
mod open_ai;
mod service;

use serde_json::{Map, Value, json};
use speclens_schema::{
    check::json,
    evidence::{Service, ToolCall, Usage},
    settings::Api,
};

use super::{Message, Reply, Request, Tool, Unfinished, provider::Protocol};

pub(super) use embedding::Embedding;

/// The key of arguments that are not valid JSON: their text. KindLM's name.
pub(crate) const INVALID_ARGUMENTS: &str = "_raw";

pub(super) fn method(protocol: &Protocol) -> &str {
    match protocol {
        Protocol::Service(Service::Http(http)) => http.method.as_deref().unwrap_or("POST"),
        Protocol::Api(_) | Protocol::Service(Service::Mcp(_)) => "POST",
    }
}

pub(super) fn body(protocol: &Protocol, model: &str, request: &Request) -> String {
    let body = match protocol {
        Protocol::Service(Service::Http(http)) => return service::body(http, model, request),
        Protocol::Service(Service::Mcp(mcp)) => service::call(mcp, model, request),
        Protocol::Api(Api::OpenAi) => open_ai::body(model, request),
        Protocol::Api(Api::Anthropic) => anthropic::body(model, request),
        Protocol::Api(Api::Gemini) => gemini::body(request),
        Protocol::Api(Api::Cohere) => cohere::body(model, request),
        Protocol::Api(Api::Ollama) => ollama::body(model, request),
    };
    body.to_string()
}

/// Reads an answer, whose usage has no cost yet. The error says which field each answer of the protocol has, and this one
/// lacks.
pub(super) fn reply(protocol: &Protocol, body: &Value) -> Result<Reply, String> {
    let reply = match protocol {
        Protocol::Service(Service::Http(http)) => return service::reply(http, body),
        Protocol::Service(Service::Mcp(_)) => Ok(service::result(body)),
        Protocol::Api(Api::OpenAi) => open_ai::reply(body),
        Protocol::Api(Api::Anthropic) => anthropic::reply(body),
        Protocol::Api(Api::Gemini) => gemini::reply(body),
        Protocol::Api(Api::Cohere) => cohere::reply(body),
        Protocol::Api(Api::Ollama) => ollama::reply(body),
    };
    reply.map_err(|missing| format!("it has no {missing}"))
}

fn system(request: &Request) -> Option<&str> {
    Some(request.system.as_str()).filter(|text| !text.is_empty())
}

/// Returns an object with the members that have a value.
fn object<const N: usize>(members: [(&str, Option<Value>); N]) -> Value {
    let present = members.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?)));
    Value::Object(present.collect::<Map<_, _>>())
}

/// Returns the value at a JSON pointer that is not null.
fn found<'b>(body: &'b Value, place: &str) -> Option<&'b Value> {
    body.pointer(place).filter(|value| !value.is_null())
}

fn text_at(body: &Value, place: &str) -> Option<String> {
    found(body, place)?.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Joins the texts of a list of parts, such as `[{"type": "text", "text": "…"}]`. A string is its own text.
fn joined(content: Option<&Value>) -> String {
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
fn usage(body: &Value, sent: &str, received: &str) -> Option<Usage> {
    let count = |place| body.pointer(place).and_then(Value::as_u64);
    let (sent, received) = (count(sent), count(received));
    (sent.is_some() || received.is_some()).then(|| Usage {
        input_tokens: sent.unwrap_or(0),
        output_tokens: received.unwrap_or(0),
        cost_usd: None,
    })
}

/// Returns the messages with only their roles and texts.
fn plain_messages(request: &Request) -> Value {
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
/// becomes [`INVALID_ARGUMENTS`] of its text.
fn arguments(written: Option<&Value>) -> Value {
    match written {
        None => Value::Object(Map::new()),
        Some(Value::String(text)) if text.is_empty() => Value::Object(Map::new()),
        Some(Value::String(text)) => json::parse(text).unwrap_or_else(|_| json!({ INVALID_ARGUMENTS: text })),
        Some(other) => other.clone(),
    }
}

fn unfinished(reason: Option<&str>, cut_off: &str, refusals: &[&str]) -> Option<Unfinished> {
    let reason = reason?;
    if reason == cut_off {
        return Some(Unfinished::CutOff);
    }
    refusals.contains(&reason).then(|| Unfinished::Refused(reason.to_owned()))
}
