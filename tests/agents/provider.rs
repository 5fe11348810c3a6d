//! A provider on this machine that speaks OpenAI's protocol; the test decides its answers.

use serde_json::{Value, json};

use crate::loopback::{Answer, Loopback};

/// Starts a provider whose answers depend on the number of turns so far.
pub(crate) fn provider(answer: impl Fn(usize) -> Answer + Send + 'static) -> Loopback {
    Loopback::acting(move |request| {
        let messages = request.body["messages"].as_array().into_iter().flatten();
        answer(messages.filter(|message| message["role"] == "assistant").count())
    })
}

/// Starts a provider whose model runs these commands, one per turn, and then stops.
pub(crate) fn running(commands: &'static [&'static str]) -> Loopback {
    provider(|turn| match commands.get(turn) {
        Some(command) => calling(turn, command),
        None => saying("It is done."),
    })
}

/// Returns an answer that runs a command.
pub(crate) fn calling(turn: usize, command: &str) -> Answer {
    let call = json!({
        "id": format!("call-{turn}"),
        "type": "function",
        "function": { "name": "run_command", "arguments": json!({ "command": command }).to_string() },
    });
    completion(&json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
}

/// Returns an answer that calls nothing.
pub(crate) fn saying(text: &str) -> Answer {
    completion(&json!({ "role": "assistant", "content": text }), "stop")
}

fn completion(message: &Value, reason: &str) -> Answer {
    let body = json!({
        "id": "1", "object": "chat.completion", "created": 1, "model": "one",
        "choices": [{ "index": 0, "message": message, "finish_reason": reason }],
        "usage": { "prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110 },
    });
    Answer::Reply(200, body.to_string())
}
