//! Services with a protocol of their own, which the suite describes: KindLM's providers `http` and `mcp`.

use serde_json::{Value, json};
use speclens_schema::evidence::{CallsGap, Ends, HttpService, McpService, ToolCall};

use super::{
    chat::function,
    open_ai,
    values::{Counts, arguments, found, object, plain_messages, text_at, unread_after_first, usage},
};
use crate::model::{Message, Reply, Request};

/// KindLM's name of a call that has none.
const UNNAMED: &str = "unknown";

pub(super) fn body(service: &HttpService, model: &str, request: &Request) -> String {
    let sampling = &request.sampling;
    let tools: Value = request.tools.iter().map(function).collect();
    let Some(template) = &service.body else {
        let body = object([
            ("model", Some(json!(model))),
            ("messages", Some(plain_messages(request))),
            ("temperature", sampling.temperature.map(|it| json!(it))),
            ("max_tokens", sampling.max_tokens.map(|it| json!(it))),
            ("tools", (!request.tools.is_empty()).then_some(tools)),
        ]);
        return body.to_string();
    };
    let user = request.messages.iter().rev().find_map(|message| match message {
        Message::User(text) => Some(text.clone()),
        Message::Prefill(_) | Message::Model(_) | Message::Result { .. } => None,
    });
    let number = |value: Option<Value>| value.map(|it| it.to_string()).unwrap_or_default();
    speclens_schema::template::filled(template, |name| match name {
        "model" => model.to_owned(),
        "system" => request.system.clone(),
        "user" => user.clone().unwrap_or_default(),
        "temperature" => number(sampling.temperature.map(|it| json!(it))),
        "maxTokens" => number(sampling.max_tokens.map(|it| json!(it))),
        "messages_json" => plain_messages(request).to_string(),
        "tools_json" => tools.to_string(),
        // KindLM sends nothing for other names.
        _ => String::new(),
    })
}

/// Reads an answer by the paths of the suite.
pub(super) fn reply(service: &HttpService, body: &Value) -> Result<Reply, String> {
    let path = service.response_path.as_deref().unwrap_or("choices.0.message.content");
    let (calls, calls_gap) = match service.tool_calls_path.as_deref() {
        Some(path) => {
            calls(body, path).map_err(|missing| format!("it has no {missing} at `{path}` (`toolCallsPath`)"))?
        }
        None => (Vec::new(), Some(CallsGap::NotShown)),
    };
    let text = match at(body, path) {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None if calls.is_empty() => return Err(format!("it has no value at `{path}` (`responsePath`)")),
        None => String::new(),
    };
    let paths = &service.usage_paths;
    let sent = pointer(paths.input_tokens.as_deref().unwrap_or("usage.prompt_tokens"));
    let received = pointer(paths.output_tokens.as_deref().unwrap_or("usage.completion_tokens"));
    let usage = usage(body, &Counts { sent: &[&sent], received: &[&received], total: None });
    // Most services answer in the form of chat completions.
    Ok(Reply { text, calls, calls_gap, usage, unfinished: open_ai::unfinished(body), ..Reply::default() })
}

/// Reads the calls of an answer, which may leave out an empty list, but not what the list is in.
fn calls(body: &Value, path: &str) -> Result<(Vec<ToolCall>, Option<CallsGap>), &'static str> {
    let place = pointer(path);
    let Some(calls) = found(body, &place) else {
        let is_in = place.rsplit_once('/').and_then(|(outer, _)| body.pointer(outer)).is_some_and(Value::is_object);
        return Ok((Vec::new(), (!is_in).then_some(CallsGap::NoPlace)));
    };
    let items = calls.as_array().ok_or("list")?;
    let calls: Vec<ToolCall> = items.iter().filter(|call| call.is_object()).enumerate().map(called).collect();
    let is_named = calls.len() == items.len() && calls.iter().all(|call| call.name != UNNAMED);
    Ok((calls, (!is_named).then_some(CallsGap::Unnamed)))
}

fn called((index, call): (usize, &Value)) -> ToolCall {
    let name = text_at(call, "/function/name").or_else(|| text_at(call, "/name"));
    ToolCall {
        id: text_at(call, "/id").unwrap_or_else(|| format!("call_{index}")),
        name: name.unwrap_or_else(|| UNNAMED.to_owned()),
        arguments: arguments(call.pointer("/function/arguments").or_else(|| call.get("arguments"))),
        result: None,
    }
}

fn at<'b>(body: &'b Value, path: &str) -> Option<&'b Value> {
    found(body, &pointer(path))
}

/// Returns a path such as `data[0].text` as a JSON pointer.
fn pointer(path: &str) -> String {
    let steps = path.split(['.', '[', ']']).filter(|step| !step.is_empty());
    steps.map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect()
}

/// Returns a call of a tool that answers conversations.
pub(super) fn call(service: &McpService, model: &str, request: &Request) -> Value {
    json!({ "toolName": service.tool, "arguments": arguments_of(model, request) })
}

fn arguments_of(model: &str, request: &Request) -> Value {
    let sampling = &request.sampling;
    let parameters = object([
        ("temperature", sampling.temperature.map(|it| json!(it))),
        ("maxTokens", sampling.max_tokens.map(|it| json!(it))),
        ("topP", sampling.top_p.map(|it| json!(it))),
        ("stopSequences", sampling.stop.as_ref().map(|it| json!(it))),
        ("seed", sampling.seed.map(|it| json!(it))),
    ]);
    json!({ "messages": plain_messages(request), "model": model, "params": parameters })
}

/// Reads the result of the tool. Its usage and its calls are unknown.
pub(super) fn result(body: &Value) -> Result<Reply, String> {
    let places = ["/content/0/text", "/result", "/output"];
    let text = places.iter().find_map(|place| body.pointer(place)?.as_str()).unwrap_or_default();
    if body.get("isError") == Some(&Value::Bool(true)) && !text.is_empty() {
        return Err(format!("it says that the tool failed: {text}"));
    }
    Ok(Reply {
        text: text.to_owned(),
        calls_gap: Some(CallsGap::NotShown),
        // KindLM reads the first part only.
        unfinished: Ends::MCP.unfinished(body.get("stopReason")).or_else(|| unread_after_first(body.get("content"))),
        ..Reply::default()
    })
}
