//! The results of the last run, shown for the claim under the pointer.

use std::{collections::HashSet, ops::Range};

use serde_json::Value;
use speclens_runner::{event::RunResult, report::status::mark};
use speclens_schema::{
    check::{json::number_text, score::object},
    document::{Document, NodeRef, Pointer},
    json_schema::SpecFile,
    judge::Judged,
    suite::Case,
    verdict::{Check, Status, Verdict},
};

use super::{hover::Hover, latest::Latest, markdown, outcome::CaseState, run_problems::Frequency};

const MAX_LINES: usize = 10;

/// Returns the hovers with results of the last run at a place: notes, and the verdicts on the claim there. Empty if the
/// results belong to an older text, whose places differ.
pub(crate) fn hovers(document: &Document, file: SpecFile, latest: &Latest, offset: usize) -> Vec<Hover> {
    if !latest.is_of(document) {
        return Vec::new();
    }
    [noted(document, file, latest, offset), claimed(document, latest, offset)].into_iter().flatten().collect()
}

fn noted(document: &Document, file: SpecFile, latest: &Latest, offset: usize) -> Option<Hover> {
    let at = document.pointer_at(offset);
    let range = document.find(&at)?.range();
    let is_here = |case: &Case| case.at.key(file.name_key()) == at || case.action.at() == Some(&at);
    let (_, outcome) = latest.own().find(|(case, _)| is_here(case))?;
    let mut known = HashSet::new();
    let notes = outcome.attempts.iter().flat_map(|attempt| &attempt.result.notes);
    let notes = notes.filter(|note| known.insert(note.as_str()));
    let notes: Vec<String> = notes.map(|note| format!("- {}", markdown::text(note))).collect();
    let markdown = format!("Notes from the run:\n\n{}", notes.join("\n"));
    (!notes.is_empty()).then_some(Hover { range, markdown, page: None })
}

fn claimed(document: &Document, latest: &Latest, offset: usize) -> Option<Hover> {
    let at = document.pointer_at(offset);
    let (case, outcome) = latest.own().find(|(case, _)| at.below(&case.at).is_some())?;
    if outcome.known.state == CaseState::Cancelled {
        return None;
    }
    let judged = outcome.attempts.iter().map(|attempt| &attempt.result).filter(|result| result.absence.is_none());
    verdicts(document, case, offset, &judged.collect::<Vec<_>>())
}

/// Returns the frequency of each verdict on the claim at `offset`. Of a claim with several verdicts, only those on the
/// part at `offset` are shown, if there are any. `None` outside of keys and values of claims.
fn verdicts(document: &Document, case: &Case, offset: usize, attempts: &[&RunResult]) -> Option<Hover> {
    let (at, range) = written_at(document, offset)?;
    let mut labels: Vec<(usize, &str, bool)> = Vec::new();
    for judged in attempts.iter().flat_map(|attempt| &attempt.verdicts) {
        let Some(claim) = case.claims.get(judged.claim).filter(|claim| at.below(&claim.at).is_some()) else { continue };
        let part = claim.at.join(&judged.verdict.at);
        let is_here = at.below(&part).is_some() || part.below(&at).is_some();
        match labels.iter_mut().find(|(claim, label, _)| (*claim, *label) == key(judged)) {
            Some((_, _, known)) => *known |= is_here,
            None => labels.push((judged.claim, &judged.verdict.label, is_here)),
        }
    }
    // The deciding part need not be the first in the text: for a judge, it is the minimum score.
    if labels.len() > 1 {
        labels.retain(|(_, _, is_here)| *is_here);
    }
    let left_out = labels.len().saturating_sub(MAX_LINES);
    let shown = labels.iter().take(MAX_LINES).filter_map(|(claim, label, _)| {
        let reasons = case.claims.get(*claim).and_then(|claim| said_by_judge(&*claim.check, attempts));
        Some(line(*claim, label, attempts)? + &reasons.unwrap_or_default())
    });
    let mut lines: Vec<String> = shown.collect();
    if left_out > 0 {
        lines.push(format!("- and {left_out} more"));
    }
    let markdown = format!("Last run:\n\n{}", lines.join("\n"));
    (!lines.is_empty()).then_some(Hover { range, markdown, page: None })
}

pub(super) fn written_at(document: &Document, offset: usize) -> Option<(Pointer, Range<usize>)> {
    let at = document.pointer_at(offset);
    let node = document.find(&at)?;
    let entry = at.parent().and_then(|parent| document.find(&parent)?.entry(&at.last()?));
    let key = entry.map(|entry| entry.key.range());
    let value = Some(node).filter(|node| node.text().is_some()).map(NodeRef::range);
    let touched = [key, value].into_iter().flatten().find(|range| range.start <= offset && offset <= range.end)?;
    Some((at, touched))
}

/// Returns the score that a judge gave last, and its reasons.
fn said_by_judge(check: &dyn Check, attempts: &[&RunResult]) -> Option<String> {
    attempts.iter().rev().find_map(|attempt| {
        let evidence = attempt.evidence.get()?;
        let needs = check.needs(&evidence.context);
        let replies = needs.iter().find_map(|need| evidence.answer_to(need)?.replies())?;
        let said: Value = serde_json::from_str(object(&replies.last()?.text.text).ok()?).ok()?;
        let score = said.get("score").or_else(|| said.get("driftScore"))?.as_f64()?;
        let reasons = said.get("reasoning").and_then(Value::as_str).unwrap_or_default();
        Some(format!(" (score {}: {})", number_text(score), markdown::text(reasons)))
    })
}

fn key(judged: &Judged) -> (usize, &str) {
    (judged.claim, &judged.verdict.label)
}

fn line(claim: usize, label: &str, attempts: &[&RunResult]) -> Option<String> {
    let worst = |attempt: &RunResult| {
        let own = attempt.verdicts.iter().filter(|judged| key(judged) == (claim, label));
        own.map(|Judged { verdict: Verdict { outcome, .. }, .. }| outcome.status()).max()
    };
    let statuses: Vec<(&RunResult, Status)> =
        attempts.iter().filter_map(|&attempt| Some((attempt, worst(attempt)?))).collect();
    let is_good = |status: Status| matches!(status, Status::Pass | Status::Skip);
    let mut concerned = statuses.clone();
    concerned.retain(|(_, status)| !is_good(*status));
    if concerned.is_empty() {
        concerned = statuses;
        let has_passed = concerned.iter().any(|(_, status)| *status == Status::Pass);
        concerned.retain(|(_, status)| !has_passed || *status == Status::Pass);
    }
    let Frequency { word, counts, status } = Frequency::of(attempts, &concerned)?;
    Some(format!("- {} {}: {word}{counts}", mark(status), markdown::inline(&markdown::without_breaks(label))))
}

#[cfg(test)]
mod tests {
    use speclens_schema::{suite::Subject, verdict::Outcome};

    use super::*;
    use crate::ide::tests::fixture::Fixture;

    fn failed(_: &Case) -> Vec<RunResult> {
        let verdict = Verdict::of("output", "output contains `a`", Outcome::Pass);
        let notes = vec!["left a process behind".to_owned()];
        let run = RunResult::of(&Subject::Command, 0, Status::Pass);
        vec![RunResult { verdicts: vec![Judged { claim: 0, verdict }], notes, ..run }]
    }

    fn shown(text: &str) -> Vec<String> {
        let fixture = Fixture::parse(text);
        let found = hovers(&fixture.document, fixture.file, &fixture.latest(failed), fixture.offset());
        found.into_iter().map(|hover| hover.markdown).collect()
    }

    #[test]
    fn claim_and_name_show_the_last_run() {
        let claim = "tests:\n  - name: a\n    command: x\n    expect:\n      output: {con$0tains: [a]}\n";
        assert_eq!(shown(claim), ["Last run:\n\n- ✓ `` output contains `a` ``: passes"]);
        let name = "tests:\n  - name: a$0\n    command: x\n    expect: {output: {contains: [a]}}\n";
        assert_eq!(shown(name), ["Notes from the run:\n\n- left a process behind"]);
    }

    #[test]
    fn results_of_an_older_text_are_not_shown() {
        let text = "tests:\n  - name: a\n    command: x\n    expect: {output: {con$0tains: [a]}}\n";
        let fixture = Fixture::parse(text);
        let latest = fixture.latest(failed);
        let mut document = fixture.document.clone();
        // The first claim is now a different one.
        let claims = fixture.text().find("{contains").unwrap();
        document.edit(claims..claims, "{maxLength: 3, ");
        document.edit(claims + 15..claims + 16, "");
        document.refresh();
        let at = String::from(document.text()).find("maxLength").unwrap();
        assert_eq!(hovers(&document, fixture.file, &latest, at), []);
    }
}
