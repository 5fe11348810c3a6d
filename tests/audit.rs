//! `speclens audit`: which faults of recorded runs the assertions notice.

use std::collections::BTreeMap;

use expect_test::expect;
use serde_json::Value;

use crate::support::{Place, suite};

/// A command that reports a call and answers.
const REFUNDS: &str =
    r#"echo "{\"kindlm\":\"tool_call\",\"name\":\"refund\",\"arguments\":{\"order\":\"7\",\"usd\":5}}"; echo refunded"#;

const CALLED: &str = r#"{toolCalls: [{tool: refund, argsMatch: {order: "7"}}]}"#;

const EXACT: &str = r#"{output: {contains: [refunded]}, trajectory: {reference: [{tool: refund, args: {order: "7", usd: 5}}], exactMatch: true}}"#;

fn recorded(expect: &str) -> Place {
    let place = Place::with(&suite(REFUNDS, expect));
    assert_eq!(place.run(&["run"]).code, Some(0));
    place
}

/// Returns the exit code, and the state of each fault of the first test.
fn audited(place: &Place, arguments: &[&str]) -> (Option<i32>, BTreeMap<String, String>) {
    let done = place.run(&[&["audit", "--format", "json"], arguments].concat());
    let faults = done.json()["suites"][0]["tests"][0]["faults"].as_array().cloned().unwrap_or_default();
    let text = |fault: &Value, key: &str| fault[key].as_str().unwrap().to_owned();
    (done.code, faults.iter().map(|fault| (text(fault, "sentence"), text(fault, "state"))).collect())
}

fn survivors(faults: &BTreeMap<String, String>) -> Vec<&str> {
    faults.iter().filter(|(_, state)| *state == "survived").map(|(fault, _)| &**fault).collect()
}

#[test]
fn faults_that_no_assertion_notices_are_named_and_a_stricter_assertion_notices_them() {
    let place = recorded(CALLED);
    let (code, faults) = audited(&place, &[]);
    assert_eq!(code, Some(0));
    let expected = [
        "a call of `unexpected_tool` is added",
        "the answer is about something else",
        "the answer is missing",
        "the call of `refund` has an argument too many",
        "the call of `refund` is repeated",
    ];
    assert_eq!(survivors(&faults), expected);
    assert_eq!(faults["the call of `refund` is missing"], "noticed");
    place.write("kindlm.yaml", suite(REFUNDS, EXACT));
    let (code, faults) = audited(&place, &[]);
    assert_eq!((code, survivors(&faults)), (Some(0), Vec::new()), "judged again, without a run");
}

#[test]
fn share_of_noticed_faults_below_the_minimum_is_a_failure() {
    let place = recorded(CALLED);
    assert_eq!(place.run(&["audit", "--minimum", "0.9"]).code, Some(1));
    assert_eq!(place.run(&["audit", "--minimum", "0.1"]).code, Some(0));
    assert_eq!(place.run(&["audit", "--minimum", "90"]).code, Some(2));
    place.write("speclens.yaml", "audit: {minimum: 0.9}\n");
    assert_eq!(place.run(&["audit"]).code, Some(1));
    assert_eq!(place.run(&["audit", "--minimum", "0"]).code, Some(0), "the option wins");
}

#[test]
fn accepted_faults_are_not_counted_and_new_ones_are() {
    let place = recorded(CALLED);
    let missing = place.run(&["audit", "--baseline", "accepted.json"]);
    assert_eq!(missing.code, Some(2));
    assert!(missing.stderr.contains("`--update-baseline`"), "{}", missing.stderr);
    assert_eq!(place.run(&["audit", "--baseline", "accepted.json", "--update-baseline"]).code, Some(0));
    let arguments = ["--baseline", "accepted.json", "--minimum", "1"];
    let (code, faults) = audited(&place, &arguments);
    assert_eq!((code, survivors(&faults)), (Some(0), Vec::new()));
    assert_eq!(faults["the answer is missing"], "accepted");
    place.write("kindlm.yaml", suite(REFUNDS, "{toolCalls: [{tool: refund}]}"));
    let (code, faults) = audited(&place, &arguments);
    assert_eq!(code, Some(1));
    assert!(survivors(&faults).contains(&"the call of `refund` has another argument"), "{faults:?}");
    place.write("accepted.json", "[{\"suite\": 1}]");
    let damaged = place.run(&["audit", "--baseline", "accepted.json"]);
    assert_eq!(damaged.code, Some(2));
    assert!(damaged.stderr.contains("`accepted.json` is not a baseline of an audit"), "{}", damaged.stderr);
}

#[test]
fn minimum_is_not_met_by_a_test_without_a_result() {
    let other = "  - {name: other, command: echo hi, expect: {output: {contains: [hi]}}}\n";
    let place = Place::with(&format!("{}{other}", suite(REFUNDS, CALLED)));
    assert_eq!(place.run(&["run"]).code, Some(0));
    assert_eq!(place.run(&["audit", "--minimum", "0.01"]).code, Some(0));
    place.write("kindlm.yaml", format!("{}{}", suite(REFUNDS, CALLED), other.replace("echo hi", "echo  hi")));
    assert_eq!(place.run(&["audit", "--minimum", "0.01"]).code, Some(3), "one is stale");
    assert_eq!(place.run(&["audit"]).code, Some(0), "without a minimum");
}

#[test]
fn tests_that_did_not_pass_are_not_audited() {
    let place = Place::with(&suite(REFUNDS, CALLED));
    let unrecorded = place.run(&["audit"]);
    assert_eq!(unrecorded.code, Some(3), "nothing was audited");
    assert!(unrecorded.stdout.contains("not audited, no recording"), "{}", unrecorded.stdout);
    let formats = ["junit", "github", "sarif"].map(|format| place.run(&["audit", "--format", format]).stdout);
    assert!(formats[0].contains("errors=\"1\"") && formats[0].contains("not-audited"), "{}", formats[0]);
    assert!(formats[1..].iter().all(|report| report.contains("not audited: no recording")), "{formats:?}");
    place.write("kindlm.yaml", suite(REFUNDS, "{output: {contains: [denied]}}"));
    assert_eq!(place.run(&["run"]).code, Some(1));
    let failed = place.run(&["audit"]);
    assert_eq!(failed.code, Some(3));
    assert!(failed.stdout.contains("not audited, its status is fail"), "{}", failed.stdout);
    place.write("kindlm.yaml", suite(REFUNDS, "{output: {contain: [denied]}, latency: 1}"));
    let refused = place.run(&["audit"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("has errors and was not audited"), "{}", refused.stderr);
}

#[test]
fn tests_that_pass_on_the_run_of_another_one_are_named() {
    let test = |name: &str, command: &str, expect: &str| {
        format!("  - name: {name}\n    command: {command}\n    expect: {{output: {{contains: [{expect}]}}}}\n")
    };
    let head = "kindlm: 1\nproject: demo\nsuite: {name: demo}\ntests:\n";
    let tests = [
        test("refund", "echo done refund", "done"),
        test("cancel", "echo done cancel", "done cancel"),
        test("again", "echo done refund", "refund"),
    ];
    let place = Place::with(&format!("{head}{}", tests.concat()));
    assert_eq!(place.run(&["run"]).code, Some(0));
    let report = place.run(&["audit", "--format", "json"]).json();
    let tests = report["suites"][0]["tests"].as_array().unwrap();
    let alike: Vec<&Value> = tests.iter().map(|test| &test["passes_on"]).collect();
    assert_eq!(alike, [&serde_json::json!(["cancel"]), &serde_json::json!([]), &serde_json::json!([])]);
    assert!(place.run(&["audit"]).stdout.contains("also passes on the recorded run of `cancel`"));
}

#[test]
fn damaged_recording_is_not_audited() {
    let place = recorded(CALLED);
    let path = place.recordings().remove(0);
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, &text[..text.len() / 2]).unwrap();
    let done = place.run(&["audit"]);
    assert_eq!(done.code, Some(3));
    assert!(done.stdout.contains("not audited"), "{}", done.stdout);
}

#[test]
fn survivors_are_reported_at_the_name_of_their_test_in_every_format() {
    let place = recorded(CALLED);
    let report = |format: &str| place.run(&["audit", "--format", format]).stdout;
    let sarif: Value = serde_json::from_str(&report("sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 5);
    assert_eq!(results[0]["ruleId"], "unchecked");
    let line = &results[0]["locations"][0]["physicalLocation"]["region"]["startLine"];
    let name = place.read("kindlm.yaml").lines().position(|line| line.contains("name: only")).unwrap() + 1;
    assert_eq!(*line, name);
    let junit = report("junit");
    assert!(junit.contains("unnoticed-faults") && junit.contains("the call of `refund` is repeated"), "{junit}");
    assert!(report("github").contains("::warning file=kindlm.yaml"), "{}", report("github"));
}

#[test]
fn examples_are_audited() {
    let place = Place::copy_of("schema/examples");
    assert_eq!(place.run(&["run"]).code, Some(0));
    let done = place.run(&["audit"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    expect![[r#"
        clawspec/agents/brand/tests/scenarios.yaml
          - brand-reviews-a-draft: not audited, its evidence has nothing that could be damaged
        clawspec/skills/newsletter/tests/pipeline.yaml
          ✗ newsletter: 5 of 10 faults noticed (50 %, 95 % interval 24 % to 76 %)
            no assertion notices if (side effects)
              a call of `unexpected_tool` is added
              the call of `sessions_spawn` is repeated
              the call of `write` is missing, is repeated
            no assertion notices if
              the call of `memory.search` is missing
            notices nothing: `pipeline_health[2]` (line 31)
            1 assertion would have to ask a model or run a command, and did not
        clawspec/skills/newsletter/tests/scenarios.yaml
          ✗ newsletter-drafts: 19 of 25 faults noticed (76 %, 95 % interval 57 % to 89 %)
            no assertion notices if (side effects)
              the file `agents/brand/SOUL.md` is missing, has another content
              the call of `sessions_spawn` is repeated
              the call of `write` is repeated
            no assertion notices if
              the model of `chat claude-sonnet-4-6` is another one
            notices nothing: `then[7]` (line 53), `then[13]` (line 74), `then[14]` (line 79), `then[17]` (line 87), `then[18]` (line 89), `then[20]` (line 94), `then[21]` (line 97), `then[22]` (line 100)
            2 assertions would have to ask a model or run a command, and did not
          ✗ newsletter-refuses-to-send: 1 of 4 faults noticed (25 %, 95 % interval 5 % to 70 %)
            no assertion notices if (side effects)
              a step `unexpected_tool` is added
            no assertion notices if
              the model of `chat claude-sonnet-4-6` is another one
              the cost of `chat claude-sonnet-4-6` is ten times as high
            notices nothing: `then[0]` (line 120), `then[1]` (line 124)
        cli-bench/cli-bench.yaml
          ✗ show-help [scripted/careful (none)]: 3 of 7 faults noticed (43 %, 95 % interval 16 % to 75 %)
            no assertion notices if (side effects)
              a command `unexpected_tool` is added
            no assertion notices if
              the command `stock --help` has another argument, lacks an argument, has an argument too many
            help: add `{ ran: "^stock --help$" }` to `assert`, which notices 3 of them
            help: add `{ run_count: { pattern: ".", max: 1 } }` to `assert`, which notices 1 of them
          ✗ show-version [scripted/careful (none)]: 3 of 8 faults noticed (38 %, 95 % interval 14 % to 69 %)
            no assertion notices if (side effects)
              the command `stock --version` is repeated, has another argument, lacks an argument, has an argument too many
              a command `unexpected_tool` is added
            help: add `{ run_count: { pattern: "^stock --version$", min: 1, max: 1 } }` to `assert`, which notices 4 of them
            help: add `{ run_count: { pattern: ".", max: 1 } }` to `assert`, which notices 2 of them
          ✗ unknown-product [scripted/careful (none)]: 2 of 13 faults noticed (15 %, 95 % interval 4 % to 42 %)
            no assertion notices if (side effects)
              the command `stock remove Unobtainium` is repeated, has another argument, lacks an argument, has an argument too many
              a command `unexpected_tool` is added
            no assertion notices if
              the command `stock list` is missing, has another argument, lacks an argument, has an argument too many, writes something else, fails
            help: add `{ run_count: { pattern: "^stock remove Unobtainium$", min: 1, max: 1 } }` to `assert`, which notices 4 of them
            help: add `{ run_count: { pattern: ".", max: 2 } }` to `assert`, which notices 2 of them
          ✗ export-list [scripted/careful (none)]: 4 of 17 faults noticed (24 %, 95 % interval 10 % to 47 %)
            no assertion notices if (side effects)
              the command `stock export backup/stock.csv` is repeated, has another argument, lacks an argument, has an argument too many, writes something else
              a command `unexpected_tool` is added
              the order of the commands is reversed
            no assertion notices if
              the command `stock --help` is missing, has another argument, lacks an argument, has an argument too many, writes something else, fails
            help: add `{ output_contains: wrote backup/stock.csv }` to `assert`, which notices 2 of them
            help: add `{ run_count: { pattern: "^stock export backup\\/stock\\.csv$", min: 1, max: 1 } }` to `assert`, which notices 4 of them
            help: add `{ run_count: { pattern: ".", max: 2 } }` to `assert`, which notices 2 of them
            1 assertion would have to ask a model or run a command, and did not
          ✗ remove-sold-out [scripted/careful (none)]: 5 of 30 faults noticed (17 %, 95 % interval 7 % to 34 %)
            no assertion notices if (side effects)
              the command `stock remove Tea` has another argument, lacks an argument, has an argument too many, writes something else, fails
              the command `stock remove Cocoa` has another argument, lacks an argument, has an argument too many, writes something else, fails
              a command `unexpected_tool` is added
              the order of the commands is reversed
              the file `stock.csv` is missing, has another content
            no assertion notices if
              the command `stock list` is missing, has another argument, lacks an argument, has an argument too many, writes something else, fails
            help: add `{ ran: "^stock remove Tea$" }` to `assert`, which notices 3 of them
            help: add `{ ran: "^stock remove Cocoa$" }` to `assert`, which notices 3 of them
            help: add `{ run_count: { pattern: ".", max: 4 } }` to `assert`, which notices 1 of them
            notices nothing: `assert[2]` (line 48)
            1 assertion would have to ask a model or run a command, and did not
        hello/kindlm.yaml
          ✓ says-hello: 2 of 2 faults noticed (100 %, 95 % interval 34 % to 100 %)
            also passes on the recorded run of `greets-by-name`
          ✓ greets-by-name: 2 of 2 faults noticed (100 %, 95 % interval 34 % to 100 %)
          ✓ reports-what-went-wrong: 2 of 2 faults noticed (100 %, 95 % interval 34 % to 100 %)
            notices nothing: `expect.latency` (line 33)
          - not-ready-yet: not audited, it is skipped
        order-status/kindlm.yaml
          ✓ prints-json: 2 of 2 faults noticed (100 %, 95 % interval 34 % to 100 %)
            also passes on the recorded run of `reports-json-next-to-text`
          ✓ reports-json-next-to-text: 2 of 2 faults noticed (100 %, 95 % interval 34 % to 100 %)
        refunds/kindlm.yaml
          ✗ refunds-a-late-order: 11 of 16 faults noticed (69 %, 95 % interval 44 % to 86 %)
            no assertion notices if (side effects)
              the call of `refund` is repeated, has an argument too many
              a call of `unexpected_tool` is added
            no assertion notices if
              the call of `lookup_order` has an argument too many
              the cost is ten times as high
            help: add `trajectory: { reference: [{ tool: lookup_order, args: { order_id: "12345" } }, { tool: refund, args: { order_id: "12345" } }], exactMatch: true }` to `expect`, which notices 4 of them
            help: add `maxUsd: 0.0006` to `expect.cost`, which notices 1 of them
            notices nothing: `conversation[1].expect.output` (line 48)
            1 assertion would have to ask a model or run a command, and did not
          ✗ answers-in-json: 2 of 4 faults noticed (50 %, 95 % interval 15 % to 85 %)
            no assertion notices if (side effects)
              a call of `unexpected_tool` is added
            no assertion notices if
              the cost is ten times as high
            help: add `maxUsd: 0.00015` to `expect.cost`, which notices 1 of them
        support-agent/kindlm.yaml
          ✗ refunds-a-known-order: 8 of 14 faults noticed (57 %, 95 % interval 33 % to 79 %)
            no assertion notices if (side effects)
              a call of `unexpected_tool` is added
            no assertion notices if
              the call of `lookup_order` has an argument too many
              the call of `check_refund` has an argument too many, has another argument, lacks an argument, has an argument of another type
            help: add `trajectory: { reference: [{ tool: lookup_order, args: { order_id: "12345", options: { history: true } } }, { tool: check_refund, args: { order_id: "12345" } }], exactMatch: true }` to `expect`, which notices 6 of them
            notices nothing: `expect.toolCalls[2]` (line 26), `expect.guardrails.pii` (line 29)
          ✗ asks-for-clarification: 6 of 8 faults noticed (75 %, 95 % interval 41 % to 93 %)
            no assertion notices if (side effects)
              a call of `unexpected_tool` is added
            no assertion notices if
              the call of `lookup_order` has an argument too many
            help: add `trajectory: { reference: [{ tool: lookup_order, args: { order_id: "98765", options: { history: true } } }], exactMatch: true }` to `expect`, which notices 2 of them
            notices nothing: `expect.toolCalls[1]` (line 42), `expect.guardrails.pii` (line 45)
        79 of 166 faults noticed (48 %, 95 % interval 40 % to 55 %)
    "#]].assert_eq(&done.stdout);
}

#[test]
fn survivors_come_with_an_assertion_that_notices_them() {
    for style in [str::to_owned, |text: &str| text.replace('\n', "\r\n")] {
        let place = Place::with(&style(&suite(REFUNDS, CALLED)));
        place.run(&["run"]);
        let done = place.run(&["audit"]);
        assert!(done.stdout.contains("help: add `"), "{}", done.stdout);
        let sarif: Value = serde_json::from_str(&place.run(&["audit", "--format", "sarif"]).stdout).unwrap();
        let results = sarif["runs"][0]["results"].as_array().unwrap();
        let fixed: Vec<&Value> = results.iter().filter(|result| result["fixes"].is_array()).collect();
        assert!(!fixed.is_empty(), "{sarif}");
        let faults = place.run(&["audit", "--format", "json"]).json();
        let faults = faults["suites"][0]["tests"][0]["faults"].as_array().unwrap().clone();
        let helped = faults.iter().filter(|fault| fault["help"].is_string());
        let helped: Vec<String> = helped.map(|fault| fault["sentence"].as_str().unwrap().to_owned()).collect();
        assert!(faults.iter().all(|fault| fault["help"].is_null() || fault["state"] == "survived"));
        // What is written are these assertions, and they notice these faults.
        assert_eq!(place.run(&["write", "only"]).code, Some(0));
        let (_, after) = audited(&place, &[]);
        assert!(helped.iter().all(|fault| after[fault] == "noticed"), "{helped:?} {after:?}");
        assert_eq!(helped.len(), fixed.len());
    }
}

#[test]
fn files_of_version_control_are_no_faults() {
    let place = Place::empty();
    place.write(
        "cli-bench.yaml",
        "cli: sh\nproviders: [scripted/one]\ntasks:\n- {id: a, intent: Do it., assert: [{file_exists: a.txt}]}\n",
    );
    let run = "mkdir .git sub; echo x | tee .git/x sub/y a.txt";
    place.write("one.script.yaml", format!("default:\n- run: {run}\n- say: Done.\n"));
    assert_eq!(place.run(&["run"]).code, Some(0));
    let (_, faults) = audited(&place, &[]);
    let of_file = |path: &str| faults.keys().filter(|fault| fault.contains(&format!("the file `{path}`"))).count();
    assert_eq!([of_file("a.txt"), of_file("sub/y"), of_file(".git/x")], [2, 2, 0], "{faults:?}");
}
