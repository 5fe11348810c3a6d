//! `speclens trace`: suites are judged by spans in files, and by spans that a running system sends.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use serde_json::{Value, json};

use crate::{
    processes::{assert_gone, send, wait_for},
    support::{Done, Place},
};

const SUITE: &str = r#"kindlm: 1
project: shop
suite: { name: clerk }
trace:
  spanFilter: { attributeMatch: { env: test } }
tests:
  - name: looks up the order
    command: "false"
    expect:
      toolCalls:
        - { tool: lookup_order, argsMatch: { order_id: "42" } }
        - { tool: delete_order, shouldNotCall: true }
      output: { contains: [shipped] }
      latency: { maxMs: 3000 }
  - name: apologizes
    command: "false"
    expect:
      output: { contains: [sorry] }
  - name: is left out
    skip: true
    command: "false"
    expect: {}
"#;

const SCENARIOS: &str = r#"version: "1.0"
target: { type: skill, path: skills/clerk, trigger: /clerk }
scenarios:
  - name: looks up the order
    tags: [negative]
    when: { invoke: /clerk }
    then:
      - { type: tool_sequence, mode: strict, expected: [lookup_order, send_mail] }
      - { type: llm_call_count, max: 1 }
      - { type: artifact_exists, path: out/a.md }
  - name: writes a file
    when: { invoke: /clerk }
    then:
      - { type: artifact_exists, path: out/a.md }
"#;

fn span(number: u64, parent: u64, name: &str, attributes: Value) -> Value {
    let attributes: Vec<Value> = attributes
        .as_object()
        .unwrap()
        .iter()
        .chain([(&"env".to_owned(), &json!("test"))])
        .map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } }))
        .collect();
    json!({
        "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": format!("{number:016x}"),
        "parentSpanId": if parent == 0 { String::new() } else { format!("{parent:016x}") }, "name": name,
        "startTimeUnixNano": (number * 1_000_000_000).to_string(), "endTimeUnixNano": ((number + 2) * 1_000_000_000).to_string(),
        "attributes": attributes,
    })
}

fn spans() -> Value {
    let answer = json!([{ "role": "assistant", "parts": [{ "type": "text", "content": "Order 42 has shipped." }] }]);
    let mut other =
        span(9, 0, "chat", json!({ "gen_ai.operation.name": "chat", "gen_ai.completion.0.content": "sorry" }));
    other["attributes"][2]["value"]["stringValue"] = json!("production");
    json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [
        span(1, 0, "invoke_agent clerk", json!({ "gen_ai.operation.name": "invoke_agent" })),
        span(2, 1, "execute_tool lookup_order", json!({
            "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "lookup_order",
            "gen_ai.tool.call.arguments": "{\"order_id\": \"42\"}",
        })),
        span(3, 1, "chat", json!({ "gen_ai.operation.name": "chat", "gen_ai.output.messages": answer.to_string() })),
        other,
    ] }] }] })
}

fn clerk() -> Place {
    let place = Place::with(SUITE);
    place.write("clawspec.yaml", "report_dir: reports\n");
    place.write("skills/clerk/SKILL.md", "# clerk\n");
    place.write("skills/clerk/tests/scenarios.yaml", SCENARIOS);
    place.write("spans.json", spans().to_string());
    place
}

#[test]
fn stored_spans_judge_the_tests_of_a_suite_by_its_filter() {
    let place = clerk();
    let done = place.run(&["trace", "kindlm.yaml", "--from", "spans.json"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    for part in ["looks up the order", "sorry", "1 passed", "1 failed", "1 skipped"] {
        assert!(done.stdout.contains(part), "{part} is missing:\n{}", done.stdout);
    }
    let one = place.run(&["trace", "kindlm.yaml", "--from", "spans.json", "--test", "looks*"]);
    assert_eq!(one.code, Some(0), "{one:?}");
    assert!(!place.exists(".speclens"), "nothing is recorded");
}

#[test]
fn span_without_the_id_of_a_trace_leaves_what_did_not_happen_unknown() {
    let place = clerk();
    let mut spans = spans();
    let mut lost = span(4, 1, "execute_tool", json!({ "gen_ai.tool.name": "delete_order" }));
    lost["traceId"] = json!("");
    spans["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array_mut().unwrap().push(lost);
    place.write("spans.json", spans.to_string());
    let done = place.run(&["trace", "kindlm.yaml", "--from", "spans.json", "--test", "looks*"]);
    assert!(done.code != Some(0) && done.stdout.contains("1 unknown"), "{done:?}");
}

#[test]
fn assertions_about_traces_are_judged_by_stored_spans_and_others_left_out() {
    let place = clerk();
    let done = place.run(&["trace", "skills/clerk/tests/scenarios.yaml", "--from", "spans.json"]);
    assert_eq!(done.code, Some(1), "{done:?}");
    for part in
        ["expected exactly lookup_order, send_mail, got lookup_order", "- send_mail", "2 LLM calls, more than max 1"]
    {
        assert!(done.stdout.contains(part), "{part} is missing:\n{}", done.stdout);
    }
    assert!(!done.stdout.contains("artifact_exists") && !done.stdout.contains("writes a file"), "{}", done.stdout);
}

#[test]
fn what_cannot_be_judged_is_explained() {
    let place = clerk();
    place.write("broken.json", "{\n");
    place.write(
        "cli-bench.yaml",
        "cli: sh\nproviders: [a/b]\ntasks: [{ id: a, intent: b, assert: [{ exit_code: 0 }] }]\n",
    );
    for (arguments, code, words) in [
        (&["kindlm.yaml", "--from", "none.json"][..], 2, "cannot read `none.json`"),
        (&["kindlm.yaml", "--from", "broken.json"], 2, "broken.json, line"),
        (&["cli-bench.yaml", "--from", "spans.json"], 2, "cli-bench has no trace assertions"),
        (&["kindlm.yaml"], 2, "--from"),
        (&["kindlm.yaml", "--listen", "--port", "0", "--timeout", "100"], 3, "no spans arrived within 0.1 s"),
    ] {
        let done = place.run(&[&["trace"], arguments].concat());
        assert_eq!(done.code, Some(code), "{arguments:?}: {done:?}");
        assert!(done.text().contains(words), "{arguments:?}: {done:?}");
    }
    let filtered = spans().to_string().replace("\"test\"", "\"other\"");
    place.write("spans.json", filtered);
    let done = place.run(&["trace", "kindlm.yaml", "--from", "spans.json"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(
        done.text().contains("error[no-spans]") && done.text().contains("no span matches `trace.spanFilter`"),
        "{done:?}"
    );
}

#[test]
fn spans_that_are_sent_judge_the_suite() {
    let place = clerk();
    let mut child = place.start(&["trace", "kindlm.yaml", "--listen", "--port", "0", "--test", "looks*"]);
    let mut line = String::new();
    let mut messages = BufReader::new(child.stderr.take().unwrap());
    while !line.contains("listening at http://") {
        line.clear();
        assert_ne!(messages.read_line(&mut line).unwrap(), 0, "it never listened");
    }
    let address = line.trim().rsplit("http://").next().unwrap().to_owned();
    let body = spans().to_string();
    let mut stream = TcpStream::connect(&address).unwrap();
    write!(stream, "POST /v1/traces HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("{}"), "{answer}");
    let done = Done::at_end_of(child);
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[cfg(unix)]
#[test]
fn command_gets_the_receiver_address_and_its_failure_is_reported() {
    let place = clerk();
    let command = "printenv OTEL_EXPORTER_OTLP_ENDPOINT > endpoint; exit 7";
    let options = ["trace", "kindlm.yaml", "--listen", "--port", "0", "--timeout", "1000", "--command", command];
    let done = place.run(&options);
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.text().contains("the command ended with exit code 7"), "{done:?}");
    assert!(place.read("endpoint").starts_with("http://127.0.0.1:"));
}

#[cfg(unix)]
#[test]
fn no_process_of_the_command_survives() {
    let trace = |place: &Place, timeout: &str, command: &str| {
        place.start(&["trace", "kindlm.yaml", "--listen", "--port", "0", "--timeout", timeout, "--command", command])
    };
    // The first one ends and leaves a process behind, the second one ends too late.
    for command in ["sleep 60 & echo $! > pid", "echo $$ > pid; sleep 60; true"] {
        let place = clerk();
        let done = Done::at_end_of(trace(&place, "300", command));
        assert_eq!(done.code, Some(3), "{done:?}");
        assert_gone(&place, &["pid"]);
    }
    for (signal, code) in [("INT", Some(130)), ("TERM", Some(130)), ("KILL", None)] {
        let place = clerk();
        let child = trace(&place, "60000", "echo $$ > pid; sleep 60; true");
        wait_for(&place, "pid");
        send(signal, child.id());
        assert_eq!(Done::at_end_of(child).code, code, "{signal}");
        assert_gone(&place, &["pid"]);
    }
}

#[test]
fn options_of_the_listener_are_refused_for_stored_spans() {
    for option in [["--command", "true"], ["--port", "5"], ["--timeout", "9"]] {
        let done = clerk().run(&[&["trace", "kindlm.yaml", "--from", "spans.json"], &option[..]].concat());
        assert!(done.code == Some(2) && done.text().contains("cannot be used with"), "{done:?}");
    }
}

/// A program `openclaw` that works as an agent and exports the spans in the file beside it.
#[cfg(unix)]
const OPENCLAW: &str = r#"#!/usr/bin/env bash
[ "$1" = agents ] && echo '[]' && exit
if [ -n "$OTEL_EXPORTER_OTLP_ENDPOINT" ]; then
  address=${OTEL_EXPORTER_OTLP_ENDPOINT#http://}
  body=$(sed "s/MARK/${OTEL_RESOURCE_ATTRIBUTES##*=}/" "${0%/*}/spans.json")
  exec 3<>"/dev/tcp/${address%:*}/${address#*:}"
  printf 'POST /v1/traces HTTP/1.1\r\nhost: %s\r\ncontent-type: application/json\r\ncontent-length: %s\r\nconnection: close\r\n\r\n%s' \
    "$address" "${#body}" "$body" >&3
  cat <&3 >&2
fi
echo '{"meta": {"agentMeta": {"sessionId": "session-of-the-agent"}}}'
"#;

#[cfg(unix)]
const OF_AGENT: &str = r#"version: "1.0"
target: { type: agent, path: agents/clerk, trigger: clerk }
scenarios:
  - name: looks up the order
    tags: [negative]
    when: { invoke: Where is order 42? }
    then:
      - { type: tool_sequence, mode: strict, expected: [lookup_order] }
      - { type: llm_call_count, min: 2, max: 2 }
      - { type: no_span_errors }
"#;

#[cfg(unix)]
fn agent(settings: &str) -> Done {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::empty();
    place.write("clawspec.yaml", "observability: { backend: none, trace_poll_delay_ms: 50 }\n");
    place.write("speclens.yaml", settings);
    place.write("agents/clerk/SOUL.md", "# clerk\n");
    place.write("agents/clerk/tests/scenarios.yaml", OF_AGENT);
    let mut spans = spans();
    spans["resourceSpans"][0]["resource"] =
        json!({ "attributes": [{ "key": "speclens.attempt", "value": { "stringValue": "MARK" } }] });
    place.write("bin/spans.json", spans.to_string());
    place.write("bin/openclaw", OPENCLAW);
    let program = place.path().join("bin/openclaw");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", place.path().join("bin").display(), std::env::var("PATH").unwrap());
    place.run_with(&[("PATH", &path)], &["run", "agents/clerk/tests/scenarios.yaml"])
}

#[cfg(unix)]
#[test]
fn agent_of_a_run_gets_the_receiver_address_and_is_judged_by_its_spans() {
    let done = agent("clawspec: { traces: { port: 0 } }\n");
    assert_eq!(done.code, Some(0), "{done:?}");
}

#[cfg(unix)]
#[test]
fn without_a_back_end_the_assertions_about_traces_are_skipped_and_the_scenario_is_unknown() {
    let done = agent("");
    assert_eq!(done.code, Some(3), "{done:?}");
    assert!(done.text().contains("no source of traces is configured"), "{done:?}");
}

/// Assertions about what did not happen, one about texts and one about calls.
const NEGATIVE: &str = r#"kindlm: 1
project: shop
suite: { name: clerk }
tests:
  - { name: text, command: "true", tags: [negative], expect: { output: { notContains: [secret], maxLength: 100 }, guardrails: { pii: { enabled: true } } } }
  - { name: call, command: "true", tags: [negative], expect: { toolCalls: [{ tool: delete_order, shouldNotCall: true }] } }
"#;

const NEGATIVE_SCENARIOS: &str = r#"version: "1.0"
target: { type: skill, path: skills/clerk, trigger: /clerk }
scenarios:
  - { name: call, tags: [negative], when: { invoke: /clerk }, then: [{ type: tool_not_invoked, tool: delete_order }] }
  - { name: model, tags: [negative], when: { invoke: /clerk }, then: [{ type: model_used, not_expected: gpt }] }
"#;

/// Returns the exit codes of the tests about texts, calls, calls in ClawSpec, and models in ClawSpec.
fn negative(spans: &[Value]) -> [i32; 4] {
    let place = Place::with(NEGATIVE);
    place.write("clawspec.yaml", "report_dir: reports\n");
    place.write("skills/clerk/SKILL.md", "# clerk\n");
    let scenarios = "skills/clerk/tests/scenarios.yaml";
    place.write(scenarios, NEGATIVE_SCENARIOS);
    place.write("spans.json", json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] }).to_string());
    let code = |suite: &str, test: &str| {
        let done = place.run(&["trace", suite, "--from", "spans.json", "--test", test]);
        done.code.unwrap_or_else(|| panic!("{done:?}"))
    };
    [code("kindlm.yaml", "text"), code("kindlm.yaml", "call"), code(scenarios, "call"), code(scenarios, "model")]
}

#[test]
fn what_spans_do_not_show_may_have_happened() {
    let chat = |more: Value| {
        let mut all = json!({ "gen_ai.operation.name": "chat", "gen_ai.response.model": "claude" });
        all.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        span(1, 0, "chat", all)
    };
    let said = json!({ "gen_ai.completion.0.content": "ok" });
    let tool =
        span(2, 1, "execute_tool look", json!({ "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look" }));
    let without = |key: &str, mut span: Value| {
        span.as_object_mut().unwrap().remove(key);
        span
    };
    let with = |key: &str, value: Value, mut span: Value| {
        span[key] = value;
        span
    };
    let mut second = chat(json!({}));
    second["spanId"] = json!("00000000000000aa");
    let cut = r#"[{"role":"assistant","parts":[{"type":"text","content":"ok"},{"type":"tool_call","id":"c","name":"delete_or"#;
    let asked =
        r#"[{"role":"assistant","parts":[{"type":"tool_call","id":"c","name":"delete_order","arguments":{}}]}]"#;
    let cases: [(&str, Vec<Value>, [i32; 4]); 10] = [
        ("everything is there", vec![chat(said.clone())], [0, 0, 0, 0]),
        ("the tools have spans", vec![chat(said.clone()), tool.clone()], [0, 0, 0, 0]),
        ("contents are not captured", vec![chat(json!({}))], [3, 3, 0, 0]),
        ("contents are not captured, the tools have spans", vec![chat(json!({})), tool.clone()], [3, 0, 0, 0]),
        ("one of two replies is not captured", vec![chat(said.clone()), second], [3, 3, 0, 0]),
        ("a call without a span", vec![chat(json!({ "gen_ai.output.messages": asked }))], [3, 1, 3, 0]),
        (
            "tools were asked for",
            vec![chat(json!({ "gen_ai.completion.0.content": "ok", "gen_ai.response.finish_reasons": "tool_calls" }))],
            [0, 3, 3, 0],
        ),
        ("messages are cut", vec![chat(json!({ "gen_ai.output.messages": cut }))], [3, 3, 0, 0]),
        ("the span has not ended", vec![without("endTimeUnixNano", chat(said.clone()))], [3, 3, 3, 3]),
        ("attributes were dropped", vec![with("droppedAttributesCount", json!(9), chat(said.clone()))], [3, 3, 3, 3]),
    ];
    for (what, spans, expected) in cases {
        assert_eq!(negative(&spans), expected, "{what}");
    }
    let unnamed = span(1, 0, "chat", json!({ "gen_ai.operation.name": "chat", "gen_ai.completion.0.content": "ok" }));
    assert_eq!(negative(&[unnamed]), [0, 0, 0, 3], "a model without a name");
}

#[cfg(unix)]
#[test]
fn command_that_did_not_end_by_itself_proves_nothing_by_its_spans() {
    let place = Place::with(NEGATIVE);
    let chat = span(1, 0, "chat", json!({ "gen_ai.operation.name": "chat", "gen_ai.completion.0.content": "ok" }));
    place.write("spans.json", json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [chat] }] }] }).to_string());
    let sent = r#"python3 -c 'import os, urllib.request as u; u.urlopen(u.Request(os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces", open("spans.json", "rb").read(), {"content-type": "application/json"}))'"#;
    for (then, code) in
        [("", 0), ("; sleep 60; true", 3), ("; kill -9 $$", 3), ("; exit 1", 3), ("; sleep 60 & true", 3)]
    {
        let command = format!("{sent}{then}");
        let options = ["trace", "kindlm.yaml", "--listen", "--port", "0", "--timeout", "3000", "--command", &command];
        let done = place.run(&options);
        assert_eq!(done.code, Some(code), "{then}: {done:?}");
    }
}
