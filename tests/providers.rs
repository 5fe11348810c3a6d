//! Providers of models on this machine, which answer as a recorded case says, each in its own protocol.

use std::{collections::HashMap, thread, time::Duration};

use serde_json::{Value, json};

use crate::loopback::{Answer, Loopback, Request};

/// Returns a server for the replies of a case. The first segment of a path names the provider.
pub(crate) fn playing(script: &Value) -> Loopback {
    let script = script.clone();
    let mut used: HashMap<usize, usize> = HashMap::new();
    Loopback::acting(move |request| {
        if request.path.ends_with("/embeddings") {
            let vector = &script["embeddings"][request.body["input"].as_str().unwrap()];
            return json_reply(200, &json!({ "data": [{ "embedding": vector }], "usage": { "prompt_tokens": 3 } }));
        }
        let asked = request.body.to_string();
        let model = request.body["model"].as_str().unwrap_or(&request.path).to_owned();
        let has = |rule: &Value, key: &str| -> Vec<bool> {
            let texts = rule[key].as_array().into_iter().flatten();
            texts.map(|text| asked.contains(serde_json::to_string(text).unwrap().trim_matches('"'))).collect()
        };
        let fits = |rule: &Value| {
            rule["model"].as_str().is_none_or(|name| model.contains(name))
                && has(rule, "has").iter().all(|has| *has)
                && !has(rule, "hasNot").iter().any(|has| *has)
        };
        let rules = script["rules"].as_array().cloned().unwrap_or_default();
        let (list, index) = match rules.iter().position(fits) {
            Some(index) => (&rules[index]["responses"], index),
            None => (&script["responses"], rules.len()),
        };
        let list = list.as_array().cloned().unwrap_or_default();
        let next = used.entry(index).or_default();
        let reply = list.get(*next).or(list.last()).cloned().unwrap_or_else(|| json!({ "text": "" }));
        *next += 1;
        answer(&reply, request)
    })
}

fn json_reply(status: u16, body: &Value) -> Answer {
    Answer::Reply(status, body.to_string())
}

fn answer(reply: &Value, request: &Request) -> Answer {
    if let Some(delay) = reply["delayMs"].as_u64() {
        thread::sleep(Duration::from_millis(delay));
    }
    if reply["hang"] == true {
        return Answer::Nothing;
    }
    if reply["drop"] == true {
        return Answer::Bytes(String::new());
    }
    let status = match (reply["status"].as_u64(), reply["error"]["code"].as_str()) {
        (Some(status), _) => u16::try_from(status).unwrap(),
        (None, None) => 200,
        (None, Some("AUTH_FAILED")) => 401,
        (None, Some("RATE_LIMITED")) => 429,
        (None, Some("TIMEOUT")) => 408,
        (None, Some(_)) => 500,
    };
    if status != 200 {
        let message = reply["message"].as_str().or(reply["error"]["message"].as_str()).unwrap_or("no");
        let body = json!({ "error": { "message": message } }).to_string();
        let headers = reply["headers"].as_object().into_iter().flatten();
        let mut lines: String =
            headers.map(|(name, value)| format!("{name}: {}\r\n", value.as_str().unwrap())).collect();
        // An error of the recording without a status was not retried.
        if reply["error"].is_object() {
            lines.push_str("x-should-retry: false\r\n");
        }
        let length = body.len();
        return Answer::Bytes(format!(
            "HTTP/1.1 {status} Reply\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n{lines}\r\n{body}"
        ));
    }
    if let Some(raw) = reply.get("raw") {
        return json_reply(200, raw);
    }
    if let Some(raw) = reply["rawText"].as_str() {
        return Answer::Reply(200, raw.to_owned());
    }
    json_reply(200, &spoken(reply, request))
}

/// Returns what a model tells of what it received.
fn echo(what: &str, body: &Value) -> String {
    let messages = body["messages"].as_array().into_iter().flatten();
    let content = |message: &Value| message["content"].as_str().unwrap_or("<no content>").to_owned();
    match what {
        "messages" => {
            let lines = messages.map(|it| format!("{}: {}", it["role"].as_str().unwrap(), content(it)));
            lines.collect::<Vec<_>>().join("\n")
        }
        "results" => messages.filter(|it| it["role"] == "tool").map(content).collect::<Vec<_>>().join("\n"),
        "params" => {
            let mut names = ["max_tokens", "seed", "stop", "temperature", "top_p"].to_vec();
            names.retain(|name| body.get(*name).is_some_and(|value| *value != json!([])));
            let members: Vec<String> =
                names.iter().map(|name| format!("\"{name}\": {}", spaced(&body[*name]))).collect();
            format!("{{{}}}", members.join(", "))
        }
        other => panic!("unknown echo {other}"),
    }
}

/// Writes a value like Python.
fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        other => speclens_schema::check::json::text(other),
    }
}

/// Returns the reply in the protocol of the provider.
fn spoken(reply: &Value, request: &Request) -> Value {
    let body = &request.body;
    let text = match reply["echo"].as_str() {
        Some(what) => echo(what, body),
        None => reply["text"].as_str().unwrap_or_default().to_owned(),
    };
    let calls: Vec<&Value> = reply["toolCalls"].as_array().into_iter().flatten().collect();
    let written = |call: &Value| match call["argumentsText"].as_str() {
        Some(text) => text.to_owned(),
        None => call["arguments"].to_string(),
    };
    let chat_calls = || -> Vec<Value> {
        let call = |(index, call): (usize, &&Value)| {
            let id = call["id"].as_str().map_or_else(|| format!("call_{index}"), str::to_owned);
            json!({ "id": id, "type": "function", "function": { "name": call["name"], "arguments": written(call) } })
        };
        calls.iter().enumerate().map(call).collect()
    };
    let usage = &reply["usage"];
    let (sent, received) = (usage["inputTokens"].as_u64(), usage["outputTokens"].as_u64());
    let provider = request.path.trim_start_matches('/').split('/').next().unwrap_or_default();
    let mut answer = match provider {
        "anthropic" => {
            let text = (!text.is_empty()).then(|| json!({ "type": "text", "text": text }));
            let calls = calls.iter().map(|call| {
                json!({ "type": "tool_use", "id": call["id"], "name": call["name"], "input": call["arguments"] })
            });
            json!({ "content": text.into_iter().chain(calls).collect::<Vec<_>>(), "stop_reason": "end_turn" })
        }
        "gemini" => {
            let text = (!text.is_empty()).then(|| json!({ "text": text }));
            let calls =
                calls.iter().map(|call| json!({ "functionCall": { "name": call["name"], "args": call["arguments"] } }));
            let parts: Vec<Value> = text.into_iter().chain(calls).collect();
            json!({ "candidates": [{ "content": { "role": "model", "parts": parts }, "finishReason": "STOP" }] })
        }
        "cohere" => {
            let mut message = json!({ "role": "assistant", "content": [{ "type": "text", "text": text }] });
            if !calls.is_empty() {
                message["tool_calls"] = chat_calls().into();
            }
            json!({ "message": message, "finish_reason": "COMPLETE" })
        }
        "ollama" => {
            let mut message = json!({ "role": "assistant", "content": text });
            if !calls.is_empty() {
                let calls = calls
                    .iter()
                    .map(|call| json!({ "function": { "name": call["name"], "arguments": call["arguments"] } }));
                message["tool_calls"] = calls.collect();
            }
            json!({ "message": message, "done": true, "done_reason": "stop" })
        }
        "mcp" => json!({ "content": [{ "type": "text", "text": text }] }),
        _ => {
            let mut message = json!({ "role": "assistant", "content": text });
            if !calls.is_empty() {
                message["tool_calls"] = chat_calls().into();
            }
            json!({ "model": "m", "choices": [{ "message": message, "finish_reason": "stop" }] })
        }
    };
    if let (Some(sent), Some(received)) = (sent, received) {
        match provider {
            "anthropic" => answer["usage"] = json!({ "input_tokens": sent, "output_tokens": received }),
            "gemini" => {
                answer["usageMetadata"] = json!({ "promptTokenCount": sent, "candidatesTokenCount": received });
            }
            "cohere" => {
                answer["usage"] = json!({ "tokens": { "input_tokens": sent, "output_tokens": received } });
            }
            "ollama" => {
                answer["prompt_eval_count"] = sent.into();
                answer["eval_count"] = received.into();
            }
            _ => {
                answer["usage"] =
                    json!({ "prompt_tokens": sent, "completion_tokens": received, "total_tokens": sent + received });
            }
        }
    }
    answer
}
