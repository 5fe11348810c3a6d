//! The recorded cases of KindLM, run for real: same rows, calls, texts, gates and exit status, or a named difference.

use std::{collections::BTreeSet, fs};

use serde::Deserialize;
use serde_json::{Value, json};
use speclens_schema::check::json::text as text_of;

use crate::{
    providers,
    support::{Place, repository},
};

/// The part of a case that differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Part {
    /// The rows of its tests.
    Rows,
    /// The observation.
    Evidence,
    /// The gates.
    Gates,
    /// The exit status; KindLM has 0 and 1 only.
    Exit(i32),
}

use Part::{Evidence, Exit, Gates, Rows};

const NO_SCORE: &str = "without a score, the expectation of a judge is unknown";
const NO_BASELINE: &str = "without a baseline, drift is unknown";
const NO_MODELS_NEEDED: &str = "command tests need no models and prompts";

/// All differences, with their reasons. A line that is no longer true fails the test.
const DIFFERENCES: &[(&str, &[Part], &str)] = &[
    ("config-invalid-models-empty", &[Exit(0)], NO_MODELS_NEEDED),
    ("config-invalid-prompts-empty", &[Exit(0)], NO_MODELS_NEEDED),
    (
        "config-valid-every-section",
        &[Rows, Gates, Exit(1)],
        "the cost of a command is unknown, as in KindLM 2.3.2; `costMaxUsd` is judged whenever it is written",
    ),
    ("drift-empty-baseline-text", &[Rows, Gates, Exit(3)], NO_BASELINE),
    ("drift-no-baseline", &[Rows, Gates, Exit(3)], NO_BASELINE),
    (
        "exec-timeout",
        &[Rows, Evidence, Gates, Exit(3)],
        "a run with an error has no verdicts, keeps its partial output, and is neither passed nor failed",
    ),
    (
        "exec-timeout-term-ignored",
        &[Rows, Evidence, Gates, Exit(3)],
        "the deadline holds: a process that ignores TERM is killed, and the run counts as an error",
    ),
    ("gate-cost-flag-on", &[Rows, Gates, Exit(1)], "the cost of a command is unknown, so the gate is, too"),
    ("judge-median-of-three", &[Rows], NO_SCORE),
    ("judge-provider-error", &[Rows, Gates, Exit(3)], NO_SCORE),
    ("output-schema-file-not-json", &[Exit(2)], "a schema that is no JSON is found before anything runs"),
    ("pii-enabled-false", &[Rows, Gates, Exit(0)], "`enabled: false` switches the claim off, as in KindLM 2.3.2"),
    ("prompt-conversation-turns", &[Rows], "the texts of the user are sent, and answered"),
    (
        "prompt-provider-error",
        &[Rows, Evidence, Gates, Exit(3)],
        "a run with an error has no verdicts, and is neither passed nor failed",
    ),
    ("proto-numbers", &[Evidence], "a number beyond all bounds is the largest one; the original's records show null"),
    ("repeat-gate-cannot-rescue", &[Exit(0)], "a gate that is written in the file may permit failures"),
];

#[test]
fn every_case_runs_as_recorded_or_the_difference_is_named() {
    let root = repository().join("tests/specs/kindlm-cases");
    let mut names: Vec<String> =
        fs::read_dir(root).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names.len(), 70);
    let mut wrong = Vec::new();
    for name in &names {
        let named = DIFFERENCES.iter().find(|(case, ..)| case == name).map_or(&[][..], |(_, parts, _)| parts);
        let named: BTreeSet<Part> = named.iter().copied().collect();
        let (found, details) = compare(name);
        if named != found {
            wrong.push(format!("{name}: named {named:?}, found {found:?}\n{}", details.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    for (name, ..) in DIFFERENCES {
        assert!(names.iter().any(|known| known == name), "there is no case `{name}`");
    }
}

fn compare(name: &str) -> (BTreeSet<Part>, Vec<String>) {
    let place = Place::copy_of(&format!("tests/specs/kindlm-cases/{name}"));
    let case: Value = serde_json::from_str(&place.read("case.json")).unwrap();
    let expected: Value = serde_json::from_str(&place.read("expected.json")).unwrap();
    let (code, report) = perform(&place, &case);
    let suite = &report["suites"][0];
    let run = &expected["run"];
    let mut parts = BTreeSet::new();
    let mut details = Vec::new();

    let wanted = match (&expected["config"]["valid"], &run["exitCode"]) {
        // KindLM exits with 1 for any error.
        (Value::Bool(false), _) => Some(2),
        (_, code) => code.as_i64().map(|code| code as i32),
    };
    if code != wanted {
        parts.insert(Exit(code.unwrap_or(-1)));
        details.push(format!("exit status {wanted:?} → {code:?}; {}", suite["problems"]));
    }
    for unit in run["units"].as_array().into_iter().flatten() {
        let found = attempt(suite, unit);
        let (rows, mine) = (original_rows(run, unit), our_rows(&found));
        if rows != mine {
            parts.insert(Rows);
            details.push(format!("{}: {rows:?} → {mine:?}", unit["test"]));
        }
        if let Some(difference) = evidence_differs(unit, &found["evidence"]) {
            parts.insert(Evidence);
            details.push(format!("{}: {difference}", unit["test"]));
        }
    }
    let gates = |list: &Value, name: &str, answer: &dyn Fn(&Value) -> Value| -> Vec<(Value, Value)> {
        list.as_array().into_iter().flatten().map(|gate| (gate[name].clone(), answer(gate))).collect()
    };
    let original = gates(&run["gates"]["results"], "gateName", &|gate| gate["passed"].clone());
    let ours = gates(&suite["gates"], "name", &|gate| answer(&gate["status"]));
    if !run["gates"].is_null() && original != ours {
        parts.insert(Gates);
        details.push(format!("gates {original:?} → {ours:?}"));
    }
    (parts, details)
}

fn perform(place: &Place, case: &Value) -> (Option<i32>, Value) {
    let mut arguments = vec!["run", "kindlm.yaml", "--report", "json", "--set", "report.evidence=true"];
    for tag in case["tags"].as_array().into_iter().flatten() {
        arguments.extend(["--tag", tag.as_str().unwrap()]);
    }
    // KindLM's `--runs`.
    if case["cliArgs"][0] == "--runs" {
        arguments.extend(["--repeat", case["cliArgs"][1].as_str().unwrap()]);
    }
    if let Some(flags) = case["featureFlags"].as_object() {
        place.write(".kindlm/config.json", json!({ "features": flags }).to_string());
    }
    // Lives as long as the run.
    let server = place.exists("mock.json").then(|| {
        let server = providers::playing(&serde_json::from_str(&place.read("mock.json")).unwrap());
        let provider = format!("ollama: {{baseUrl: '{}/ollama'}}", server.url());
        place.write("kindlm.yaml", place.read("kindlm.yaml").replace("ollama: {}", &provider));
        server
    });
    let mut program = place.program(&arguments);
    for (name, value) in case["env"].as_object().into_iter().flatten() {
        program.env(name, value.as_str().unwrap());
    }
    let done = crate::support::Done::of(&program.output().unwrap());
    drop(server);
    assert_eq!(done.stderr, "", "nothing but the report is printed");
    // One case is nested more deeply than the default limit of a reader.
    let mut input = serde_json::Deserializer::from_str(&done.stdout);
    input.disable_recursion_limit();
    (done.code, Value::deserialize(&mut input).unwrap())
}

/// Returns the attempt in the report for a unit of KindLM.
fn attempt(suite: &Value, unit: &Value) -> Value {
    let cases = suite["cases"].as_array().into_iter().flatten();
    let runs = cases.filter(|case| case["name"] == unit["test"]).flat_map(|case| case["runs"].as_array().unwrap());
    let mut found = runs.filter(|run| run["run"] == unit["repeat"] && run["subject"]["name"] == unit["model"]);
    found.next().unwrap_or_else(|| panic!("{} did not run", unit["test"])).clone()
}

fn original_rows(run: &Value, unit: &Value) -> Vec<Value> {
    let rows = run["assertions"].as_array().unwrap().iter();
    rows.filter(|row| ["test", "model", "repeat"].iter().all(|key| row[*key] == unit[*key]))
        .map(|row| {
            let score = row["score"].as_f64();
            json!([row["assertionType"], row["label"], row["passed"], score, row["failureCode"]])
        })
        .collect()
}

pub(crate) fn our_rows(run: &Value) -> Vec<Value> {
    let rows = run["verdicts"].as_array().unwrap().iter();
    rows.map(|row| json!([row["type"], row["label"], answer(&row["outcome"]), row["score"].as_f64(), row["code"]]))
        .collect()
}

/// Yes, no, or neither.
pub(crate) fn answer(status: &Value) -> Value {
    match status.as_str().unwrap() {
        "pass" => json!(true),
        "fail" => json!(false),
        _ => Value::Null,
    }
}

fn evidence_differs(unit: &Value, evidence: &Value) -> Option<String> {
    if evidence.is_null() {
        return None;
    }
    let hidden = unit["toolCalls"].as_array().into_iter().flatten().any(|call| call["arguments"] == "<hidden>");
    let text = if unit["outputText"].is_string() { &unit["outputText"] } else { &evidence["output_text"] };
    let pairs = [
        ("command", &unit["command"], &evidence["commands"][0]["command"]),
        ("exit status", &unit["exitCode"], &evidence["commands"][0]["exit_code"]),
        (
            "text",
            if unit["outputTextLength"].is_null() { text } else { &evidence["output_text"] },
            &evidence["output_text"],
        ),
        ("structured output", &unit["outputJson"], &evidence["output_json"]),
    ];
    for (name, original, ours) in pairs {
        if original != ours {
            return Some(format!("{name} {original} → {ours}"));
        }
    }
    if unit["outputJsonSet"].as_bool().unwrap_or(false) != evidence.get("output_json").is_some() {
        return Some("structured output is set in one only".to_owned());
    }
    // The calls of prompt tests were not recorded.
    if unit["command"].is_null() {
        return None;
    }
    let no_calls = json!([]);
    let calls = if unit["toolCalls"].is_null() { &no_calls } else { &unit["toolCalls"] };
    if hidden {
        let (original, ours) = (calls.as_array()?.len(), evidence["tool_calls"].as_array()?.len());
        return (original != ours).then(|| format!("{original} calls → {ours}"));
    }
    // As JavaScript writes it: `1.0` is `1`.
    let (original, ours) = (text_of(calls), text_of(&evidence["tool_calls"]));
    (original != ours).then(|| format!("calls {original} → {ours}"))
}
