//! Converts conversations and answers between this program's types and those of the library that calls providers.

use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatResponse, ContentPart, MessageContent, ReasoningEffort, StopReason,
    ToolResponse,
};
use serde_json::Value;
use speclens_schema::{
    evidence::{ToolCall, Usage},
    settings::{Api, Price},
};

use super::{Message, Reply, Request, Unfinished, price, provider::Target};

pub(super) fn request(request: &Request, target: &Target) -> (ChatRequest, ChatOptions) {
    let mut chat = ChatRequest::new(messages(&request.messages, target.api));
    if !request.system.is_empty() {
        chat = chat.with_system(&request.system);
    }
    if !request.tools.is_empty() {
        chat = chat.with_tools(request.tools.iter().map(|tool| {
            genai::chat::Tool::new(tool.name).with_description(tool.description).with_schema(tool.parameters.clone())
        }));
    }
    let mut options = ChatOptions::default().with_capture_raw_body(true);
    if let Some(temperature) = request.temperature {
        options = options.with_temperature(temperature);
    }
    if let Some(max_tokens) = request.max_tokens {
        options = options.with_max_tokens(max_tokens);
    }
    // The library strips `-medium` off `mistral-medium` as a reasoning effort. An effort that this protocol cannot
    // express keeps the name whole, and is not sent.
    if target.api == Api::OpenAi && ReasoningEffort::from_model_name(&target.model).0.is_some() {
        options = options.with_reasoning_effort(ReasoningEffort::Budget(0));
    }
    (chat, options)
}

fn messages(messages: &[Message], api: Api) -> Vec<ChatMessage> {
    let mut chat: Vec<ChatMessage> = Vec::new();
    // Some protocols want the name of the tool with the result.
    let mut calls: Vec<&ToolCall> = Vec::new();
    let mut follows_result = false;
    for message in messages {
        let is_result = matches!(message, Message::Result { .. });
        match message {
            Message::User(text) => chat.push(ChatMessage::user(text)),
            Message::Model(reply) => {
                calls.clone_from(&reply.calls.iter().collect());
                chat.push(ChatMessage::assistant(content(reply)));
            }
            Message::Result { call, text } => {
                let mut response = ToolResponse::new(call, text);
                response.fn_name = calls.iter().find(|known| known.id == *call).map(|known| known.name.clone());
                match chat.last_mut() {
                    // The results of one answer belong together; Ollama allows only one per message.
                    Some(last) if follows_result && api != Api::Ollama => last.content.push(response),
                    _ => chat.push(ChatMessage::tool(MessageContent::from_tool_responses(vec![response]))),
                }
            }
        }
        follows_result = is_result;
    }
    chat
}

/// Returns an earlier answer, unchanged if the provider wants it so.
fn content(reply: &Reply) -> MessageContent {
    if let Some(carried) = reply.carried.clone().and_then(|carried| serde_json::from_value(carried).ok()) {
        return carried;
    }
    let text = (!reply.text.is_empty()).then(|| ContentPart::from_text(&reply.text));
    let calls = reply.calls.iter().map(|call| {
        ContentPart::ToolCall(genai::chat::ToolCall {
            call_id: call.id.clone(),
            fn_name: call.name.clone(),
            fn_arguments: call.arguments.clone(),
            thought_signatures: None,
        })
    });
    MessageContent::from_parts(text.into_iter().chain(calls).collect::<Vec<_>>())
}

/// Returns the answer. The error names the field that an answer of the protocol must have, and this one lacks.
pub(super) fn reply(mut response: ChatResponse, api: Api, price: Option<Price>) -> Result<Reply, &'static str> {
    // The library accepts any JSON as an empty answer.
    let (place, what) = match api {
        Api::OpenAi => ("/choices/0/message", "`choices[0].message`"),
        Api::Anthropic => ("/content", "`content`"),
        Api::Gemini => ("/candidates/0", "`candidates[0]`"),
        Api::Ollama => ("/message", "`message`"),
    };
    let body = response.captured_raw_body.take().unwrap_or_default();
    if body.pointer(place).is_none_or(|found| found.is_null()) {
        return Err(what);
    }
    let tokens = |count: Option<i32>| count.map(|count| u64::try_from(count).unwrap_or(0));
    let usage = usage(tokens(response.usage.prompt_tokens), tokens(response.usage.completion_tokens), price);
    let refusal = body.pointer("/choices/0/message/refusal").and_then(Value::as_str).filter(|it| !it.is_empty());
    let unfinished = response.stop_reason.as_ref().and_then(unfinished);
    let unfinished = unfinished.or_else(|| refusal.map(|_| Unfinished::Refused("refusal".to_owned())));
    let calls = response.content.tool_calls().into_iter().map(|call| ToolCall {
        id: call.call_id.clone(),
        name: call.fn_name.clone(),
        arguments: call.fn_arguments.clone(),
    });
    let calls = calls.collect();
    let text = response.content.joined_texts().unwrap_or_default();
    let carried = carried(response);
    Ok(Reply { text, calls, usage, carried, unfinished })
}

/// Returns the answer in a body that the library cannot read although it has content: a chat completion that calls a
/// tool with arguments that are not valid JSON, which is reported to the model, or a question that Gemini refuses.
pub(super) fn rescued(body: &Value, api: Api, price: Option<Price>) -> Option<Reply> {
    match api {
        Api::OpenAi => {
            let message = body.pointer("/choices/0/message")?;
            let calls = message.get("tool_calls")?.as_array()?.iter().map(call).collect::<Option<Vec<_>>>()?;
            let text = message.get("content").and_then(Value::as_str).unwrap_or_default().to_owned();
            let tokens = |place: &str| body.pointer(place).and_then(Value::as_u64);
            let usage = usage(tokens("/usage/prompt_tokens"), tokens("/usage/completion_tokens"), price);
            Some(Reply { text, calls, usage, ..Reply::default() })
        }
        Api::Gemini => {
            let reason = body.pointer("/promptFeedback/blockReason")?.as_str()?.to_owned();
            Some(Reply { unfinished: Some(Unfinished::Refused(reason)), ..Reply::default() })
        }
        Api::Anthropic | Api::Ollama => None,
    }
}

/// Returns a call in a chat completion. Arguments that are not valid JSON remain a string.
fn call(call: &Value) -> Option<ToolCall> {
    let text = |place: &str| call.pointer(place)?.as_str().map(str::to_owned);
    let arguments = call.pointer("/function/arguments")?;
    let parsed = arguments.as_str().and_then(|text| serde_json::from_str(text).ok());
    let arguments = parsed.unwrap_or_else(|| arguments.clone());
    Some(ToolCall { id: text("/id")?, name: text("/function/name")?, arguments })
}

fn usage(sent: Option<u64>, received: Option<u64>, price: Option<Price>) -> Option<Usage> {
    (sent.is_some() || received.is_some()).then(|| price::priced(sent.unwrap_or(0), received.unwrap_or(0), price))
}

fn unfinished(reason: &StopReason) -> Option<Unfinished> {
    match reason {
        StopReason::MaxTokens(_) => Some(Unfinished::CutOff),
        StopReason::ContentFilter(reason) => Some(Unfinished::Refused(reason.clone())),
        StopReason::Completed(_) | StopReason::ToolCall(_) | StopReason::StopSequence(_) | StopReason::Other(_) => None,
    }
}

fn carried(response: ChatResponse) -> Option<Value> {
    let ChatResponse { mut content, reasoning_content, .. } = response;
    if let Some(reasoning) = reasoning_content.filter(|_| !content.contains_reasoning_content()) {
        content.push(ContentPart::ReasoningContent(reasoning));
    }
    let is_plain = |part: &ContentPart| match part {
        ContentPart::Text(_) => true,
        ContentPart::ToolCall(call) => call.thought_signatures.is_none(),
        ContentPart::Binary(_)
        | ContentPart::ToolResponse(_)
        | ContentPart::ThoughtSignature(_)
        | ContentPart::ReasoningContent(_)
        | ContentPart::Custom(_) => false,
    };
    if content.iter().all(is_plain) { None } else { serde_json::to_value(content).ok() }
}
