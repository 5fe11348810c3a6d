//! Models against a provider on this machine, in each protocol.

mod faults;
pub(crate) mod loopback;
mod protocols;

use std::sync::Arc;

use serde_json::{Value, json};
use speclens_schema::{
    settings::{Api, Limits, Price, Provider, Settings},
    suite::Sampling,
};

use super::{Message, Models, Request, Tool};
use loopback::Loopback;

const KEY: &str = "planted-key-4711";

/// Models of a provider `local`, which has a key.
fn models(api: Api, server: &Loopback) -> Models {
    let version = match api {
        Api::OpenAi | Api::Anthropic => "/v1",
        Api::Gemini => "/v1beta/",
        Api::Cohere | Api::Ollama => "",
    };
    let provider = Provider {
        api: Some(api),
        base_url: Some(format!("http://{}{version}", server.host).as_str().into()),
        key_env: Some("LOCAL_KEY".into()),
    };
    let settings = Settings {
        providers: [("local".to_owned(), provider)].into(),
        prices: [("local/model-1".to_owned(), Price { input: 2.0, output: 10.0 })].into(),
        limits: Limits { request_seconds: 30, ..Limits::default() },
        ..Settings::default()
    };
    with(settings)
}

fn with(settings: Settings) -> Models {
    Models::new(Arc::new(settings), 4, |name| (name == "LOCAL_KEY").then(|| KEY.to_owned()))
}

/// Returns a first question, with a tool.
fn question() -> Request {
    let parameters = json!({
        "type": "object",
        "properties": { "command": { "type": "string" } },
        "required": ["command"],
    });
    Request {
        system: "You use a shell.".to_owned(),
        messages: vec![Message::User("What is the secret number?".to_owned())],
        tools: vec![Tool {
            name: "run_command".to_owned(),
            description: Some("Runs a shell command.".to_owned()),
            parameters: Some(parameters),
        }],
        sampling: Sampling { temperature: Some(0.5), max_tokens: Some(100), ..Sampling::default() },
        ..Request::default()
    }
}

/// Returns an answer in chat completions.
fn said(text: &str) -> Value {
    json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "model-1",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": text, "refusal": null },
            "finish_reason": "stop",
        }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 },
    })
}
