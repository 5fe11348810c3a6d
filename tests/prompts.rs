//! The recorded prompt tests of KindLM, run for real against providers on this machine: same rows, texts, gates, exit
//! status and requests, or a named difference.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use serde_json::{Value, json};
use speclens_schema::check::json::text as text_of;

use crate::{
    cases::{answer, our_rows},
    loopback::{Loopback, Request},
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
const NO_SCORE: &str = "without a score, the expectation of a judge is unknown";

/// All differences, with their reasons. A line that is no longer true fails the test.
const DIFFERENCES: &[(&str, &[Part], &str)] = &[
    ("agg-per-model", &[Part::Exit(0)], RESCUED),
    ("agg-two-of-three", &[Part::Exit(0)], RESCUED),
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
    ("pdrift-judge-bad-reply", &[Part::Rows, Part::Gates, Part::Exit(3)], NO_SCORE),
    ("pdrift-no-baseline", &[Part::Rows, Part::Gates, Part::Exit(3)], "without a baseline, drift is unknown"),
    (
        "pgate-cost-flag-off",
        &[Part::Text, Part::Cost, Part::Gates, Part::Exit(1)],
        "`costMaxUsd` is judged whenever it is written",
    ),
    ("pjudge-401", &[Part::Rows, Part::Gates, Part::Exit(3)], NO_SCORE),
    ("pjudge-own-model", &[Part::Rows, Part::Gates, Part::Exit(3)], NO_SCORE),
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
        // What KindLM's other commands print is its own.
        if case.get("cli").is_some() {
            continue;
        }
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
    if let Some(exchanges) = read("exchanges.json") {
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
