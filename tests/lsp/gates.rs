//! Failed gates, at their keys.

use serde_json::{Value, json};

use crate::{client::Client, run, sources};

const KINDLM: &str = "kindlm: 1
project: demo
suite: {name: demo}
gates:
  passRateMin: 0.9
  latencyMaxMs: 600000
tests:
  - name: one
    command: echo first
    expect: {output: {contains: [first]}}
  - name: two
    command: echo second
    expect: {output: {contains: [other]}}
  - name: off
    skip: true
    command: echo third
    expect: {output: {contains: [third]}}
";

/// Returns the gates that are reported.
fn gates(found: &[Value]) -> Vec<Value> {
    let names = ["passRateMin", "passRate", "latencyMaxMs"];
    found.iter().filter(|found| names.iter().any(|name| found["code"] == *name)).cloned().collect()
}

fn is_reported(found: &[Value]) -> bool {
    !gates(found).is_empty()
}

#[test]
fn gate_of_kindlm_is_reported_when_every_test_has_a_result_and_cleared_by_an_edit() {
    let styles = [
        KINDLM.to_owned(),
        KINDLM.replace('\n', "\r\n"),
        KINDLM.replace("\n    ", "\n  ").replace("\n  - ", "\n- "),
        KINDLM.replace("passRateMin", "\"passRateMin\""),
    ];
    for style in styles {
        let mut client = Client::start(&[("kindlm.yaml", &style)]);
        let mut text = client.open("kindlm.yaml");
        run(&mut client, "two");
        let found = client.diagnostics("kindlm.yaml", |found| !sources(found, "speclens run").is_empty());
        assert_eq!(gates(&found), [] as [Value; 0], "the other test has no result yet");
        run(&mut client, "one");
        let check = |client: &mut Client| {
            let found = client.diagnostics("kindlm.yaml", is_reported);
            let [gate] = &gates(&found)[..] else { panic!("{found:?}") };
            assert_eq!(
                (&gate["message"], &gate["severity"]),
                (&json!("Pass rate 50.0% below minimum 90.0%"), &json!(1))
            );
            let key = if style.contains('"') { "\"passRateMin\"" } else { "passRateMin" };
            let range = json!({
                "start": { "line": 4, "character": 2 },
                "end": { "line": 4, "character": 2 + key.len() },
            });
            assert_eq!((&gate["range"], &gate["code"]), (&range, &json!("passRateMin")));
        };
        check(&mut client);
        client.replace("kindlm.yaml", &mut text, "echo first", "echo first again", 2);
        client.diagnostics("kindlm.yaml", |found| !is_reported(found));
        client.replace("kindlm.yaml", &mut text, "echo first again", "echo first", 3);
        check(&mut client);
        // A corrected claim is judged at once, and the gate with it.
        client.replace("kindlm.yaml", &mut text, "[other]", "[second]", 4);
        client.diagnostics("kindlm.yaml", |found| !is_reported(found));
        // So is the limit itself.
        client.replace("kindlm.yaml", &mut text, "[second]", "[other]", 5);
        check(&mut client);
        client.replace("kindlm.yaml", &mut text, "0.9", "0.5", 6);
        client.diagnostics("kindlm.yaml", |found| !is_reported(found));
    }
}

#[test]
fn gate_is_cleared_while_a_test_runs_again() {
    let suite = KINDLM.replace("echo second", "until [ -e go ]; do sleep 0.02; done; echo second");
    let mut client = Client::opened(&[("kindlm.yaml", &suite)]);
    let go = client.path("go");
    std::fs::write(&go, "").unwrap();
    run(&mut client, "one");
    run(&mut client, "two");
    client.diagnostics("kindlm.yaml", is_reported);
    std::fs::remove_file(&go).unwrap();
    client.forget();
    run(&mut client, "two");
    client.diagnostics("kindlm.yaml", |found| !is_reported(found));
    std::fs::write(&go, "").unwrap();
    client.diagnostics("kindlm.yaml", is_reported);
}

const BENCH: &str = "cli: echo
providers: [scripted/one, scripted/two]
repeat: 1
thresholds:
  default: 80
  behavior: error
tasks:
  - id: greet
    intent: Greet the world.
    assert:
      - ran: echo hello
";

#[test]
fn threshold_of_cli_bench_is_reported_for_each_model_and_informational_ones_are_warnings() {
    for suite in
        [BENCH.to_owned(), BENCH.replace('\n', "\r\n"), BENCH.replace("\n    ", "\n  ").replace("\n  - ", "\n- ")]
    {
        let files = [
            ("cli-bench.yaml", suite.as_str()),
            ("one.script.yaml", "default:\n  - run: echo hello\n  - say: Done.\n"),
            ("two.script.yaml", "default:\n  - say: I do nothing.\n"),
        ];
        let mut client = Client::start(&files);
        let mut text = client.open("cli-bench.yaml");
        let uri = client.uri("cli-bench.yaml");
        let argument = |more: Value| {
            let mut argument = json!({ "uri": uri, "test": "greet" });
            argument.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            json!([argument])
        };
        client.execute("speclens.run", argument(json!({ "models": ["scripted/two"] })));
        let found = client.diagnostics("cli-bench.yaml", |found| !sources(found, "speclens run").is_empty());
        assert_eq!(gates(&found), [] as [Value; 0], "the other model has no result yet");
        client.execute("speclens.run", argument(json!({})));
        let found = client.diagnostics("cli-bench.yaml", is_reported);
        let [gate] = &gates(&found)[..] else { panic!("{found:?}") };
        assert_eq!(gate["message"], "scripted/two: pass rate 0% is below the threshold of 80%");
        assert_eq!((&gate["severity"], &gate["code"]), (&json!(1), &json!("passRate")));
        assert_eq!(gate["range"]["start"], json!({ "line": 4, "character": 2 }));
        client.replace("cli-bench.yaml", &mut text, "behavior: error", "behavior: informational", 2);
        client.diagnostics("cli-bench.yaml", |found| gates(found).iter().any(|gate| gate["severity"] == 2));
        client.replace("cli-bench.yaml", &mut text, "ran: echo hello", "not_ran: echo bye", 3);
        client.diagnostics("cli-bench.yaml", |found| !is_reported(found));
    }
}

#[test]
fn attempts_that_could_not_change_a_threshold_are_not_missing_in_editors() {
    let suite = BENCH.replace("repeat: 1", "repeat: 4").replace("default: 80", "default: 50");
    let files = [
        ("cli-bench.yaml", suite.as_str()),
        ("one.script.yaml", "default:\n  - run: echo hello\n  - say: Done.\n"),
        ("two.script.yaml", "default:\n  - say: I do nothing.\n"),
        ("speclens.yaml", "limits: { concurrency: 1 }\n"),
    ];
    let mut client = Client::start(&files);
    let mut text = client.open("cli-bench.yaml");
    client.run_test("cli-bench.yaml", "greet");
    let headline = |found: &[Value]| {
        let found = gates(found);
        found.first().and_then(|gate| Some(gate["message"].as_str()?.to_owned()))
    };
    let found = client.diagnostics("cli-bench.yaml", is_reported);
    let message = "scripted/two: pass rate 0% is below the threshold of 50% (after 3 of 4 attempts; the other could not change this)";
    assert_eq!((headline(&found).as_deref(), gates(&found).len()), (Some(message), 1), "{found:?}");
    let lenses = client.about("cli-bench.yaml", "codeLens");
    assert!(lenses.to_string().contains("✓ 2/2 one · ✗ 0/3 two"), "{lenses}");
    // With a threshold that they do not decide, the attempts of the first model are missing.
    client.replace("cli-bench.yaml", &mut text, "default: 50", "default: 80", 2);
    client.diagnostics("cli-bench.yaml", |found| gates(found).is_empty());
}
