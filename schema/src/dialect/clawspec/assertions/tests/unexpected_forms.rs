//! Calls, errors and words in unexpected forms: no assertion of their absence passes.

use serde_json::{Value, json};

use super::*;
use crate::trace::{assemble, read_file};

/// Lines about a run that calls `mail.send`, each in another form, beside a call that is known.
const CALLS: &[&str] = &[
    "t run_id=r1 tool=mail.send",
    "RUN_ID=r1 TOOL=mail.send",
    "t run_id=r1 tool=Mail.Send",
    "t \u{1b}[32mrun_id=r1\u{1b}[0m \u{1b}[1mtool=mail.send\u{1b}[0m",
    "t run_id=\u{1b}[32mr1\u{1b}[0m tool=\u{1b}[1mmail.send\u{1b}[0m",
    "t [\u{1b}[32mr1\u{1b}[0m] tool call: mail.send",
    "{\n  \"run_id\": \"r1\",\n  \"tool\": \"mail.send\"\n}",
    "{\n\t\"tool\": \"mail.send\",\n\t\"runId\" : \"r1\"\n}",
    "t run_id=r1 tools=mail.send,read",
    "t run_id=r1 tools: mail.send",
    "t run_id=r2 spawned_by=r1 tool=mail.send",
    "{\"run_id\":\"r2\",\"root\":{\"id\":\"r1\"},\"tool\":\"mail.send\"}",
    "t run_id=r2 (child of r1) tool end tool=mail.send",
    "t run_id=r1 msg=\"tool call mail.send\"",
    "{\"run_id\":\"r1\",\"at\":\"x\",\"msg\":\"tool_call: mail.send\"}",
    "t run_id=r1 invoked mail.send with 3 arguments",
    "t run_id=r1 -> mail.send",
    "r1,tool_call,mail.send",
    "r1\tTOOL\tmail.send",
    "<call run=\"r1\" tool=\"mail.send\"/>",
    "{\"run_id\":\"r1\",\"content\":[{\"type\":\"tool_use\",\"name\":\"mail.send\"}]}",
    "{\"run_id\":\"r1\",\"type\":\"function_call\",\"function\":{\"name\":\"mail.send\"}}",
    "{\"run\":{\"id\":\"r1\"},\"tool\":{\"name\":\"mail.send\"}}",
    "\u{feff}t run_id=r1 tool=mail.send",
    "t run_id=r1\u{200b} tool=mail\u{ad}.send",
];

#[test]
fn call_in_any_form_is_no_absence() {
    for call in CALLS {
        for end in ["\n", "\r\n"] {
            let mut world = world();
            world.files.retain(|file| file.path != "gw.log");
            let text = format!("t run_id=r1 tool=fs.read\n{call}\n").replace('\n', end);
            world.files.push(file("gw.log", &text));
            let verdict = judge("{type: tool_not_called, tool: mail.send}", &world);
            let status = verdict.outcome.status();
            assert!(matches!(status, Status::Fail | Status::Unknown), "{call:?}: {status:?}");
        }
    }
    // What only resembles it is something else.
    for other in ["t run_id=r10 tool=mail.send", "t run_id=r1 tool=mail.sender", "t run_id=r1 read mail.sender"] {
        let mut world = world();
        world.files.retain(|file| file.path != "gw.log");
        world.files.push(file("gw.log", &format!("t run_id=r1 tool=fs.read\n{other}\n")));
        check("{type: tool_not_called, tool: mail.send}", &world, Status::Pass, "");
    }
}

fn traced(spans: &[Value], change: impl Fn(&mut Value)) -> World {
    let span = |(number, attributes): (usize, &Value)| {
        let attributes = attributes.as_object().unwrap().iter().map(|(key, value)| {
            let value = match value {
                Value::String(text) => json!({ "stringValue": text }),
                Value::Bool(truth) => json!({ "boolValue": truth }),
                Value::Number(number) => json!({ "intValue": number.to_string() }),
                other => json!({ "stringValue": other.to_string() }),
            };
            json!({ "key": key, "value": value })
        });
        let mut span = json!({
            "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": format!("{:016x}", number + 1),
            "parentSpanId": if number == 0 { "" } else { "0000000000000001" }, "name": "step",
            "startTimeUnixNano": ((number + 1) * 1_000_000).to_string(),
            "endTimeUnixNano": ((number + 2) * 1_000_000).to_string(),
            "attributes": attributes.collect::<Vec<_>>(),
        });
        change(&mut span);
        span
    };
    let root = json!({});
    let spans: Vec<Value> = [&root].into_iter().chain(spans).enumerate().map(span).collect();
    let text = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] }).to_string();
    World { trace: TraceAnswer::Found(assemble(&read_file(&text).unwrap().signals.spans)), ..world() }
}

#[test]
fn call_or_error_in_any_span_is_no_absence() {
    let chat = json!({
        "gen_ai.operation.name": "chat", "gen_ai.request.model": "claude-sonnet-4-6", "gen_ai.usage.input_tokens": 5,
        "gen_ai.usage.output_tokens": 5,
    });
    let with = |more: Value| {
        let mut span = chat.clone();
        span.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        span
    };
    let called = json!([{ "role": "assistant", "parts": [{ "type": "tool_call", "name": "mail.send" }] }]);
    for (assertion, span) in [
        ("{type: llm_call_count, max: 1}", with(json!({ "gen_ai.operation.name": "converse" }))),
        ("{type: llm_call_count, max: 1}", with(json!({ "gen_ai.operation.name": "Chat" }))),
        ("{type: model_used, not_expected: opus}", with(json!({ "gen_ai.request.model": "" }))),
        (
            "{type: model_used, not_expected: opus}",
            with(json!({ "gen_ai.operation.name": "messages.create", "gen_ai.response.model": "claude-opus-4-6" })),
        ),
        ("{type: no_span_errors}", json!({ "error": true })),
        ("{type: no_span_errors}", json!({ "otel.status_code": "ERROR" })),
        ("{type: no_span_errors}", json!({ "langfuse.observation.level": "error" })),
        ("{type: no_span_errors}", json!({ "error.type": "timeout" })),
        ("{type: tool_not_invoked, tool: mail.send}", with(json!({ "gen_ai.output.messages": called }))),
        (
            "{type: tool_not_invoked, tool: mail.send}",
            with(json!({ "gen_ai.response.finish_reasons": "[\"tool_calls\"]" })),
        ),
        (
            "{type: tool_sequence, mode: strict, expected: []}",
            with(json!({ "ai.response.finishReason": "tool-calls" })),
        ),
        (
            "{type: tool_not_invoked, tool: mail.send}",
            json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "Mail.send" }),
        ),
        (
            "{type: trace_cost, max_usd: 1}",
            with(json!({ "gen_ai.usage.input_tokens": "", "gen_ai.usage.output_tokens": "" })),
        ),
    ] {
        check(assertion, &traced(std::slice::from_ref(&chat), |_| {}), Status::Pass, "");
        let verdict = judge(assertion, &traced(&[chat.clone(), span.clone()], |_| {}));
        assert_ne!(verdict.outcome.status(), Status::Pass, "{assertion}: {span}");
    }
    // Spans of programs that give them no ids are different spans.
    let two = traced(&[chat.clone(), chat.clone()], |span| {
        if span["parentSpanId"] != "" {
            span["spanId"] = json!("");
        }
    });
    check("{type: llm_call_count, max: 1}", &two, Status::Fail, "2 LLM calls");
    // The outermost span has not ended: what ended so far took no time.
    let open = |span: &mut Value| {
        if span["parentSpanId"] == "" {
            span["endTimeUnixNano"] = json!("0");
        }
    };
    check("{type: trace_duration, max_ms: 1000}", &traced(&[chat.clone(), chat.clone()], |_| {}), Status::Pass, "");
    check("{type: trace_duration, max_ms: 1000}", &traced(&[chat.clone(), chat], open), Status::Unknown, "not ended");
}

#[test]
fn word_that_a_reader_sees_is_no_absence() {
    for (text, word) in [
        ("this is ur\u{ad}gent", "urgent"),
        ("this is ur\u{200b}gent", "urgent"),
        ("un cafe\u{301} noir", "café"),
        ("for a limited\u{a0}time", "limited time"),
        ("for a limited\r\ntime", "limited time"),
        ("URGENT", "urgent"),
        ("DIE STRASSE", "straße"),
        ("this is urgent", "ur\u{ad}gent"),
        ("\u{feff}urgent", "urgent"),
        ("u\0r\0g\0e\0n\0t\0", "urgent"),
    ] {
        let mut world = world();
        world.files.push(file("out/b.md", text));
        let assertion = format!("{{type: artifact_absent_words, path: out/b.md, words: [{}]}}", Value::from(word));
        let verdict = judge(&assertion, &world);
        assert_ne!(verdict.outcome.status(), Status::Pass, "{text:?}");
    }
    for text in
        ["\u{1b}[31merror\u{1b}[0m: failed", "\u{1b}]8;;x\u{7}error\u{1b}]8;;\u{7}: failed", "er\u{200d}ror: failed"]
    {
        let mut world = world();
        world.files.push(file("color.log", text));
        let verdict = judge("{type: log_entry, path: color.log, pattern: 'error: failed', absent: true}", &world);
        assert_eq!(verdict.outcome.status(), Status::Unknown, "{text:?}");
    }
}
