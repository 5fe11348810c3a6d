//! `toolCalls`: names, arguments and order of the called tools.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::{SchemaFile, verdict};
use crate::{
    act::Act,
    check::{
        json::{self, Difference, differences},
        schema_file::SchemaMismatch,
        text::{Near, shortened, uncolored, visible},
    },
    dialect::kindlm::expect::ToolCallExpect,
    document::Pointer,
    evidence::{CallsGap, Ended, ToolCall, UNREADABLE_ARGUMENTS},
    mask::{MASK_CHARACTER, has_hidden, texts_of},
    seen::{Found, Observed, Seen, Why},
    text::MASKED,
    verdict::{At, Check, FailureCode, Judged, Mismatch, Related, Row, Verdict},
    words::plural,
};

#[derive(Clone, Debug)]
pub(crate) struct ToolCallClaim {
    pub expect: ToolCallExpect,
    pub args_schema: Option<SchemaFile>,
    pub order: Order,
}

/// Order of the calls in a list of expectations. KindLM judges a list with an order as one claim about order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Order {
    Any,
    /// An item has a position.
    Positions,
    /// The calls that come before, as far as they are expected.
    After(Vec<String>),
}

/// Maximum number of calls to list.
pub(super) const MAX_LISTED: usize = 50;

impl Check for ToolCallClaim {
    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let tool = &self.expect.tool.0;
        let calls = calls(act);
        if self.expect.should_not_call {
            let kind = self.row_kind(FailureCode::ToolCallUnexpected);
            return vec![verdict(kind, "shouldNotCall", format!("Tool \"{tool}\" not called"), self.not_called(calls))];
        }
        let called = calls.clone().and_then(|calls| calls.any(|_, call| self.is_of_tool(call)));
        let is_missing = !called.as_ref().is_ok_and(Found::is_yes);
        let seen = calls.as_ref().map(|calls| *calls.so_far()).unwrap_or_default();
        let judged = called.map(|called| Row::present("", called, || self.missing(seen))).map_err(Row::from);
        let kind = self.row_kind(FailureCode::ToolCallMissing);
        let mut verdicts = vec![verdict(kind, "tool", format!("Tool \"{tool}\" called"), judged)];
        let Some(calls) = calls.ok().filter(|_| !is_missing) else { return verdicts };
        if let Some(expected) = &self.expect.args_match {
            let kind = self.row_kind(FailureCode::ToolCallArgsMismatch);
            let judged = self.arguments(&Value::Object(expected.clone()), &calls);
            verdicts.push(verdict(kind, "argsMatch", format!("Tool \"{tool}\" args match"), judged));
        }
        if let Some(file) = &self.args_schema {
            let kind = self.row_kind(FailureCode::ToolCallArgsSchemaInvalid);
            let label = format!("Tool \"{tool}\" args schema valid");
            verdicts.push(verdict(kind, "argsSchema", label, self.schema(file, &calls)));
        }
        if let Some(position) = self.expect.order {
            let kind = self.row_kind(FailureCode::ToolCallOrderWrong);
            let label = format!("Tool \"{tool}\" at position {position}");
            let judged = torn(act).map_or_else(|| self.position(position, &calls), |why| Err(why.into()));
            verdicts.push(verdict(kind, "order", label, judged));
        }
        if let Order::After(before) = &self.order {
            let kind = self.row_kind(FailureCode::ToolCallOrderWrong);
            verdicts.push(verdict(kind, "tool", format!("Tool \"{tool}\" in order"), self.sequence(before, &calls)));
        }
        verdicts
    }

    fn texts(&self) -> Vec<String> {
        texts_of(&serde_json::to_value(&self.expect).unwrap_or_default())
    }
}

pub(super) type Calls<'e> = Observed<&'e [ToolCall]>;

pub(super) fn calls(act: Act<'_>) -> Seen<Calls<'_>> {
    act.output().map(|output| {
        let seen = output.so_far();
        if act.ended() == Some(Ended::RootSpan) {
            // Spans show calls apart from texts.
            let gap = seen.calls_gap.map(|gap| Why::unknown(gap.sentence()));
            return Observed::new(&seen.tool_calls[..], gap);
        }
        let gap = match &seen.replies[..] {
            [] if seen.calls_gap.is_none() => unread_call(&seen.text),
            _ => seen.calls_gap.map(|gap| Why::unknown(gap.sentence())),
        };
        output.map(|output| &output.tool_calls[..]).with_gap(gap)
    })
}

/// Returns why positions are unknown: calls may be missing before the last reply of a conversation.
fn torn(act: Act<'_>) -> Option<Why> {
    let output = act.output().ok()?;
    let (_, earlier) = output.so_far().replies.split_last()?;
    let lacks_calls = |gap: CallsGap| match gap {
        CallsGap::NotShown | CallsGap::NoPlace | CallsGap::Elsewhere | CallsGap::Untraced | CallsGap::OtherAgents => {
            true
        }
        CallsGap::Unnamed => false,
    };
    let is_torn = earlier.iter().any(|reply| reply.output.cut || reply.output.calls_gap.is_some_and(lacks_calls));
    is_torn.then(|| Why::unknown("calls may be missing before the last reply, so positions are unknown"))
}

/// Returns why calls may be missing: a line of the text mentions one, but KindLM cannot read it. It may be in UTF-16,
/// in color, behind other text, cut off, or invalid JSON.
fn unread_call(text: &str) -> Option<Why> {
    let mut text = uncolored(text);
    if text.contains(['\0', char::REPLACEMENT_CHARACTER]) {
        text = text.replace(['\0', char::REPLACEMENT_CHARACTER], "").into();
    }
    let is_about_call = |line: &str| line.contains("\"kindlm\"") && line.to_lowercase().contains("tool");
    (text.contains("\"kindlm\"") && text.lines().any(is_about_call)).then(|| {
        Why::unknown("the output mentions a tool call in a line that KindLM cannot read; such a line begins with `{\"kindlm\":` and is valid JSON in UTF-8")
    })
}

impl ToolCallClaim {
    fn row_kind(&self, code: FailureCode) -> (&'static str, FailureCode) {
        let kind = match (&self.order, self.expect.should_not_call) {
            (Order::Positions | Order::After(_), _) => "tool_order",
            (Order::Any, true) => "tool_not_called",
            (Order::Any, false) => "tool_called",
        };
        (kind, code)
    }

    fn is_of_tool<'e>(&self, call: &'e ToolCall) -> Seen<Found<&'e ToolCall>> {
        let masked = call.name.contains(MASK_CHARACTER).then(|| Why::unknown(MASKED));
        let gap = masked.or_else(|| {
            let is_damaged = call.name.contains(char::REPLACEMENT_CHARACTER);
            is_damaged.then(|| Why::unknown("the name of a called tool is not UTF-8, which could change the result"))
        });
        let gap = gap.or_else(|| {
            let is_alike = call.name != self.expect.tool.0 && visible(&call.name) == visible(&self.expect.tool.0);
            is_alike.then(|| Why::unknown("the name of a called tool differs in invisible characters only"))
        });
        Observed::new(call, gap).search(|call| (call.name == self.expect.tool.0).then_some(*call))
    }

    /// Returns the calls to the tool, as far as they are known.
    fn of_tool<'e>(&self, calls: &Calls<'e>) -> Vec<&'e ToolCall> {
        calls.so_far().iter().filter(|call| call.name == self.expect.tool.0).collect()
    }

    fn not_called(&self, calls: Seen<Calls<'_>>) -> Judged {
        let calls = calls?;
        let tool = &self.expect.tool.0;
        Ok(Row::absent("", calls.any(|_, call| self.is_of_tool(call))?, |call| {
            let count = self.of_tool(&calls).len();
            let times = if count == 1 { String::new() } else { format!(" (and {} more)", count - 1) };
            Mismatch::new(
                format!("Expected tool \"{tool}\" to NOT be called, but it was"),
                format!("no call to {tool}"),
                format!("{}{times}", describe(call)),
            )
        }))
    }

    fn missing(&self, calls: &[ToolCall]) -> Mismatch {
        let tool = &self.expect.tool.0;
        let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
        let message = match self.order {
            Order::Any => format!("Expected tool \"{tool}\" to be called, but got: [{}]", names.join(", ")),
            Order::Positions | Order::After(_) => format!("Expected tool \"{tool}\" to be called, but it was not"),
        };
        let (mut notes, mut help) = (Vec::new(), Vec::new());
        let near = nearest(tool, calls);
        if let Some(near) = near {
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
        let near =
            near.map(|near| Near { text: describe(near), note: format!("the closest call is {}", describe(near)) });
        let mismatch = Mismatch::new(message, format!("a call to {tool}"), listed.join("\n") + &more);
        mismatch.near(near).notes(notes).help(help)
    }

    fn arguments(&self, expected: &Value, calls: &Calls<'_>) -> Judged {
        let mut closest: Option<(usize, Vec<Difference>)> = None;
        let mut index = 0;
        let found = calls.any(|_, call| {
            let Found::Yes(call, proof) = self.is_of_tool(call)? else { return self.is_of_tool(call) };
            let arguments = arguments_of(call);
            let found = differences(expected, &arguments);
            if found.is_empty() {
                return Ok(Found::Yes(call, proof));
            }
            let is_hidden = has_hidden(&arguments);
            if closest.as_ref().is_none_or(|(_, least)| found.len() < least.len()) {
                closest = Some((index, found));
            }
            index += 1;
            Observed::new((), is_hidden.then(|| Why::unknown(MASKED))).search(|()| None)
        });
        let found = match found {
            Ok(Found::Yes(_, proof)) => return Ok(Row::pass("", proof)),
            Ok(Found::No(proof)) => Ok(proof),
            Err(why) => Err(why),
        };
        let (index, differences) = closest.unwrap_or_default();
        let at = differences.first().map(|first| first.at.clone()).unwrap_or_default();
        let proof = found.at(at.clone())?;
        let Some(first) = differences.first() else { return Err(Why::unknown("the calls were not recorded").into()) };
        let calls = self.of_tool(calls);
        let mut notes = Vec::new();
        if calls.len() > 1 {
            notes.push(format!(
                "of {} calls, the closest is call {}: {}",
                calls.len(),
                index + 1,
                describe(calls[index])
            ));
        }
        notes.extend(differences.iter().take(MAX_LISTED).map(Difference::line));
        let (wanted, got) = sides(first);
        let mismatch = Mismatch::new(
            format!("Expected args {}, got {}", json::text(expected), json::text(&calls[0].arguments)),
            wanted,
            got,
        )
        .notes(notes);
        let mismatch = match (&first.expected, &first.received) {
            // A whole list or mapping would say more than its author wants to.
            (expected, Some(received))
                if !expected.is_object() && !expected.is_array() && !received.is_object() && !received.is_array() =>
            {
                mismatch.accepting(received.clone())
            }
            (_, Some(_)) | (_, None) => mismatch,
        };
        let here = Pointer::root().key("argsMatch");
        let related = differences[1..].iter().map(|it| Related::in_claim(it.line(), here.join(&it.at)));
        Ok(Row::fail(at, proof, mismatch).relating(related))
    }

    fn schema(&self, file: &SchemaFile, calls: &Calls<'_>) -> Judged {
        let tool = &self.expect.tool.0;
        let schema = file.schema()?;
        let mut closest: Option<(&ToolCall, Vec<SchemaMismatch>)> = None;
        let found = calls.any(|_, call| {
            let Found::Yes(call, proof) = self.is_of_tool(call)? else { return self.is_of_tool(call) };
            if call.arguments.get(UNREADABLE_ARGUMENTS).is_some() {
                return Err(Why::unknown("the arguments of a call are not valid JSON, which no schema describes"));
            }
            let found = schema.validate(&call.arguments)?;
            if found.is_empty() {
                return Ok(Found::Yes(call, proof));
            }
            if closest.as_ref().is_none_or(|(_, least)| found.len() < least.len()) {
                closest = Some((call, found));
            }
            Ok(Found::No(proof))
        })?;
        let proof = match found {
            Found::Yes(_, proof) => return Ok(Row::pass("", proof)),
            Found::No(proof) => proof,
        };
        let (call, found) = closest.ok_or_else(|| Why::unknown("the calls were not recorded"))?;
        let mismatch = Mismatch::new(
            format!("Tool \"{tool}\" arguments did not match argsSchema"),
            format!("arguments that match {}", file.path),
            json::text(&call.arguments),
        )
        .notes(found.iter().take(MAX_LISTED).map(|it| format!("{} (rule {} of {})", it.line(), it.rule, file.path)));
        Ok(Row::fail("", proof, mismatch).relating(file.related(&found)))
    }

    fn position(&self, position: u64, calls: &Calls<'_>) -> Judged {
        let tool = &self.expect.tool.0;
        let there = usize::try_from(position).ok().and_then(|position| calls.so_far().get(position));
        // A call observed at the position decides, whatever comes later.
        let proof = match there {
            Some(call) => match self.is_of_tool(call)? {
                Found::Yes(_, proof) => return Ok(Row::pass("", proof)),
                Found::No(proof) => proof,
            },
            None => calls.complete()?.1,
        };
        let (first, note) = self.positions(calls);
        let mismatch = Mismatch::new(
            format!("Expected \"{tool}\" at position {position}, but found at position {first}"),
            format!("{tool} at position {position}"),
            match there {
                Some(other) => format!("{} at position {position}", other.name),
                None => format!("{} in total", plural(calls.so_far().len(), "call")),
            },
        )
        .notes([note]);
        Ok(Row::fail("", proof, mismatch))
    }

    /// Returns the position of the first call to the tool, and a note that lists all positions.
    fn positions(&self, calls: &Calls<'_>) -> (usize, String) {
        let tool = &self.expect.tool.0;
        let of_tool = calls.so_far().iter().enumerate().filter(|(_, call)| call.name == *tool);
        let places: Vec<usize> = of_tool.map(|(index, _)| index).collect();
        let positions = if places.len() == 1 { "position" } else { "positions" };
        let listed: Vec<String> = places.iter().take(MAX_LISTED).map(usize::to_string).collect();
        let note = format!("{tool} was called at {positions} {}", listed.join(", "));
        (places.first().copied().unwrap_or_default(), note)
    }

    /// Judges that a call to the tool comes after those before it. A call that is missing there has its own row.
    fn sequence(&self, before: &[String], calls: &Calls<'_>) -> Judged {
        let tool = &self.expect.tool.0;
        let mut last: Option<(&str, usize)> = None;
        let mut misses_one = false;
        for earlier in before {
            match next_call(calls, earlier, last) {
                Some(position) => last = Some((earlier, position)),
                None => misses_one = true,
            }
        }
        let next = next_call(calls, tool, last);
        let unclear = calls.so_far().iter().find_map(|call| self.is_of_tool(call).err());
        let seen = calls.clone().with_gap(unclear);
        let proof = match seen.search(|_| next.filter(|_| !misses_one))? {
            Found::Yes(_, proof) => return Ok(Row::pass("", proof)),
            Found::No(proof) => proof,
        };
        let Some((earlier, position)) = last.filter(|_| next.is_none()) else { return Ok(Row::pass("", proof)) };
        let (first, note) = self.positions(calls);
        let mismatch = Mismatch::new(
            format!("Expected \"{tool}\" after \"{earlier}\", but found at position {first}"),
            format!("{tool} after {earlier}, which was called at position {position}"),
            format!("no call to {tool} after it"),
        )
        .notes([note]);
        Ok(Row::fail("", proof, mismatch))
    }
}

/// Returns the position of the first call to a tool after the previous one.
fn next_call(calls: &Calls<'_>, tool: &str, last: Option<(&str, usize)>) -> Option<usize> {
    let start = last.map_or(0, |(_, position)| position + 1);
    let found = calls.so_far()[start..].iter().position(|call| call.name == tool)?;
    Some(start + found)
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
