//! The protocols of providers: the body of a request, and what an answer says.

mod anthropic;
mod chat;
mod cohere;
mod embedding;
mod gemini;
mod ollama;
mod open_ai;
mod service;
mod values;

use serde_json::Value;
use speclens_schema::{
    evidence::{CallsGap, Service},
    settings::Api,
};

use super::{Reply, Request, provider::Protocol};

pub(super) use embedding::Embedding;

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
        Protocol::Service(Service::Http(http)) => service::reply(http, body)?,
        Protocol::Service(Service::Mcp(_)) => service::result(body)?,
        Protocol::Api(api) => match api {
            Api::OpenAi => open_ai::reply(body),
            Api::Anthropic => anthropic::reply(body),
            Api::Gemini => gemini::reply(body),
            Api::Cohere => cohere::reply(body),
            Api::Ollama => ollama::reply(body),
        }
        .map_err(|missing| format!("it has no {missing}"))?,
    };
    let is_elsewhere = reply.calls.is_empty() && has_calls(body);
    Ok(Reply { calls_gap: if is_elsewhere { Some(CallsGap::Elsewhere) } else { reply.calls_gap }, ..reply })
}

/// Returns whether there is something in an answer that its service may call a tool call.
fn has_calls(body: &Value) -> bool {
    const NAMES: [&str; 7] =
        ["tool_calls", "toolCalls", "tool_call", "toolCall", "function_call", "functionCall", "tool_use"];
    match body {
        Value::Object(members) => {
            let is_call = |(name, value): (&String, &Value)| match value {
                Value::Array(items) => NAMES.contains(&name.as_str()) && !items.is_empty(),
                Value::Object(members) => NAMES.contains(&name.as_str()) && !members.is_empty(),
                Value::String(text) => {
                    let says = matches!(name.as_str(), "type" | "finish_reason" | "stop_reason");
                    says && NAMES.iter().any(|name| text.to_lowercase().ends_with(name))
                }
                Value::Null | Value::Bool(_) | Value::Number(_) => false,
            };
            members.iter().any(is_call) || members.values().any(has_calls)
        }
        Value::Array(items) => items.iter().any(has_calls),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}
