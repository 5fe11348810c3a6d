//! Conversations and answers, between this program's words and those of the library that speaks to providers.

use genai::chat::{
    ChatMessage, ChatOptions, ChatRequest, ChatResponse, ContentPart, MessageContent, ReasoningEffort, ToolResponse,
};
use speclens_schema::{
    evidence::ToolCall,
    settings::{Api, Price},
};

use super::{Message, Reply, Request, price, provider::Target};

/// Returns the conversation, and how it is to be answered.
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
    // The library takes `-medium` off `mistral-medium`, as a wish for effort. An effort that this protocol cannot say keeps
    // the name whole, and is not sent.
    if target.api == Api::OpenAi && ReasoningEffort::from_model_name(&target.model).0.is_some() {
        options = options.with_reasoning_effort(ReasoningEffort::Budget(0));
    }
    (chat, options)
}

fn messages(messages: &[Message], api: Api) -> Vec<ChatMessage> {
    let mut chat: Vec<ChatMessage> = Vec::new();
    // Some protocols want the name of the tool beside the result.
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
                    // The results of one answer belong together; Ollama has no place for more than one in a message.
                    Some(last) if follows_result && api != Api::Ollama => last.content.push(response),
                    _ => chat.push(ChatMessage::tool(MessageContent::from_tool_responses(vec![response]))),
                }
            }
        }
        follows_result = is_result;
    }
    chat
}

/// An earlier answer, as it came where the provider wants to see it like that.
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

/// Returns what was answered. The error says what an answer of the protocol has and this one has not.
pub(super) fn reply(mut response: ChatResponse, api: Api, price: Option<Price>) -> Result<Reply, &'static str> {
    // The library takes any JSON for an answer that says nothing.
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
    let usage = match (tokens(response.usage.prompt_tokens), tokens(response.usage.completion_tokens)) {
        (None, None) => None,
        (sent, received) => Some(price::priced(sent.unwrap_or(0), received.unwrap_or(0), price)),
    };
    let calls = response.content.tool_calls().into_iter().map(|call| ToolCall {
        id: call.call_id.clone(),
        name: call.fn_name.clone(),
        arguments: call.fn_arguments.clone(),
    });
    let calls = calls.collect();
    let text = response.content.joined_texts().unwrap_or_default();
    let carried = carried(response);
    Ok(Reply { text, calls, usage, carried })
}

/// The whole answer, where it holds more than its text and its calls.
fn carried(response: ChatResponse) -> Option<serde_json::Value> {
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
