//! `speclens write`: assertions from recorded runs.

use expect_test::{Expect, expect};

use crate::support::{Place, suite};

const REFUNDS: &str = r#"echo "{\"kindlm\":\"tool_call\",\"name\":\"lookup\",\"arguments\":{\"order\":\"7\",\"at\":\"2026-01-01T10:00:00Z\"}}"; echo "{\"kindlm\":\"tool_call\",\"name\":\"refund\",\"arguments\":{\"order\":\"7\",\"usd\":5}}"; echo "refunded 5 dollars at $(date -u +%H:%M:%S)"; echo "your order: 7""#;

/// Writes assertions for the only test, with both line ends, and compares the part of the file below its command.
#[track_caller]
fn check(expect: &str, expected: Expect) {
    let head =
        format!("kindlm: 1\nproject: demo\nsuite: {{name: demo}}\ntests:\n  - name: only\n    command: {REFUNDS:?}\n");
    let text = format!("{head}{expect}");
    let results = ["\n", "\r\n"].map(|line_end| {
        let place = Place::with(&text.replace('\n', line_end));
        assert_eq!(place.run(&["run"]).code, Some(0));
        let shown = place.run(&["write", "only", "--diff"]);
        assert_eq!(place.read("kindlm.yaml"), text.replace('\n', line_end), "only shown");
        let done = place.run(&["write", "only"]);
        assert_eq!((done.code, &done.stdout), (Some(0), &shown.stdout), "{}", done.stderr);
        let written = place.read("kindlm.yaml");
        assert_eq!(written.matches('\n').count(), written.matches(line_end).count());
        assert_eq!(place.run(&["run", "--recorded"]).code, Some(0), "{written}");
        let again = place.run(&["write", "only"]);
        assert_eq!(again.code, Some(2));
        assert!(again.stderr.contains("notice every fault that a new one would notice"), "{}", again.stderr);
        format!("{}{}", &written.replace(line_end, "\n")[head.len()..], done.stderr)
    });
    assert_eq!(results[0], results[1]);
    expected.assert_eq(&results[0]);
}

#[test]
fn what_is_the_same_in_the_next_run_is_written_as_a_block() {
    let expect = "    expect:\n      output:\n        contains:\n        - refunded\n";
    check(
        expect,
        expect![[r#"
            expect:
              output:
                contains:
                - refunded
              toolCalls:
                - tool: lookup
                  argsMatch: { order: "7" }
                - tool: refund
                  argsMatch: { order: "7", usd: 5 }
              trajectory:
                reference: [{ tool: lookup }, { tool: refund }]
                exactMatch: true
                matchArgs: false
        note: 3 assertions added: 13 of 15 faults noticed, before 2
    "#]],
    );
}

#[test]
fn what_is_the_same_in_the_next_run_is_written_in_braces() {
    let expect = "    expect: {output: {contains: [refunded]}} # short\n";
    check(
        expect,
        expect![[r#"
            expect: {output: {contains: [refunded]}, toolCalls: [{ tool: lookup, argsMatch: { order: "7" } }, { tool: refund, argsMatch: { order: "7", usd: 5 } }], trajectory: { reference: [{ tool: lookup }, { tool: refund }], exactMatch: true, matchArgs: false }} # short
        note: 3 assertions added: 13 of 15 faults noticed, before 2
    "#]],
    );
}

#[test]
fn test_without_expectations_gets_the_first_ones() {
    let expect = "    expect: {}\n";
    check(
        expect,
        expect![[r#"
            expect:
              output:
                contains:
                  - "your order: 7"
              toolCalls:
                - tool: lookup
                  argsMatch: { order: "7" }
                - tool: refund
                  argsMatch: { order: "7", usd: 5 }
              trajectory:
                reference: [{ tool: lookup }, { tool: refund }]
                exactMatch: true
                matchArgs: false
        note: 4 assertions added: 13 of 15 faults noticed, before 0
    "#]],
    );
}

#[test]
fn what_differs_between_models_is_not_written() {
    let place = Place::copy_of("schema/examples/cli-bench");
    assert_eq!(place.run(&["run"]).code, Some(0));
    let done = place.run(&["write", "export-list"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    // Only one of the two models asks for help.
    expect![[r#"
        --- tasks/files.yaml
        +++ tasks/files.yaml
        @@ -14,3 +14,9 @@
                 text: "Coffee,12"
             - verify:
                 run: cmp stock.csv backup/stock.csv
        +    - output_contains: wrote backup/stock.csv
        +    - run_count:
        +        pattern: "^stock export backup\\/stock\\.csv$"
        +        min: 1
        +        max: 1
        +    - run_count: { pattern: ".", max: 2 }
        note: 3 assertions added: 11 of 17 faults noticed, before 4
    "#]]
    .assert_eq(&format!("{}{}", done.stdout, done.stderr));
    assert_eq!(place.run(&["run", "--recorded"]).code, Some(0));
}

#[test]
fn nothing_is_written_for_a_test_that_fails_or_has_no_recording_or_name() {
    let place = Place::with(&suite("echo hello", "{output: {contains: [hello]}}"));
    let refused = |test: &str, reason: &str| {
        let done = place.run(&["write", test]);
        assert_eq!(done.code, Some(2), "{}", done.stdout);
        assert!(done.stderr.contains(reason), "{}", done.stderr);
    };
    refused("only", "no recording");
    refused("onyl", "no test has the name `onyl`; did you mean `only`?");
    place.write("kindlm.yaml", suite("echo hello", "{output: {contains: [bye]}}"));
    assert_eq!(place.run(&["run"]).code, Some(1));
    refused("only", "its status is fail");
}

#[test]
fn secrets_are_not_written() {
    let suite = suite("echo \"token $API_KEY\"; echo fine and well", "{}");
    let place = Place::with(&suite);
    assert_eq!(place.run_with(&[("API_KEY", "abcd1234wxyz")], &["run"]).code, Some(0));
    let done = place.run_with(&[("API_KEY", "abcd1234wxyz")], &["write", "only"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let written = place.read("kindlm.yaml");
    assert!(written.contains("- fine and well") && !written.contains("token *"), "{written}");
}

/// What one test gets, the tests get that use its anchor.
#[test]
fn nothing_is_written_or_accepted_where_several_tests_would_change() {
    let suite = "kindlm: 1
project: p
suite: { name: s }
tests:
  - name: src
    command: |
      printf 'refund\\n{\"kindlm\":\"tool_call\",\"name\":\"look\",\"arguments\":{\"q\":\"a\"}}\\n'
    expect: &e
      toolCalls: [{ tool: look, argsMatch: { q: a } }]
  - name: other
    command: |
      printf 'no refund\\n{\"kindlm\":\"tool_call\",\"name\":\"look\",\"arguments\":{\"q\":\"a\"}}\\n'
    expect: *e
";
    for suite in [
        suite.to_owned(),
        suite.replace("\n  - name", "\n- name").replace("\n    ", "\n  "),
        suite.replace('\n', "\r\n"),
    ] {
        let place = Place::with(&suite);
        assert_eq!(place.run(&["run"]).code, Some(0), "{suite}");
        for test in ["src", "other"] {
            let done = place.run(&["write", test]);
            assert!(done.code == Some(2) && done.text().contains("`expect` is shared by an anchor"), "{done:?}");
        }
        place.write("kindlm.yaml", suite.replace("q: a }", "q: b }"));
        let accepted = place.run(&["run", "--recorded", "--accept"]);
        assert_eq!(accepted.code, Some(1), "{accepted:?}");
        assert_eq!(place.read("kindlm.yaml"), suite.replace("q: a }", "q: b }"));
    }
}
