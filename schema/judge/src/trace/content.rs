//! Texts and tool calls in spans, wherever a program puts them: in attributes, in events of the span, or in log
//! records; as messages of parts, or as content with separate calls.

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::{
    conventions::{Role, name_of},
    exported::{Attributes, Exported, any_as_json},
    otlp::LogRecord,
};
use crate::evidence::UNREADABLE_ARGUMENTS;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpanContent {
    /// The text of the model's answer; `None` if the span has none.
    pub text: Option<String>,
    pub calls: Vec<ToolUse>,
    /// Whether it looks like messages in JSON that are cut off: exporters shorten long attributes.
    pub is_damaged: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ToolUse {
    /// The id; `None` if unknown.
    pub id: Option<String>,
    pub name: String,
    /// The arguments; `{}` if they are not reported.
    pub arguments: Value,
}

impl ToolUse {
    /// Returns the call of a span; `None` if it calls no tool.
    pub fn of(exported: &Exported) -> Option<ToolUse> {
        if Role::of(exported) != Role::Tool {
            return None;
        }
        let attributes = exported.attributes();
        let arguments = ARGUMENTS.iter().find_map(|key| attributes.json(key));
        let id = attributes.first_text(&["gen_ai.tool.call.id", "tool_call.id", "ai.toolCall.id"]);
        Some(ToolUse {
            id: id.map(str::to_owned),
            name: name_of(exported, Role::Tool).to_owned(),
            arguments: structured(arguments),
        })
    }
}

const ARGUMENTS: [&str; 9] = [
    "gen_ai.tool.call.arguments", "gen_ai.tool.arguments", "tool.parameters", "ai.toolCall.args",
    "openclaw.content.tool_input", "traceloop.entity.input", "langfuse.observation.input", "input.value",
    "tool_arguments",
];

/// Returns arguments that are a mapping or a list; anything else is kept as [`UNREADABLE_ARGUMENTS`].
fn structured(arguments: Option<Value>) -> Value {
    let read = |value: Value| match value {
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    };
    match arguments.map(read) {
        Some(value @ (Value::Object(_) | Value::Array(_))) => value,
        Some(Value::Null) | None => Value::Object(Map::new()),
        Some(Value::String(text)) if text.trim().is_empty() => Value::Object(Map::new()),
        Some(other) => json!({ UNREADABLE_ARGUMENTS: other }),
    }
}

pub fn said(exported: &Exported, records: &[&LogRecord]) -> SpanContent {
    let attributes = exported.attributes();
    let in_attributes = || {
        let messages = OUTPUTS.iter().find_map(|key| attributes.json(key))?;
        Some(SpanContent::of_messages(&messages))
    };
    let numbered = || {
        SpanContent::of_numbered(attributes, "gen_ai.completion").or_else(|| SpanContent::of_open_inference(attributes))
    };
    let of_events = || {
        let events = exported.span.events.iter();
        let said = events.filter_map(|event| SpanContent::of_event(&event.name, Attributes(&event.attributes), None));
        said.reduce(SpanContent::and)
    };
    let of_records = || {
        let said = records.iter().filter_map(|record| {
            let attributes = Attributes(&record.attributes);
            let name = if record.event_name.is_empty() { attributes.text("event.name")? } else { &record.event_name };
            SpanContent::of_event(name, attributes, record.body.as_ref().map(any_as_json))
        });
        said.reduce(SpanContent::and)
    };
    let found = [in_attributes(), numbered(), of_events(), of_records()];
    found.into_iter().flatten().find(|said| *said != SpanContent::default()).unwrap_or_default()
}

const OUTPUTS: [&str; 6] = [
    "gen_ai.output.messages",
    "ai.response.text",
    "openclaw.content.output_messages",
    "langfuse.observation.output",
    "output.value",
    "gen_ai.completion",
];

impl SpanContent {
    fn and(mut self, other: SpanContent) -> SpanContent {
        self.text = match (self.text.take(), other.text) {
            (Some(one), Some(two)) => Some(format!("{one}\n{two}")),
            (one, two) => one.or(two),
        };
        self.calls.extend(other.calls);
        self.is_damaged |= other.is_damaged;
        self
    }

    fn of_text(text: &str) -> SpanContent {
        let begins_messages = ["[{\"", "{\""].iter().any(|begin| text.trim_start().starts_with(begin));
        let is_damaged = begins_messages && serde_json::from_str::<IgnoredAny>(text).is_err();
        let text = (!is_damaged).then(|| text.to_owned());
        SpanContent { text, calls: Vec::new(), is_damaged }
    }

    /// Reads the output of a request: messages, or a response with choices.
    pub fn of_output(output: &Value) -> SpanContent {
        let inner = ["choices", "messages", "output"].iter().find_map(|key| output.get(*key));
        SpanContent::of_messages(inner.unwrap_or(output))
    }

    /// Reads messages: a text, one message, or a list of them.
    fn of_messages(messages: &Value) -> SpanContent {
        match messages {
            Value::String(text) => SpanContent::of_text(text),
            Value::Array(items) => {
                items.iter().map(SpanContent::of_messages).reduce(SpanContent::and).unwrap_or_default()
            }
            Value::Object(message) => SpanContent::of_message(message),
            Value::Null | Value::Bool(_) | Value::Number(_) => SpanContent::default(),
        }
    }

    fn of_message(message: &Map<String, Value>) -> SpanContent {
        if let Some(inner) = message.get("message") {
            return SpanContent::of_messages(inner);
        }
        if message.get("role").and_then(Value::as_str).is_some_and(|role| !matches!(role, "assistant" | "model")) {
            return SpanContent::default();
        }
        let kind = message.get("type").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "tool_call" | "tool_use" | "function" | "toolCall" => {
                return SpanContent { calls: call(message).into_iter().collect(), ..SpanContent::default() };
            }
            "tool_call_response" | "tool_result" | "reasoning" | "thinking" => return SpanContent::default(),
            _ => {}
        }
        let parts = ["parts", "content", "text"].iter().find_map(|key| message.get(*key));
        let mut said = parts.map(SpanContent::of_messages).unwrap_or_default();
        let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        said.calls.extend(calls.filter_map(Value::as_object).filter_map(call));
        said
    }

    fn of_event(name: &str, attributes: Attributes<'_>, body: Option<Value>) -> Option<SpanContent> {
        match name {
            "gen_ai.choice" | "gen_ai.assistant.message" | "gen_ai.content.completion" => {
                let keys = ["gen_ai.completion", "gen_ai.event.content", "content", "message"];
                let content = body.or_else(|| keys.iter().find_map(|key| attributes.json(key)))?;
                Some(SpanContent::of_messages(&content))
            }
            "gen_ai.client.inference.operation.details" => {
                let messages = attributes.json("gen_ai.output.messages").or_else(|| {
                    body.and_then(|body| body.get("gen_ai.output.messages").or(body.get("output_messages")).cloned())
                })?;
                Some(SpanContent::of_messages(&messages))
            }
            _ => None,
        }
    }

    fn of_numbered(attributes: Attributes<'_>, prefix: &str) -> Option<SpanContent> {
        let call = |message: &str, at: usize| {
            let call = format!("{message}.tool_calls.{at}");
            (call.clone(), call)
        };
        SpanContent::of_attributes(attributes, |index| format!("{prefix}.{index}"), call)
    }

    fn of_open_inference(attributes: Attributes<'_>) -> Option<SpanContent> {
        let call = |message: &str, at: usize| {
            let call = format!("{message}.tool_calls.{at}.tool_call");
            (call.clone(), format!("{call}.function"))
        };
        SpanContent::of_attributes(attributes, |index| format!("llm.output_messages.{index}.message"), call)
    }

    /// Reads numbered messages from attributes. `message` is the prefix of a message, and `call` those of the id, the
    /// name and the arguments of a call.
    fn of_attributes(
        attributes: Attributes<'_>,
        message: impl Fn(usize) -> String,
        call: impl Fn(&str, usize) -> (String, String),
    ) -> Option<SpanContent> {
        let mut said: Option<SpanContent> = None;
        for index in 0.. {
            let message = message(index);
            let text = attributes.text(&format!("{message}.content"));
            let mut calls = Vec::new();
            for at in 0.. {
                let (id, function) = call(&message, at);
                let Some(name) = attributes.text(&format!("{function}.name")) else { break };
                calls.push(ToolUse {
                    id: attributes.text(&format!("{id}.id")).map(str::to_owned),
                    name: name.to_owned(),
                    arguments: structured(attributes.json(&format!("{function}.arguments"))),
                });
            }
            if text.is_none() && calls.is_empty() {
                break;
            }
            let next = SpanContent { text: text.map(str::to_owned), calls, is_damaged: false };
            said = Some(match said {
                Some(before) => before.and(next),
                None => next,
            });
        }
        said
    }
}

fn call(members: &Map<String, Value>) -> Option<ToolUse> {
    let function = members.get("function").and_then(Value::as_object).unwrap_or(members);
    let name = ["name", "toolName"].iter().find_map(|key| function.get(*key)?.as_str())?;
    let arguments = ["arguments", "input", "args"].iter().find_map(|key| function.get(*key)).cloned();
    let id = ["id", "toolCallId"].iter().find_map(|key| members.get(*key)?.as_str());
    Some(ToolUse { id: id.map(str::to_owned), name: name.to_owned(), arguments: structured(arguments) })
}
