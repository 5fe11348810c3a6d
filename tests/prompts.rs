//! The recorded prompt tests of KindLM, run for real against providers on this machine: same rows, texts, gates, exit
//! status and requests, or a named difference.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    process::Stdio,
};

use serde_json::{Value, json};
use speclens_schema::check::json::text as text_of;

use crate::{
    cases::{answer, our_rows},
    loopback::{Answer, Loopback, Request},
    processes::{send, wait_until},
    providers,
    support::{Done, Place, repository},
};

/// The part of a case that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    Rows,
    Text,
    Cost,
    Gates,
    Exit(i32),
    Requests,
}

const RESCUED: &str = "a gate that is written in the file may permit failures";
const UNREACHED: &str = "a turn that was not reached is unknown";
const ERRORED: &str = "a run with an error has no verdicts, and is neither passed nor failed";
const NO_BASELINE: &str = "without a baseline, drift is unknown";
const NO_SCORE: &str = "without a score, the expectation of a judge is unknown";

/// All differences, with their reasons. A line that is no longer true fails the test.
const DIFFERENCES: &[(&str, &[Part], &str)] = &[
    ("agg-per-model", &[Part::Exit(0)], RESCUED),
    ("agg-two-of-three", &[Part::Exit(0)], RESCUED),
    ("base-drift-in-test", &[Part::Rows, Part::Gates, Part::Exit(3)], NO_BASELINE),
    (
        "budget-stops",
        &[Part::Rows, Part::Text, Part::Gates],
        "what did not run has no rows, and other gates are unknown",
    ),
    ("budget-unpriced", &[Part::Gates, Part::Exit(3)], "an unknown cost passes no limit"),
    (
        "conv-judge-inside",
        &[Part::Rows, Part::Gates, Part::Exit(3), Part::Requests],
        "a judge scores single replies, too",
    ),
    ("conv-more-entries-than-replies", &[Part::Rows, Part::Gates, Part::Exit(3)], UNREACHED),
    ("conv-truncated", &[Part::Rows], UNREACHED),
    ("conv-user-not-sent", &[Part::Rows, Part::Requests], "the texts of the user are sent"),
    ("cost-dated-names", &[Part::Rows, Part::Cost], "a dated name costs what its model costs, and no other name does"),
    ("err-401", &[Part::Rows, Part::Text, Part::Gates, Part::Exit(3)], ERRORED),
    ("err-500-always", &[Part::Rows, Part::Text, Part::Gates, Part::Exit(3)], ERRORED),
    ("err-mid-conversation", &[Part::Rows, Part::Text, Part::Gates, Part::Exit(3)], ERRORED),
    ("err-one-model-down", &[Part::Rows, Part::Text, Part::Gates, Part::Exit(3)], ERRORED),
    ("err-timeout", &[Part::Rows, Part::Text, Part::Gates, Part::Exit(3)], ERRORED),
    ("exit-failed", &[Part::Exit(0)], RESCUED),
    ("pdrift-judge-bad-reply", &[Part::Rows, Part::Gates, Part::Exit(3)], NO_SCORE),
    ("pdrift-no-baseline", &[Part::Rows, Part::Gates, Part::Exit(3)], NO_BASELINE),
    (
        "pgate-cost-flag-off",
        &[Part::Text, Part::Cost, Part::Gates, Part::Exit(1)],
        "`costMaxUsd` is judged whenever it is written",
    ),
    (
        "pgate-all-ten",
        &[Part::Gates, Part::Exit(3)],
        "the cost of a judge counts, and is unknown without counts of tokens",
    ),
    ("pjudge-401", &[Part::Rows, Part::Gates, Part::Exit(3)], NO_SCORE),
    (
        "pjudge-own-model",
        &[Part::Rows, Part::Gates, Part::Exit(3), Part::Requests],
        "`model` of a judge is an id of `models`, and only else the name of a model",
    ),
    ("pjudge-replies", &[Part::Rows, Part::Text, Part::Gates], NO_SCORE),
    (
        "new-ordered-call-before",
        &[Part::Rows, Part::Gates, Part::Exit(0)],
        "`toolCallsOrdered` is about the order, as documented, not about positions",
    ),
    ("new-ordered-negatives", &[Part::Rows], "the labels name the order instead of the position"),
    ("new-ordered-passes", &[Part::Rows], "the labels name the order instead of the position"),
    (
        "new-strict-elsewhere",
        &[Part::Rows, Part::Gates, Part::Exit(2), Part::Requests],
        "an unknown gate, and an unknown key in `customPatterns`, would be lost",
    ),
    ("pout-all-sections", &[Part::Rows], "without counts of tokens, the cost is unknown, and fails the expectation"),
    ("pt-missing-key", &[Part::Exit(3)], "the run of each test ends with an error, and the others run"),
    (
        "pt-vars-missing",
        &[Part::Rows, Part::Gates, Part::Exit(2), Part::Requests],
        "a missing variable is found before anything runs",
    ),
    (
        "sim-then-missing",
        &[Part::Text, Part::Requests],
        "a result without `then` is null, not a message without content",
    ),
    ("wire-gemini-full", &[Part::Requests], "the results of one reply go back together, as the protocol asks for"),
];

/// The address in the suites in place of that of the server.
const ADDRESS: &str = "http://127.0.0.1:48999";

#[test]
fn prompt_tests_run_as_recorded_or_the_difference_is_named() {
    let root = repository().join("tests/specs/kindlm-prompts");
    let mut names: Vec<String> =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let mut wrong = Vec::new();
    for name in &names {
        let place = Place::copy_of(&format!("tests/specs/kindlm-prompts/{name}"));
        let case: Value = serde_json::from_str(&place.read("case.json")).unwrap();
        let named = DIFFERENCES.iter().find(|(case, ..)| case == name).map_or(&[][..], |(_, parts, _)| parts);
        let named: BTreeSet<Part> = named.iter().copied().collect();
        let found = compare(name, &place, &case);
        if named != found.keys().copied().collect() {
            let details: Vec<String> = found.values().cloned().collect();
            wrong.push(format!("{name}: named {named:?}, found {:?}\n{}", found.keys(), details.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    for (name, ..) in DIFFERENCES {
        assert!(names.iter().any(|known| known == name), "there is no case `{name}`");
    }
}

fn compare(name: &str, place: &Place, case: &Value) -> BTreeMap<Part, String> {
    let read = |name: &str| place.exists(name).then(|| serde_json::from_str::<Value>(&place.read(name)).unwrap());
    let next = read("expected-next.json");
    let expected = next.or_else(|| read("expected.json")).unwrap();
    let run = &expected["run"];
    let server = providers::playing(&read("mock.json").unwrap());
    let (code, report) = perform(name, place, case, &server);
    let suite = &report["suites"][0];
    let mut found = BTreeMap::new();
    let wanted = match (&expected["config"]["valid"], &run["exitCode"]) {
        (Value::Bool(false), _) => Some(2),
        (_, code) => code.as_i64().map(|code| i32::try_from(code).unwrap()),
    };
    if code != wanted {
        found.insert(
            Part::Exit(code.unwrap_or(-1)),
            format!("exit status {wanted:?} → {code:?}; {}", suite["problems"]),
        );
    }
    for unit in run["units"].as_array().into_iter().flatten() {
        let Some(attempt) = attempt(suite, unit) else {
            found.insert(Part::Rows, format!("{} did not run", unit["test"]));
            continue;
        };
        let (rows, mine) = (original_rows(run, unit), our_rows(attempt));
        if rows != mine {
            let message = format!("{}: {rows:?}\n   → {mine:?} {}", unit["test"], attempt["error"]);
            found.entry(Part::Rows).or_default().push_str(&message);
        }
        let evidence = &attempt["evidence"];
        if unit["outputText"].is_string() && unit["outputText"] != evidence["output_text"] {
            found.insert(Part::Text, format!("{}: {} → {}", unit["test"], unit["outputText"], evidence["output_text"]));
        }
        let cost = &attempt["cost_usd"];
        if !unit["costUsd"].is_null()
            && unit["costUsd"].as_f64() != Some(0.0)
            && (unit["costUsd"].as_f64().unwrap() - cost.as_f64().unwrap_or(-1.0)).abs() > 1e-9
        {
            found.insert(Part::Cost, format!("{}: {} → {cost}", unit["test"], unit["costUsd"]));
        }
    }
    let gates = |list: &Value, name: &str, answer: &dyn Fn(&Value) -> Value| -> Vec<(Value, Value)> {
        list.as_array().into_iter().flatten().map(|gate| (gate[name].clone(), answer(gate))).collect()
    };
    let original = gates(&run["gates"]["results"], "gateName", &|gate| gate["passed"].clone());
    let ours = gates(&suite["gates"], "name", &|gate| answer(&gate["status"]));
    if !run["gates"].is_null() && original != ours {
        found.insert(Part::Gates, format!("gates {original:?}\n   → {ours:?}"));
    }
    // They are those of an earlier version, which takes every configuration.
    if let Some(exchanges) = read("exchanges.json").filter(|_| expected["config"]["valid"] == true) {
        let recorded = exchanges.as_array().unwrap().iter().map(|it| (it["path"].as_str().unwrap(), &it["body"]));
        let recorded: BTreeSet<String> = recorded.map(|(path, body)| shown(path, body)).collect();
        let requests = server.requests();
        let sent: BTreeSet<String> = requests.iter().map(|request| shown(&request.path, &request.body)).collect();
        if recorded != sent {
            let missing: Vec<&String> = recorded.difference(&sent).collect();
            let more: Vec<&String> = sent.difference(&recorded).collect();
            found.insert(Part::Requests, format!("requests {missing:#?}\n   → {more:#?}"));
        }
        assert!(requests.iter().all(has_type), "{requests:?}");
    }
    found
}

fn has_type(request: &Request) -> bool {
    request.headers.contains("content-type: application/")
}

/// Returns a request as JavaScript writes it, without the instructions of a judge, which are each program's own.
fn shown(path: &str, body: &Value) -> String {
    let mut body = body.clone();
    let is_judge = body["messages"][1]["content"].as_str().is_some_and(|text| text.starts_with("## "));
    if is_judge {
        body["messages"][0]["content"] = Value::Null;
    }
    format!("{path} {}", text_of(&sorted(&body)))
}

fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let members: BTreeMap<&String, Value> = members.iter().map(|(key, value)| (key, sorted(value))).collect();
            json!(members)
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

fn perform(name: &str, place: &Place, case: &Value, server: &Loopback) -> (Option<i32>, Value) {
    let suite = place.read("kindlm.yaml").replace(ADDRESS, &server.url());
    place.write("kindlm.yaml", suite);
    if let Some(flags) = case["featureFlags"].as_object() {
        place.write(".kindlm/config.json", json!({ "features": flags }).to_string());
    }
    if place.exists("baseline.json") {
        let mut baseline: Value = serde_json::from_str(&place.read("baseline.json")).unwrap();
        // Some were recorded without a file: their suite has another name.
        baseline["suiteName"] = name.into();
        place.write(&format!(".kindlm/baselines/{name}.json"), baseline.to_string());
    }
    let mut program = place.program(&["run", "kindlm.yaml", "--report", "json", "--set", "report.evidence=true"]);
    for (name, value) in case["env"].as_object().into_iter().flatten() {
        program.env(name, value.as_str().unwrap());
    }
    let done = Done::of(&program.output().unwrap());
    (done.code, done.json())
}

fn attempt<'r>(suite: &'r Value, unit: &Value) -> Option<&'r Value> {
    let cases = suite["cases"].as_array().into_iter().flatten();
    let runs = cases.filter(|case| case["name"] == unit["test"]).flat_map(|case| case["runs"].as_array().unwrap());
    let mut found = runs.filter(|run| run["run"] == unit["repeat"] && run["subject"]["name"] == unit["model"]);
    found.next()
}

fn original_rows(run: &Value, unit: &Value) -> Vec<Value> {
    let rows = run["assertions"].as_array().unwrap().iter();
    rows.filter(|row| ["test", "model", "repeat"].iter().all(|key| row[*key] == unit[*key]))
        .map(|row| {
            let turn = row["turnLabel"].as_str().map(|turn| format!("[Turn: {turn}] ")).unwrap_or_default();
            let label = format!("{turn}{}", row["label"].as_str().unwrap());
            json!([row["assertionType"], label, row["passed"], row["score"].as_f64(), row["failureCode"]])
        })
        .collect()
}

/// A suite with one test, whose model is at the address of the server.
fn suite(server: &Loopback, provider: &str, test: &str) -> Place {
    let url = server.url();
    Place::with(&format!(
        "kindlm: 1\nproject: p\nsuite: {{name: s}}\nproviders:\n  {provider}\nmodels:\n  - {{id: m, provider: {}, model: x}}\n\
         prompts:\n  ask: {{user: 'hello {{{{who}}}}'}}\ndefaults: {{concurrency: 1}}\ntests:\n  - name: t\n    prompt: ask\n    vars: {{who: Ann}}\n{test}",
        provider.split(':').next().unwrap()
    ).replace("URL", &url))
}

const OPEN_AI: &str = "openai: {apiKeyEnv: PROMPT_TEST_KEY, baseUrl: 'URL/openai/v1'}";
const ANTHROPIC: &str = "anthropic: {apiKeyEnv: PROMPT_TEST_KEY, baseUrl: 'URL/anthropic'}";
const GEMINI: &str = "gemini: {apiKeyEnv: PROMPT_TEST_KEY, baseUrl: 'URL/gemini'}";
const OLLAMA: &str = "ollama: {baseUrl: 'URL/ollama'}";
const HTTP: &str = "http: {url: 'URL/http', toolCallsPath: did.calls}";
const MCP: &str = "mcp: {serverUrl: 'URL/mcp', toolName: say}";
const KEY: &str = "planted-key-0815";

fn run(place: &Place) -> Value {
    let arguments = ["run", "--report", "json", "--set", "report.evidence=true"];
    place.run_with(&[("PROMPT_TEST_KEY", KEY)], &arguments).json()["suites"][0]["cases"][0]["runs"][0].clone()
}

#[test]
fn conversation_that_breaks_off_is_an_error_and_keeps_its_turns() {
    let script = json!({ "responses": [
        { "text": "one", "toolCalls": [{ "id": "c", "name": "f", "arguments": {} }] },
        { "status": 400, "message": format!("no such thing as {KEY}") },
    ] });
    let server = providers::playing(&script);
    let place = suite(
        &server,
        OPEN_AI,
        "    tools: [{name: f, defaultResponse: 1}]\n    expect: {output: {notContains: [x]}}\n",
    );
    let run = run(&place);
    assert_eq!((&run["status"], &run["verdicts"]), (&json!("error"), &json!([])));
    assert_eq!(run["evidence"]["turns"][0]["text"], "one");
    let message = run["error"]["message"].as_str().unwrap();
    assert!(message.contains("no such thing as ***") && !message.contains(KEY), "{message}");
}

#[test]
fn model_that_repeats_one_call_for_ever_is_stopped() {
    let script = json!({ "responses": [{ "text": "", "toolCalls": [{ "id": "c", "name": "f", "arguments": {} }] }] });
    let server = providers::playing(&script);
    let place = suite(
        &server,
        OPEN_AI,
        "    maxTurns: 3\n    tools: [{name: f}]\n    expect: {toolCalls: [{tool: f}, {tool: g, shouldNotCall: true}]}\n",
    );
    let run = run(&place);
    assert_eq!(server.requests().len(), 3);
    let outcomes: Vec<&str> =
        run["verdicts"].as_array().unwrap().iter().map(|verdict| verdict["outcome"].as_str().unwrap()).collect();
    // The last reply is empty, so nothing follows from what is not in it.
    assert_eq!(outcomes, ["fail", "pass", "unknown"]);
}

#[test]
fn empty_reply_proves_nothing() {
    let server = providers::playing(&json!({ "responses": [{ "text": " " }] }));
    let place =
        suite(&server, OPEN_AI, "    expect: {output: {notContains: [x], maxLength: 9}, guardrails: {pii: {}}}\n");
    let run = run(&place);
    let outcomes = run["verdicts"].as_array().unwrap().iter().map(|verdict| verdict["outcome"].clone());
    assert!(outcomes.into_iter().all(|outcome| outcome == "unknown"), "{run}");
}

/// Replies that may lack a part, in each protocol.
const INCOMPLETE: &[(&str, &str)] = &[
    (OPEN_AI, r#"{"choices": [{"message": {"content": "good"}, "finish_reason": "error"}]}"#),
    (OPEN_AI, r#"{"choices": [{"message": {"content": "good"}, "finish_reason": "model_length"}]}"#),
    (OPEN_AI, r#"{"choices": [{"message": {"content": "good"}, "finish_reason": {"code": 2}}]}"#),
    (OPEN_AI, r#"{"choices": [{"message": {"content": "good"}}, {"message": {"content": "bad"}}]}"#),
    (OPEN_AI, r#"{"choices": [{"message": {"content": "good"}, "error": {"code": 500}}]}"#),
    (
        OPEN_AI,
        r#"{"choices": [{"message": {"content": [{"type": "text", "text": "good"}, {"type": "refusal", "refusal": "bad"}]}}]}"#,
    ),
    (OPEN_AI, r#"{"choices": [{"message": {"content": [{"type": "text", "text": "good"}, {"type": "image_url"}]}}]}"#),
    (ANTHROPIC, r#"{"content": [{"type": "text", "text": "good"}], "stop_reason": "pause_turn"}"#),
    (ANTHROPIC, r#"{"content": [{"type": "text", "text": "good"}, {"type": "server_tool_use", "name": "f"}]}"#),
    (ANTHROPIC, r#"{"content": ["bad", {"type": "text", "text": "good"}]}"#),
    (GEMINI, r#"{"candidates": [{"content": {"parts": [{"text": "good"}]}, "finishReason": "OTHER"}]}"#),
    (GEMINI, r#"{"candidates": [{"content": {"parts": ["bad", {"text": "good"}]}}]}"#),
    (OLLAMA, r#"{"message": {"content": "good"}, "done": false}"#),
    (HTTP, r#"{"choices": [{"message": {"content": "good"}, "finish_reason": "length"}], "did": {}}"#),
    (MCP, r#"{"content": [{"type": "text", "text": "good"}], "stopReason": "maxTokens"}"#),
    (MCP, r#"{"content": [{"type": "text", "text": "good"}, {"type": "text", "text": "bad"}]}"#),
];

#[test]
fn what_a_reply_may_lack_passes_nothing() {
    for (provider, raw) in INCOMPLETE {
        let raw: Value = serde_json::from_str(raw).unwrap();
        let server = providers::playing(&json!({ "responses": [{ "raw": raw }] }));
        let claims = "    expect: {output: {contains: [good], notContains: [bad]}, toolCalls: [{tool: f, shouldNotCall: true}]}\n";
        let run = run(&suite(&server, provider, claims));
        let outcomes = run["verdicts"].as_array().unwrap().iter().map(|verdict| verdict["outcome"].clone());
        let outcomes: Vec<Value> = outcomes.collect();
        assert!(outcomes.contains(&json!("pass")), "{provider}: {run}");
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == "unknown").count(), 2, "{provider} {raw}: {run}");
        assert!(run.to_string().contains("the model's reply is incomplete"), "{provider} {raw}: {run}");
    }
}

#[test]
fn tool_of_a_server_that_fails_is_an_error() {
    let raw = json!({ "isError": true, "content": [{ "type": "text", "text": "good, but no service" }] });
    let server = providers::playing(&json!({ "responses": [{ "raw": raw }] }));
    let run = run(&suite(&server, MCP, "    expect: {output: {contains: [good]}}\n"));
    assert!(run["error"]["message"].as_str().is_some_and(|message| message.contains("no service")), "{run}");
}

#[test]
fn usage_that_is_not_whole_passes_no_limit() {
    for usage in [
        json!({ "completion_tokens": 1 }),
        json!({ "prompt_tokens": 1 }),
        json!({ "prompt_tokens": -1_000_000, "completion_tokens": 5 }),
        json!({ "prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 1_000_000 }),
    ] {
        let raw = json!({ "choices": [{ "message": { "content": "good" } }], "usage": usage });
        let server = providers::playing(&json!({ "responses": [{ "raw": raw }] }));
        let place = suite(&server, OPEN_AI, "    expect: {cost: {maxUsd: 1}}\n");
        place.write("kindlm.yaml", place.read("kindlm.yaml").replace("model: x", "model: gpt-4o-mini"));
        let run = run(&place);
        assert_eq!(run["verdicts"][0]["code"], "COST_UNKNOWN", "{usage}: {run}");
    }
}

#[test]
fn empty_turn_of_a_conversation_proves_nothing() {
    let server = providers::playing(&json!({ "responses": [{ "text": " \n" }, { "text": "good" }] }));
    let claims = "    conversation:\n      - {turn: a, expect: {output: {notContains: [bad]}, guardrails: {pii: {}}, judge: [{criteria: polite}]}}\n      - {turn: b, user: more}\n    expect: {toolCalls: [{tool: f, shouldNotCall: true}]}\n";
    let run = run(&suite(&server, OPEN_AI, claims));
    let outcomes = run["verdicts"].as_array().unwrap().iter().map(|verdict| verdict["outcome"].clone());
    assert!(outcomes.into_iter().all(|outcome| outcome == "unknown"), "{run}");
    assert_eq!(server.requests().len(), 2, "no judge was asked about nothing");
}

#[test]
fn judge_cannot_say_of_a_masked_text_what_it_does_not_see() {
    let server = providers::playing(&json!({ "responses": [{ "text": format!("the key is {KEY}") }] }));
    let run = run(&suite(&server, OPEN_AI, "    expect: {judge: [{criteria: reveals no key}]}\n"));
    assert_eq!((run["status"].as_str(), server.requests().len()), (Some("unknown"), 1), "{run}");
}

#[test]
fn positions_after_a_reply_that_was_cut_off_are_unknown() {
    let call = |name: &str, end: &str| {
        let call = json!({ "id": name, "function": { "name": name, "arguments": "{}" } });
        json!({ "raw": { "choices": [{ "message": { "content": "ok", "tool_calls": [call] }, "finish_reason": end }] } })
    };
    let script = json!({ "responses": [call("f", "length"), call("g", "tool_calls"), { "text": "done" }] });
    let claims = "    tools: [{name: f, defaultResponse: 1}, {name: g, defaultResponse: 1}]\n    expect: {toolCalls: [{tool: f, order: 0}, {tool: g, order: 1}]}\n";
    let run = run(&suite(&providers::playing(&script), OPEN_AI, claims));
    let of = |label: &str| {
        let mut verdicts = run["verdicts"].as_array().unwrap().iter();
        verdicts.find(|verdict| verdict["label"].as_str().unwrap().contains(label)).unwrap()["outcome"].clone()
    };
    assert_eq!(of("\"g\" at position"), "unknown", "{run}");
    assert_eq!(of("\"g\" called"), "pass", "{run}");
}

#[test]
fn what_no_reader_sees_hides_nothing() {
    let call = json!({ "id": "c", "name": "delete\u{200b}_all", "arguments": {} });
    let text = "a\u{200b}@bc.de";
    let script = json!({ "responses": [{ "text": text, "toolCalls": [call] }, { "text": text }] });
    let claims = "    tools: [{name: f, defaultResponse: 1}]\n    expect: {guardrails: {pii: {}}, toolCalls: [{tool: delete_all, shouldNotCall: true}]}\n";
    let run = run(&suite(&providers::playing(&script), OPEN_AI, claims));
    let outcomes = run["verdicts"].as_array().unwrap().iter().map(|verdict| verdict["outcome"].clone());
    assert!(outcomes.into_iter().all(|outcome| outcome == "unknown"), "{run}");
}

#[test]
fn two_tests_that_are_renamed_share_no_recording() {
    let server = providers::playing(&json!({ "responses": [{ "text": "bad" }, { "text": "good" }] }));
    let place = suite(
        &server,
        OPEN_AI,
        "    expect: {output: {contains: [good]}}\n  - {name: u, prompt: ask, vars: {who: Ann}, expect: {output: {contains: [good]}}}\n",
    );
    let text = place.read("kindlm.yaml");
    run(&place);
    for (renamed, known) in
        [(text.replace("name: t", "name: v"), 1), (text.replace("name: t", "name: v").replace("name: u", "name: w"), 0)]
    {
        place.write("kindlm.yaml", renamed);
        let done = place.run_with(&[("PROMPT_TEST_KEY", KEY)], &["run", "--recorded", "--report", "json"]);
        assert_eq!(done.json()["totals"]["passed"], known, "{done:?}");
    }
}

#[test]
fn reply_that_the_provider_ended_early_proves_nothing_about_its_rest() {
    for reason in ["length", "content_filter"] {
        let raw = json!({ "choices": [{ "message": { "content": "good" }, "finish_reason": reason }] });
        let server = providers::playing(&json!({ "responses": [{ "raw": raw }] }));
        let claims = "    expect: {output: {contains: [good], notContains: [bad]}}\n";
        let run = run(&suite(&server, OPEN_AI, claims));
        let outcomes = run["verdicts"].as_array().unwrap().iter().map(|verdict| verdict["outcome"].clone());
        assert_eq!(outcomes.collect::<Vec<_>>(), ["pass", "unknown"], "{run}");
    }
}

/// What a provider says, and what follows about a tool that must not be called.
const CALLS: &[(&str, &str, &str)] = &[
    (OPEN_AI, r#"{"choices": [{"message": {"content": "good"}}]}"#, "pass"),
    (OPEN_AI, r#"{"choices": [{"message": {"content": "good", "tool_calls": []}}]}"#, "pass"),
    (OPEN_AI, r#"{"choices": [{"message": {"content": "good", "tool_calls": {"name": "f"}}}]}"#, "error"),
    (OPEN_AI, r#"{"choices": [{"message": {"content": "good", "tool_calls": [{"function": {}}]}}]}"#, "error"),
    (OPEN_AI, r#"{"choices": [{"message": {"content": "good", "function_call": {"name": "f"}}}]}"#, "unknown"),
    (OPEN_AI, r#"{"choices": [{"message": {"content": "good"}}, {"message": {"tool_calls": [{}]}}]}"#, "unknown"),
    (OPEN_AI, r#"{"choices": [{"message": {"content": "good"}, "finish_reason": "tool_calls"}]}"#, "unknown"),
    (ANTHROPIC, r#"{"content": [{"type": "text", "text": "good"}], "stop_reason": "tool_use"}"#, "unknown"),
    (ANTHROPIC, r#"{"content": [{"type": "text", "text": "good"}]}"#, "pass"),
    (ANTHROPIC, r#"{"content": [{"type": "text", "text": "good"}, {"type": "tool_use"}]}"#, "error"),
    (GEMINI, r#"{"candidates": [{"content": {"parts": [{"text": "good"}]}}]}"#, "pass"),
    (GEMINI, r#"{"candidates": [{"content": {"parts": [{"text": "good"}, {"functionCall": "f"}]}}]}"#, "error"),
    ("http: {url: 'URL/http'}", r#"{"choices": [{"message": {"content": "good"}}]}"#, "unknown"),
    (HTTP, r#"{"choices": [{"message": {"content": "good"}}], "did": {}}"#, "pass"),
    (HTTP, r#"{"choices": [{"message": {"content": "good"}}], "did": {"calls": null}}"#, "pass"),
    (HTTP, r#"{"choices": [{"message": {"content": "good"}}]}"#, "unknown"),
    (HTTP, r#"{"choices": [{"message": {"content": "good"}}], "did": {"calls": {"f": 1}}}"#, "error"),
    (HTTP, r#"{"choices": [{"message": {"content": "good"}}], "did": {"calls": ["f"]}}"#, "unknown"),
    (HTTP, r#"{"choices": [{"message": {"content": "good"}}], "did": {"tool_calls": [{"name": "f"}]}}"#, "unknown"),
    (MCP, r#"{"content": [{"type": "text", "text": "good"}]}"#, "unknown"),
];

#[test]
fn calls_that_cannot_be_read_are_not_taken_for_none() {
    for (provider, raw, expected) in CALLS {
        let raw: Value = serde_json::from_str(raw).unwrap();
        let server = providers::playing(&json!({ "responses": [{ "raw": raw }] }));
        let claims =
            "    tools: [{name: f, defaultResponse: 1}]\n    expect: {toolCalls: [{tool: f, shouldNotCall: true}]}\n";
        let run = run(&suite(&server, provider, claims));
        assert_eq!(run["status"], *expected, "{provider}: {run}");
        assert!(*expected != "error" || run["error"]["message"].as_str().unwrap().contains("call"), "{run}");
    }
}

#[test]
fn keys_are_in_no_file() {
    let echo = json!({ "responses": [
        { "text": format!("your key is {KEY}"), "toolCalls": [{ "id": "c", "name": "f", "arguments": { "key": KEY } }] },
        { "text": format!("again: {KEY}") },
    ] });
    let server = providers::playing(&echo);
    let place = suite(
        &server,
        OPEN_AI,
        "    tools: [{name: f, defaultResponse: 1}]\n    expect:\n      output: {notContains: [again]}\n      toolCalls: [{tool: f, argsMatch: {key: abc}}]\n",
    );
    let run = run(&place);
    assert!(!run.to_string().contains(KEY));
    for file in place.recordings().iter().chain(&place.texts()) {
        assert!(!fs::read_to_string(file).unwrap().contains(KEY), "{}", file.display());
    }
    let outcomes: Vec<&str> =
        run["verdicts"].as_array().unwrap().iter().map(|verdict| verdict["outcome"].as_str().unwrap()).collect();
    assert_eq!(outcomes, ["pass", "unknown", "fail"], "the hidden argument might have been `abc`");
}

/// Two runs of one test at once, each with a judge that never answers, and Ctrl-C for both.
#[cfg(unix)]
#[test]
fn interrupted_while_a_judge_thinks_ends_at_once() {
    let script = json!({
        "rules": [{ "has": ["is kind"], "responses": [{ "hang": true }] }],
        "responses": [{ "text": "good" }],
    });
    let server = providers::playing(&script);
    let place = suite(&server, OPEN_AI, "    expect: {judge: [{criteria: is kind}]}\n");
    let run = || place.program(&["run"]).env("PROMPT_TEST_KEY", KEY).stdout(Stdio::piped()).spawn().unwrap();
    let runs = [run(), run()];
    wait_until("the questions to both judges", || server.requests().len() == 4);
    runs.iter().for_each(|run| send("INT", run.id()));
    for run in runs {
        let done = Done::at_end_of(run);
        assert_eq!(done.code, Some(130), "{done:?}");
        assert!(done.stdout.contains("1 unknown, cancelled"), "{done:?}");
    }
}

#[test]
fn changed_prompt_is_stale_and_a_changed_expectation_is_judged_again() {
    let server = providers::playing(&json!({ "responses": [{ "text": "good" }] }));
    let place = suite(&server, OPEN_AI, "    expect: {output: {contains: [good]}}\n");
    assert_eq!(run(&place)["status"], "pass");
    let recorded = |place: &Place| {
        let report = place.run_with(&[("PROMPT_TEST_KEY", KEY)], &["run", "--recorded", "--report", "json"]).json();
        report["suites"][0]["cases"][0]["runs"][0].clone()
    };
    let text = place.read("kindlm.yaml");
    place.write("kindlm.yaml", text.replace("contains: [good]", "contains: [bad]"));
    assert_eq!(recorded(&place)["status"], "fail");
    place.write("kindlm.yaml", text.replace("hello", "goodbye"));
    let stale = recorded(&place);
    assert_eq!(stale["error"]["kind"], "stale");
    assert!(stale["error"]["message"].as_str().unwrap().contains("the prompt has changed"), "{stale}");
    place.write("kindlm.yaml", text.replace("model: x", "model: y"));
    assert!(recorded(&place)["error"]["message"].as_str().unwrap().contains("the model has changed"));
    assert_eq!(server.requests().len(), 1);
}

#[test]
fn server_that_speaks_mcp_is_asked_in_its_protocol() {
    let server = Loopback::acting(|request| {
        let answer = |body: Value| {
            let event = format!("event: message\r\ndata: {body}\r\n\r\n");
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nmcp-session-id: s-1\r\n";
            Answer::Bytes(format!("{head}content-length: {}\r\n\r\n{event}", event.len()))
        };
        let id = &request.body["id"];
        match request.body["method"].as_str() {
            Some("initialize") => {
                answer(json!({ "jsonrpc": "2.0", "id": id, "result": { "protocolVersion": "2025-03-26" } }))
            }
            Some("notifications/initialized") => Answer::Reply(202, String::new()),
            Some("tools/call") => {
                assert!(request.headers.contains("mcp-session-id: s-1"), "{}", request.headers);
                let said = request.body["params"]["arguments"]["messages"][0]["content"].as_str().unwrap();
                let result = json!({ "content": [{ "type": "text", "text": format!("heard {said}") }] });
                answer(json!({ "jsonrpc": "2.0", "id": id, "result": result }))
            }
            _ => Answer::Reply(400, json!({ "jsonrpc": "2.0", "error": { "message": "not JSON-RPC" } }).to_string()),
        }
    });
    let place = suite(
        &server,
        "mcp: {serverUrl: 'URL/mcp', toolName: chat}",
        "    expect: {output: {contains: [heard hello ann]}}\n",
    );
    let run = run(&place);
    assert_eq!(run["status"], "pass", "{run}");
}

#[test]
fn baseline_of_another_suite_is_an_error() {
    let server = providers::playing(&json!({ "responses": [{ "text": "good" }] }));
    let place = suite(&server, OPEN_AI, "    expect: {baseline: {drift: {method: field-diff, fields: [a]}}}\n");
    place
        .write(".kindlm/baselines/s.json", r#"{"version": "1", "suiteName": "other", "createdAt": "", "results": {}}"#);
    let verdict = run(&place)["verdicts"][0].clone();
    assert_eq!(verdict["outcome"], "error");
    assert!(verdict["message"].as_str().unwrap().contains("belongs to the suite `other`"), "{verdict}");
}

#[test]
fn baseline_is_set_shown_compared_and_listed() {
    let server = providers::playing(&json!({ "responses": [{ "text": "good" }] }));
    let place = suite(&server, OPEN_AI, "    expect: {output: {contains: [good]}}\n");
    let baseline = |arguments: &[&str]| {
        let all = [&["baseline"], arguments].concat();
        place.run_with(&[("PROMPT_TEST_KEY", KEY), ("SPECLENS_NOW", "2026-05-14T12:00:00Z")], &all)
    };
    assert_eq!((baseline(&["show"]).code, baseline(&["list"]).code), (Some(1), Some(1)));
    assert_eq!(baseline(&["set"]).code, Some(0));
    let latest: Value = serde_json::from_str(&place.read(".kindlm/baselines/s-latest.json")).unwrap();
    let name = latest["latestFile"].as_str().unwrap();
    assert!(name.starts_with("s-20260514120000-"), "{name}");
    let stored: Value = serde_json::from_str(&place.read(&format!(".kindlm/baselines/{name}"))).unwrap();
    assert_eq!(stored["results"]["t::m"]["outputText"], "good");
    assert!(baseline(&["list"]).stdout.starts_with(&format!("* .kindlm/baselines/{name}")));
    let same = baseline(&["compare"]);
    assert_eq!((same.code, same.stdout.as_str()), (Some(0), "unchanged    t::m: 100 % → 100 %\n"));
    let text = place.read("kindlm.yaml");
    place.write("kindlm.yaml", text.replace("[good]", "[bad]"));
    let worse = baseline(&["compare"]);
    assert_eq!(worse.code, Some(1));
    assert_eq!(worse.stdout, "regression   t::m: 100 % → 0 %; new failures: CONTAINS_FAILED\n");
    assert_eq!(baseline(&["set"]).code, Some(1), "no test passed");
}

/// Runs a suite with these gates, and returns its report.
fn gated(place: &Place, gates: &str) -> Value {
    place.write("kindlm.yaml", place.read("kindlm.yaml") + gates);
    place.run_with(&[("PROMPT_TEST_KEY", KEY)], &["run", "--report", "json"]).json()["suites"][0].clone()
}

/// Returns the status and the message of a gate.
fn gate(suite: &Value, name: &str) -> String {
    let mut gates = suite["gates"].as_array().unwrap().iter();
    let gate = gates.find(|gate| gate["name"] == name).unwrap_or_else(|| panic!("no gate {name}: {suite}"));
    format!("{}: {}", gate["status"].as_str().unwrap(), gate["message"].as_str().unwrap())
}

fn judging(answer: &Value, responses: &[Value]) -> Loopback {
    providers::playing(&json!({ "rules": [{ "has": ["## Criteria"], "responses": [answer] }], "responses": responses }))
}

#[test]
fn gates_without_data_are_unknown_and_say_why() {
    const JUDGE: &str = "    expect: {judge: [{criteria: is kind}], guardrails: {pii: {}}}\n";
    let score = json!({ "text": r#"{"score": 1, "reasoning": "r"}"# });
    let (good, refused) = (json!({ "text": "good" }), json!({ "status": 400 }));
    let flow = "gates: {latencyMaxMs: 100000, judgeAvgMin: 0.9, costMaxUsd: 1, probabilisticPassRate: 0.9}\n";
    let block = "gates:\n  # All that was asked for\n  \"latencyMaxMs\": 1e5\n  judgeAvgMin: 0.90\n  'costMaxUsd': 1.0\n  \
                 probabilisticPassRate: .9\n";
    let rows = [
        (
            judging(&score, std::slice::from_ref(&refused)),
            JUDGE.to_owned(),
            [
                ("judgeAvgMin", "unknown: Judge average is unknown: 1 of 1 judge result has no score"),
                ("latencyMaxMs", "unknown: Average latency is unknown: the duration of 1 of 1 attempt is not known"),
                ("costMaxUsd", "unknown: Total cost is unknown: the cost of 1 of 1 attempt is not known"),
                ("piiFailuresMax", "unknown: PII failures 0 within limit 0, but 1 unknown result could change this"),
                (
                    "probabilisticPassRate",
                    "unknown: Probabilistic pass rate 0.0% below minimum 90.0%, but 1 unknown result could change this",
                ),
            ],
        ),
        (
            judging(&score, &[good.clone(), refused.clone(), good.clone(), refused]),
            format!("    repeat: 2\n{JUDGE}"),
            [
                ("judgeAvgMin", "unknown: Judge average is unknown: 1 of 2 judge results has no score"),
                ("latencyMaxMs", "unknown: Average latency is unknown: the duration of 1 of 2 attempts is not known"),
                ("costMaxUsd", "unknown: Total cost is unknown: the cost of 2 of 2 attempts is not known"),
                ("piiFailuresMax", "unknown: PII failures 0 within limit 0, but 1 unknown result could change this"),
                (
                    "probabilisticPassRate",
                    "unknown: Probabilistic pass rate 50.0% below minimum 90.0%, but 1 unknown result could change this",
                ),
            ],
        ),
        (
            judging(&json!({ "text": "quite" }), &[good]),
            JUDGE.to_owned(),
            [
                ("judgeAvgMin", "unknown: Judge average is unknown: 1 of 1 judge result has no score"),
                ("latencyMaxMs", "pass: Average latency "),
                ("costMaxUsd", "unknown: Total cost is unknown: the cost of 1 of 1 attempt is not known"),
                ("piiFailuresMax", "pass: PII failures 0 within limit 0"),
                (
                    "probabilisticPassRate",
                    "unknown: Probabilistic pass rate 0.0% below minimum 90.0%, but 1 unknown result could change this",
                ),
            ],
        ),
    ];
    for (server, test, expected) in rows {
        for gates in [flow, block] {
            let report = gated(&suite(&server, OPEN_AI, &test), gates);
            for (name, message) in expected {
                assert!(gate(&report, name).starts_with(message), "{}, not {message}", gate(&report, name));
            }
        }
    }
}

#[test]
fn cost_of_judges_counts_for_the_run_and_stops_it_but_is_not_that_of_the_subject() {
    let usage = json!({ "inputTokens": 1_000_000, "outputTokens": 0 });
    let answer = |usage: &Value| json!({ "text": r#"{"score": 1, "reasoning": "r"}"#, "usage": usage });
    let good = json!({ "text": "good", "usage": { "inputTokens": 1, "outputTokens": 0 } });
    let run = |answer: &Value, prices: &str| {
        let server = judging(answer, std::slice::from_ref(&good));
        let test = "    repeat: 3\n    expect: {judge: [{criteria: is kind}], cost: {maxUsd: 0.1}}\n";
        let place = suite(&server, OPEN_AI, test);
        place.write("speclens.yaml", prices);
        let report = gated(&place, "gates: {costMaxUsd: 1.5}\n");
        let runs = report["cases"][0]["runs"].as_array().unwrap().clone();
        let statuses: Vec<String> = runs.iter().map(|run| run["status"].as_str().unwrap().to_owned()).collect();
        (gate(&report, "costMaxUsd"), statuses.join(" "))
    };
    let priced = "prices: {openai/x: {input: 1, output: 1}}\n";
    let (message, statuses) = run(&answer(&usage), priced);
    assert_eq!(message, "fail: Total cost $2.0000 exceeds limit $1.5000 (1 attempt not run)");
    assert_eq!(statuses, "pass pass skip");
    let (message, statuses) = run(&answer(&Value::Null), priced);
    assert_eq!(message, "unknown: Total cost is unknown: the cost of 3 of 3 attempts is not known");
    assert_eq!(statuses, "pass pass pass");
}

#[test]
fn ollama_costs_nothing_even_if_it_counts_no_tokens() {
    let server = judging(&json!({ "text": r#"{"score": 1, "reasoning": "r"}"# }), &[json!({ "text": "good" })]);
    let test = "    expect: {judge: [{criteria: is kind}], cost: {maxUsd: 0.1}}\n";
    let report = gated(&suite(&server, "ollama: {baseUrl: 'URL/ollama'}", test), "gates: {costMaxUsd: 0.1}\n");
    assert_eq!(gate(&report, "costMaxUsd"), "pass: Total cost $0.0000 within limit $0.1000");
    assert_eq!(report["status"], "pass", "{report}");
}

/// Runs `speclens baseline`, and returns its exit status and its report.
fn baseline(place: &Place, arguments: &[&str]) -> (Option<i32>, String) {
    let environment = [("PROMPT_TEST_KEY", KEY), ("SPECLENS_NOW", "2026-05-14T12:00:00Z")];
    let done = place.run_with(&environment, &[&["baseline"], arguments].concat());
    (done.code, done.text())
}

#[test]
fn baseline_counts_only_attempts_with_a_result() {
    let score = |text: &str| json!({ "rules": [{ "has": ["## Criteria"], "responses": [{ "text": text }] }], "responses": [{ "text": "good" }] });
    let refusing = json!({ "responses": [{ "status": 400 }] });
    let (good, damaged) = (score(r#"{"score": 1, "reasoning": "r"}"#), score("quite"));
    let empty = json!({ "responses": [{ "text": "" }] });
    let place = suite(&providers::playing(&good), OPEN_AI, "    expect: {judge: [{criteria: is kind}]}\n");
    let text = place.read("kindlm.yaml");
    let address = |text: &str| text.split_once("baseUrl: '").unwrap().1.split_once("/openai").unwrap().0.to_owned();
    let ask = |script: &Value| {
        let server = providers::playing(script);
        place.write("kindlm.yaml", text.replace(&address(&text), &server.url()));
        server
    };
    for script in [&damaged, &refusing, &empty] {
        let _server = ask(script);
        for arguments in [&["set"][..], &["set", "--force"]] {
            let (code, report) = baseline(&place, arguments);
            assert_eq!(code, Some(3), "{report}");
            assert!(report.contains("t::m: left out: 1 of 1 attempt without a result: "), "{report}");
            assert!(report.contains("nothing was stored, because there is nothing to store"), "{report}");
        }
    }
    let _server = ask(&good);
    assert_eq!(baseline(&place, &["set"]).0, Some(0));
    for script in [&damaged, &refusing, &empty] {
        let _server = ask(script);
        assert_eq!(baseline(&place, &["set", "--force"]).0, Some(3));
        let (code, report) = baseline(&place, &["compare", "--run"]);
        assert_eq!(code, Some(3), "{report}");
        assert!(report.contains("unknown      t::m: 100 % → none; 1 of 1 attempt without a result: "), "{report}");
    }
    let _server = ask(&good);
    assert!(baseline(&place, &["compare", "--run"]).1.contains("unchanged    t::m: 100 % → 100 %\n"));
}

#[test]
fn output_that_is_empty_or_cut_off_is_no_baseline() {
    let cut = json!({ "choices": [{ "message": { "content": "good" }, "finish_reason": "length" }] });
    for (reply, reason) in [(json!({ "text": " " }), "is empty"), (json!({ "raw": cut }), "was cut off")] {
        let place = suite(
            &providers::playing(&json!({ "responses": [reply] })),
            OPEN_AI,
            "    expect: {baseline: {drift: {method: field-diff, fields: [a]}}}\n",
        );
        let (code, report) = baseline(&place, &["set", "--force"]);
        assert_eq!(code, Some(3), "{report}");
        assert!(report.contains(&format!("t::m: left out: nothing was checked, and the output {reason}")), "{report}");
    }
}

#[test]
fn baseline_says_what_is_not_counted_not_checked_and_not_stored() {
    let server = |responses: Value| providers::playing(&json!({ "responses": responses }));
    let good = json!({ "text": "good" });
    let drift = "    expect: {baseline: {drift: {method: field-diff, fields: [a]}}}\n";
    let place = suite(&server(json!([good])), OPEN_AI, drift);
    let (code, report) = baseline(&place, &["set"]);
    assert_eq!(code, Some(0), "{report}");
    assert!(report.contains("t::m: 1 attempt, in which nothing but drift is checked, "), "{report}");
    let twice = "    repeat: 2\n    expect: {output: {contains: [good]}}\n";
    let place = suite(&server(json!([good, { "status": 400 }])), OPEN_AI, twice);
    let report = baseline(&place, &["set"]).1;
    for part in ["t::m: 100 % of 1 attempt passed, ", "t::m: not counted: 1 of 2 attempts without a result: "] {
        assert!(report.contains(part), "{part}: {report}");
    }
    let (code, report) = baseline(&place, &["compare"]);
    assert_eq!(code, Some(3), "the other attempt may fail: {report}");
    let cut = json!({ "raw": { "choices": [{ "message": { "content": "good" }, "finish_reason": "length" }] } });
    let place = suite(&server(json!([cut])), OPEN_AI, "    expect: {output: {contains: [good]}}\n");
    assert!(baseline(&place, &["set"]).1.contains("\n  no whole output is stored\n"));
}

#[test]
fn baseline_that_is_damaged_is_refused_and_can_be_replaced() {
    let server = providers::playing(&json!({ "responses": [{ "text": "good" }] }));
    let place = suite(&server, OPEN_AI, "    expect: {output: {contains: [good]}}\n");
    let document = |version: &str, rate: &str, count: &str| {
        format!(
            r#"{{"version": {version}, "suiteName": "s", "createdAt": "", "results": {{"t::m": {{"passRate": {rate}, "runCount": {count}}}}}}}"#
        )
    };
    for (document, reason) in [
        (document(r#""2""#, "1", "1"), r#"`version` is "2", and only "1" can be read"#),
        (document(r#""1""#, "5", "1"), "`passRate` of `t::m` is 5, not a number from 0 to 1"),
        (document(r#""1""#, "1", "0"), "`runCount` of `t::m` is 0, so nothing was measured"),
        (document("1", "1", "1"), "invalid type"),
    ] {
        for text in [document.clone(), document.replace(": ", ":\n\t")] {
            place.write(".kindlm/baselines/s.json", text);
            let (code, report) = baseline(&place, &["compare", "--run"]);
            assert_eq!(code, Some(2), "{report}");
            for part in ["`.kindlm/baselines/s.json` is damaged: ", reason, "replace it with `speclens baseline set`"] {
                assert!(report.contains(part), "{part}: {report}");
            }
            assert!(baseline(&place, &["list"]).1.contains(&format!("damaged: {reason}")));
        }
    }
    assert_eq!(baseline(&place, &["set"]).0, Some(0));
    assert_eq!(baseline(&place, &["compare"]).0, Some(0));
}

#[test]
fn embedding_that_fails_is_not_called_a_judge() {
    let place = suite(
        &providers::playing(&json!({ "responses": [{ "text": "good" }] })),
        ANTHROPIC,
        "    expect: {baseline: {drift: {method: embedding}}}\n",
    );
    assert_eq!(baseline(&place, &["set"]).0, Some(0));
    let message = run(&place)["verdicts"][0]["message"].as_str().unwrap().to_owned();
    assert!(message.starts_with("the texts were not compared: 127.0.0.1"), "{message}");
}

#[test]
fn dry_run_counts_judges_and_embeddings_and_sees_keys_in_headers() {
    let server = providers::playing(&json!({ "responses": [{ "text": "good" }] }));
    let test = "    repeat: 2\n    expect: {judge: [{criteria: is kind}], baseline: {drift: {method: embedding}}}\n";
    let dry = |provider: &str, parts: &[&str]| {
        let place = suite(&server, provider, test);
        place.write("speclens.yaml", "prices: {openai/x: {input: 1000, output: 1000}}\n");
        let stored = json!({ "version": "1", "suiteName": "s", "createdAt": "", "results": { "t::m": {
            "passRate": 1, "runCount": 1, "outputText": "good",
        } } });
        place.write(".kindlm/baselines/s.json", stored.to_string());
        let environment = [("PROMPT_TEST_KEY", KEY)];
        let shown = place.run_with(&environment, &["run", "--dry-run"]).stdout;
        for part in parts {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    };
    dry(
        OPEN_AI,
        &[
            "judge openai/x: at most 2 questions\n",
            "embeddings of openai/x: at most 4 requests\n",
            " input and 1,024 output tokens; at most $3.",
            "2 attempts would run, with at most 6 requests to models and at most 2 questions to judges",
        ],
    );
    dry(
        "http: {url: 'URL/http', headers: {Authorization: 'env:PROMPT_TEST_KEY'}}",
        &["with the key in PROMPT_TEST_KEY, which is set"],
    );
    dry(
        "http: {url: 'URL/http', headers: {Authorization: 'env:NO_SUCH_KEY'}}",
        &["with the key in NO_SUCH_KEY, which is not set"],
    );
}

#[test]
fn documentation_names_gates_tests_and_hashes() {
    let server = providers::playing(&json!({ "responses": [{ "text": "good" }] }));
    let place = suite(
        &server,
        OPEN_AI,
        "    expect: {output: {contains: [good]}}\ncompliance: {metadata: {systemName: Helper, riskLevel: high}}\n",
    );
    let done = place.run_with(
        &[("PROMPT_TEST_KEY", KEY), ("SPECLENS_NOW", "2026-05-14T12:00:00Z")],
        &["run", "--report", "compliance", "--report", "compliance=report.json"],
    );
    assert_eq!(done.code, Some(0));
    for part in [
        "- system: Helper\n",
        "- risk level: high\n",
        "| t | pass | 1 |\n",
        "- pass: PII failures 0 within limit 0\n",
        "\nVerdict: pass\n",
    ] {
        assert!(done.stdout.contains(part), "{part}: {}", done.stdout);
    }
    let report: Value = serde_json::from_str(&place.read("report.json")).unwrap();
    let suite = &report["suites"][0];
    assert_eq!((&suite["system"]["risk_level"], &suite["verdict"]), (&json!("high"), &json!("pass")));
    assert!(done.stdout.contains(suite["sha256"]["evidence"].as_str().unwrap()));
}
