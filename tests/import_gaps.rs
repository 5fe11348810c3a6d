//! `speclens import`: a recording proves what did not happen only if all of it was read and its end was seen.

use serde_json::{Value, json};

use crate::support::Place;

const KINDLM: &str = "kindlm: 1
project: p
suite: { name: s }
providers: { anthropic: { apiKeyEnv: AK } }
models: [{ id: m, provider: anthropic, model: claude-sonnet-4-5 }]
prompts: { p: { user: do it } }
tests:
  - { name: t, prompt: p, expect: { output: { contains: [done], notContains: [zzz] }, toolCalls: [{ tool: Drop, shouldNotCall: true }] } }
";
const CLI_BENCH: &str = "cli: sh
providers: [anthropic/claude-sonnet-4-5]
tasks:
  - { id: t, intent: do it, category: negative, assert: [{ not_ran: rm }] }
";
const CLAWSPEC: &str = "version: \"1.0\"
target: { type: skill, path: skills/x, trigger: /x }
scenarios:
  - name: t
    tags: [negative]
    when: { invoke: do it }
    then: [{ type: tool_not_invoked, tool: Drop }, { type: no_span_errors }, { type: llm_call_count, max: 9 }]
";
const SUITES: [(&str, &str); 3] =
    [("kindlm.yaml", KINDLM), ("cb/cli-bench.yaml", CLI_BENCH), ("cs/skills/x/tests/scenarios.yaml", CLAWSPEC)];

/// Returns the results of a test in each format with this recording.
fn judged(text: &str) -> String {
    let place = Place::empty();
    place.write("cs/clawspec.yaml", "observability_backend: none\n");
    place.write("recording.json", text);
    let judge = |(suite, spec): (&str, &str)| {
        place.write(suite, spec);
        let imported = place.run(&["import", "recording.json", "--into", suite]);
        let status = imported.stdout.trim_end().rsplit(": ").next().unwrap_or_default().to_owned();
        if imported.code == Some(0) { status } else { format!("refused ({})", imported.stderr) }
    };
    SUITES.map(judge).join(" ")
}

const PROVEN: &str = "pass pass pass";
const UNKNOWN: &str = "unknown unknown unknown";

#[track_caller]
fn check(rows: &[(&str, String, &str)]) {
    for (what, text, expected) in rows {
        assert_eq!(judged(text), *expected, "{what}: {text}");
    }
}

fn lines(values: &[Value]) -> String {
    values.iter().map(|value| format!("{value}\n")).collect()
}

/// Returns lines with others before the last one.
fn with(values: &[Value], others: &[Value]) -> String {
    let (last, rest) = values.split_last().unwrap();
    lines(&[rest, others, std::slice::from_ref(last)].concat())
}

mod claude_code {
    use super::*;

    fn user(content: Value) -> Value {
        json!({ "type": "user", "sessionId": "s", "message": { "role": "user", "content": content } })
    }

    fn model(id: &str, content: Value, end: Value) -> Value {
        let message = json!({ "id": id, "role": "assistant", "model": "claude-sonnet-4-5", "content": content, "stop_reason": end });
        json!({ "type": "assistant", "sessionId": "s", "message": message })
    }

    fn call(id: &str, name: &str) -> Value {
        model(
            id,
            json!([{ "type": "tool_use", "id": id, "name": name, "input": { "command": "ls" } }]),
            json!("tool_use"),
        )
    }

    fn result(id: &str) -> Value {
        let mut line = user(json!([{ "type": "tool_result", "tool_use_id": id, "content": "x" }]));
        line["toolUseResult"] = json!({ "stdout": "x", "stderr": "" });
        line
    }

    fn end(reason: &str) -> Value {
        model("z", json!([{ "type": "text", "text": "done" }]), json!(reason))
    }

    fn whole() -> Vec<Value> {
        vec![user(json!("do it")), call("c", "Bash"), result("c"), end("end_turn")]
    }

    #[test]
    fn whole_transcript_proves_what_did_not_happen() {
        let harmless = ["summary", "file-history-snapshot", "ai-title", "attachment"]
            .map(|kind| json!({ "type": kind, "sessionId": "s" }));
        let system = json!({ "type": "system", "subtype": "turn_duration", "sessionId": "s" });
        let thought =
            model("y", json!([{ "type": "thinking", "thinking": "…" }, { "type": "text", "text": "hm" }]), Value::Null);
        check(&[
            ("whole", lines(&whole()), PROVEN),
            ("harmless lines", with(&whole(), &harmless), PROVEN),
            ("news of the program", with(&whole(), &[system]), PROVEN),
            ("a thought", with(&whole(), &[thought]), PROVEN),
        ]);
    }

    #[test]
    fn transcript_with_a_gap_proves_only_what_it_shows() {
        let other = json!({ "type": "progress", "sessionId": "s", "data": { "type": "agent_progress" } });
        let sidechain = |line: Value| {
            let mut line = line;
            line["isSidechain"] = json!(true);
            line
        };
        let part = |kind: &str| model("y", json!([{ "type": kind, "id": "k", "name": "Drop" }]), Value::Null);
        let nameless = model("y", json!([{ "type": "tool_use", "id": "k", "input": {} }]), Value::Null);
        let queued = json!({ "type": "attachment", "sessionId": "s", "attachment": { "type": "queued_command" } });
        let session =
            json!({ "type": "result", "subtype": "error_during_execution", "is_error": true, "session_id": "s" });
        let failed = |field: &str, value: Value| {
            let mut line = model("y", json!([{ "type": "text", "text": "API Error: 500" }]), Value::Null);
            line["message"]["model"] = json!("<synthetic>");
            line[field] = value;
            lines(&[&whole()[..3], &[line]].concat())
        };
        let ended = |reason: &str| lines(&[&whole()[..3], &[end(reason)]].concat());
        let stop = [end("end_turn"), user(json!("[Request interrupted by user]"))];
        check(&[
            ("a line of an unknown type", with(&whole(), &[json!({ "type": "mood" })]), UNKNOWN),
            ("a message of another agent in a line of its own", with(&whole(), &[other]), UNKNOWN),
            ("a text of the user that is not read", with(&whole(), &[queued]), UNKNOWN),
            ("a message of another agent", with(&whole(), &[sidechain(call("k", "Drop"))]), UNKNOWN),
            ("a tool that starts agents", with(&whole(), &[call("k", "Task"), result("k")]), UNKNOWN),
            ("the same of newer versions", with(&whole(), &[call("k", "Agent"), result("k")]), UNKNOWN),
            ("a result without its call", with(&whole(), &[result("k")]), UNKNOWN),
            ("a call without its result", with(&whole(), &[call("k", "Bash")]), UNKNOWN),
            ("a call without a name", with(&whole(), &[nameless]), UNKNOWN),
            ("a call that the provider ran", with(&whole(), &[part("server_tool_use")]), UNKNOWN),
            ("a result of such a call", with(&whole(), &[part("mcp_tool_result")]), UNKNOWN),
            ("no content", with(&whole(), &[model("y", Value::Null, Value::Null)]), UNKNOWN),
            ("a call that the end of its reply announces", ended("tool_use"), UNKNOWN),
            ("limit of tokens", ended("max_tokens"), UNKNOWN),
            ("refusal", ended("refusal"), UNKNOWN),
            ("an end that is not known", ended("pause_turn"), UNKNOWN),
            ("interrupted", lines(&[&whole()[..3], &stop].concat()), UNKNOWN),
            ("failed session", lines(&whole()) + &lines(&[session]), "error error error"),
            ("failed request", failed("isApiErrorMessage", json!(true)), "error error error"),
            ("the same in a stream", failed("error", json!("server_error")), "error error error"),
        ]);
    }

    #[test]
    fn line_with_an_id_that_was_seen_is_read_unless_it_is_the_same() {
        let with_id = |mut line: Value| {
            line["uuid"] = json!("u");
            line
        };
        let twice =
            [with_id(model("y", json!([{ "type": "text", "text": "hm" }]), Value::Null)), with_id(call("k", "Drop"))];
        check(&[
            ("another line", with(&whole(), &[&twice[..], &[result("k")]].concat()), "fail unknown fail"),
            ("the same line", with(&whole(), &[twice[0].clone(), twice[0].clone()]), PROVEN),
        ]);
    }
}

mod codex {
    use super::*;

    fn line(kind: &str, payload: Value) -> Value {
        json!({ "type": kind, "payload": payload })
    }

    fn message(role: &str, text: &str) -> Value {
        let kind = if role == "user" { "input_text" } else { "output_text" };
        line("response_item", json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": text }] }))
    }

    fn call(id: &str, name: &str) -> Value {
        line(
            "response_item",
            json!({ "type": "function_call", "name": name, "call_id": id, "arguments": "{\"command\":[\"ls\"]}" }),
        )
    }

    fn output(id: &str, text: &str) -> Value {
        line("response_item", json!({ "type": "function_call_output", "call_id": id, "output": text }))
    }

    fn event(kind: &str) -> Value {
        line("event_msg", json!({ "type": kind, "call_id": "c" }))
    }

    fn said(text: &str) -> Value {
        line("event_msg", json!({ "type": "agent_message", "message": text }))
    }

    const SHOWN: &str = "Exit code: 0\nWall time: 1 seconds\nOutput:\nx\n";

    fn whole() -> Vec<Value> {
        let meta = line("session_meta", json!({ "id": "x", "cli_version": "0.50.0" }));
        vec![meta, message("user", "do it"), call("c", "shell"), output("c", SHOWN), message("assistant", "done")]
    }

    #[test]
    fn whole_rollout_proves_what_did_not_happen() {
        let item = |kind: &str| line("response_item", json!({ "type": kind }));
        check(&[
            ("whole", lines(&whole()), PROVEN),
            ("a thought and a snapshot", with(&whole(), &[item("reasoning"), item("ghost_snapshot")]), PROVEN),
            ("a summary", with(&whole(), &[line("compacted", json!({ "message": "…" }))]), PROVEN),
            ("an event with the reply", with(&whole(), &[said("done")]), PROVEN),
            ("events about a call", with(&whole(), &[event("exec_command_begin"), event("exec_command_end")]), PROVEN),
        ]);
    }

    #[test]
    fn rollout_with_a_gap_proves_only_what_it_shows() {
        let event_of = |id: &str| line("event_msg", json!({ "type": "exec_command_begin", "call_id": id }));
        let item = |kind: &str| line("response_item", json!({ "type": kind, "id": "w" }));
        let aborted = [message("assistant", "done"), line("event_msg", json!({ "type": "turn_aborted" }))];
        check(&[
            ("an event about another call", with(&whole(), &[event_of("q")]), UNKNOWN),
            ("an event of an unknown type", with(&whole(), &[line("event_msg", json!({ "type": "mood" }))]), UNKNOWN),
            ("an event with another reply", with(&whole(), &[said("bye")]), UNKNOWN),
            ("an item that the provider ran", with(&whole(), &[item("web_search_call")]), UNKNOWN),
            ("an item of an unknown type", with(&whole(), &[item("mood")]), UNKNOWN),
            ("no payload", with(&whole(), &[json!({ "type": "response_item" })]), UNKNOWN),
            ("a text as payload", with(&whole(), &[line("event_msg", json!("exec"))]), UNKNOWN),
            ("an output without its call", with(&whole(), &[output("q", SHOWN)]), UNKNOWN),
            ("a call without its output", with(&whole(), &[call("q", "shell"), output("c", SHOWN)]), UNKNOWN),
            ("a tool that starts agents", with(&whole(), &[call("q", "spawn_agent"), output("q", "{}")]), UNKNOWN),
            ("interrupted", lines(&[&whole()[..4], &aborted].concat()), UNKNOWN),
        ]);
    }
}

mod inspect {
    use super::*;

    fn whole() -> Value {
        let call = json!({ "id": "c", "function": "bash", "arguments": { "command": "ls" } });
        let model = |id: &str| json!({ "event": "model", "output": { "choices": [{ "message": { "id": id }, "stop_reason": "stop" }] } });
        let messages = json!([
            { "id": "u", "role": "user", "content": "do it" },
            { "id": "a", "role": "assistant", "content": "", "tool_calls": [call] },
            { "id": "r", "role": "tool", "tool_call_id": "c", "content": "x" },
            { "id": "b", "role": "assistant", "content": [{ "type": "text", "text": "done" }] },
        ]);
        let events =
            json!([model("a"), { "event": "tool", "id": "c", "function": "bash" }, model("b"), { "event": "score" }]);
        let sample = json!({ "id": 1, "messages": messages, "events": events });
        json!({ "version": 2, "status": "success", "eval": { "model": "m/x" }, "samples": [sample] })
    }

    /// Returns a log with another value in its sample.
    fn changed(place: &str, value: Value) -> String {
        let mut log = whole();
        *log.pointer_mut(&format!("/samples/0{place}")).unwrap() = value;
        log.to_string()
    }

    fn with_event(event: Value) -> String {
        let mut log = whole();
        log["samples"][0]["events"].as_array_mut().unwrap().push(event);
        log.to_string()
    }

    #[test]
    fn whole_log_proves_what_did_not_happen() {
        let graded = json!([
            { "event": "span_begin", "id": "s", "type": "scorer" },
            { "event": "model", "span_id": "s", "output": { "choices": [{ "message": { "id": "g" } }] } },
        ]);
        let failed = json!({ "event": "model", "error": "rate limit", "output": { "choices": [] } });
        check(&[
            ("whole", whole().to_string(), PROVEN),
            ("a request of a grader", changed("/events", graded), PROVEN),
            ("a request that was repeated", with_event(failed), PROVEN),
        ]);
    }

    #[test]
    fn log_with_a_gap_proves_only_what_it_shows() {
        let part = json!([{ "type": "tool_use", "name": "Drop" }, { "type": "text", "text": "done" }]);
        let tool = json!({ "event": "tool", "id": "q", "function": "Drop" });
        let model =
            json!({ "event": "model", "output": { "choices": [{ "message": { "id": "q", "tool_calls": [] } }] } });
        let of = |reason: &str| json!({ "choices": [{ "message": { "id": "b" }, "stop_reason": reason }] });
        let transfer = json!([{ "id": "c", "function": "transfer_to_helper", "arguments": {} }, { "id": "d", "function": "bash", "arguments": { "command": "ls" } }]);
        let log = |key: &str, value: Value| {
            let mut log = whole();
            log[key] = value;
            log.to_string()
        };
        check(&[
            ("a call that the provider ran", changed("/messages/3/content", part), UNKNOWN),
            (
                "a text that is not stored",
                changed("/messages/3/content", json!("attachment://x")),
                "unknown unknown unknown",
            ),
            ("an event about another call", with_event(tool.clone()), UNKNOWN),
            ("the same below another event", with_event(json!({ "event": "subtask", "events": [tool] })), UNKNOWN),
            ("an event about another reply", with_event(model), UNKNOWN),
            ("an event of an unknown type", with_event(json!({ "event": "mood" })), UNKNOWN),
            ("limit of tokens", changed("/events/2/output", of("max_tokens")), UNKNOWN),
            ("an end that is not known", changed("/events/2/output", of("unknown")), UNKNOWN),
            ("another agent", changed("/messages/1/tool_calls", transfer), UNKNOWN),
            ("a stopped evaluation", log("status", json!("cancelled")), UNKNOWN),
        ]);
    }
}

mod spans {
    use super::*;

    fn span(id: &str, name: &str, attributes: &[(&str, Value)]) -> Value {
        let attributes: Vec<Value> =
            attributes.iter().map(|(key, value)| json!({ "key": key, "value": value })).collect();
        json!({
            "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": id, "name": name, "attributes": attributes,
            "startTimeUnixNano": "1700000000000000000", "endTimeUnixNano": "1700000001000000000",
        })
    }

    fn text(text: impl Into<String>) -> Value {
        json!({ "stringValue": text.into() })
    }

    fn chat(output: &str, more: &[(&str, Value)]) -> Value {
        let asked = r#"[{"role":"user","parts":[{"type":"text","content":"do it"}]}]"#;
        let own = [
            ("gen_ai.operation.name", text("chat")),
            ("gen_ai.input.messages", text(asked)),
            ("gen_ai.output.messages", text(output)),
        ];
        span("00f067aa0ba902b7", "chat", &[&own[..], more].concat())
    }

    fn said(parts: Value) -> String {
        json!([{ "role": "assistant", "parts": parts }]).to_string()
    }

    fn done() -> String {
        said(json!([{ "type": "text", "content": "done" }]))
    }

    fn exported(spans: &[Value]) -> String {
        json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": spans }] }] }).to_string()
    }

    fn below(mut span: Value) -> Value {
        span["parentSpanId"] = json!("00f067aa0ba902b7");
        span
    }

    #[test]
    fn whole_trace_proves_what_did_not_happen() {
        let thought = said(json!([{ "type": "reasoning", "content": "…" }, { "type": "text", "content": "done" }]));
        let stop = json!({ "arrayValue": { "values": [text("stop")] } });
        check(&[
            ("whole", exported(&[chat(&done(), &[])]), PROVEN),
            ("a thought", exported(&[chat(&thought, &[])]), PROVEN),
            ("its end", exported(&[chat(&done(), &[("gen_ai.response.finish_reasons", stop)])]), PROVEN),
        ]);
    }

    #[test]
    fn trace_with_a_gap_proves_only_what_it_shows() {
        let ended = |word: &str| {
            let reasons = json!({ "arrayValue": { "values": [text(word)] } });
            exported(&[chat(&done(), &[("gen_ai.response.finish_reasons", reasons)])])
        };
        let changed = |key: &str, value: Value| {
            let mut span = chat(&done(), &[]);
            span[key] = value;
            exported(&[span])
        };
        let cut = "[{\"role\":\"assistant\",\"parts\":[{\"type\":\"text\",\"content\":\"done\"},{\"type\":\"tool_call\",\"name\":\"Dr";
        let part = |kind: &str| said(json!([{ "type": kind, "id": "c" }, { "type": "text", "content": "done" }]));
        let message = json!([{ "role": "assistant", "finish_reason": "length", "parts": [{ "type": "text", "content": "done" }] }]);
        let agent = |id: &str, name: &str| {
            span(
                id,
                "invoke_agent",
                &[("gen_ai.operation.name", text("invoke_agent")), ("gen_ai.agent.name", text(name))],
            )
        };
        let agents =
            [chat(&done(), &[]), below(agent("00f067aa0ba902b8", "main")), below(agent("00f067aa0ba902b9", "helper"))];
        let task = span(
            "00f067aa0ba902b8",
            "execute_tool Task",
            &[("gen_ai.operation.name", text("execute_tool")), ("gen_ai.tool.name", text("Task"))],
        );
        let results = |rows: String| judged(&rows);
        check(&[
            ("not ended", changed("endTimeUnixNano", Value::Null), UNKNOWN),
            ("dropped attributes", changed("droppedAttributesCount", json!(2)), UNKNOWN),
            ("a call that its end announces", ended("tool_calls"), UNKNOWN),
            ("limit of tokens", ended("length"), UNKNOWN),
            ("filter", ended("content_filter"), UNKNOWN),
            ("limit of tokens in the message", exported(&[chat(&message.to_string(), &[])]), UNKNOWN),
            ("failed", changed("status", json!({ "code": 2, "message": "reset" })), "unknown unknown fail"),
            ("cut attribute", exported(&[chat(cut, &[])]), UNKNOWN),
            ("a call that the provider ran", exported(&[chat(&part("server_tool_call"), &[])]), UNKNOWN),
            ("a call without a name", exported(&[chat(&part("tool_call"), &[])]), UNKNOWN),
            // Their spans are in the trace, and their replies and commands are not those of the model.
            ("another agent", exported(&agents), "unknown unknown pass"),
            (
                "a value of another kind",
                lines(&[serde_json::from_str(&exported(&[chat(&done(), &[])])).unwrap(), json!({ "mood": 3 })]),
                UNKNOWN,
            ),
        ]);
        let of_task = results(exported(&[chat(&done(), &[]), below(task)]));
        assert!(of_task.starts_with("unknown refused") && of_task.ends_with("unknown"), "{of_task}");
    }

    fn opik(trace: Value, kind: &str, reason: &str) -> String {
        let asked = json!({ "messages": [{ "role": "user", "content": "do it" }] });
        let answer =
            json!({ "choices": [{ "message": { "role": "assistant", "content": "done" }, "finish_reason": reason }] });
        let mut whole = json!({ "id": "t1", "name": "run", "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:02Z", "input": asked });
        whole.as_object_mut().unwrap().extend(trace.as_object().unwrap().clone());
        let span = |id: &str, kind: &str| json!({ "id": id, "trace_id": "t1", "type": kind, "name": "step", "start_time": "2026-01-01T00:00:00Z", "end_time": "2026-01-01T00:00:01Z" });
        let mut model = span("s1", "llm");
        (model["input"], model["output"]) = (asked, answer);
        json!([{ "trace": whole, "spans": [model, span("s2", kind)] }]).to_string()
    }

    #[test]
    fn opik_trace_proves_what_did_not_happen_only_if_it_is_whole() {
        check(&[
            ("whole", opik(json!({}), "general", "stop"), PROVEN),
            ("not ended", opik(json!({ "end_time": null }), "general", "stop"), UNKNOWN),
            ("failed", opik(json!({ "error_info": { "message": "boom" } }), "general", "stop"), "error error error"),
            ("limit of tokens", opik(json!({}), "general", "length"), UNKNOWN),
            ("a span of an unknown type", opik(json!({}), "mood", "stop"), UNKNOWN),
        ]);
    }
}

mod commands {
    use super::*;
    use crate::support::outcomes;

    const TASK: &str = "cli: sh
providers: [anthropic/claude-sonnet-4-5]
tasks:
  - { id: t, intent: do it, assert: [{ output_contains: denied }, { error_contains: denied }, { ran: deploy }, { not_ran: deploy }] }
";

    /// Returns the results of assertions about the outputs and the commands of a recording.
    fn judged(text: &str) -> String {
        let place = Place::with("");
        place.write("cli-bench.yaml", TASK);
        place.write("recording.jsonl", text);
        let imported = place.run(&["import", "recording.jsonl", "--into", "cli-bench.yaml"]);
        assert_eq!(imported.code, Some(0), "{}", imported.stderr);
        let (_, report) = place.report(&["--recorded", "cli-bench.yaml"]);
        outcomes(&report["suites"][0]["cases"][0]["runs"][0]).join(" ")
    }

    fn claude_code(content: &str, has_failed: bool, own: Value) -> String {
        let user = |content: Value| json!({ "type": "user", "sessionId": "s", "message": { "role": "user", "content": content } });
        let model = |id: &str, part: Value| json!({ "type": "assistant", "sessionId": "s", "message": { "id": id, "role": "assistant", "content": [part] } });
        let call = json!({ "type": "tool_use", "id": "c", "name": "Bash", "input": { "command": "deploy prod" } });
        let mut result =
            user(json!([{ "type": "tool_result", "tool_use_id": "c", "content": content, "is_error": has_failed }]));
        result["toolUseResult"] = own;
        lines(&[user(json!("do it")), model("a", call), result, model("b", json!({ "type": "text", "text": "done" }))])
    }

    fn codex(output: &str) -> String {
        let item = |item: Value| json!({ "type": "response_item", "payload": item });
        let message = |role: &str, kind: &str| {
            item(json!({ "type": "message", "role": role, "content": [{ "type": kind, "text": "do it" }] }))
        };
        let call = json!({ "type": "function_call", "name": "shell", "call_id": "q", "arguments": "{\"command\":[\"bash\",\"-lc\",\"deploy prod\"]}" });
        let output = json!({ "type": "function_call_output", "call_id": "q", "output": output });
        lines(&[message("user", "input_text"), item(call), item(output), message("assistant", "output_text")])
    }

    #[test]
    fn streams_and_commands_are_known_only_if_the_source_names_them() {
        let streams = |stdout: &str| json!({ "stdout": stdout, "stderr": "it was denied" });
        let refused = "Permission to use Bash with command deploy prod has been denied.";
        let shortened = "Exit code: 0\nWall time: 1 seconds\nOutput:\nline 1\n[... omitted 4990 of 5000 lines ...]\n";
        for (what, text, expected) in [
            ("both streams", claude_code("x", false, streams("x")), "fail pass pass fail"),
            ("what the model got", claude_code("denied", false, Value::Null), "unknown unknown pass fail"),
            (
                "the same of a failed command",
                claude_code("Exit code 1\ndenied", true, Value::Null),
                "unknown unknown pass fail",
            ),
            (
                "a part of the output",
                claude_code("x", false, streams("x ... [9 characters truncated] ...")),
                "unknown pass pass fail",
            ),
            (
                "a refused command",
                claude_code(refused, true, json!(format!("Error: {refused}"))),
                "unknown unknown unknown unknown",
            ),
            (
                "mixed streams",
                codex("Exit code: 0\nWall time: 1 seconds\nOutput:\ndenied\n"),
                "unknown unknown pass fail",
            ),
            ("a part of them", codex(shortened), "unknown unknown pass fail"),
            ("a rejected command", codex("exec command rejected by user: denied"), "unknown unknown unknown unknown"),
        ] {
            assert_eq!(judged(&text), expected, "{what}: {text}");
        }
    }
}
