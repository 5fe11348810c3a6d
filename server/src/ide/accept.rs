//! Accepting what a run found: the observed value in place of the one that a failing claim expects.

use std::ops::Range;

use speclens_schema::{accept::accepted, document::Document, json_schema::SpecFile};

use super::{actions::QuickFix, latest::Latest, run_problems::place};
use crate::accept::{Observed, observed};

/// Returns the changes for the failing claims in a range, as the newest attempt saw them. None if the results belong to an
/// older text, whose places differ.
pub(crate) fn fixes(document: &Document, file: SpecFile, latest: &Latest, range: &Range<usize>) -> Vec<QuickFix> {
    if !latest.is_of(document) {
        return Vec::new();
    }
    let mut found: Vec<QuickFix> = Vec::new();
    for (case, outcome) in latest.own() {
        let settled = outcome.settled();
        let Some(newest) = settled.iter().max_by_key(|result| (result.began_us, result.repeat)) else { continue };
        for (at, observed) in observed(case, &[newest]) {
            let here = place(document, file.name_key(), case, &at);
            let Observed::Value(value) = observed else { continue };
            if here.end < range.start || range.end < here.start {
                continue;
            }
            let Some((words, edits)) = accepted(document, &at, &value) else { continue };
            let title = format!("Accept what the run found: `{words}`");
            if found.iter().all(|known| known.edits != edits) {
                found.push(QuickFix { title, edits, creates: Vec::new(), preferred: false });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use speclens_runner::event::RunResult;
    use speclens_schema::{
        evidence::{Capture, Ended, Evidence, Exit, Ran},
        judge,
        mask::Secrets,
        suite::{Case, Subject},
        verdict::Status,
    };

    use super::*;
    use crate::ide::tests::fixture::Fixture;

    fn judged(file: SpecFile, case: &Case, written: &str) -> RunResult {
        let exit = Some(Exit { code: Some(0), signal: None });
        let ran = Ran { stdout: Some(Capture::whole(written)), exit, ..Ran::default() };
        let mut evidence = Evidence { command: Some(ran), ended: Some(Ended::Exit), ..Evidence::default() };
        file.dialect().unwrap().interpret(&mut evidence);
        let verdicts = judge::judge(case, &evidence, &Secrets::default());
        let status = judge::status(case, &evidence, &verdicts);
        RunResult { verdicts, ..RunResult::of(&Subject::Command, 0, status) }
    }

    /// Accepts everything that a command wrote, one by one, until nothing is left, and checks the text, with line feeds
    /// and with Windows line ends.
    #[track_caller]
    fn check(text: &str, written: &str, expected: Expect) {
        let accept = |text: &str| {
            let mut text = text.to_owned();
            for _ in 0..20 {
                let fixture = Fixture::parse(&text);
                let latest = fixture.latest(|case| vec![judged(fixture.file, case, written)]);
                let found = fixes(&fixture.document, fixture.file, &latest, &(0..text.len()));
                let Some(fix) = found.first() else {
                    return (text, latest.own().all(|(_, it)| it.attempts[0].result.status == Status::Pass));
                };
                fix.edits.iter().rev().for_each(|edit| text.replace_range(edit.range.clone(), &edit.text));
            }
            panic!("it never ends: {text}");
        };
        let (accepted, passes) = accept(text);
        expected.assert_eq(&accepted);
        assert!(passes, "{accepted}");
        assert_eq!(accept(&text.replace('\n', "\r\n")).0.replace("\r\n", "\n"), accepted);
    }

    #[test]
    fn arguments_texts_and_bounds_are_accepted_in_every_style() {
        let call = r#"{"kindlm":"tool_call","name":"f","arguments":{"id":"0815","count":3,"deep":{"ok":true}}}"#;
        check(
            "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: a\n    command: x\n    expect:\n      output:\n        contains:\n        - 'refund approved'\n        - hi there # a comment\n        maxLength: 3\n      toolCalls: [{tool: f, argsMatch: {id: \"1\", count: '3', deep: {ok: no}}}]\n",
            &format!("Refund: approve\nhi, there\n{call}\n"),
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
            "#]],
        );
    }
}
