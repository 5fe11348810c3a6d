//! Spans of OpenTelemetry and Opik: each trace is a conversation.

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

use super::{
    conversation::{Builder, Call, Conversation, Imported, Reply, Source, starts_agents},
    lines::Lines,
    unread::Unread,
};
use crate::{
    evidence::{Span, SpanKind, Tokens, Trace, Unfinished, Usage},
    trace::{
        Exported, LogRecord, SentMessage, SpanContent, Stored, ToolUse, asked, asks_for_tools, assemble, distinct,
        have_ended, is_stored, messages_of,
        opik::{self, OpikSpan, OpikTrace},
        result_of, said,
    },
};

pub(super) fn is_one(value: &Value) -> bool {
    is_stored(value)
}

pub(super) fn read(lines: &Lines) -> Result<Imported, String> {
    let (mut stored, mut unread) = (Stored::default(), Unread::default());
    for (line, value) in &lines.values {
        match is_one(value) {
            true => stored.add_value(value.clone()).map_err(|message| format!("line {line}: {message}"))?,
            false => unread.count("value", "unknown"),
        }
    }
    // They may be about anything.
    (0..stored.signals.unassigned).for_each(|_| unread.count("unassigned span", ""));
    let mut by_trace: BTreeMap<&[u8], Vec<&Exported>> = BTreeMap::new();
    for exported in &stored.signals.spans {
        by_trace.entry(&exported.span.trace_id).or_default().push(exported);
    }
    let mut conversations: Vec<Conversation> =
        by_trace.into_values().map(|spans| of_spans(spans, &stored.signals.logs)).collect();
    let source = if conversations.is_empty() { Source::Opik } else { Source::OpenTelemetry };
    let (traces, spans) = stored.of_opik();
    let spans_of = |trace: &OpikTrace| spans.get(trace.id.as_str()).map(Vec::as_slice).unwrap_or_default();
    conversations.extend(traces.iter().map(|trace| of_opik(trace, spans_of(trace))));
    let started = |conversation: &Conversation| conversation.trace.as_ref().and_then(|trace| trace.started_us);
    conversations.sort_by_key(|conversation| started(conversation).unwrap_or(i64::MAX));
    Ok(Imported { source, conversations, notes: Vec::new(), unread })
}

fn of_spans(spans: Vec<&Exported>, logs: &[LogRecord]) -> Conversation {
    let spans = distinct(spans);
    // The outermost span of a stored trace may be that of a caller, which is elsewhere.
    let trace = Trace { unfinished: !have_ended(spans.iter().copied()), ..assemble(spans.iter().copied()) };
    let mut records: HashMap<&[u8], Vec<&LogRecord>> = HashMap::new();
    for record in logs.iter().filter(|record| spans.iter().any(|it| it.span.trace_id == record.trace_id)) {
        records.entry(&record.span_id).or_default().push(record);
    }
    let mut reader = Reader::default();
    let lacks_tools = !trace.spans.iter().any(|part| part.kind == SpanKind::Tool);
    // The parts of the trace are the spans in the same order.
    for (exported, part) in spans.iter().zip(&trace.spans) {
        let records = records.get(&*exported.span.span_id).map(Vec::as_slice).unwrap_or_default();
        match part.kind {
            SpanKind::Llm => {
                let said = said(exported, records);
                if lacks_tools && asks_for_tools(exported) && said.calls.is_empty() {
                    reader.builder.unread("announced call", "");
                }
                reader.reply(part, asked(exported, records), said);
            }
            SpanKind::Tool => reader.call(part, ToolUse::of(exported), result_of(exported)),
            SpanKind::Subagent => reader.builder.conversation.has_others = true,
            SpanKind::Other => {}
        }
    }
    reader.finish(trace)
}

fn of_opik(trace: &OpikTrace, spans: &[OpikSpan]) -> Conversation {
    let mut whole = opik::assemble(trace, spans);
    whole.unfinished |= spans.iter().any(|span| span.end_time.is_none() && span.duration.is_none());
    let mut reader = Reader::default();
    let own = |part: &Span| spans.iter().find(|span| span.id == part.id);
    for part in &whole.spans {
        let Some(span) = own(part) else { continue };
        match part.kind {
            SpanKind::Llm => reader.reply(part, messages_of(&span.input), SpanContent::of_output(&span.output)),
            SpanKind::Tool if span.r#type.as_deref() == Some("tool") => {
                let arguments = span.input.clone();
                let call = ToolUse { id: None, name: part.name.clone(), arguments };
                reader.call(part, Some(call), Some(span.output.clone()).filter(|output| !output.is_null()));
            }
            SpanKind::Subagent => reader.builder.conversation.has_others = true,
            SpanKind::Tool | SpanKind::Other => match span.r#type.as_deref() {
                // Steps of the program.
                Some("general" | "guardrail") => {}
                other => reader.builder.unread("span", other.unwrap_or("unknown")),
            },
        }
    }
    if reader.builder.conversation.replies.is_empty() {
        let said = SpanContent::of_output(&trace.output);
        if said.text.is_some() {
            reader.reply(&Span::default(), messages_of(&trace.input), said);
        }
    }
    reader.builder.at(trace.start_time.as_deref());
    reader.builder.conversation.error = trace.error().or(reader.builder.conversation.error.take());
    reader.finish(whole)
}

#[derive(Default)]
struct Reader {
    builder: Builder,
    /// Number of texts of the user that were sent so far.
    asked: usize,
}

impl Reader {
    fn reply(&mut self, part: &Span, sent: Vec<SentMessage>, said: SpanContent) {
        if let (Some(error), None, []) = (&part.error, &said.text, &said.calls[..]) {
            self.builder.conversation.error = Some(error.clone());
            return;
        }
        let is_first = self.builder.conversation.replies.is_empty();
        if is_first {
            sent.iter().filter(|it| it.role == "system").for_each(|it| self.builder.system(&it.text));
        }
        // Each request repeats those before it.
        let users: Vec<&SentMessage> = sent.iter().filter(|it| it.role == "user").collect();
        let new = users.len().saturating_sub(self.asked);
        for message in &users[users.len() - new..] {
            self.builder.user(&message.text, part.started_us);
        }
        self.asked = self.asked.max(users.len());
        let call = |call: ToolUse| Call {
            id: call.id.unwrap_or_default(),
            name: call.name,
            arguments: call.arguments,
            started_us: part.ended_us,
            ..Call::default()
        };
        let reply = self.builder.reply(None, part.ended_us);
        reply.text = said.text.unwrap_or_default();
        reply.unfinished = part.error.clone().map(Unfinished::Other).or(said.unfinished);
        reply.model = part.model.clone();
        (reply.started_us, reply.ended_us) = (part.started_us, part.ended_us);
        reply.usage = part.tokens.map(|Tokens { input, output, .. }| Usage {
            input_tokens: input,
            output_tokens: output,
            cost_usd: part.cost_usd,
        });
        said.calls.into_iter().for_each(|used| self.builder.call(call(used)));
    }

    /// Adds what a span knows of a call to that of a reply, or to the last reply if it does not show its calls.
    fn call(&mut self, part: &Span, used: Option<ToolUse>, result: Option<Value>) {
        let Some(ToolUse { id, name, arguments }) = used else { return };
        self.builder.conversation.has_others |= starts_agents(&name);
        let replies = &mut self.builder.conversation.replies;
        let is_open = |call: &&mut Call| {
            let is_same = id.as_ref().is_none_or(|id| call.id.is_empty() || call.id == *id);
            call.name == name && call.ended_us.is_none() && call.result.is_none() && is_same
        };
        let mut known = replies.iter_mut().flat_map(|reply| &mut reply.calls);
        let call = match known.find(is_open) {
            Some(call) => call,
            None => {
                if replies.is_empty() {
                    replies.push(Reply::default());
                }
                let last = replies.len() - 1;
                let calls = &mut replies[last].calls;
                calls.push(Call { id: id.unwrap_or_default(), name, arguments, ..Call::default() });
                let last = calls.len() - 1;
                &mut calls[last]
            }
        };
        (call.started_us, call.ended_us) = (part.started_us, part.ended_us);
        (call.result, call.has_failed, call.is_answered) = (result, part.error.is_some(), true);
        // One that failed may have been refused.
        call.has_run = !call.has_failed;
    }

    fn finish(mut self, trace: Trace) -> Conversation {
        self.builder.says_end = true;
        let conversation = &mut self.builder.conversation;
        conversation.is_complete = !trace.cut && !trace.unfinished;
        conversation.duration_ms = trace.started_us.zip(trace.ended_us).map(|(from, to)| (to - from) as f64 / 1000.0);
        let is_alone = |span: &Span| !trace.spans.iter().any(|other| other.parent.as_ref() == Some(&span.id));
        let lacks_agents = |span: &Span| span.kind == SpanKind::Tool && starts_agents(&span.name) && is_alone(span);
        let cut = trace.cut || trace.spans.iter().any(lacks_agents);
        conversation.trace = Some(Trace { cut, ..trace });
        let mut conversation = self.builder.finish();
        let calls = conversation.replies.iter_mut().flat_map(|reply| &mut reply.calls);
        for (index, call) in calls.filter(|call| call.id.is_empty()).enumerate() {
            call.id = format!("call_{index}");
        }
        conversation
    }
}
