//! Searches everything that leaves the program for the secrets that models, agents and gateways show it.

use std::{fs, process::Command};

use serde_json::json;

use super::planted::{
    GATEWAY_TOKEN, KINDS, Kind, NAMED_BY_SUITE, SETTINGS, assert_none_left, readable, text, variables,
};
use crate::{
    agents::provider::{calling, provider, saying},
    loopback::{Answer, Loopback, Request},
    support::{Done, Place},
};

const FORMATS: [&str; 5] = ["human", "json", "junit", "sarif", "github"];

/// A workspace, and everything that has left the program in it: where to, and the text.
struct Watched {
    place: Place,
    left: Vec<(String, String)>,
    /// More variables of the program.
    variables: Vec<(&'static str, String)>,
}

impl Watched {
    fn in_place(place: Place) -> Watched {
        Watched { place, left: Vec::new(), variables: Vec::new() }
    }

    /// Returns the program with all variables, ready to be started.
    fn program(&self, arguments: &[&str]) -> Command {
        let mut program = self.place.program(arguments);
        program.envs(variables()).envs(self.variables.iter().cloned()).env("SPECLENS_LOG", "trace");
        program
    }

    fn done(&mut self, arguments: &[&str]) -> Done {
        let done = Done::of(&self.program(arguments).output().unwrap());
        self.left.push((arguments.join(" "), done.text()));
        done
    }

    /// Runs the suite and judges it again, with every format of reports.
    fn run(&mut self, more: &[&str]) {
        for mode in [&[][..], &["--recorded"]] {
            for format in FORMATS {
                let report = format!("{format}=report.{format}");
                let options = ["run", "--report", "human", "--report", &report, "--set", "report.evidence=true"];
                let done = self.done(&[&options[..], mode, more].concat());
                assert!(matches!(done.code, Some(1 | 3)), "something fails, so much is shown: {done:?}");
                self.left.push((format!("report {format} {mode:?}"), self.place.read(&format!("report.{format}"))));
            }
        }
    }

    /// Runs everything that shows a suite or its recordings.
    fn show(&mut self, test: &str) {
        for arguments in [
            &["run", "--dry-run"][..],
            &["list"],
            &["list", "--format", "json"],
            &["check"],
            &["recordings", "list"],
            &["recordings", "show", test],
        ] {
            let done = self.done(arguments);
            assert!(!done.stderr.starts_with("error: unexpected argument"), "{done:?}");
        }
    }

    /// Adds what servers were sent, except for their own tokens.
    fn sent_to(&mut self, name: &str, server: &Loopback) {
        let requests = server.requests();
        assert!(!requests.is_empty(), "{name}");
        self.left.extend(requests.iter().map(|request| {
            let headers = request.headers.lines().filter(|line| !line.starts_with("authorization:"));
            let headers = headers.collect::<Vec<_>>().join("\n");
            (format!("request to {name}"), format!("{}\n{headers}\n{}", request.path, readable(&request.body)))
        }));
    }

    /// Asserts that the report has the texts of these kinds.
    #[track_caller]
    fn assert_shown<'k>(&self, kinds: impl IntoIterator<Item = &'k Kind>) {
        let (_, json) = self.left.iter().find(|(name, _)| name.starts_with("report json")).unwrap();
        for kind in kinds {
            assert!(json.contains(&format!("{}=", kind.name)), "{} was not shown: {json}", kind.name);
        }
    }

    /// Searches everything, including the files that the program has left.
    #[track_caller]
    fn assert_clean<'k>(mut self, kinds: impl IntoIterator<Item = &'k Kind>) {
        let files = self.place.recordings().into_iter().chain(self.place.texts());
        self.left.extend(files.map(|path| (path.display().to_string(), fs::read_to_string(path).unwrap())));
        assert_none_left(kinds, &self.left);
    }
}

const TASKS: &str = "\
cli: sh
providers: [local/one]
scaffold: fixture
env: {TOKEN: planted by suite}
redact_env: [TOKEN]
redact_patterns: ['tok_[a-z0-9]{4}']
tasks:
  - id: leak
    intent: Show everything
    max_turns: 6
    assert:
      - output_contains: nothing of this kind is ever written
      - ran: never
      - file_contains: {path: out.txt, text: never}
      - verify: {run: cat out.txt; env; exit 3}
  - id: refused
    intent: Be refused
    assert:
      - exit_code: 0
";

#[test]
fn task_and_its_model_see_and_leave_no_secret() {
    let kinds = || KINDS.iter().chain([&NAMED_BY_SUITE]);
    let shown = text(kinds());
    let said = shown.clone();
    let model = provider(move |turn| match turn {
        0 => calling(turn, "cat shown.txt; cat shown.txt >&2; exit 3"),
        1 => calling(turn, "env; env >&2; cp shown.txt out.txt; touch \"$GITHUB_TOKEN\""),
        2 => calling(turn, &format!("cat > said.txt <<'END'\n{said}END\ncat said.txt")),
        _ => saying(&format!("I saw:\n{said}")),
    });
    let refusing = shown.clone();
    let refused = Loopback::acting(move |_| {
        Answer::Reply(400, json!({ "error": { "message": refusing, "type": "invalid_request_error" } }).to_string())
    });
    for (model, test) in [(model, "leak"), (refused, "refused")] {
        let place = Place::empty();
        let provider = format!("providers: {{local: {{base_url: '{}/v1', key_env: MODEL_PROXY}}}}\n", model.url());
        place.write("speclens.yaml", format!("{SETTINGS}{provider}"));
        place.write("cli-bench.yaml", TASKS);
        place.write("fixture/shown.txt", &shown);
        let mut watched = Watched::in_place(place);
        watched.run(&["--test", test]);
        watched.show(test);
        watched.sent_to("the model", &model);
        watched.assert_shown(kinds().take(if test == "leak" { usize::MAX } else { 1 }));
        watched.assert_clean(kinds());
    }
}

const SCENARIOS: &str = "\
version: '1.0'
target: {type: skill, path: skills/demo, trigger: /demo}
defaults: {timeout: 20}
scenarios:
  - name: leak
    tags: [negative]
    given:
      - {type: gateway_response, endpoint: STATE, expected_status: 200}
    when: {invoke: /demo}
    then:
      - {type: artifact_contains, path: out.md, sections: [never]}
      - {type: artifact_absent_words, path: out.md, words: [\"=\"]}
      - {type: log_entry, path: run.log, pattern: secret-name, absent: true}
      - {type: tool_not_called, tool: read}
      - {type: tool_was_called, tool: never}
      - {type: llm_judge, path: out.md, rubric: Score 1-5}
      - {type: tool_sequence, mode: strict, expected: [never]}
      - {type: no_span_errors}
      - {type: model_used, expected: never}
  - name: failed
    when: {invoke: /demo, params: {fail: true}}
    then:
      - {type: tool_not_called, tool: never}
";

/// A gateway whose run shows everything: in files, in its log, its answers, its judge, and the trace of the run.
fn gateway(place: &Place, shown: String) -> Loopback {
    let root = place.path().to_owned();
    let line = shown.replace('\n', "\\n");
    Loopback::acting(move |request: &Request| {
        let span = |kind: &str, number: usize| {
            json!({
                "id": format!("span-{kind}-{number}"), "trace_id": "trace-1", "name": line, "type": kind, "model": line,
                "provider": "demo", "start_time": NOW, "end_time": NOW, "duration": 5.0, "input": { "text": line },
                "error_info": { "exception_type": "Error", "message": line },
            })
        };
        let is_later_page = !request.body["last_retrieved_id"].is_null();
        let answer = match request.path.as_str() {
            path if path.contains("traces/search") && !is_later_page => json!({
                "id": "trace-1", "name": line, "start_time": NOW, "end_time": NOW, "duration": 5.0,
                "tags": ["clawspec:run-1"], "metadata": { "runId": "run-1" },
            }),
            path if path.contains("spans/search") && !is_later_page => {
                return Answer::Reply(200, format!("{}\n{}\n", span("tool", 1), span("llm", 2)));
            }
            path if path.contains("/search") => return Answer::Reply(200, String::new()),
            "/state" => return Answer::Reply(200, shown.clone()),
            "/qa/judge" => json!({ "score": 1, "reasoning": line }),
            _ => {
                let is_failing = request.body.to_string().contains("fail");
                fs::write(root.join("out.md"), &shown).unwrap();
                fs::write(root.join("run.log"), &shown).unwrap();
                let end = match is_failing {
                    true => format!("hook agent run completed runId=run-1 status=error summary={line}"),
                    false => format!("t run_id=run-1 note={line}\nt [run-1] tool call: {line}"),
                };
                fs::write(root.join("gateway.log"), format!("t run_id=run-1 tool=read agent=main {line}\n{end}\n"))
                    .unwrap();
                json!({ "runId": "run-1", "status": "completed", "text": line })
            }
        };
        Answer::Reply(200, answer.to_string())
    })
}

const NOW: &str = "2026-05-14T12:00:00Z";

#[test]
fn gateway_its_log_its_judge_and_its_traces_leave_no_secret() {
    let kinds = || KINDS.iter().chain([&GATEWAY_TOKEN]);
    let place = Place::empty();
    let server = gateway(&place, text(kinds()));
    place.write(
        "clawspec.yaml",
        format!(
            "gateway_base_url: {}\ngateway_auth_token: {}\ngateway_log_pattern: gateway.log\nobservability: {{backend: opik, \
             trace_poll_delay_ms: 0, opik: {{project_name: demo}}}}\n",
            server.url(), GATEWAY_TOKEN.value()
        ),
    );
    place.write(
        "speclens.yaml",
        format!("{SETTINGS}providers: {{local: {{base_url: 'http://127.0.0.1:9', key_env: MODEL_PROXY}}}}\n"),
    );
    place.write("skills/demo/SKILL.md", "---\nname: demo\ndescription: Use when it is tested.\n---\nDemo.\n");
    place.write("skills/demo/tests/scenarios.yaml", SCENARIOS.replace("STATE", &format!("{}/state", server.url())));
    let mut watched = Watched::in_place(place);
    watched.variables = vec![("OPIK_URL_OVERRIDE", format!("{}/", server.url())), ("SPECLENS_NOW", NOW.to_owned())];
    watched.run(&[]);
    watched.done(&["run", "--report", "clawspec=reports"]);
    for entry in fs::read_dir(watched.place.path().join("reports")).unwrap() {
        let path = entry.unwrap().path();
        watched.left.push((path.display().to_string(), fs::read_to_string(path).unwrap()));
    }
    watched.show("leak");
    watched.sent_to("the gateway", &server);
    watched.assert_shown(kinds());
    watched.assert_clean(kinds());
}

const TESTS: &str = "\
kindlm: 1
project: demo
suite: {name: demo}
trace: {spanFilter: {attributeMatch: {env: test}}}
providers: {ollama: {baseUrl: 'JUDGE'}}
models: [{id: local, provider: ollama, model: small}]
prompts: {p: {user: hello}}
tests:
  - name: leak
    command: cat shown.txt; cat shown.txt >&2; env; cat call.json
    expect:
      output: {contains: [never], notContains: [aws-pair], schemaFile: schema.json}
      judge: [{criteria: is friendly}]
      toolCalls: [{tool: say, argsMatch: {text: never}}]
  - name: harmless
    command: echo hello
    expect: {judge: [{criteria: is friendly}]}
";

#[test]
fn command_its_judge_and_spans_leave_no_secret() {
    let shown = text(KINDS);
    let reason = json!({ "score": 0.1, "reasoning": shown }).to_string();
    let judge = Loopback::ollama_by(&[("friendly", &reason)]);
    let place = Place::with(&TESTS.replace("JUDGE", &judge.url()));
    place.write(
        "speclens.yaml",
        format!("{SETTINGS}providers: {{local: {{base_url: 'http://127.0.0.1:9', key_env: MODEL_PROXY}}}}\n"),
    );
    place.write("shown.txt", &shown);
    place.write("schema.json", "{\"type\": \"string\", \"maxLength\": 3}");
    let call = json!({ "kindlm": "tool_call", "name": "say", "arguments": { "text": shown, "more": [shown] } });
    place.write("call.json", format!("\n{call}\n"));
    let attribute = |key: &str, value: &str| json!({ "key": key, "value": { "stringValue": value } });
    let span = json!({
        "traceId": "0af7651916cd43dd8448eb211c80319c", "spanId": "00f067aa0ba902b7", "name": shown,
        "startTimeUnixNano": "1000000000", "endTimeUnixNano": "2000000000",
        "attributes": [
            attribute("env", "test"), attribute("gen_ai.operation.name", "execute_tool"), attribute("gen_ai.tool.name", &shown),
            attribute("gen_ai.tool.call.arguments", &json!({ "text": shown }).to_string()),
        ],
        "status": { "code": 2, "message": shown },
    });
    let spans = json!({ "resourceSpans": [{ "scopeSpans": [{ "spans": [span] }] }] });
    place.write("spans.json", spans.to_string());
    let mut watched = Watched::in_place(place);
    watched.run(&[]);
    watched.show("leak");
    let done = watched.done(&["trace", "kindlm.yaml", "--from", "spans.json"]);
    assert_eq!(done.code, Some(3), "{done:?}");
    watched.sent_to("the judge", &judge);
    watched.assert_shown(KINDS);
    watched.assert_clean(KINDS);
}
