//! Values that the last run has seen, per format, in several styles of lists, quotes and line ends.

use expect_test::{Expect, expect};
use speclens_schema::{
    evidence::{Span, SpanKind},
    fixing,
};

use super::completions_after;
use crate::ide::tests::fixture::{Attempt, Fixture};

/// Checks the items that the attempts feed, each with the line that it makes. They come before all others.
#[track_caller]
fn check(text: &str, attempts: &[Attempt<'_>], expected: Expect) {
    let show = |text: &str| {
        let fixture = Fixture::parse(text);
        let items = completions_after(&fixture, Some(&fixture.attempted(attempts)));
        let seen: Vec<_> = items.iter().filter(|item| item.detail.contains("seen")).collect();
        let first: Vec<_> = items.iter().take(seen.len()).collect();
        assert_eq!(seen, first);
        let line = fixture.text()[..fixture.offset()].matches('\n').count();
        let shown = seen.iter().map(|item| {
            let text = fixing::replaced(&fixture.text(), std::slice::from_ref(&item.edit));
            format!("{} · {}\n", text.lines().nth(line).unwrap_or_default().trim(), item.detail)
        });
        shown.collect::<String>()
    };
    expected.assert_eq(&show(text));
    assert_eq!(show(&text.replace('\n', "\r\n")), show(text));
}

fn kindlm(expect: &str) -> String {
    format!("kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n  - name: a\n    command: x\n    expect:\n{expect}")
}

#[test]
fn kindlm_offers_lines_tools_arguments_and_limits() {
    let call =
        r#"{"kindlm":"tool_call","name":"lookup","arguments":{"id":"0815","deep":{"count":3},"token":"sesame1"}}"#;
    let [one, other] = [12, 34].map(|id| format!("Refund: approved\nid {id}\nmy sesame1\n{call}\n"));
    let attempts = [
        Attempt { duration_ms: 812.3, secrets: &["sesame1"], ..Attempt::writing(&one) },
        Attempt { duration_ms: 90.0, secrets: &["sesame1"], ..Attempt::writing(&other) },
    ];
    check(
        &kindlm("      output:\n        contains:\n          - $0\n"),
        &attempts,
        expect![[r#"
        - "Refund: approved" · seen
        - id 12 · seen 1 of 2 times
        - id 34 · seen 1 of 2 times
    "#]],
    );
    check(
        &kindlm("      output:\n        contains:\n        - id 12\n        - $0\n"),
        &attempts,
        expect![[r#"
        - "Refund: approved" · seen
        - id 34 · seen 1 of 2 times
    "#]],
    );
    check(
        &kindlm("      output: {contains: [\"$0\"]}\n"),
        &attempts,
        expect![[r#"
        output: {contains: ["Refund: approved"]} · seen
        output: {contains: ["id 12"]} · seen 1 of 2 times
        output: {contains: ["id 34"]} · seen 1 of 2 times
    "#]],
    );
    check(
        &kindlm("      output: {contains: ['$0']}\n"),
        &attempts[..1],
        expect![[r#"
        output: {contains: ['Refund: approved']} · seen
        output: {contains: ['id 12']} · seen
    "#]],
    );
    check(
        &kindlm("      output: {maxLength: $0}\n"),
        &attempts,
        expect![[r#"
        output: {maxLength: 33} · seen
    "#]],
    );
    check(
        &kindlm("      latency:\n        maxMs: $0\n"),
        &attempts,
        expect![[r#"
        maxMs: 980 · seen
    "#]],
    );
    check(
        &kindlm("      toolCalls:\n      - tool: $0\n"),
        &attempts,
        expect![[r#"
        - tool: lookup · seen
    "#]],
    );
    check(
        &kindlm("      toolCalls: [{tool: lookup, argsMatch: {$0}}]\n"),
        &attempts,
        expect![[r#"
        toolCalls: [{tool: lookup, argsMatch: {id: "0815"}}] · "0815" seen
        toolCalls: [{tool: lookup, argsMatch: {deep: { count: 3 }}}] · { count: 3 } seen
    "#]],
    );
    check(
        &kindlm("      toolCalls:\n        - tool: lookup\n          argsMatch:\n            id: \"$0\"\n"),
        &attempts,
        expect![[r#"
            id: "0815" · seen
        "#]],
    );
    check(
        &kindlm(
            "      toolCalls:\n        - tool: lookup\n          argsMatch:\n            deep:\n              count: $0\n",
        ),
        &attempts,
        expect![[r#"
            count: 3 · seen
        "#]],
    );
    check(
        &kindlm("      toolCalls:\n        - tool: lookup\n          argsMatch:\n            deep: {$0}\n"),
        &attempts,
        expect![[r#"
            deep: {count: 3} · 3 seen
        "#]],
    );
    // What must not be there is not suggested.
    check(&kindlm("      output: {notContains: [$0]}\n"), &attempts, expect![[r#""#]]);
}

#[test]
fn tool_that_is_defined_and_was_called_is_one_item() {
    let call = r#"{"kindlm":"tool_call","name":"lookup","arguments":{}}"#;
    let text = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: a\n    command: x\n    tools: [{name: other}, {name: lookup}]\n    expect:\n      toolCalls: [{tool: $0}]\n";
    check(
        text,
        &[Attempt::writing(call)],
        expect![[r#"
        toolCalls: [{tool: lookup}] · tool, seen
    "#]],
    );
}

#[test]
fn cli_bench_offers_commands_outputs_files_and_exit_codes() {
    let task = |assert: &str| format!("//- /cli-bench-tasks.yaml\n- id: a\n  intent: x\n  assert:\n{assert}");
    let files = [("out/a.txt", "name: alice\nkey: sesame1\n")];
    let attempts = [
        Attempt {
            commands: &[("ls -a (x)", "a"), ("kill 12 > /tmp/a1/log", "ok\ndone in 3 ms\n")],
            files: &files,
            secrets: &["sesame1"],
            ..Attempt::default()
        },
        Attempt {
            commands: &[("kill 345 > /tmp/b/log", "yes\ndone in 45 ms\n")],
            files: &files,
            secrets: &["sesame1"],
            ..Attempt::default()
        },
    ];
    check(
        &task("  - ran: $0\n"),
        &attempts,
        expect![[r#"
        - ran: "kill \\d+ > /\\S+" · seen
        - ran: "ls -a \\(x\\)" · seen 1 of 2 times
    "#]],
    );
    check(
        &task("    - run_count: {pattern: \"$0\"}\n"),
        &attempts,
        expect![[r#"
        - run_count: {pattern: "kill \\d+ > /\\S+"} · seen
        - run_count: {pattern: "ls -a \\(x\\)"} · seen 1 of 2 times
    "#]],
    );
    check(&task("  - not_ran: $0\n"), &attempts, expect![[r#""#]]);
    check(
        &task("  - output_contains: $0\n"),
        &attempts,
        expect![[r#"
        - output_contains: done in · seen
        - output_contains: ok · seen 1 of 2 times
        - output_contains: done in 3 ms · seen 1 of 2 times
        - output_contains: "yes" · seen 1 of 2 times
        - output_contains: done in 45 ms · seen 1 of 2 times
    "#]],
    );
    check(
        &task("  - output_equals: '$0'\n"),
        &[Attempt { commands: &[("x", " it's\n")], ..Attempt::default() }],
        expect![[r#"
            - output_equals: 'it''s' · seen
        "#]],
    );
    check(
        &task("  - file_exists: $0\n"),
        &attempts,
        expect![[r#"
        - file_exists: out/a.txt · seen
    "#]],
    );
    check(
        &task("  - file_contains:\n      path: out/a.txt\n      text: $0\n"),
        &attempts,
        expect![[r#"
        text: "name: alice" · seen
    "#]],
    );
    check(
        &task("  - exit_code: $0\n"),
        &attempts,
        expect![[r#"
        - exit_code: 0 · seen
    "#]],
    );
}

fn span(kind: SpanKind, name: &str, model: Option<&str>) -> Span {
    Span { kind, name: name.to_owned(), model: model.map(str::to_owned), ..Span::default() }
}

#[test]
fn clawspec_offers_spans_models_tools_lines_and_states() {
    let scenario = |then: &str| {
        format!(
            "//- /clawspec-scenarios.yaml\nversion: \"1.0\"\ntarget: {{type: skill, path: skills/a, trigger: a}}\nscenarios:\n  - name: a\n    when: {{invoke: x}}\n    then:\n      - type: no_span_errors\n      - {{type: log_entry, path: run.log, pattern: x}}\n      - {{type: state_file, path: state.yaml, expected_status: x}}\n{then}"
        )
    };
    let attempts = [Attempt {
        spans: vec![span(SpanKind::Llm, "chat", Some("sonnet-4")), span(SpanKind::Tool, "mail.send", None)],
        files: &[
            ("run.log", "start\nrefund approved: 12\n"),
            ("state.yaml", "status: done\ndeep: {phase: 2, ok: true}\n"),
        ],
        ..Attempt::default()
    }];
    check(
        &scenario("      - {type: model_used, expected: $0}\n"),
        &attempts,
        expect![[r#"
        - {type: model_used, expected: sonnet-4} · seen
    "#]],
    );
    check(
        &scenario("      - type: tool_sequence\n        expected:\n        - $0\n"),
        &attempts,
        expect![[r#"
        - mail.send · seen
    "#]],
    );
    check(
        &scenario("      - type: tool_sequence\n        expected: [\"$0\"]\n"),
        &attempts,
        expect![[r#"
        expected: ["mail.send"] · seen
    "#]],
    );
    check(
        &scenario("      - {type: per_span_budget, max_tokens: 1, span_name: '$0'}\n"),
        &attempts,
        expect![[r#"
        - {type: per_span_budget, max_tokens: 1, span_name: 'chat'} · seen
        - {type: per_span_budget, max_tokens: 1, span_name: 'mail.send'} · seen
    "#]],
    );
    check(
        &scenario("      - type: log_entry\n        path: \"{{today}}.log\"\n        pattern: $0\n"),
        &attempts,
        expect![[r#"
            pattern: start · seen
            pattern: "refund approved: 12" · seen
        "#]],
    );
    check(
        &scenario("      - type: log_entry\n        path: run.log\n        pattern: $0\n"),
        &attempts,
        expect![[r#"
            pattern: start · seen
            pattern: "refund approved: 12" · seen
        "#]],
    );
    check(
        &scenario("      - {type: state_file, path: state.yaml, expected_status: $0}\n"),
        &attempts,
        expect![[r#"
            - {type: state_file, path: state.yaml, expected_status: done} · seen
        "#]],
    );
    check(
        &scenario("      - type: state_file\n        state_path: state.yaml\n        expected_fields:\n          $0\n"),
        &attempts,
        expect![[r#"
            status: done · done seen
            deep.phase: 2 · 2 seen
            deep.ok: true · true seen
        "#]],
    );
    check(
        &scenario("      - {type: state_file, path: state.yaml, expected_fields: {deep.ok: $0}}\n"),
        &attempts,
        expect![[r#"
            - {type: state_file, path: state.yaml, expected_fields: {deep.ok: true}} · seen
        "#]],
    );
}
