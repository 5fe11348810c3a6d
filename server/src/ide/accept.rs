//! Fixes of assertions that failed in the last run: accept what it found, require less, or remove the assertion.

use std::ops::Range;

use speclens_schema::{
    accept::accepted,
    acceptable::Acceptable,
    document::Document,
    json_schema::SpecFile,
    loosen::{loosened, without},
    problem::Edit,
};

use super::{actions::QuickFix, latest::Latest, run_problems::place};
use crate::accept::{Failure, Observed, failures};

/// Returns the changes for the failing claims in a range. The newest attempt says what is accepted. None if the results
/// belong to an older text, whose places differ.
pub(crate) fn fixes(document: &Document, file: SpecFile, latest: &Latest, range: &Range<usize>) -> Vec<QuickFix> {
    if !latest.is_of(document) {
        return Vec::new();
    }
    let mut found: Vec<QuickFix> = Vec::new();
    let mut offer = |title: String, edits: Vec<Edit>| {
        if found.iter().all(|known| known.edits != edits) {
            found.push(QuickFix { title, edits, creates: Vec::new(), preferred: false });
        }
    };
    for (case, outcome) in latest.own() {
        let settled: Vec<_> = outcome.settled().into_iter().filter(|result| result.absence.is_none()).collect();
        let Some(newest) = settled.iter().max_by_key(|result| (result.began_us, result.repeat)) else { continue };
        let is_here = |failure: &Failure| {
            let here = place(document, file.name_key(), case, &failure.at);
            let key = Some(document.key_range_of(&failure.at)).filter(|key| !key.is_empty());
            let start = key.map_or(here.start, |key| key.start.min(here.start));
            range.start <= here.end && start <= range.end
        };
        for failure in failures(case, &[newest]).iter().filter(|failure| is_here(failure)) {
            let Some(Observed::Value(Acceptable { value, limit })) = &failure.observed else { continue };
            if let Some((words, edits)) = accepted(document, &failure.at, value) {
                let what = if limit.is_some() { "Accept the run with the limit" } else { "Accept what the run found:" };
                offer(format!("{what} `{words}`"), edits);
            }
        }
        for failure in failures(case, &settled).iter().filter(|failure| is_here(failure)) {
            for (words, edits) in loosened(file, document, (&failure.claim, &failure.at), &failure.texts) {
                offer(format!("Require less: `{words}`"), edits);
            }
            if let Some(edits) = without(file, document, &failure.claim, &failure.at) {
                offer("Remove this assertion".to_owned(), edits);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use speclens_schema::{
        evidence::{Span, SpanKind, Tokens},
        fixing,
        verdict::Outcome,
    };

    use super::*;
    use crate::ide::tests::fixture::{Attempt, Fixture};

    /// Applies the first fix with a title, again and again until none is left.
    fn applied(text: &str, attempt: &Attempt<'_>, title: &str) -> (String, Vec<Outcome>) {
        let (head, mut text) = match text.split_once('\n') {
            Some((head, text)) if head.starts_with("//- ") => (format!("{}\n", head.trim_end()), text.to_owned()),
            Some(_) | None => (String::new(), text.to_owned()),
        };
        for _ in 0..20 {
            let fixture = Fixture::parse(&format!("{head}{text}"));
            let latest = fixture.attempted(std::slice::from_ref(attempt));
            let found = fixes(&fixture.document, fixture.file, &latest, &(0..text.len()));
            let Some(fix) = found.iter().find(|fix| fix.title.starts_with(title)) else {
                let verdicts = latest.own().flat_map(|(_, it)| it.attempts[0].result.verdicts.clone());
                let outcomes = verdicts.map(|judged| judged.verdict.outcome);
                return (text, outcomes.filter(|outcome| *outcome != Outcome::Pass).collect());
            };
            assert!(!fix.preferred);
            text = fixing::replaced(&text, &fix.edits);
        }
        panic!("it never ends: {text}");
    }

    /// Accepts everything that an attempt found, one by one, until nothing is left, and checks the text, with line feeds
    /// and with Windows line ends.
    #[track_caller]
    fn check(text: &str, attempt: &Attempt<'_>, expected: Expect) {
        let (accepted, others) = applied(text, attempt, "Accept");
        expected.assert_eq(&accepted);
        assert_eq!(others, []);
        let windows = applied(&text.replace('\n', "\r\n"), attempt, "Accept").0;
        assert_eq!(windows.replace("\r\n", "\n"), accepted);
    }

    #[test]
    fn arguments_texts_and_bounds_are_accepted_in_every_style() {
        let call = r#"{"kindlm":"tool_call","name":"f","arguments":{"id":"0815","count":3,"deep":{"ok":true}}}"#;
        let wrote = format!("Refund: approve\nhi, there\n{call}\n");
        check(
            "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: a\n    command: x\n    expect:\n      output:\n        contains:\n        - 'refund approved'\n        - hi there # a comment\n        maxLength: 3\n      toolCalls: [{tool: f, argsMatch: {id: \"1\", count: '3', deep: {ok: no}}}]\n      latency: {maxMs: 100}\n",
            &Attempt { duration_ms: 812.3, ..Attempt::writing(&wrote) },
            expect![[r#"
                kindlm: 1
                project: p
                suite: {name: s}
                tests:
                  - name: a
                    command: x
                    expect:
                      output:
                        contains:
                        - "Refund: approve"
                        - "hi, there" # a comment
                        maxLength: 25
                      toolCalls: [{tool: f, argsMatch: {id: "0815", count: 3, deep: {ok: true}}}]
                      latency: {maxMs: 980}
            "#]],
        );
    }

    #[test]
    fn counts_and_texts_of_tasks_are_accepted_in_every_style() {
        check(
            "//- /cli-bench-tasks.yaml\n- id: a\n  intent: x\n  assert:\n  - run_count: {pattern: ls, max: 1}\n  - run_count:\n      pattern: echo\n      min: 4 # at least\n  - output_equals: 'hello'\n  - file_contains:\n      path: a.txt\n      text: \"name: alice\"\n",
            &Attempt {
                commands: &[("ls", ""), ("ls -l", ""), ("echo 1", "1"), ("ls; echo hi: you", "hi: you\n")],
                files: &[("a.txt", "x\nname: alicia\n")],
                ..Attempt::default()
            },
            expect![[r#"
                - id: a
                  intent: x
                  assert:
                  - run_count: {pattern: ls, max: 3}
                  - run_count:
                      pattern: echo
                      min: 2 # at least
                  - output_equals: "hi: you"
                  - file_contains:
                      path: a.txt
                      text: "name: alicia"
            "#]],
        );
    }

    fn span(kind: SpanKind, name: &str, at: i64) -> Span {
        let tokens = (kind == SpanKind::Llm).then_some(Tokens { input: 1000, output: 20, total: 1020 });
        let (cost_usd, started_us) = (tokens.map(|_| 0.0123), Some(at));
        Span { kind, name: name.to_owned(), tokens, cost_usd, started_us, ..Span::default() }
    }

    #[test]
    fn limits_states_headings_logs_and_tools_of_scenarios_are_accepted_in_every_style() {
        check(
            "//- /clawspec-scenarios.yaml\nversion: \"1.0\"\ntarget: {type: skill, path: skills/a, trigger: a}\nscenarios:\n  - name: a\n    when: {invoke: x}\n    then:\n    - type: llm_call_count\n      max: 1\n    - {type: trace_cost, max_usd: 0.001}\n    - type: trace_duration\n      max_ms: 5 # ms\n    - {type: trace_token_budget, max_input_tokens: 1, max_output_tokens: 1}\n    - {type: per_span_budget, max_tokens: 10}\n    - {type: tool_sequence, mode: strict, expected: [\"a.read\", b.sent]}\n    - type: tool_sequence\n      mode: contains\n      expected:\n      - b.sent\n    - type: model_used\n      expected: 'opus'\n    - type: state_file\n      path: state.yaml\n      expected_status: ready\n      expected_fields: {phase: 1, deep.ok: false}\n    - type: artifact_contains\n      path: out.md\n      sections: ['Hooks', cta]\n    - type: log_entry\n      path: run.log\n      pattern: refund was approved\n    - {type: decision_routed_to, state_path: state.yaml, expected_agent: other}\n",
            &Attempt {
                spans: vec![
                    span(SpanKind::Llm, "sonnet", 1),
                    span(SpanKind::Tool, "a.read", 2),
                    span(SpanKind::Tool, "b.send", 3),
                    span(SpanKind::Llm, "sonnet", 4),
                ],
                files: &[
                    ("state.yaml", "status: done\nphase: 2\nagent: lead\ndeep: {ok: true}\n"),
                    ("out.md", "# Hook\n\n# CTA\n"),
                    ("run.log", "start\nrefund approved: 12\n"),
                ],
                duration_ms: 812.3,
                ..Attempt::default()
            },
            expect![[r#"
                version: "1.0"
                target: {type: skill, path: skills/a, trigger: a}
                scenarios:
                  - name: a
                    when: {invoke: x}
                    then:
                    - type: llm_call_count
                      max: 2
                    - {type: trace_cost, max_usd: 0.03}
                    - type: trace_duration
                      max_ms: 980 # ms
                    - {type: trace_token_budget, max_input_tokens: 2400, max_output_tokens: 48}
                    - {type: per_span_budget, max_tokens: 1300}
                    - {type: tool_sequence, mode: strict, expected: ["a.read", b.send]}
                    - type: tool_sequence
                      mode: contains
                      expected:
                      - b.send
                    - type: model_used
                      expected: sonnet
                    - type: state_file
                      path: state.yaml
                      expected_status: done
                      expected_fields: {phase: 2, deep.ok: true}
                    - type: artifact_contains
                      path: out.md
                      sections: [Hook, cta]
                    - type: log_entry
                      path: run.log
                      pattern: "refund approved: 12"
                    - {type: decision_routed_to, state_path: state.yaml, expected_agent: lead}
            "#]],
        );
    }

    /// Checks the fixes of a place whose titles do not begin with `Accept`: each with the lines that it leaves.
    #[track_caller]
    fn check_others(text: &str, attempts: &[Attempt<'_>], word: &str, expected: Expect) {
        let show = |text: &str| {
            let fixture = Fixture::parse(text);
            let text = fixture.text();
            let at = text.find(word).expect("the word is in the text");
            let found = fixes(&fixture.document, fixture.file, &fixture.attempted(attempts), &(at..at));
            let others = found.iter().filter(|fix| !fix.title.starts_with("Accept"));
            let others = others.map(|fix| {
                let after = fixing::replaced(&text, &fixing::adapted(&fixture.document, &fix.edits));
                let diff = fixing::unified("", &text, &after);
                let changed = diff.lines().skip(3).filter(|line| line.starts_with(['-', '+']));
                format!("{}\n{}", fix.title, changed.map(|line| format!("  {}\n", line.trim_end())).collect::<String>())
            });
            others.collect::<String>()
        };
        expected.assert_eq(&show(text));
        assert_eq!(show(&text.replace('\n', "\r\n")), show(text));
    }

    #[test]
    fn equal_text_can_become_a_contained_one_that_was_always_there() {
        let text = "//- /cli-bench-tasks.yaml\n- id: a\n  intent: x\n  assert:\n  - exit_code: 0\n  - output_equals: 'wrote 3 files'\n  - {verify: {run: 'true', output_equals: x}}\n";
        let ran = |output| Attempt { commands: output, ..Attempt::default() };
        check_others(
            text,
            &[ran(&[("x", "wrote 3 files in 12 ms")]), ran(&[("x", "ok: wrote 3 files in 9 ms")])],
            "output_equals: 'wrote",
            expect![[r#"
                Require less: `output_contains: wrote 3 files`
                  -  - output_equals: 'wrote 3 files'
                  +  - output_contains: wrote 3 files
                Remove this assertion
                  -  - output_equals: 'wrote 3 files'
            "#]],
        );
        // Nothing of what was expected was there.
        check_others(
            text,
            &[ran(&[("x", "1 created: a")]), ran(&[("x", "2 created: a")])],
            "output_equals: 'wrote",
            expect![[r#"
                Require less: `output_contains: "created: a"`
                  -  - output_equals: 'wrote 3 files'
                  +  - output_contains: "created: a"
                Remove this assertion
                  -  - output_equals: 'wrote 3 files'
            "#]],
        );
    }

    #[test]
    fn masked_secret_is_neither_accepted_nor_kept() {
        let task = |assert: &str| format!("//- /cli-bench-tasks.yaml\n- id: a\n  intent: x\n  assert:\n  - {assert}\n");
        let scenario = |then: &str| {
            format!(
                "//- /clawspec-scenarios.yaml\nversion: \"1.0\"\ntarget: {{type: skill, path: skills/a, trigger: a}}\nscenarios:\n  - name: a\n    when: {{invoke: x}}\n    then:\n      - {then}\n"
            )
        };
        let kindlm = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: a\n    command: x\n    expect:\n      output: {contains: [the tokens are]}\n";
        let attempt = Attempt {
            commands: &[("x", "the token is sesame1\n")],
            files: &[("a.txt", "the token is sesame1\n"), ("a.yaml", "status: sesame1\n")],
            secrets: &["sesame1"],
            ..Attempt::writing("the token is sesame1\n")
        };
        for text in [
            &*task("output_contains: the tokens are"),
            &*task("output_equals: the tokens are"),
            &*task("file_contains: {path: a.txt, text: the tokens are}"),
            &*scenario("{type: log_entry, path: a.txt, pattern: the tokens are}"),
            &*scenario("{type: state_file, path: a.yaml, expected_status: ready}"),
            kindlm,
        ] {
            let fixture = Fixture::parse(text);
            let latest = fixture.attempted(std::slice::from_ref(&attempt));
            let all = 0..fixture.text().len();
            for fix in fixes(&fixture.document, fixture.file, &latest, &all) {
                let is_bare = |edit: &Edit| !edit.text.contains(['*', '\u{FDD0}']) && !edit.text.contains("sesame1");
                assert!(fix.edits.iter().all(is_bare), "{text}: {fix:?}");
            }
        }
    }

    #[test]
    fn order_and_arguments_can_be_left_out() {
        let suite = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: a\n    command: x\n    expect:\n      trajectory:\n        exactMatch: true\n        reference: [{tool: f}]\n";
        check_others(
            suite,
            &[Attempt::writing("hi")],
            "exactMatch",
            expect![[r#"
                Require less: `ordered: false`
                  +        ordered: false
                Require less: `matchArgs: false`
                  +        matchArgs: false
            "#]],
        );
        let scenario = "//- /clawspec-scenarios.yaml\nversion: \"1.0\"\ntarget: {type: skill, path: skills/a, trigger: a}\nscenarios:\n  - name: a\n    when: {invoke: x}\n    then:\n      - {type: tool_sequence, mode: strict, expected: [a]}\n      - type: tool_sequence\n        expected: [b]\n      - type: llm_call_count\n        min: 1\n";
        let spans = vec![span(SpanKind::Tool, "x", 1)];
        let attempt = [Attempt { spans, ..Attempt::default() }];
        check_others(
            scenario,
            &attempt,
            "a]}",
            expect![[r#"
            Require less: `mode: ordered`
              -      - {type: tool_sequence, mode: strict, expected: [a]}
              +      - {type: tool_sequence, mode: ordered, expected: [a]}
            Remove this assertion
              -      - {type: tool_sequence, mode: strict, expected: [a]}
        "#]],
        );
        check_others(
            scenario,
            &attempt,
            "b]",
            expect![[r#"
            Require less: `mode: contains`
              +        mode: contains
            Remove this assertion
              -      - type: tool_sequence
              -        expected: [b]
        "#]],
        );
        check_others(
            scenario,
            &attempt,
            "min: 1",
            expect![[r#"
            Remove this assertion
              -      - type: llm_call_count
              -        min: 1
        "#]],
        );
    }

    #[test]
    fn parts_of_expectations_are_removed_with_what_would_be_empty() {
        let suite = |expect: &str| {
            format!(
                "kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n  - name: a\n    command: x\n    expect:\n{expect}"
            )
        };
        let fails = [Attempt { duration_ms: 9.0, ..Attempt::writing("hi") }];
        let lists = "      output:\n        contains:\n        - one\n        - 'two' # why\n        maxLength: 1\n      latency:\n        maxMs: 1\n";
        check_others(
            &suite(lists),
            &fails,
            "two",
            expect![[r#"
            Remove this assertion
              -        - 'two' # why
        "#]],
        );
        check_others(
            &suite(lists),
            &fails,
            "maxLength",
            expect![[r#"
            Remove this assertion
              -        maxLength: 1
        "#]],
        );
        check_others(
            &suite(lists),
            &fails,
            "maxMs",
            expect![[r#"
            Remove this assertion
              -      latency:
              -        maxMs: 1
        "#]],
        );
        let flow = "      output: {contains: [one]}\n      toolCalls: [{tool: f}, {tool: g}]\n";
        check_others(
            &suite(flow),
            &fails,
            "one",
            expect![[r#"
            Remove this assertion
              -      output: {contains: [one]}
        "#]],
        );
        check_others(
            &suite(flow),
            &fails,
            "g}",
            expect![[r#"
            Remove this assertion
              -      toolCalls: [{tool: f}, {tool: g}]
              +      toolCalls: [{tool: f}]
        "#]],
        );
        // The only expectation stays.
        check_others(&suite("      output: {contains: [one]}\n"), &fails, "one", expect![[r#""#]]);
    }
}
