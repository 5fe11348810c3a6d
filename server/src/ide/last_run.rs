//! How the claims under the pointer went when their test ran last.

use std::ops::Range;

use speclens_runner::event::RunResult;
use speclens_schema::{
    document::{Document, NodeRef, Pointer},
    judge::Judged,
    suite::Case,
    verdict::{Status, Verdict},
};

use super::{card, frequency::Frequency, hover::Hover, transcript};

/// Maximum number of lines.
const MAX_LINES: usize = 10;

/// Returns how often each verdict on the claim at `offset` is what it is. Of a claim with several verdicts, only those on
/// the part at `offset` are shown, where there are any. `None` outside of keys and values of claims.
pub fn hover(document: &Document, case: &Case, offset: usize, attempts: &[&RunResult]) -> Option<Hover> {
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
    // The part that decides need not be the one that was written first: of a judge it is the least score.
    if labels.len() > 1 {
        labels.retain(|(_, _, is_here)| *is_here);
    }
    let left_out = labels.len().saturating_sub(MAX_LINES);
    let shown = labels.iter().take(MAX_LINES).filter_map(|(claim, label, _)| line(*claim, label, attempts));
    let mut lines: Vec<String> = shown.collect();
    if left_out > 0 {
        lines.push(format!("- and {left_out} more"));
    }
    let markdown = format!("Last run:\n\n{}", lines.join("\n"));
    (!lines.is_empty()).then_some(Hover { range, markdown, page: None })
}

/// The node whose key or scalar is at an offset.
fn written_at(document: &Document, offset: usize) -> Option<(Pointer, Range<usize>)> {
    let at = document.pointer_at(offset);
    let node = document.find(&at)?;
    let entry = at.parent().and_then(|parent| document.find(&parent)?.entry(&at.last()?));
    let key = entry.map(|entry| entry.key.range());
    let value = Some(node).filter(|node| node.text().is_some()).map(NodeRef::range);
    let touched = [key, value].into_iter().flatten().find(|range| range.start <= offset && offset <= range.end)?;
    Some((at, touched))
}

fn key(judged: &Judged) -> (usize, &str) {
    (judged.claim, &judged.verdict.label)
}

/// One verdict over all attempts.
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
    Some(format!("- {} {}: {word}{counts}", transcript::mark(status), card::inline(&transcript::one_line(label))))
}
