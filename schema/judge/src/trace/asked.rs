//! What a model was asked, and what a tool answered, in spans: in attributes, in events of the span, or in log records.

use serde_json::Value;

use super::{
    exported::{Attributes, Exported, any_as_json},
    otlp::LogRecord,
};

/// A message that was sent to a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentMessage {
    /// `user`, `system`, `assistant`, `tool`.
    pub role: String,
    pub text: String,
}

const INPUTS: [&str; 6] = [
    "gen_ai.input.messages",
    "ai.prompt.messages",
    "openclaw.content.input_messages",
    "langfuse.observation.input",
    "input.value",
    "gen_ai.prompt",
];

/// Returns the messages that a model was sent, in their order; empty if the span does not have them.
pub fn asked(exported: &Exported, records: &[&LogRecord]) -> Vec<SentMessage> {
    let attributes = exported.attributes();
    let in_attributes = || INPUTS.iter().find_map(|key| Some(messages_of(&attributes.json(key)?)));
    let numbered = || numbered(attributes, |index| format!("gen_ai.prompt.{index}"));
    let of_open_inference = || self::numbered(attributes, |index| format!("llm.input_messages.{index}.message"));
    let of_events = || {
        let events = exported.span.events.iter();
        let events = events.map(|event| (event.name.as_str(), Attributes(&event.attributes).json("content")));
        let records = records.iter().map(|record| {
            let name = Attributes(&record.attributes).text("event.name").unwrap_or(&record.event_name);
            let body = record.body.as_ref().map(any_as_json);
            (name, body.map(|body| body.get("content").cloned().unwrap_or(body)))
        });
        let sent = events.chain(records).filter_map(|(name, content)| {
            let role = name.strip_prefix("gen_ai.")?.strip_suffix(".message")?;
            Some(SentMessage { role: role.to_owned(), text: text_of(&content?) })
        });
        sent.collect::<Vec<_>>()
    };
    let numbered_first = [numbered(), of_open_inference()].into_iter().find(|found| !found.is_empty());
    let mut found = numbered_first.or_else(|| in_attributes().filter(|it| !it.is_empty())).unwrap_or_else(of_events);
    if let Some(instructions) = attributes.json("gen_ai.system_instructions") {
        found.insert(0, SentMessage { role: "system".to_owned(), text: text_of(&instructions) });
    }
    found
}

fn numbered(attributes: Attributes<'_>, message: impl Fn(usize) -> String) -> Vec<SentMessage> {
    let sent = |index: usize| {
        let message = message(index);
        let role = attributes.text(&format!("{message}.role"))?.to_owned();
        let part = |at: usize| attributes.text(&format!("{message}.contents.{at}.message_content.text"));
        let parts = || (0..).map_while(part).collect::<Vec<_>>().join("\n");
        let text = attributes.text(&format!("{message}.content")).map_or_else(parts, str::to_owned);
        Some(SentMessage { role, text })
    };
    (0..).map_while(sent).collect()
}

/// Returns the messages in an input: a text, one message, a list of them, or a request with such.
pub fn messages_of(input: &Value) -> Vec<SentMessage> {
    const REQUESTS: [&str; 5] = ["messages", "input", "prompt", "question", "query"];
    match input {
        Value::Array(items) => items.iter().flat_map(messages_of).collect(),
        Value::Object(members) => match (members.get("role"), REQUESTS.iter().find_map(|key| members.get(*key))) {
            (None, Some(request)) => messages_of(request),
            (role, _) => {
                let role = role.and_then(Value::as_str).unwrap_or("user").to_owned();
                Some(SentMessage { role, text: text_of(input) }).filter(|it| !it.text.is_empty()).into_iter().collect()
            }
        },
        Value::String(text) => vec![SentMessage { role: "user".to_owned(), text: text.clone() }],
        Value::Null | Value::Bool(_) | Value::Number(_) => Vec::new(),
    }
}

/// Returns the text of a message or of its parts.
fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(text_of).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"),
        Value::Object(members) => {
            let is_text = members.get("type").and_then(Value::as_str).is_none_or(|kind| kind.ends_with("text"));
            let part = ["parts", "content", "text"].iter().find_map(|key| members.get(*key)).filter(|_| is_text);
            part.map(text_of).unwrap_or_default()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}

const RESULTS: [&str; 7] = [
    "gen_ai.tool.call.result", "gen_ai.tool.result", "ai.toolCall.result", "openclaw.content.tool_output",
    "traceloop.entity.output", "langfuse.observation.output", "output.value",
];

/// Returns what the tool of a span answered; `None` if that is not recorded.
pub fn result_of(exported: &Exported) -> Option<Value> {
    RESULTS.iter().find_map(|key| exported.attributes().json(key))
}
