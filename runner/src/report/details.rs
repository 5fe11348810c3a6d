//! The facts behind a failure, the same in every report for people: what was expected, what was observed, what the agent
//! said.

use std::sync::Arc;

use speclens_schema::{check::text, evidence::Evidence, verdict::Verdict, words::plural};

use super::{SuiteReport, failures::Failure};
use crate::event::RunResult;

/// Maximum number of characters of a reply.
const MAX_REPLY_CHARACTERS: usize = 300;

/// Maximum number of characters of any other value in an annotation of a line.
const MAX_VALUE_CHARACTERS: usize = 400;

/// A fact about a failure.
#[derive(Debug)]
pub(super) struct Detail {
    pub(super) kind: DetailKind,
    /// The text, with secrets masked.
    pub(super) text: String,
}

/// Kinds of facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DetailKind {
    Expected,
    Actual,
    Note,
    Help,
    /// The last reply of the agent.
    Reply,
}

impl DetailKind {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            DetailKind::Expected => "expected",
            DetailKind::Actual => "actual",
            DetailKind::Note => "note",
            DetailKind::Help => "help",
            DetailKind::Reply => "the agent said",
        }
    }
}

impl Detail {
    /// Returns it as lines of a text, shortened.
    pub(super) fn line(&self) -> String {
        format!("{}: {}", self.kind.as_str(), text::shortened(&self.text, MAX_VALUE_CHARACTERS))
    }
}

/// Reads the evidence of attempts: once for several failures of one attempt in a row, because it may be large.
#[derive(Debug, Default)]
pub(super) struct EvidenceReader<'r> {
    last: Option<(&'r RunResult, Option<Arc<Evidence>>)>,
}

impl<'r> EvidenceReader<'r> {
    /// Returns the evidence of an attempt; `None` if there is none.
    pub(super) fn read(&mut self, run: &'r RunResult) -> Option<Arc<Evidence>> {
        match &self.last {
            Some((last, evidence)) if std::ptr::eq(*last, run) => evidence.clone(),
            Some(_) | None => self.last.insert((run, run.evidence.get())).1.clone(),
        }
    }
}

/// Returns the facts about a failed assertion of an attempt with this evidence.
pub(super) fn of_verdict(report: &SuiteReport, verdict: &Verdict, evidence: Option<&Evidence>) -> Vec<Detail> {
    let mut details = Vec::new();
    let mut add = |kind, text: &str| {
        if !text.trim().is_empty() {
            details.push(Detail { kind, text: report.masked(text) });
        }
    };
    let mismatch = verdict.outcome.mismatch();
    if let Some(mismatch) = mismatch {
        let (expected, actual) = (mismatch.expected.as_str(), mismatch.actual.as_str());
        // A final line end is shown only where it makes the difference.
        let trimmed = (expected.trim_end_matches('\n'), actual.trim_end_matches('\n'));
        let (expected, actual) = if trimmed.0 == trimmed.1 { (expected, actual) } else { trimmed };
        add(DetailKind::Expected, expected);
        add(DetailKind::Actual, actual);
        mismatch.notes.iter().for_each(|note| add(DetailKind::Note, note));
        mismatch.help.iter().for_each(|help| add(DetailKind::Help, help));
    }
    let reply = evidence.and_then(|evidence| report.dialect.last_reply(evidence));
    let is_new = |reply: &String| {
        let begin = reply.char_indices().nth(MAX_REPLY_CHARACTERS).map_or(reply.as_str(), |(end, _)| &reply[..end]);
        mismatch.is_none_or(|mismatch| !mismatch.actual.contains(begin))
    };
    if let Some(reply) = reply.filter(is_new) {
        let words = reply.split_whitespace().take(MAX_REPLY_CHARACTERS).collect::<Vec<_>>().join(" ");
        add(DetailKind::Reply, &text::shortened(&words, MAX_REPLY_CHARACTERS));
    }
    details
}

/// Returns the facts about a failed assertion in all attempts of a test.
pub(super) fn details(
    report: &SuiteReport,
    failure: &Failure<'_>,
    verdict: &Verdict,
    evidence: Option<&Evidence>,
) -> Vec<Detail> {
    let mut notes: Vec<String> = failure.frequency().into_iter().collect();
    let other = |(message, count): &(&str, usize)| format!("in {}: {message}", plural(*count, "other attempt"));
    notes.extend(failure.variants.iter().map(other));
    let notes = notes.iter().map(|note| Detail { kind: DetailKind::Note, text: report.masked(note) });
    of_verdict(report, verdict, evidence).into_iter().chain(notes).collect()
}
