//! What exported spans mean, by every convention that is read, and which trace is that of an act.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sha2::Digest;
use speclens_schema::{
    dialect::kindlm,
    evidence::{Span, SpanKind, Trace, TraceMatch},
    trace::{
        Exported, ExportedTrace, Signals, ToolUse, TraceClues, assemble, match_trace, opik, otlp, read_file, said,
    },
};

const SECOND: u64 = 1_000_000_000;

/// Returns a span as exporters write it: `number` is its id and the second in which it begins.
fn span(number: u64, parent: u64, name: &str, attributes: Value) -> Value {
    let attributes: Vec<Value> = attributes
        .as_object()
        .unwrap()
        .iter()
        .map(|(key, value)| {
            let value = match value {
                Value::String(text) => json!({ "stringValue": text }),
                Value::Bool(truth) => json!({ "boolValue": truth }),
                // Whole numbers are texts in OTLP/JSON.
                Value::Number(number) if number.is_i64() => json!({ "intValue": number.to_string() }),
                Value::Number(number) => json!({ "doubleValue": number }),
                other => json!({ "stringValue": other.to_string() }),
            };
            json!({ "key": key, "value": value })
        })
        .collect();
    json!({
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": format!("{number:016x}"),
        "parentSpanId": if parent == 0 { String::new() } else { format!("{parent:016x}") },
        "name": name,
        "startTimeUnixNano": (number * SECOND).to_string(),
        "endTimeUnixNano": ((number + 1) * SECOND).to_string(),
        "attributes": attributes,
    })
}

fn signals(spans: Vec<Value>) -> Signals {
    let text = json!({ "resourceSpans": [{ "resource": {}, "scopeSpans": [{ "spans": spans }] }] }).to_string();
    read_file(&text).unwrap().signals
}

fn trace(spans: Vec<Value>) -> Trace {
    assemble(&signals(spans).spans)
}

/// Returns each span of a trace in a few words.
fn shown(trace: &Trace) -> Vec<String> {
    let show = |span: &Span| {
        let mut words = format!("{:?} {}", span.kind, span.name);
        if let Some(model) = &span.model {
            words += &format!(" model={model}");
        }
        if let Some(tokens) = span.tokens {
            words += &format!(" tokens={}+{}={}", tokens.input, tokens.output, tokens.total);
        }
        if let Some(cost) = span.cost_usd {
            words += &format!(" cost={cost}");
        }
        if let Some(error) = &span.error {
            words += &format!(" error={error}");
        }
        words
    };
    trace.spans.iter().map(show).collect()
}

#[track_caller]
fn check(spans: Vec<Value>, expected: &[&str]) {
    assert_eq!(shown(&trace(spans)), expected);
}

#[test]
fn spans_of_each_convention_are_distinguished() {
    check(
        vec![
            span(
                1,
                0,
                "invoke_agent helper",
                json!({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "helper" }),
            ),
            span(
                2,
                1,
                "chat gpt-4o",
                json!({ "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o", "gen_ai.response.model": "gpt-4o-2024-08-06", "gen_ai.usage.input_tokens": 10, "gen_ai.usage.output_tokens": 4 }),
            ),
            span(
                3,
                1,
                "execute_tool lookup",
                json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup" }),
            ),
            span(
                4,
                1,
                "embeddings small",
                json!({ "gen_ai.operation.name": "embeddings", "gen_ai.request.model": "small", "gen_ai.usage.input_tokens": 3 }),
            ),
        ],
        &[
            "Other invoke_agent helper",
            "Llm chat gpt-4o model=gpt-4o-2024-08-06 tokens=10+4=14",
            "Tool lookup",
            "Other embeddings small model=small tokens=3+0=3",
        ],
    );
    // The names of before, with attributes as text.
    check(
        vec![span(
            1,
            0,
            "openai.chat",
            json!({ "gen_ai.system": "openai", "llm.request.type": "chat", "gen_ai.request.model": "m", "gen_ai.usage.prompt_tokens": "7", "gen_ai.usage.completion_tokens": "2", "llm.usage.total_tokens": "9" }),
        )],
        &["Llm openai.chat model=m tokens=7+2=9"],
    );
    check(
        vec![
            span(
                1,
                0,
                "ChatOpenAI",
                json!({ "openinference.span.kind": "LLM", "llm.model_name": "m", "llm.token_count.prompt": 5, "llm.token_count.completion": 1, "llm.token_count.total": 6 }),
            ),
            span(2, 0, "search", json!({ "openinference.span.kind": "TOOL", "tool.name": "web.search" })),
            span(3, 0, "chain", json!({ "openinference.span.kind": "CHAIN" })),
        ],
        &["Llm ChatOpenAI model=m tokens=5+1=6", "Tool web.search", "Other chain"],
    );
    check(
        vec![
            span(1, 0, "run.workflow", json!({ "traceloop.span.kind": "workflow" })),
            span(2, 1, "find.tool", json!({ "traceloop.span.kind": "tool", "traceloop.entity.name": "find" })),
        ],
        &["Other run.workflow", "Tool find"],
    );
    check(
        vec![
            span(
                1,
                0,
                "ai.generateText",
                json!({ "ai.operationId": "ai.generateText", "ai.model.id": "m", "ai.usage.promptTokens": 8, "ai.usage.completionTokens": 2 }),
            ),
            span(
                2,
                1,
                "ai.generateText.doGenerate",
                json!({ "ai.operationId": "ai.generateText.doGenerate", "ai.model.id": "m", "ai.usage.promptTokens": 8, "ai.usage.completionTokens": 2 }),
            ),
            span(3, 1, "ai.toolCall", json!({ "ai.operationId": "ai.toolCall", "ai.toolCall.name": "weather" })),
        ],
        &["Other ai.generateText", "Llm ai.generateText.doGenerate model=m tokens=8+2=10", "Tool weather"],
    );
    check(
        vec![
            span(
                1,
                0,
                "answer",
                json!({ "langfuse.observation.type": "generation", "langfuse.observation.model.name": "m", "langfuse.observation.usage_details": { "input": 3, "output": 1 }, "langfuse.observation.cost_details": { "total": 0.5 } }),
            ),
            span(2, 0, "model", json!({ "mlflow.spanType": "\"CHAT_MODEL\"" })),
            span(3, 0, "tool", json!({ "mlflow.spanType": "\"TOOL\"" })),
        ],
        &["Llm answer model=m tokens=3+1=4 cost=0.5", "Llm model", "Tool tool"],
    );
}

#[test]
fn tokens_of_a_gateway_count_once_beside_its_model_calls() {
    let usage = || json!({ "openclaw.model": "m", "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 90, "gen_ai.usage.output_tokens": 10, "openclaw.tokens.total": 100 });
    let call = |number| {
        span(number, 1, "openclaw.model.call", json!({ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m" }))
    };
    let tool =
        span(4, 1, "openclaw.tool.execution", json!({ "gen_ai.tool.name": "read", "openclaw.toolName": "read" }));
    let root = || span(1, 0, "openclaw.run", json!({ "openclaw.model": "m" }));
    check(
        vec![root(), call(2), call(3), tool, span(5, 1, "openclaw.model.usage", usage())],
        &[
            "Other openclaw.run",
            "Llm openclaw.model.call model=m",
            "Llm openclaw.model.call model=m",
            "Tool read",
            "Other openclaw.model.usage model=m tokens=90+10=100",
        ],
    );
    // Older versions have no other span for the questions.
    check(
        vec![root(), span(2, 1, "openclaw.model.usage", usage())],
        &["Other openclaw.run", "Llm openclaw.model.usage model=m tokens=90+10=100"],
    );
}

#[test]
fn turn_of_another_program_in_a_gateway_is_a_question_to_its_model() {
    let turn = |name: &str| {
        span(
            2,
            1,
            name,
            json!({ "gen_ai.operation.name": "invoke_agent", "gen_ai.request.model": "m", "openclaw.model_call.observation_unit": "turn" }),
        )
    };
    // The second name is that of the newest conventions.
    for name in ["openclaw.model.call", "invoke_agent"] {
        let expected = format!("Llm {name} model=m");
        check(vec![span(1, 0, "openclaw.run", json!({})), turn(name)], &["Other openclaw.run", &expected]);
    }
}

#[test]
fn answer_of_a_gateway_to_its_caller_does_not_end_the_trace() {
    let answered = span(1, 0, "openclaw.gateway.rpc.response", json!({ "openclaw.gateway.rpc.method": "agent" }));
    let called = span(3, 2, "openclaw.model.call", json!({ "gen_ai.operation.name": "chat" }));
    assert!(trace(vec![answered.clone(), called.clone()]).unfinished);
    assert!(!trace(vec![answered, span(2, 0, "openclaw.run", json!({})), called]).unfinished);
}

#[test]
fn question_or_call_with_two_spans_counts_once() {
    let model = |number, parent, name: &str| {
        span(
            number,
            parent,
            name,
            json!({ "gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.input_tokens": 4, "gen_ai.usage.output_tokens": 1 }),
        )
    };
    let tool = |number, parent, name: &str| {
        span(number, parent, name, json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "find" }))
    };
    check(
        vec![
            model(1, 0, "ChatOpenAI"),
            model(2, 1, "chat m"),
            tool(3, 0, "execute_tool find"),
            tool(4, 3, "tools/call find"),
        ],
        &["Other ChatOpenAI", "Llm chat m model=m tokens=4+1=5", "Tool find", "Other tools/call find"],
    );
    // A tool that asks a model is not a second question of the first model.
    check(
        vec![model(1, 0, "chat m"), tool(2, 1, "execute_tool find"), model(3, 2, "chat m")],
        &["Llm chat m model=m", "Tool find", "Llm chat m model=m tokens=4+1=5"],
    );
}

#[test]
fn agents_that_hand_over_are_subagents_and_one_alone_is_not() {
    let agent = |number, parent, name: &str| {
        span(number, parent, name, json!({ "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name }))
    };
    check(vec![agent(1, 0, "solo"), agent(2, 1, "solo")], &["Other solo", "Other solo"]);
    check(vec![agent(1, 0, "lead"), agent(2, 1, "writer")], &["Subagent lead", "Subagent writer"]);
    let run = span(1, 0, "openclaw.run", json!({}));
    check(vec![run, agent(2, 1, "writer")], &["Other openclaw.run", "Subagent writer"]);
    for key in ["metadata.subagent_id", "subagent_id", "langfuse.observation.metadata.subagent_id"] {
        check(vec![span(1, 0, "spawn", json!({ key: "writer", "agent.name": "writer" }))], &["Subagent writer"]);
    }
    check(vec![span(1, 0, "writer", json!({ "metadata": { "subagent_id": "w" } }))], &["Subagent writer"]);
}

#[test]
fn errors_come_from_the_status_an_exception_or_the_type() {
    let failed = |number, status: Value, events: Value| {
        let mut span = span(number, 0, "s", json!({}));
        span["status"] = status;
        span["events"] = events;
        span
    };
    let exception = json!([{ "name": "exception", "attributes": [{ "key": "exception.message", "value": { "stringValue": "it broke" } }] }]);
    check(
        vec![
            failed(1, json!({ "code": 2, "message": "no such order" }), json!([])),
            failed(2, json!({ "code": "STATUS_CODE_ERROR" }), exception.clone()),
            failed(3, json!({ "code": 1 }), exception),
            failed(4, json!({ "code": 2 }), Value::Null),
            span(5, 0, "s", json!({ "error.type": "timeout" })),
        ],
        &[
            "Other s error=no such order",
            "Other s error=it broke",
            "Other s",
            "Other s error=failed without an error message",
            "Other s error=timeout",
        ],
    );
}

#[test]
fn tokens_of_spans_that_hold_others_are_not_counted_twice() {
    check(
        vec![
            span(
                1,
                0,
                "agent",
                json!({ "gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 30, "gen_ai.usage.output_tokens": 3 }),
            ),
            span(
                2,
                1,
                "chat m",
                json!({ "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 30, "gen_ai.usage.output_tokens": 3 }),
            ),
        ],
        &["Other agent", "Llm chat m tokens=30+3=33"],
    );
}

#[test]
fn spans_sent_twice_circles_and_orphans_harm_nothing() {
    let twice = span(2, 9, "orphan", json!({}));
    let circle = [span(3, 4, "a", json!({})), span(4, 3, "b", json!({})), span(5, 5, "c", json!({}))];
    let found = trace([vec![twice.clone(), twice], circle.to_vec()].concat());
    assert_eq!(shown(&found), ["Other orphan", "Other a", "Other b", "Other c"]);
    assert!(found.unfinished, "none of them is outermost");
    assert!(!trace(vec![span(1, 0, "root", json!({}))]).unfinished);
}

#[test]
fn trace_without_the_parent_of_a_span_is_not_complete() {
    let root = || span(1, 0, "openclaw.run", json!({}));
    assert!(!trace(vec![root(), span(2, 1, "step", json!({}))]).cut);
    assert!(trace(vec![root(), span(3, 2, "step", json!({}))]).cut);
    // The parent is a span of the caller.
    assert!(!trace(vec![span(3, 2, "openclaw.run", json!({}))]).cut);
}

#[test]
fn span_sent_before_its_end_counts_once_and_another_with_its_id_counts_as_well() {
    let call = |at: u64, name: &str| {
        let mut call = span(at, 1, "execute_tool", json!({ "gen_ai.tool.name": name }));
        call["spanId"] = json!("0000000000000007");
        call
    };
    let mut begun = call(2, "read");
    begun["endTimeUnixNano"] = json!("0");
    let found = trace(vec![span(1, 0, "run", json!({})), begun, call(2, "read"), call(3, "send")]);
    assert_eq!(shown(&found), ["Other run", "Tool read", "Tool send"]);
    assert!(found.spans.iter().all(|span| span.ended_us.is_some()));
}

#[test]
fn call_of_a_span_sent_twice_is_reported_once() {
    let call = span(1, 0, "execute_tool", json!({ "gen_ai.tool.name": "read" }));
    let found = kindlm::trace::Trace::default().evidence(&signals(vec![call.clone(), call]).spans, &[]).unwrap();
    assert_eq!(found.turns[0].calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>(), ["read"]);
}

#[test]
fn tokens_of_a_question_are_known_only_with_both_parts() {
    let asked = |usage: Value| {
        let mut attributes = json!({ "gen_ai.operation.name": "chat" });
        attributes.as_object_mut().unwrap().extend(usage.as_object().unwrap().clone());
        trace(vec![span(1, 0, "chat", attributes)]).spans[0].tokens.map(|tokens| (tokens.input, tokens.output))
    };
    assert_eq!(asked(json!({ "gen_ai.usage.output_tokens": 3 })), None);
    assert_eq!(asked(json!({ "gen_ai.usage.total_tokens": 3 })), None);
    assert_eq!(asked(json!({ "gen_ai.usage.output_tokens": 3, "gen_ai.usage.total_tokens": 8 })), Some((5, 3)));
    let embedded = json!({ "gen_ai.operation.name": "embeddings", "gen_ai.usage.input_tokens": 5 });
    let found = trace(vec![span(1, 0, "embeddings", embedded)]);
    assert_eq!(shown(&found), ["Other embeddings tokens=5+0=5"]);
}

#[test]
fn status_of_an_error_may_be_a_name_or_any_number() {
    for (code, is_error) in [
        (json!(2), true),
        (json!(2.0), true),
        (json!("2"), true),
        (json!("STATUS_CODE_ERROR"), true),
        (json!(1), false),
        (json!(null), false),
    ] {
        let mut broken = span(1, 0, "chat", json!({}));
        broken["status"] = json!({ "code": code });
        assert_eq!(trace(vec![broken]).spans[0].error.is_some(), is_error, "{code}");
    }
}

#[test]
fn messages_are_found_in_attributes_events_and_records() {
    let one = |attributes: Value| signals(vec![span(1, 0, "chat", attributes)]).spans.remove(0);
    let text = |exported: &Exported| said(exported, &[]).text;
    let parts = json!([{ "role": "assistant", "parts": [
        { "type": "reasoning", "content": "hm" },
        { "type": "text", "content": "Hello" },
        { "type": "tool_call", "id": "c1", "name": "find", "arguments": { "q": 1 } },
    ] }]);
    let found = said(&one(json!({ "gen_ai.output.messages": parts })), &[]);
    assert_eq!(found.text.as_deref(), Some("Hello"));
    let call = ToolUse { id: Some("c1".to_owned()), name: "find".to_owned(), arguments: json!({ "q": 1 }) };
    assert_eq!(found.calls, [call]);
    let numbered = one(json!({
        "gen_ai.completion.0.content": "Hello", "gen_ai.completion.0.tool_calls.0.id": "c1",
        "gen_ai.completion.0.tool_calls.0.name": "find", "gen_ai.completion.0.tool_calls.0.arguments": "{\"q\": 1}",
    }));
    assert_eq!(said(&numbered, &[]), found);
    assert_eq!(text(&one(json!({ "llm.output_messages.0.message.content": "Hi" }))).as_deref(), Some("Hi"));
    assert_eq!(text(&one(json!({ "ai.response.text": "Hi" }))).as_deref(), Some("Hi"));
    let mut with_event = span(1, 0, "chat", json!({}));
    let content = json!({ "message": { "role": "assistant", "content": "Hello", "tool_calls": [
        { "id": "c1", "type": "function", "function": { "name": "find", "arguments": "{\"q\": 1}" } },
    ] } });
    with_event["events"] = json!([{ "name": "gen_ai.choice", "attributes": [
        { "key": "gen_ai.event.content", "value": { "stringValue": content.to_string() } },
    ] }]);
    assert_eq!(said(&signals(vec![with_event]).spans[0], &[]), found);
    let record = json!({ "resourceLogs": [{ "scopeLogs": [{ "logRecords": [{
        "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": format!("{:016x}", 1), "eventName": "gen_ai.choice",
        "body": { "kvlistValue": { "values": [
            { "key": "index", "value": { "intValue": "0" } },
            { "key": "message", "value": { "kvlistValue": { "values": [{ "key": "content", "value": { "stringValue": "Hello" } }] } } },
        ] } },
    }] }] }] });
    let both = format!(
        "{}\n{record}",
        json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [span(1, 0, "chat", json!({}))] }] }] })
    );
    let found = read_file(&both).unwrap().signals;
    let records: Vec<_> = found.logs.iter().collect();
    assert_eq!(said(&found.spans[0], &records).text.as_deref(), Some("Hello"));
}

#[test]
fn arguments_of_a_tool_are_found_under_each_name() {
    for key in ["gen_ai.tool.call.arguments", "tool.parameters", "ai.toolCall.args", "openclaw.content.tool_input"] {
        let attributes = json!({ "gen_ai.tool.name": "find", key: "{\"q\": 1}" });
        let found = signals(vec![span(1, 0, "s", attributes)]);
        assert_eq!(ToolUse::of(&found.spans[0]).unwrap().arguments, json!({ "q": 1 }), "{key}");
    }
}

#[test]
fn protobuf_and_json_say_the_same() {
    use prost::Message;
    let text = json!({ "resourceSpans": [{ "resource": { "attributes": [] }, "scopeSpans": [{ "spans": [
        span(1, 0, "chat", json!({ "gen_ai.operation.name": "chat", "gen_ai.usage.input_tokens": 5, "x": 0.5, "y": true })),
    ] }] }] });
    let of_json: otlp::TracesRequest = serde_json::from_value(text).unwrap();
    let of_protobuf = otlp::TracesRequest::decode(of_json.encode_to_vec().as_slice()).unwrap();
    assert_eq!(of_json, of_protobuf);
    assert_eq!(of_json.resource_spans[0].scope_spans[0].spans[0].trace_id.len(), 16);
}

fn joined(spans: Vec<Value>, clues: TraceClues) -> Result<Option<TraceMatch>, usize> {
    let found = signals(spans);
    let mut by_trace: BTreeMap<_, Vec<&Exported>> = BTreeMap::new();
    for exported in &found.spans {
        by_trace.entry(&exported.span.trace_id).or_default().push(exported);
    }
    let traces: Vec<ExportedTrace<'_>> =
        by_trace.into_iter().map(|(id, spans)| ExportedTrace { id, spans, is_older: false }).collect();
    match_trace(&traces, &clues).map(|found| found.by).map_err(|ambiguous| ambiguous.0)
}

#[test]
fn trace_is_joined_by_the_clue_that_says_most() {
    let chat = || span(5, 0, "chat", json!({ "gen_ai.operation.name": "chat", "openclaw.runId": "r-1" }));
    let window = || TraceClues { started_us: 4_000_000, ended_us: Some(9_000_000), ..TraceClues::default() };
    let text = |text: &str| Some(text.to_owned());
    let logged = vec!["0af7651916cd43dd8448eb211c80319c".to_owned()];
    assert_eq!(
        joined(vec![chat()], TraceClues { logged, run_id: text("r-1"), ..window() }),
        Ok(Some(TraceMatch::LoggedId))
    );
    assert_eq!(joined(vec![chat()], TraceClues { run_id: text("r-1"), ..window() }), Ok(Some(TraceMatch::RunId)));
    assert_eq!(joined(vec![chat()], TraceClues { run_id: text("r-2"), ..window() }), Ok(Some(TraceMatch::Window)));
    // The gateway completes the key of the session with the agent, and hashes it.
    let hash =
        sha2::Sha256::digest("agent:main:hook:qa:x").iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let of_session = vec![span(5, 0, "openclaw.run", json!({ "session.id": hash }))];
    let session = TraceClues { session_key: text("hook:qa:x"), ..window() };
    assert_eq!(joined(of_session, session), Ok(Some(TraceMatch::Session)));
    let late = TraceClues { started_us: 90_000_000, ended_us: Some(95_000_000), ..TraceClues::default() };
    assert_eq!(joined(vec![chat()], late), Ok(None));
    let early =
        TraceClues { started_us: 6_000_000, ended_us: Some(9_000_000), padding_us: 2_000_000, ..TraceClues::default() };
    assert_eq!(joined(vec![chat()], early), Ok(Some(TraceMatch::Window)), "the clock of the gateway is a little late");
    // What a gateway does beside is no trace of an agent.
    assert_eq!(joined(vec![span(5, 0, "openclaw.webhook.processed", json!({}))], window()), Ok(None));
}

#[test]
fn all_traces_with_a_clue_are_those_of_the_act_and_others_of_agents_may_be() {
    let in_trace = |trace: u8, at: u64, name: &str, attributes: Value| {
        let mut span = span(at, 0, name, attributes);
        span["traceId"] = json!(format!("{trace:032x}"));
        span
    };
    let call = |more: Value| {
        let mut attributes = json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "send" });
        attributes.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        attributes
    };
    let clues = || TraceClues {
        run_id: Some("r-1".to_owned()),
        session_key: Some("hook:qa:x".to_owned()),
        started_us: 4_000_000,
        ended_us: Some(9_000_000),
        padding_us: 3_000_000,
        ..TraceClues::default()
    };
    let of_run = || in_trace(1, 5, "openclaw.harness.run", json!({ "openclaw.runId": "r-1" }));
    let mut timeless = in_trace(2, 6, "openclaw.exec", call(json!({})));
    timeless["startTimeUnixNano"] = json!(null);
    for (other, own, unassigned) in [
        (in_trace(2, 6, "openclaw.exec", call(json!({}))), 1, 1),
        (in_trace(2, 6, "openclaw.exec", call(json!({ "openclaw.sessionKey": "hook:qa:x" }))), 2, 0),
        (in_trace(2, 6, "openclaw.exec", call(json!({ "openclaw.sessionKey": "agent:copy:subagent:1" }))), 1, 1),
        (in_trace(2, 6, "openclaw.exec", call(json!({ "openclaw.sessionKey": "agent:main:main" }))), 1, 0),
        (in_trace(2, 3, "openclaw.exec", call(json!({}))), 1, 0),
        (in_trace(2, 6, "openclaw.liveness.warning", json!({})), 1, 0),
        (timeless, 1, 1),
    ] {
        let shown = other.to_string();
        let found = signals(vec![of_run(), other]);
        let traces: Vec<ExportedTrace<'_>> = found
            .spans
            .iter()
            .map(|it| ExportedTrace { id: &it.span.trace_id, spans: vec![it], is_older: false })
            .collect();
        let found = match_trace(&traces, &clues()).unwrap();
        assert_eq!((found.own.len(), found.unassigned.len()), (own, unassigned), "{shown}");
        assert_eq!(found.by, Some(TraceMatch::RunId));
    }
}

#[test]
fn trace_of_several_has_ended_when_each_in_which_an_agent_worked_has() {
    let in_trace = |trace: u8, parent: u64, name: &str| {
        let attributes = if name == "chat" { json!({ "gen_ai.operation.name": "chat" }) } else { json!({}) };
        let mut span = span(u64::from(trace), parent, name, attributes);
        span["traceId"] = json!(format!("{trace:032x}"));
        span
    };
    let root = || in_trace(1, 0, "chat");
    for (other, unfinished) in [
        (in_trace(2, 0, "chat"), false),
        (in_trace(2, 9, "chat"), true),
        (in_trace(2, 9, "openclaw.gateway.rpc.x"), false),
    ] {
        assert_eq!(trace(vec![root(), other.clone()]).unfinished, unfinished, "{other}");
    }
}

#[test]
fn traces_that_began_at_the_same_time_are_ambiguous_unless_one_names_the_agent() {
    let other = |agent: &str| {
        let mut other = span(6, 0, "chat", json!({ "gen_ai.operation.name": "chat", "gen_ai.agent.name": agent }));
        other["traceId"] = json!("11111111111111111111111111111111");
        other
    };
    let chat = || span(5, 0, "chat", json!({ "gen_ai.operation.name": "chat" }));
    let clues = || TraceClues {
        started_us: 4_000_000,
        ended_us: Some(9_000_000),
        agent: Some("writer".to_owned()),
        ..TraceClues::default()
    };
    assert_eq!(joined(vec![chat(), other("reader")], clues()), Err(2));
    assert_eq!(joined(vec![chat(), other("writer")], clues()), Ok(Some(TraceMatch::Window)));
}

#[test]
fn file_of_lines_arrays_or_opik_is_read_and_others_are_explained() {
    let opik = r#"[{"id": "s1", "trace_id": "t", "type": "tool", "name": "find"}]"#;
    assert_eq!(read_file(opik).unwrap().spans.len(), 1);
    let opik =
        r#"{"traces": [{"id": "t", "start_time": "2026-01-01T00:00:00Z"}], "spans": [{"id": "s1", "trace_id": "t"}]}"#;
    let stored = read_file(opik).unwrap();
    assert_eq!((stored.traces.len(), stored.spans.len()), (1, 1));
    let exported = r#"{"trace": {"id": "t", "start_time": "2026-01-01 00:00:00.25+00:00"}, "spans": [{"id": "s1", "trace_id": "t"}], "attachments": []}"#;
    let stored = read_file(exported).unwrap();
    assert_eq!((stored.traces.len(), stored.spans.len()), (1, 1));
    for (text, line, message) in [
        ("", 1, "it contains no spans"),
        ("{}", 1, "expected OTLP/JSON"),
        ("\n\n{\"a\": 1}", 3, "expected OTLP/JSON"),
        ("{\"resourceSpans\": []}\n{", 2, "not valid JSON"),
        ("{\"resourceSpans\": 3}", 1, "invalid type"),
        (r#"{"traces": [], "spans": {}}"#, 1, "expected OTLP/JSON"),
    ] {
        let error = read_file(text).unwrap_err();
        assert_eq!(error.line, line, "{text}");
        assert!(error.message.contains(message), "{text}: {}", error.message);
    }
}

#[test]
fn spans_of_opik_without_an_id_or_a_trace_are_kept() {
    let text = json!({
        "traces": [{ "id": "t", "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:09Z" }],
        "spans": [
            { "trace_id": "t", "type": "tool", "name": "read" },
            { "trace_id": "t", "type": "tool", "name": "send" },
            { "id": "s1", "type": "tool", "name": "mail", "start_time": "2026-01-01T00:00:02Z" },
            { "id": "s2", "trace_id": "u", "type": "tool", "name": "post" },
        ],
    });
    let stored = read_file(&text.to_string()).unwrap();
    let (traces, spans) = stored.of_opik();
    let found: Vec<(&str, Vec<String>, bool)> = traces
        .iter()
        .map(|it| (it.id.as_str(), opik::assemble(it, &spans[it.id.as_str()])))
        .map(|(id, trace)| (id, shown(&trace), trace.unfinished))
        .collect();
    let tools = |names: &[&str]| names.iter().map(|name| format!("Tool {name}")).collect::<Vec<_>>();
    assert_eq!(
        found,
        [("t", tools(&["send", "read"]), false), ("", tools(&["mail"]), true), ("u", tools(&["post"]), true)]
    );
    assert_eq!(traces[1].start_time.as_deref(), Some("2026-01-01T00:00:02Z"));
}

#[test]
fn ten_thousand_nested_spans_are_assembled() {
    let deep: Vec<Value> = (1..=10_000).map(|number| span(number, number - 1, "step", json!({}))).collect();
    let found = trace(deep);
    assert_eq!(found.spans.len(), 10_000);
    assert_eq!(found.spans.iter().filter(|span| span.kind == SpanKind::Other).count(), 10_000);
}
