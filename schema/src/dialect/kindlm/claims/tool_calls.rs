//! `toolCalls`: names, arguments and order of the called tools.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{Rated, ReliableOutput, SchemaFile, VerdictBuilder};
use crate::{
    check::{
        hidden::{may_be, may_match},
        json::{self, Difference, differences},
        schema_file::{SchemaAnswer, SchemaMismatch},
        text::shortened,
    },
    dialect::kindlm::expect::ToolCallExpect,
    document::Pointer,
    evidence::{Evidence, Output, ToolCall},
    mask::{MASK_CHARACTER, has_hidden, texts_of},
    verdict::{Check, FailureCode, Mismatch, Related, Verdict},
    words::plural,
};

/// One entry of `toolCalls`.
#[derive(Clone, Debug)]
pub(crate) struct ToolCallClaim {
    /// Expectation to judge.
    pub expect: ToolCallExpect,
    /// File of `argsSchema`.
    pub args_schema: Option<SchemaFile>,
    /// Whether an entry of the list has `order`: if so, KindLM judges all of them as one claim about order.
    pub ordered: bool,
}

/// Maximum number of calls to list.
const MAX_LISTED: usize = 50;

impl Check for ToolCallClaim {
    fn check(&self, evidence: &Evidence) -> Vec<Verdict> {
        let seen = ReliableOutput::of(evidence);
        let tool = &self.expect.tool.0;
        let calls: Vec<&ToolCall> = seen
            .output()
            .map(|output| &output.tool_calls[..])
            .unwrap_or_default()
            .iter()
            .filter(|call| call.name == *tool)
            .collect();
        // Calls whose names are masked, and may be this one.
        let hidden: Vec<&ToolCall> = seen
            .output()
            .map(|output| &output.tool_calls[..])
            .unwrap_or_default()
            .iter()
            .filter(|call| call.name.contains(MASK_CHARACTER) && may_be(&call.name, tool))
            .collect();
        let uncertainty = if hidden.is_empty() { seen.uncertainty() } else { Some(super::MASKED) };
        if self.expect.should_not_call {
            return vec![self.not_called(uncertainty, &calls)];
        }
        let row = VerdictBuilder::new(self.place("tool"), self.kind(), format!("Tool \"{tool}\" called"));
        if calls.is_empty() {
            let mismatch = self.missing(seen.output());
            return vec![row.failed(FailureCode::ToolCallMissing, mismatch).unless(uncertainty)];
        }
        let mut verdicts = vec![row.passed()];
        if let Some(expected) = &self.expect.args_match {
            verdicts.push(self.arguments(&Value::Object(expected.clone()), &calls, uncertainty));
        }
        if let Some(file) = &self.args_schema {
            verdicts.push(self.schema(file, &calls, uncertainty));
        }
        if let Some(position) = self.expect.order {
            verdicts.push(self.position(position, &seen));
        }
        verdicts
    }

    fn texts(&self) -> Vec<String> {
        let mut texts = vec![self.expect.tool.0.clone()];
        if let Some(expected) = &self.expect.args_match {
            texts.extend(texts_of(&Value::Object(expected.clone())));
        }
        texts.extend(self.args_schema.iter().map(|file| file.text()));
        texts
    }

    fn handles_masked_text(&self) -> bool {
        true
    }
}

impl ToolCallClaim {
    fn kind(&self) -> &'static str {
        match (self.ordered, self.expect.should_not_call) {
            (true, _) => "tool_order",
            (false, true) => "tool_not_called",
            (false, false) => "tool_called",
        }
    }

    fn place(&self, key: &str) -> Pointer {
        Pointer::root().key(key)
    }

    fn not_called(&self, uncertainty: Option<&'static str>, calls: &[&ToolCall]) -> Verdict {
        let tool = &self.expect.tool.0;
        let row = VerdictBuilder::new(self.place("shouldNotCall"), self.kind(), format!("Tool \"{tool}\" not called"));
        let Some(call) = calls.first() else { return row.passed().unless(uncertainty) };
        let times = if calls.len() == 1 { String::new() } else { format!(" (and {} more)", calls.len() - 1) };
        row.failed(
            FailureCode::ToolCallUnexpected,
            Mismatch {
                message: format!("Expected tool \"{tool}\" to NOT be called, but it was"),
                expected: format!("no call to {tool}"),
                actual: format!("{}{times}", describe(call)),
                ..Mismatch::default()
            },
        )
    }

    fn missing(&self, output: Option<&Output>) -> Mismatch {
        let tool = &self.expect.tool.0;
        let calls = output.map(|output| &output.tool_calls[..]).unwrap_or_default();
        let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
        let message = if self.ordered {
            format!("Expected tool \"{tool}\" to be called, but it was not")
        } else {
            format!("Expected tool \"{tool}\" to be called, but got: [{}]", names.join(", "))
        };
        let (mut notes, mut help) = (Vec::new(), Vec::new());
        if let Some(near) = nearest(tool, calls) {
            notes.push(format!("the closest call is {}", describe(near)));
            if let Some(expected) = &self.expect.args_match {
                let expected = Value::Object(expected.clone());
                notes.extend(differences(&expected, &arguments_of(near)).iter().map(Difference::line));
            }
        } else if calls.is_empty() {
            notes.push("no tool was called".to_owned());
            help.push("have the command report each call with a line such as {\"kindlm\":\"tool_call\",\"name\":\"…\",\"arguments\":{}}".to_owned());
        }
        let listed: Vec<String> = calls.iter().take(MAX_LISTED).map(describe).collect();
        let more =
            if calls.len() > MAX_LISTED { format!("\nand {} more", calls.len() - MAX_LISTED) } else { String::new() };
        Mismatch { message, expected: format!("a call to {tool}"), actual: listed.join("\n") + &more, notes, help }
    }

    fn arguments(&self, expected: &Value, calls: &[&ToolCall], uncertainty: Option<&'static str>) -> Verdict {
        let tool = &self.expect.tool.0;
        let at = self.place("argsMatch");
        let label = format!("Tool \"{tool}\" args match");
        let mut closest: Option<(usize, Vec<Difference>)> = None;
        let mut uncertainty = uncertainty;
        for (index, call) in calls.iter().enumerate() {
            let arguments = arguments_of(call);
            let found = differences(expected, &arguments);
            if found.is_empty() {
                return VerdictBuilder::new(at, self.kind(), label).passed();
            }
            if has_hidden(&arguments) && may_match(expected, &arguments) {
                uncertainty = Some(super::MASKED);
            }
            if closest.as_ref().is_none_or(|(_, least)| found.len() < least.len()) {
                closest = Some((index, found));
            }
        }
        let (index, found) = closest.unwrap_or_default();
        let Some(first) = found.first() else {
            return VerdictBuilder::new(at, self.kind(), label).unknown(super::NOT_RECORDED);
        };
        let mut notes = Vec::new();
        if calls.len() > 1 {
            notes.push(format!(
                "of {} calls, the closest is call {}: {}",
                calls.len(),
                index + 1,
                describe(calls[index])
            ));
        }
        notes.extend(found.iter().take(MAX_LISTED).map(Difference::line));
        let (wanted, got) = sides(first);
        let mismatch = Mismatch {
            message: format!("Expected args {}, got {}", json::text(expected), json::text(&calls[0].arguments)),
            expected: wanted,
            actual: got,
            notes,
            ..Mismatch::default()
        };
        let related = found[1..].iter().map(|it| Related::in_claim(it.line(), at.join(&it.at)));
        let row = VerdictBuilder::new(at.join(&first.at), self.kind(), label);
        row.failed(FailureCode::ToolCallArgsMismatch, mismatch).unless(uncertainty).relating(related)
    }

    fn schema(&self, file: &SchemaFile, calls: &[&ToolCall], uncertainty: Option<&'static str>) -> Verdict {
        let tool = &self.expect.tool.0;
        let row =
            VerdictBuilder::new(self.place("argsSchema"), self.kind(), format!("Tool \"{tool}\" args schema valid"));
        let schema = match file.schema(&row, FailureCode::ToolCallArgsSchemaInvalid) {
            Ok(schema) => schema,
            Err(verdict) => return *verdict,
        };
        let mut closest: Option<(&ToolCall, Vec<SchemaMismatch>)> = None;
        let mut uncertainty = uncertainty;
        let mut gave_up = None;
        for call in calls {
            match schema.validate(&call.arguments) {
                SchemaAnswer::Valid => return row.passed(),
                SchemaAnswer::GaveUp(reason) => gave_up = Some(reason),
                SchemaAnswer::Hidden => uncertainty = Some(super::MASKED),
                SchemaAnswer::Invalid(found) => {
                    if closest.as_ref().is_none_or(|(_, least)| found.len() < least.len()) {
                        closest = Some((call, found));
                    }
                }
            }
        }
        if let Some(reason) = gave_up {
            return row.unknown(reason);
        }
        let Some((call, found)) = closest else { return row.unknown(uncertainty.unwrap_or(super::NOT_RECORDED)) };
        let mismatch = Mismatch {
            message: format!("Tool \"{tool}\" arguments did not match argsSchema"),
            expected: format!("arguments that match {}", file.path),
            actual: json::text(&call.arguments),
            notes: found
                .iter()
                .take(MAX_LISTED)
                .map(|it| format!("{} (rule {} of {})", it.line(), it.rule, file.path))
                .collect(),
            ..Mismatch::default()
        };
        row.failed(FailureCode::ToolCallArgsSchemaInvalid, mismatch).unless(uncertainty).relating(file.related(&found))
    }

    fn position(&self, position: u64, seen: &ReliableOutput<'_>) -> Verdict {
        let tool = &self.expect.tool.0;
        let row =
            VerdictBuilder::new(self.place("order"), self.kind(), format!("Tool \"{tool}\" at position {position}"));
        let calls = seen.output().map(|output| &output.tool_calls[..]).unwrap_or_default();
        let there = usize::try_from(position).ok().and_then(|position| calls.get(position));
        if there.is_some_and(|call| call.name == *tool) {
            return row.passed();
        }
        let first = calls.iter().position(|call| call.name == *tool).unwrap_or_default();
        let places: Vec<String> = calls
            .iter()
            .enumerate()
            .filter(|(_, call)| call.name == *tool)
            .map(|(index, _)| index.to_string())
            .take(MAX_LISTED)
            .collect();
        let positions = if places.len() == 1 { "position" } else { "positions" };
        let mismatch = Mismatch {
            message: format!("Expected \"{tool}\" at position {position}, but found at position {first}"),
            expected: format!("{tool} at position {position}"),
            actual: match there {
                Some(other) => format!("{} at position {position}", other.name),
                None => format!("{} in total", plural(calls.len(), "call")),
            },
            notes: vec![format!("{tool} was called at {positions} {}", places.join(", "))],
            ..Mismatch::default()
        };
        // A call observed at the position decides, whatever comes later.
        let uncertainty = match there {
            Some(other) if other.name.contains(MASK_CHARACTER) && may_be(&other.name, tool) => Some(super::MASKED),
            Some(_) => None,
            None => seen.uncertainty(),
        };
        row.failed(FailureCode::ToolCallOrderWrong, mismatch).unless(uncertainty)
    }
}

/// Returns the arguments as members: for a list, the indices and the length are keys.
fn arguments_of(call: &ToolCall) -> Cow<'_, Value> {
    match &call.arguments {
        Value::Array(items) => {
            let mut members: Map<String, Value> =
                items.iter().enumerate().map(|(index, item)| (index.to_string(), item.clone())).collect();
            members.insert("length".to_owned(), Value::from(items.len()));
            Cow::Owned(Value::Object(members))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            Cow::Borrowed(&call.arguments)
        }
    }
}

fn describe(call: &ToolCall) -> String {
    format!("{} {}", call.name, shortened(&json::text(&call.arguments), 2_000))
}

/// Returns the call whose name is most similar to the missing one.
fn nearest<'c>(tool: &str, calls: &'c [ToolCall]) -> Option<&'c ToolCall> {
    let tool = tool.to_lowercase();
    calls
        .iter()
        .take(1_000)
        .map(|call| (strsim::normalized_damerau_levenshtein(&tool, &shortened(&call.name.to_lowercase(), 200)), call))
        .filter(|(likeness, _)| *likeness >= 0.6)
        .max_by(|(left, _), (right, _)| left.total_cmp(right))
        .map(|(_, call)| call)
}

/// Returns a value as JSON, but keeps `-0`, which JSON would write as `0`.
fn signed(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if number == 0.0 && number.is_sign_negative() => "-0".to_owned(),
        Some(_) | None => json::text(value),
    }
}

/// Returns both sides of a difference. Strings have no quotes, unless the other side is not a string.
fn sides(difference: &Difference) -> (String, String) {
    match (&difference.expected, &difference.received) {
        (Value::String(expected), Some(Value::String(received))) => (expected.clone(), received.clone()),
        (expected, Some(received)) => (signed(expected), signed(received)),
        (expected, None) => (signed(expected), "nothing".to_owned()),
    }
}
