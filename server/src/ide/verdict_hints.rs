//! Inlay hints of the last run: at the end of a line, what became of the claims on it.

use std::{collections::BTreeMap, ops::Range};

use speclens_runner::{
    event::{RunResult, by_claim},
    report::status::mark,
};
use speclens_schema::{
    document::Document,
    json_schema::SpecFile,
    judge::Judged,
    suite::Case,
    unparsed,
    verdict::{Outcome, Status, Verdict},
};

use super::{
    hints::Hint,
    latest::Latest,
    outcome::{CaseOutcome, CaseState, Tally, by_subject},
    run_problems::place,
};

/// The results that are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ShownVerdicts {
    Off,
    /// Those that are not a pass.
    Failures,
    All,
}

/// Maximum number of attempts that are shown one by one.
const MAX_MARKS: usize = 8;

/// Maximum number of characters of a value or reason.
const MAX_CHARACTERS: usize = 60;

/// Returns the results on the lines of a range. None if they belong to an older text, whose lines differ.
pub(crate) fn verdict_hints(
    document: &Document,
    file: SpecFile,
    latest: &Latest,
    range: &Range<usize>,
    shown: ShownVerdicts,
) -> Vec<Hint> {
    if shown == ShownVerdicts::Off || !latest.is_of(document) {
        return Vec::new();
    }
    let is_in = |case: &Case| {
        let own = document.range_of(&case.at);
        own.start <= range.end && range.start <= own.end
    };
    let near = latest.own().filter(|(case, _)| is_in(case));
    let found = near.flat_map(|(case, outcome)| of_case(document, file, case, outcome, shown));
    let found = found.map(|(line, label)| Hint { at: end_of_line(document, line), label, pattern: None });
    found.filter(|hint| range.start <= hint.at && hint.at <= range.end).collect()
}

/// Returns the labels of lines.
fn of_case(
    document: &Document,
    file: SpecFile,
    case: &Case,
    outcome: &CaseOutcome,
    shown: ShownVerdicts,
) -> BTreeMap<usize, String> {
    let line_of = |at: &_| document.text().byte_to_line(place(document, file.name_key(), case, at).start);
    if let (CaseState::Stale, Some(reason)) = (&outcome.known.state, &outcome.stale) {
        let reason = reason.split(';').next().unwrap_or_default();
        return BTreeMap::from([(line_of(case.action.at().unwrap_or(&case.at)), reason.to_owned())]);
    }
    let mut lines: BTreeMap<usize, Vec<Seen<'_>>> = BTreeMap::new();
    for seen in grouped(&outcome.settled()) {
        let Some(worst) = worst(&seen) else { continue };
        let at = case.claims.get(worst.0.claim).map_or(&case.at, |claim| &claim.at).join(&worst.0.verdict.at);
        lines.entry(line_of(&at)).or_default().extend(seen);
    }
    let labelled = lines.into_iter().filter_map(|(line, seen)| {
        let is_shown = shown == ShownVerdicts::All || seen.iter().any(|seen| seen.status() != Status::Pass);
        is_shown.then(|| (line, label(seen)))
    });
    labelled.collect()
}

/// A verdict of an attempt.
#[derive(Clone, Copy)]
struct Seen<'o>(&'o Judged, &'o RunResult);

impl Seen<'_> {
    fn status(&self) -> Status {
        self.0.verdict.outcome.status()
    }
}

/// Returns the verdicts of all attempts on each claim: one list per label.
fn grouped<'o>(attempts: &[&'o RunResult]) -> Vec<Vec<Seen<'o>>> {
    let begun: Vec<&RunResult> = attempts.iter().copied().filter(|attempt| attempt.absence.is_none()).collect();
    // A part that cannot be parsed is a problem of the text.
    let is_shown = |seen: &Seen<'_>| seen.status() != Status::Skip && seen.0.verdict.kind != unparsed::KIND;
    let of_part = |part: Vec<(&'o Judged, &'o RunResult)>| -> Vec<Seen<'o>> {
        part.into_iter().map(|(judged, attempt)| Seen(judged, attempt)).filter(is_shown).collect()
    };
    by_claim(&begun).into_iter().map(of_part).collect()
}

/// Returns the worst verdict, and the newest of these.
fn worst<'o>(seen: &[Seen<'o>]) -> Option<Seen<'o>> {
    seen.iter().copied().max_by_key(|seen| (seen.status(), seen.1.began_us))
}

/// Returns the counts of the attempts in which all verdicts of a line are a pass, and what the worst of them found.
fn label(seen: Vec<Seen<'_>>) -> String {
    let found = worst(&seen).and_then(|worst| detail(&worst.0.verdict));
    let mut attempts: Vec<(&RunResult, Status)> = Vec::new();
    for seen in &seen {
        match attempts.iter_mut().find(|(attempt, _)| std::ptr::eq(*attempt, seen.1)) {
            Some((_, status)) => *status = (*status).max(seen.status()),
            None => attempts.push((seen.1, seen.status())),
        }
    }
    let counts = counts(&attempts);
    found.map_or(counts.clone(), |found| format!("{counts} {found}"))
}

fn counts(attempts: &[(&RunResult, Status)]) -> String {
    let mut tallies: Vec<Tally> = Vec::new();
    for (attempt, status) in attempts {
        Tally::add(&mut tallies, &attempt.subject, *status);
    }
    let worst = attempts.iter().map(|(_, status)| *status).max().unwrap_or(Status::Pass);
    let passed = tallies.iter().map(|tally| tally.passed).sum::<usize>();
    let is_mixed = 0 < passed && passed < attempts.len();
    if is_mixed && tallies.len() > 1 {
        return by_subject(&tallies).unwrap_or_default();
    }
    match attempts {
        [_] => mark(worst).to_string(),
        _ if is_mixed && attempts.len() <= MAX_MARKS => attempts.iter().map(|(_, status)| mark(*status)).collect(),
        _ => format!("{} {passed}/{}", mark(worst), attempts.len()),
    }
}

/// Returns what was found instead, or the reason why nothing was.
fn detail(verdict: &Verdict) -> Option<String> {
    match &verdict.outcome {
        Outcome::Pass | Outcome::Skip(_) => None,
        Outcome::Fail(mismatch) | Outcome::Warn(mismatch) => Some(match &mismatch.closest {
            Some(closest) => format!("closest: {}", brief(closest)),
            None if mismatch.actual.trim().is_empty() => brief(&mismatch.message),
            None => format!("got {}", brief(&mismatch.actual)),
        }),
        Outcome::Unknown(reason) | Outcome::Error(reason) => Some(brief(reason)),
    }
}

/// Returns the beginning of a text on one line.
fn brief(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default();
    let end = line.char_indices().nth(MAX_CHARACTERS).map_or(line.len(), |(end, _)| end);
    let line = line[..end].trim_end();
    if line.len() < text.len() { format!("{line}…") } else { line.to_owned() }
}

fn end_of_line(document: &Document, line: usize) -> usize {
    let text = document.text();
    text.line_to_byte(line) + String::from(text.line(line)).trim_end().len()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::ide::tests::fixture::{Attempt, Fixture};

    /// Judges the texts that a command wrote, one per attempt, and checks the text with its hints, in all styles of
    /// line ends.
    #[track_caller]
    fn check(text: &str, written: &[&str], shown: ShownVerdicts, expected: Expect) {
        let show = |text: &str| {
            let fixture = Fixture::parse(text);
            let attempts: Vec<Attempt<'_>> = written.iter().map(|written| Attempt::writing(written)).collect();
            let latest = fixture.attempted(&attempts);
            let mut text = fixture.text();
            let found = verdict_hints(&fixture.document, fixture.file, &latest, &(0..text.len()), shown);
            for hint in found.iter().rev() {
                text.insert_str(hint.at, &format!("  ⟨{}⟩", hint.label));
            }
            text.replace("\r\n", "\n")
        };
        expected.assert_eq(&show(text));
        assert_eq!(show(&text.replace('\n', "\r\n")), show(text));
    }

    const SUITE: &str = "kindlm: 1\nproject: p\nsuite: {name: s}\ntests:\n  - name: a\n    command: x\n    expect:\n      output:\n        contains:\n          - refund approved  # a comment\n          - \"hi\"\n        notContains: [sorry]\n      toolCalls: [{tool: f}]\n";

    #[test]
    fn each_line_shows_what_became_of_its_claims() {
        check(
            SUITE,
            &["hi\nrefund approve\n"],
            ShownVerdicts::All,
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
                      - refund approved  # a comment  ⟨✗ closest: refund approve⟩
                      - "hi"  ⟨✓⟩
                    notContains: [sorry]  ⟨✓⟩
                  toolCalls: [{tool: f}]  ⟨✗ Expected tool "f" to be called, but got: []⟩
        "#]],
        );
    }

    #[test]
    fn attempts_are_shown_one_by_one_where_they_differ() {
        check(
            SUITE,
            &["hi\nrefund approved\n", "sorry"],
            ShownVerdicts::All,
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
                      - refund approved  # a comment  ⟨✓✗ got sorry⟩
                      - "hi"  ⟨✓✗ got sorry⟩
                    notContains: [sorry]  ⟨✓✗ got sorry⟩
                  toolCalls: [{tool: f}]  ⟨✗ 0/2 Expected tool "f" to be called, but got: []⟩
        "#]],
        );
    }

    #[test]
    fn passes_can_be_left_out() {
        check(
            SUITE,
            &["hi\nrefund approve\n"],
            ShownVerdicts::Failures,
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
                      - refund approved  # a comment  ⟨✗ closest: refund approve⟩
                      - "hi"
                    notContains: [sorry]
                  toolCalls: [{tool: f}]  ⟨✗ Expected tool "f" to be called, but got: []⟩
        "#]],
        );
    }
}
