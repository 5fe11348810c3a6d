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
use speclens_schema::{evidence::Service, settings::Api};

use super::{Reply, Request, provider::Protocol};

pub(super) use embedding::Embedding;
pub(crate) use values::INVALID_ARGUMENTS;

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
