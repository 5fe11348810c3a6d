//! Texts and tool calls in spans, wherever a program puts them: in attributes, in events of the span, or in log
//! records; as messages of parts, or as content with separate calls.

use serde::de::IgnoredAny;
use serde_json::{Map, Value, json};

use super::{
    conventions::{Role, finish_reasons, name_of},
    exported::{Attributes, Exported, any_as_json},
    otlp::LogRecord,
};
use crate::evidence::{Ends, UNREADABLE_ARGUMENTS, Unfinished, is_thought};

#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpanContent {
    /// The text of the model's answer; `None` if the span has none.
    pub text: Option<String>,
    pub calls: Vec<ToolUse>,
    /// The reason why something of the answer may be missing; `None` if it is whole, or the span does not say.
    pub unfinished: Option<Unfinished>,
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
    let said = found.into_iter().flatten().find(|said| *said != SpanContent::default()).unwrap_or_default();
    let reasons = || finish_reasons(exported);
    let unfinished = said.unfinished.or_else(|| reasons().iter().find_map(|it| Ends::unfinished_in_any(Some(it))));
    SpanContent { unfinished, ..said }
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
        self.unfinished = self.unfinished.or(other.unfinished);
        self
    }

    fn of_text(text: &str) -> SpanContent {
        // Exporters shorten long attributes.
        let begins_messages = ["[{\"", "{\""].iter().any(|begin| text.trim_start().starts_with(begin));
        let is_damaged = begins_messages && serde_json::from_str::<IgnoredAny>(text).is_err();
        match is_damaged {
            true => SpanContent { unfinished: Some(Unfinished::Unread), ..SpanContent::default() },
            false => SpanContent { text: Some(text.to_owned()), ..SpanContent::default() },
        }
    }

    /// Reads the output of a request: messages, or a response with choices.
    pub fn of_output(output: &Value) -> SpanContent {
        let inner = ["choices", "messages", "output"].iter().find_map(|key| output.get(*key));
        let said = SpanContent::of_messages(inner.unwrap_or(output));
        output.as_object().into_iter().fold(said, SpanContent::ended_by)
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
            return SpanContent::of_messages(inner).ended_by(message);
        }
        if message.get("role").and_then(Value::as_str).is_some_and(|role| !matches!(role, "assistant" | "model")) {
            return SpanContent::default();
        }
        let kind = message.get("type").and_then(Value::as_str).unwrap_or_default();
        match kind {
            "tool_call" | "tool_use" | "function" | "function_call" | "toolCall" => {
                return SpanContent::of_calls([call(message)]);
            }
            "tool_call_response" | "tool_result" | "function_call_output" => return SpanContent::default(),
            kind if is_thought(kind) => return SpanContent::default(),
            _ => {}
        }
        let parts = ["parts", "content", "text"].iter().find_map(|key| message.get(*key));
        let said = parts.map(SpanContent::of_messages).unwrap_or_default();
        let calls = message.get("tool_calls").and_then(Value::as_array).into_iter().flatten();
        let said = said.and(SpanContent::of_calls(calls.map(|it| it.as_object().and_then(call))));
        let said = said.ended_by(message);
        let is_unread = !TEXTS.contains(&kind);
        SpanContent { unfinished: said.unfinished.or(is_unread.then_some(Unfinished::Unread)), ..said }
    }

    /// Adds what a message or a response says of its end.
    fn ended_by(self, members: &Map<String, Value>) -> SpanContent {
        let reasons = ["finish_reason", "finishReason", "stop_reason", "stopReason"];
        let mut reasons = reasons.iter().filter_map(|key| members.get(*key));
        let end = reasons.clone().find_map(|reason| Ends::unfinished_in_any(Some(reason)));
        let text = |key: &str| members.get(key).and_then(Value::as_str).unwrap_or_default();
        let is_incomplete = || (text("status") == "incomplete").then_some(Unfinished::CutOff);
        let is_refusal = || (!text("refusal").is_empty()).then(|| Unfinished::Refused("refusal".to_owned()));
        let lacks_calls = self.calls.is_empty() && reasons.any(Ends::asks_for_tools);
        let unread = || lacks_calls.then_some(Unfinished::Unread);
        let unfinished = self.unfinished.or(end).or_else(is_incomplete).or_else(is_refusal).or_else(unread);
        SpanContent { unfinished, ..self }
    }

    /// Returns calls. One that does not say what it calls is not read.
    fn of_calls(calls: impl IntoIterator<Item = Option<ToolUse>>) -> SpanContent {
        let mut said = SpanContent::default();
        for call in calls {
            match call {
                Some(call) => said.calls.push(call),
                None => said.unfinished = Some(Unfinished::Unread),
            }
        }
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
            let next = SpanContent { text: text.map(str::to_owned), calls, unfinished: None };
            said = Some(match said {
                Some(before) => before.and(next),
                None => next,
            });
        }
        said
    }
}

/// The types of messages and parts that are texts: of the conventions, of chat completions and of LangChain.
const TEXTS: [&str; 8] = ["", "text", "output_text", "message", "ai", "AIMessage", "AIMessageChunk", "constructor"];

fn call(members: &Map<String, Value>) -> Option<ToolUse> {
    let function = members.get("function").and_then(Value::as_object).unwrap_or(members);
    let name = ["name", "toolName"].iter().find_map(|key| function.get(*key)?.as_str())?;
    let arguments = ["arguments", "input", "args"].iter().find_map(|key| function.get(*key)).cloned();
    let id = ["id", "toolCallId", "call_id"].iter().find_map(|key| members.get(*key)?.as_str());
    Some(ToolUse { id: id.map(str::to_owned), name: name.to_owned(), arguments: structured(arguments) })
}
