//! Each protocol: a call of a tool, its result, and the answer that follows only from it.

use serde_json::{Value, json};
use speclens_schema::settings::{Api, Settings};

use super::{
    super::{Message, Reply},
    KEY,
    loopback::{Answer, Loopback, ReceivedRequest, step},
    models, question, said, with,
};

/// The provider's side of a task.
struct Protocol {
    api: Api,
    /// The request line and the header that carries the key.
    line: &'static str,
    key: (&'static str, String),
    /// The answer that calls `run_command` with `cat number`.
    call: Value,
    /// The place of the call's result in the second request, and its value.
    result: Vec<(&'static str, Value)>,
    /// The answer to a correct result.
    done: Value,
}

const RESULT: &str = "exit code 0\n\n42";

/// Asks, runs the calls, and asks again. The provider accepts the result only in its proper place.
async fn check(protocol: Protocol) -> Vec<ReceivedRequest> {
    let Protocol { api, line, key, call, result, done } = protocol;
    let second = move |seen: &ReceivedRequest| match result
        .iter()
        .find(|(place, value)| seen.body.pointer(place) != Some(value))
    {
        None => Answer::Json(200, Vec::new(), done.clone()),
        Some((place, _)) => {
            Answer::Json(400, Vec::new(), json!({ "error": format!("no result at {place}: {}", seen.body) }))
        }
    };
    let server = Loopback::start(vec![super::loopback::json(200, &[], call), step(second)]).await;
    let model = models(api, &server).open("local/model-1").unwrap();

    let mut request = question();
    let reply = model.reply(&request).await.unwrap();
    let [call] = &reply.calls[..] else { panic!("{reply:?}") };
    assert_eq!((call.name.as_str(), &call.arguments), ("run_command", &json!({ "command": "cat number" })));
    let usage = reply.usage.unwrap();
    assert_eq!((usage.input_tokens, usage.output_tokens), (100, 10));
    assert!((usage.cost_usd.unwrap() - 0.0003).abs() < 1e-9);
    let id = call.id.clone();

    request.messages.push(Message::Model(reply));
    request.messages.push(Message::Result { call: id, tool: "run_command".to_owned(), text: RESULT.to_owned() });
    let reply = model.reply(&request).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.calls.len()), ("It is 42.", 0));
    let seen = server.seen();
    for request in &seen {
        assert_eq!((request.line.as_str(), request.headers.get(key.0)), (line, Some(&key.1)));
        let carriers = request.headers.values().filter(|value| value.contains(KEY)).count();
        assert!(carriers == 1 && !request.body.to_string().contains(KEY));
    }
    seen
}

#[tokio::test]
async fn chat_completions_bring_the_result_of_a_call_back() {
    let mut call = said("");
    call["choices"][0]["finish_reason"] = json!("tool_calls");
    call["choices"][0]["message"]["content"] = Value::Null;
    call["choices"][0]["message"]["tool_calls"] = json!([{
        "id": "call_abc", "type": "function",
        "function": { "name": "run_command", "arguments": "{\"command\": \"cat number\"}" },
    }]);
    let seen = check(Protocol {
        api: Api::OpenAi,
        line: "POST /v1/chat/completions",
        key: ("authorization", format!("Bearer {KEY}")),
        call,
        result: vec![
            ("/messages/2/tool_calls/0/id", json!("call_abc")),
            ("/messages/2/tool_calls/0/function/arguments", json!("{\"command\":\"cat number\"}")),
            ("/messages/3", json!({ "role": "tool", "content": RESULT, "tool_call_id": "call_abc" })),
        ],
        done: said("It is 42."),
    })
    .await;
    let body = &seen[0].body;
    assert_eq!(
        (&body["model"], &body["temperature"], &body["max_tokens"]),
        (&json!("model-1"), &json!(0.5), &json!(100))
    );
    assert_eq!(body["messages"][0], json!({ "role": "system", "content": "You use a shell." }));
    assert_eq!(body["tools"][0]["function"]["parameters"]["required"], json!(["command"]));
}

#[tokio::test]
async fn anthropic_messages_bring_the_result_of_a_call_back() {
    let answer = |content: Value, reason: &str| {
        json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": "model-1", "content": content,
            "stop_reason": reason, "stop_sequence": null, "usage": { "input_tokens": 100, "output_tokens": 10 },
        })
    };
    let call =
        json!({ "type": "tool_use", "id": "toolu_1", "name": "run_command", "input": { "command": "cat number" } });
    let thought = json!({ "type": "thinking", "thinking": "I need a file.", "signature": "c2lnbmVk" });
    let seen = check(Protocol {
        api: Api::Anthropic,
        line: "POST /v1/messages",
        key: ("x-api-key", KEY.to_owned()),
        call: answer(json!([thought.clone(), call.clone()]), "tool_use"),
        result: vec![
            // A thought that does not come back unchanged is refused.
            ("/messages/1/content/0", thought),
            ("/messages/1/content/1/id", json!("toolu_1")),
            ("/messages/2/content/0/type", json!("tool_result")),
            ("/messages/2/content/0/tool_use_id", json!("toolu_1")),
            ("/messages/2/content/0/content", json!(RESULT)),
        ],
        done: answer(json!([{ "type": "text", "text": "It is 42." }]), "end_turn"),
    })
    .await;
    assert_eq!(seen[0].headers["anthropic-version"], "2023-06-01");
    assert_eq!(seen[0].body["max_tokens"], 100);
    assert_eq!(seen[0].body["tools"][0]["input_schema"]["required"], json!(["command"]));
}

#[tokio::test]
async fn gemini_brings_the_result_of_a_call_back() {
    let answer = |part: Value| {
        json!({
            "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0 }],
            "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 10, "totalTokenCount": 110 },
            "modelVersion": "model-1",
        })
    };
    let call = json!({
        "functionCall": { "id": "fc_1", "name": "run_command", "args": { "command": "cat number" } }, "thoughtSignature": "c2lnbmVk",
    });
    check(Protocol {
        api: Api::Gemini,
        line: "POST /v1beta/models/model-1:generateContent",
        key: ("x-goog-api-key", KEY.to_owned()),
        call: answer(call),
        result: vec![
            ("/contents/1/parts/0/functionCall/name", json!("run_command")),
            ("/contents/1/parts/0/thoughtSignature", json!("c2lnbmVk")),
            ("/contents/2/parts/0/functionResponse/id", json!("fc_1")),
            ("/contents/2/parts/0/functionResponse/name", json!("run_command")),
            ("/contents/2/parts/0/functionResponse/response/result", json!(RESULT)),
        ],
        done: answer(json!({ "text": "It is 42." })),
    })
    .await;
}

#[tokio::test]
async fn ollama_brings_the_result_of_a_call_back() {
    let answer = |message: Value| {
        json!({
            "model": "model-1", "created_at": "2026-05-14T12:00:00Z", "message": message, "done": true, "done_reason": "stop",
            "prompt_eval_count": 100, "eval_count": 10,
        })
    };
    let call = json!({
        "role": "assistant", "content": "",
        "tool_calls": [{ "function": { "name": "run_command", "arguments": { "command": "cat number" } } }],
    });
    check(Protocol {
        api: Api::Ollama,
        line: "POST /api/chat",
        key: ("authorization", format!("Bearer {KEY}")),
        call: answer(call),
        result: vec![
            ("/messages/2/tool_calls/0/function/arguments", json!({ "command": "cat number" })),
            ("/messages/3", json!({ "role": "tool", "content": RESULT })),
        ],
        done: answer(json!({ "role": "assistant", "content": "It is 42." })),
    })
    .await;
}

#[tokio::test]
async fn results_of_one_answer_go_back_together() {
    let server = Loopback::always(200, said("done")).await;
    let model = models(Api::OpenAi, &server).open("local/model-1").unwrap();
    let calls = ["a", "b"].map(|id| speclens_schema::evidence::ToolCall {
        id: id.to_owned(),
        name: "run_command".to_owned(),
        arguments: json!({ "command": id }),
        result: None,
    });
    let mut request = question();
    request.messages.push(Message::Model(Reply { calls: calls.into(), ..Reply::default() }));
    for id in ["a", "b"] {
        request.messages.push(Message::Result {
            call: id.to_owned(),
            tool: "run_command".to_owned(),
            text: format!("result of {id}"),
        });
    }
    model.reply(&request).await.unwrap();
    let messages = &server.seen()[0].body["messages"];
    assert_eq!(messages[3], json!({ "role": "tool", "content": "result of a", "tool_call_id": "a" }));
    assert_eq!(messages[4], json!({ "role": "tool", "content": "result of b", "tool_call_id": "b" }));
}

#[tokio::test]
async fn name_of_a_model_is_sent_whole() {
    let server = Loopback::always(200, said("hello")).await;
    let models = models(Api::OpenAi, &server);
    for name in ["mistral-medium", "qwen-max", "org/model-high", "plain"] {
        models.open(&format!("local/{name}")).unwrap().reply(&question()).await.unwrap();
        let body = server.seen().pop().unwrap().body;
        assert_eq!((&body["model"], body.get("reasoning_effort")), (&json!(name), None));
    }
}

#[tokio::test]
async fn cost_of_a_model_without_a_price_is_unknown() {
    let server = Loopback::always(200, said("hello")).await;
    let reply = models(Api::OpenAi, &server).open("local/model-2").unwrap().reply(&question()).await.unwrap();
    assert_eq!(reply.usage.unwrap().cost_usd, None);
}

#[tokio::test]
async fn answer_without_usage_has_none() {
    let mut body = said("hello");
    body.as_object_mut().unwrap().remove("usage");
    let server = Loopback::always(200, body).await;
    let reply = models(Api::OpenAi, &server).open("local/model-1").unwrap().reply(&question()).await.unwrap();
    assert_eq!((reply.text.as_str(), reply.usage), ("hello", None));
}

#[test]
fn model_is_described_without_its_key() {
    let models = with(Settings::default());
    let described = models.describe("anthropic/claude-sonnet-4.5").unwrap();
    assert_eq!(described.host, "api.anthropic.com");
    assert_eq!(described.key, super::super::KeyState::Missing("ANTHROPIC_API_KEY".to_owned()));
    assert_eq!(described.price.unwrap().price.input, 3.0);
    assert_eq!(models.describe("ollama/llama3.2").unwrap().key, super::super::KeyState::NotNeeded);
}
