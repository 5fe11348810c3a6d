//! The failures of a run, one for each assertion and each error, however many attempts it concerns, and the facts behind
//! each: what was expected, what was observed, what the agent said. They are the same in every report for people.

use std::{cmp::Reverse, sync::Arc};

use speclens_schema::{
    check::text,
    document::Pointer,
    evidence::{ErrorScope, Evidence},
    judge::Judged,
    suite::{Case, Subject},
    verdict::{Status, Verdict},
    words::plural,
};

use super::{SuiteReport, status::word};
use crate::event::{Absence, AbsenceKind, CaseResult, RunResult, SuiteResult, share};

const MAX_VARIANTS: usize = 3;

#[derive(Debug)]
pub(super) struct Failure<'r> {
    /// The tests that it concerns: one, unless an error has its cause outside of the tests.
    pub(super) cases: Vec<&'r Case>,
    pub(super) run: &'r RunResult,
    pub(super) kind: FailureKind<'r>,
    attempts: usize,
    /// Their share of the attempts of the test; empty if there was only one.
    share: String,
    pub(super) variants: Vec<(&'r str, usize)>,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum FailureKind<'r> {
    Verdict(&'r Judged),
    /// Every assertion that could decide was skipped. This is one of them.
    Skipped(&'r Judged),
    Absence(&'r Absence),
}

impl FailureKind<'_> {
    pub(super) fn word(self, run: &RunResult) -> &'static str {
        match self {
            FailureKind::Verdict(judged) => word(judged.verdict.outcome.status()),
            FailureKind::Skipped(_) => "skipped",
            FailureKind::Absence(_) if run.status == Status::Fail => "failed",
            FailureKind::Absence(absence) => match absence.kind.status() {
                Status::Error => "error",
                Status::Skip | Status::Pass | Status::Warn | Status::Unknown | Status::Fail => "unknown",
            },
        }
    }
}

impl Failure<'_> {
    pub(super) fn title(&self, report: &SuiteReport) -> String {
        let [case] = &self.cases[..] else { return plural(self.cases.len(), "test") };
        let name = report.masked(&case.name);
        match (&self.run.subject, self.share.is_empty()) {
            (_, true) => format!("`{name}`"),
            (Subject::Command, false) => format!("`{name} #{}`", self.run.repeat + 1),
            (subject, false) => format!("`{name} [{subject}] #{}`", self.run.repeat + 1),
        }
    }

    /// Returns the attempts that it concerns, such as "failed in 7 of 10 attempts". `None` if there was only one.
    pub(super) fn frequency(&self) -> Option<String> {
        let word = self.kind.word(self.run);
        if self.cases.len() > 1 {
            return Some(format!("{word} in {}", plural(self.attempts, "attempt")));
        }
        (!self.share.is_empty()).then(|| format!("{word}{}", self.share))
    }
}

/// Returns the failures of a run, in the order of the suite. Attempts that were omitted on purpose have none.
pub(super) fn failures<'r>(report: &'r SuiteReport, result: &'r SuiteResult) -> Vec<Failure<'r>> {
    let mut found: Vec<Failure<'r>> = Vec::new();
    for outcome in &result.cases {
        let case = &*report.suite.cases[outcome.case];
        for failure in of_case(case, outcome) {
            let is_same = |known: &&mut Failure<'_>| match (known.kind, failure.kind) {
                (FailureKind::Absence(one), FailureKind::Absence(two)) => {
                    one == two && is_outside(one.kind) && !failure.run.lacks_recording()
                }
                (FailureKind::Absence(_) | FailureKind::Verdict(_) | FailureKind::Skipped(_), _) => false,
            };
            match found.iter_mut().find(is_same) {
                Some(known) => {
                    known.cases.push(case);
                    known.attempts += failure.attempts;
                }
                None => found.push(failure),
            }
        }
    }
    found
}

struct Part<'r> {
    claim: usize,
    at: &'r Pointer,
    nth: usize,
    verdicts: Vec<(&'r RunResult, &'r Judged)>,
}

fn of_case<'r>(case: &'r Case, outcome: &'r CaseResult) -> Vec<Failure<'r>> {
    let runs: Vec<&RunResult> = outcome.runs.iter().map(AsRef::as_ref).filter(|run| !run.is_left_out()).collect();
    let failure = |kind: FailureKind<'r>, concerned: &[&'r RunResult]| Failure {
        cases: vec![case],
        run: concerned[0],
        kind,
        attempts: concerned.len(),
        share: share(&runs, concerned),
        variants: Vec::new(),
    };
    let mut absences: Vec<(&Absence, Vec<&RunResult>)> = Vec::new();
    let mut parts: Vec<Part<'_>> = Vec::new();
    let mut skipped: Vec<&RunResult> = Vec::new();
    for &run in &runs {
        if let Some(absence) = &run.absence {
            match absences.iter_mut().find(|(known, _)| *known == absence) {
                Some((_, runs)) => runs.push(run),
                None => absences.push((absence, vec![run])),
            }
            continue;
        }
        let mut seen: Vec<(usize, &Pointer)> = Vec::new();
        for judged in run.verdicts.iter().filter(|&judged| !is_good(judged)) {
            let (claim, at) = (judged.claim, &judged.verdict.at);
            let nth = seen.iter().filter(|known| **known == (claim, at)).count();
            seen.push((claim, at));
            match parts.iter_mut().find(|part| (part.claim, part.at, part.nth) == (claim, at, nth)) {
                Some(part) => part.verdicts.push((run, judged)),
                None => parts.push(Part { claim, at, nth, verdicts: vec![(run, judged)] }),
            }
        }
        if seen.is_empty() && run.status == Status::Unknown {
            skipped.push(run);
        }
    }
    parts.sort_by_key(|part| part.claim);
    let absences = absences.iter().map(|&(absence, ref runs)| failure(FailureKind::Absence(absence), runs));
    let mut found: Vec<Failure<'r>> = absences.collect();
    for part in parts {
        let Worst { variants, better } = part.worst();
        let judged = variants[0][0].1;
        let concerned: Vec<&RunResult> = variants.iter().flatten().map(|(run, _)| *run).collect();
        let mut failure = failure(FailureKind::Verdict(judged), &concerned);
        failure.share.push_str(&better);
        failure.variants = other_messages(&variants);
        found.push(failure);
    }
    let decides = |judged: &&Judged| !case.claims[judged.claim].is_precondition();
    let reason = skipped.first().and_then(|run| run.verdicts.iter().find(decides));
    found.extend(reason.map(|judged| failure(FailureKind::Skipped(judged), &skipped)));
    found
}

type Verdicts<'r> = Vec<(&'r RunResult, &'r Judged)>;

struct Worst<'r> {
    variants: Vec<Verdicts<'r>>,
    better: String,
}

impl<'r> Part<'r> {
    fn worst(&self) -> Worst<'r> {
        let status = |judged: &Judged| judged.verdict.outcome.status();
        let worst = self.verdicts.iter().map(|&(_, judged)| status(judged)).max();
        let mut variants: Vec<Verdicts<'r>> = Vec::new();
        for &(run, judged) in self.verdicts.iter().filter(|&&(_, judged)| Some(status(judged)) == worst) {
            match variants.iter_mut().find(|known| known[0].1.verdict.outcome == judged.verdict.outcome) {
                Some(known) => known.push((run, judged)),
                None => variants.push(vec![(run, judged)]),
            }
        }
        // The order is stable: of equally frequent ones, the first is shown.
        variants.sort_by_key(|variant| Reverse(variant.len()));
        let count = |of: Status| self.verdicts.iter().filter(|&&(_, judged)| status(judged) == of).count();
        let better = Status::ALL.iter().copied().filter(|other| Some(*other) < worst && count(*other) > 0);
        let better = better.map(|other| format!(", {} in {}", other.as_str(), count(other))).collect();
        Worst { variants, better }
    }
}

fn other_messages<'r>(variants: &[Verdicts<'r>]) -> Vec<(&'r str, usize)> {
    let message = |variant: &Verdicts<'r>| variant[0].1.verdict.outcome.message();
    let mut others: Vec<(&str, usize)> = Vec::new();
    for variant in variants.iter().filter(|variant| message(variant) != message(&variants[0])) {
        match others.iter_mut().find(|(known, _)| *known == message(variant)) {
            Some((_, count)) => *count += variant.len(),
            None => others.push((message(variant), variant.len())),
        }
    }
    others.truncate(MAX_VARIANTS);
    others
}

fn is_good(judged: &Judged) -> bool {
    matches!(judged.verdict.outcome.status(), Status::Pass | Status::Skip)
}

/// Returns whether an error has its cause outside of the test, so that it is the same error in other tests.
fn is_outside(kind: AbsenceKind) -> bool {
    match kind {
        AbsenceKind::RunError(kind) => kind.scope() != ErrorScope::Test,
        AbsenceKind::NoRecording | AbsenceKind::Stale => true,
        AbsenceKind::FailedFast | AbsenceKind::OverBudget | AbsenceKind::Decided => false,
    }
}

const MAX_REPLY_CHARACTERS: usize = 300;

const MAX_VALUE_CHARACTERS: usize = 400;

#[derive(Debug)]
pub(super) struct Detail {
    pub(super) kind: DetailKind,
    /// The text, with secrets masked.
    pub(super) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DetailKind {
    Expected,
    Actual,
    Note,
    Help,
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
