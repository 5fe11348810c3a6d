//! `speclens diff`: what differs between two recorded runs.

use std::fs;

use expect_test::expect;
use serde_json::Value;

use crate::support::{Place, suite};

const CALLS: &str = r#"{toolCalls: [{tool: lookup}, {tool: refund}], output: {contains: [done]}}"#;

/// Returns a command that reports these calls and answers.
fn calling(tools: &[&str], answer: &str) -> String {
    let call = |tool: &&str| {
        format!(r#"echo "{{\"kindlm\":\"tool_call\",\"name\":\"{tool}\",\"arguments\":{{\"order\":7}}}}"; "#)
    };
    tools.iter().map(call).collect::<String>() + "echo " + answer
}

/// Returns two directories with one suite each, which have been run.
fn two(a: &str, b: &str) -> Place {
    let place = Place::empty();
    for (name, command) in [("a", a), ("b", b)] {
        place.write(&format!("{name}/kindlm.yaml"), suite(command, CALLS));
        place.run(&["run", name]);
    }
    place
}

/// Returns the text without durations, which are never the same.
fn without_durations(text: &str) -> String {
    let lines = text.lines().map(|line| line.split("duration ").next().unwrap_or_default());
    let lines = lines.filter(|line| line.is_empty() || !line.trim().is_empty());
    lines.map(|line| format!("{}\n", line.trim_end_matches([',', ' ']))).collect()
}

#[test]
fn two_directories_are_compared_by_assertion_call_and_answer() {
    let place = two(&calling(&["lookup", "refund"], "done"), &calling(&["lookup", "cancel"], "sorry"));
    let done = place.run(&["diff", "a", "b"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    expect![[r#"
        A: a
        B: b

        a/kindlm.yaml
          only: 1 of 1 passed → 0 of 1 passed
            Tool "refund" called: 1 of 1 → 0 of 1: Expected tool "refund" to be called, but got: [lookup, cancel]
            Output contains "done": 1 of 1 → 0 of 1: Expected output to contain "done"
            calls and commands:
               lookup {"order":7}
              -refund {"order":7}
              +cancel {"order":7}
            answer:
              -done
              +sorry

        differences in 1 of 1 test
    "#]]
    .assert_eq(&without_durations(&done.stdout));
    let report = place.run(&["diff", "a", "b", "--format", "json"]).json();
    let test = &report["suites"][0]["tests"][0];
    assert_eq!((&test["a"]["status"], &test["b"]["status"]), (&"pass".into(), &"fail".into()), "{report}");
    assert_eq!(test["is_different"], true);
    // Nothing ran again, and the other way round it is the opposite.
    let report = place.run(&["diff", "b", "a", "--format", "json"]).json();
    assert_eq!(report["suites"][0]["tests"][0]["a"]["status"], "fail");
}

#[test]
fn files_tokens_costs_and_shares_of_attempts_are_compared() {
    let place = Place::empty();
    place.write(
        "cli-bench.yaml",
        "cli: sh\nproviders: [scripted/good, scripted/bad]\nrepeat: 2\ntasks:\n  - id: greet\n    intent: Print a greeting\n    \
         max_turns: 3\n    assert: [{ output_contains: hello }]\n",
    );
    let script = |run: &str, tokens: u32, usd: f64| {
        format!(
            "tasks:\n  greet: [{{ run: {run:?} }}]\nusage: {{ input_tokens: {tokens}, output_tokens: 10, cost_usd: {usd} }}\n"
        )
    };
    place.write("good.script.yaml", script("echo 1 > a; echo 1 > b; echo hello", 100, 0.002));
    place.write("bad.script.yaml", script("echo 2 > a; echo 1 > c; echo bye", 200, 0.004));
    place.run(&["run"]);
    let arguments = ["diff", "--model", "scripted/good", "--model", "scripted/bad"];
    let done = place.run(&arguments);
    assert_eq!(done.code, Some(0), "{done:?}");
    expect![[r#"
        A: model scripted/good
        B: model scripted/bad

        cli-bench.yaml
          greet: 2 of 2 passed → 0 of 2 passed
            output contains "hello": 2 of 2 → 0 of 2: the output of the last command does not contain "hello"
            tokens 220 → 420, cost $0.0040 → $0.0080
            calls and commands of the first attempts:
              -$ echo 1 > a; echo 1 > b; echo hello
              +$ echo 2 > a; echo 1 > c; echo bye
            file a: created with other content
            file b: created → not changed
            file c: not changed → created

        differences in 1 of 1 test
    "#]]
    .assert_eq(&without_durations(&done.stdout));
    let report = place.run(&[&arguments[..], &["--format", "json"]].concat()).json();
    let test = &report["suites"][0]["tests"][0];
    assert_eq!((&test["a"]["passed"], &test["b"]["passed"]), (&2.into(), &0.into()), "{report}");
    assert_eq!(test["files"][0]["path"], "a", "{report}");
}

#[test]
fn equal_runs_do_not_differ() {
    let command = calling(&["lookup", "refund"], "done");
    let place = two(&command, &command);
    let done = place.run(&["diff", "a", "b"]);
    assert_eq!((done.code, &*done.stdout), (Some(0), "A: a\nB: b\n\nno difference in 1 test\n"));
}

#[test]
fn two_models_of_a_suite_are_compared() {
    let place = Place::copy_of("schema/examples/cli-bench");
    // How many repeats are left out depends on which attempts end first.
    place.write("speclens.yaml", "limits: {stop_repeats: false}\n");
    place.run(&["run", "--model", "scripted/careful", "--model", "scripted/hasty"]);
    let done =
        place.run(&["diff", "--model", "scripted/careful", "--model", "scripted/hasty", "--test", "remove-sold-out"]);
    assert_eq!(done.code, Some(0), "{done:?}");
    expect![[r#"
        A: model scripted/careful
        B: model scripted/hasty

        cli-bench.yaml
          remove-sold-out: 2 of 2 passed
            turns 5 → 2
            calls and commands of the first attempts:
              -$ stock list
               $ stock remove Tea
               $ stock remove Cocoa
              -$ stock list
            answer of the first attempts:
              -Tea and Cocoa are gone.
              +Done.

        differences in 1 of 1 test
    "#]]
    .assert_eq(&without_durations(&done.stdout));
}

#[test]
fn runs_that_cannot_be_compared_are_named() {
    let place = two("echo done", "echo done");
    for arguments in [&["diff"][..], &["diff", "a"], &["diff", "a", "b", "a"], &["diff", "--model", "x"]] {
        assert_eq!(place.run(arguments).code, Some(2), "{arguments:?}");
    }
    assert_eq!(place.run(&["diff", "a", "missing"]).code, Some(2));
    place.write("b/kindlm.yaml", suite("echo other", CALLS));
    let done = place.run(&["diff", "a", "b"]);
    assert!(done.code == Some(3) && done.stdout.contains("stale: the command has changed"), "{done:?}");
    place.write("b/kindlm.yaml", suite("echo done", CALLS).replace("only", "renamed"));
    let done = place.run(&["diff", "a", "b"]);
    assert!(done.code == Some(3) && done.stdout.contains("no such test"), "{done:?}");
    place.write("b/kindlm.yaml", suite("echo done", CALLS));
    for file in fs::read_dir(place.path().join("b/.speclens/recordings")).unwrap() {
        fs::write(file.unwrap().path(), "{").unwrap();
    }
    let report = place.run(&["diff", "a", "b", "--format", "json"]);
    let test: &Value = &report.json()["suites"][0]["tests"][0];
    assert_eq!((report.code, &test["b"]["reason"]), (Some(3), &"the recording is damaged; run the test again".into()));
}

#[test]
fn differences_are_printed_before_recordings_are_replaced() {
    for settings in ["{}", "recordings: { commit: true }\n"] {
        let place = Place::empty();
        place.write("inner/speclens.yaml", settings);
        place.write("inner/kindlm.yaml", suite("sh ../answer.sh", CALLS));
        place.write("answer.sh", calling(&["lookup", "refund"], "done"));
        // Nothing is replaced by the first run.
        let first = place.run_in("inner", &["run", "--rerecord"]);
        assert_eq!(first.code, Some(0), "{first:?}");
        assert!(first.stderr.contains("no recordings of kindlm.yaml to compare with"), "{}", first.stderr);
        place.write("answer.sh", calling(&["lookup", "cancel"], "sorry"));
        let again = place.run_in("inner", &["run", "--rerecord"]);
        assert_eq!(again.code, Some(1), "{again:?}");
        expect![[r#"
            differences from the recordings of kindlm.yaml
              only: 1 of 1 passed → 0 of 1 passed
                Tool "refund" called: 1 of 1 → 0 of 1: Expected tool "refund" to be called, but got: [lookup, cancel]
                Output contains "done": 1 of 1 → 0 of 1: Expected output to contain "done"
                calls and commands:
                   lookup {"order":7}
                  -refund {"order":7}
                  +cancel {"order":7}
                answer:
                  -done
                  +sorry

        "#]]
        .assert_eq(&without_durations(&again.stderr));
        assert_eq!(place.run_in("inner", &["run", "--recorded"]).code, Some(1), "the recording is replaced");
        let same = place.run_in("inner", &["run", "--rerecord"]);
        assert!(same.stderr.contains("no difference from the recordings"), "{}", same.stderr);
    }
}
