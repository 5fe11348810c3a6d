//! The failures of a run: one entry for each assertion and each error, however many attempts it
//! concerns.

use std::cmp::Reverse;

use speclens_schema::{
    document::Pointer,
    evidence::ErrorScope,
    judge::Judged,
    suite::{Case, Subject},
    verdict::Status,
    words::plural,
};

use super::{SuiteReport, share};
use crate::event::{Absence, AbsenceKind, CaseResult, RunResult, SuiteResult};

/// Maximum number of other messages about one assertion.
const MAX_VARIANTS: usize = 3;

/// An assertion that does not hold, or an error.
#[derive(Debug)]
pub(super) struct Failure<'r> {
    /// The tests that it concerns: one, unless an error has its cause outside of the tests.
    pub(super) cases: Vec<&'r Case>,
    /// The attempt to show.
    pub(super) run: &'r RunResult,
    /// The failure in that attempt.
    pub(super) kind: FailureKind<'r>,
    /// Number of attempts that it concerns.
    attempts: usize,
    /// Their share of the attempts of the test; empty if there was only one.
    share: String,
    /// The other outcomes of the same assertion, each with its number of attempts.
    pub(super) variants: Vec<(&'r str, usize)>,
}

/// Kinds of failures.
#[derive(Clone, Copy, Debug)]
pub(super) enum FailureKind<'r> {
    /// An assertion does not hold, or has no result.
    Verdict(&'r Judged),
    /// Every assertion that could decide was skipped. This is one of them.
    Skipped(&'r Judged),
    /// There are no verdicts.
    Absence(&'r Absence),
}

impl FailureKind<'_> {
    /// Returns its status as a word in a sentence.
    pub(super) fn word(self) -> &'static str {
        match self {
            FailureKind::Verdict(judged) => match judged.verdict.outcome.status() {
                Status::Fail => "failed",
                Status::Error => "error",
                Status::Unknown => "unknown",
                Status::Warn => "warning",
                Status::Skip => "skipped",
                Status::Pass => "passed",
            },
            FailureKind::Skipped(_) => "skipped",
            FailureKind::Absence(absence) => match absence.kind.status() {
                Status::Error => "error",
                Status::Skip | Status::Pass | Status::Warn | Status::Unknown | Status::Fail => "unknown",
            },
        }
    }
}

impl Failure<'_> {
    /// Returns the title of the tests that it concerns.
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
        let word = self.kind.word();
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
                (FailureKind::Absence(one), FailureKind::Absence(two)) => one == two && is_outside(one.kind),
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

/// The verdicts on a part of a claim, by attempt.
struct Part<'r> {
    claim: usize,
    at: &'r Pointer,
    /// A claim may have several verdicts on one place.
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

/// Verdicts of one status.
type Verdicts<'r> = Vec<(&'r RunResult, &'r Judged)>;

/// The worst verdicts on a part.
struct Worst<'r> {
    /// Equal ones together, the most frequent first.
    variants: Vec<Verdicts<'r>>,
    /// The number of attempts with each better status, such as ", unknown in 2".
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

/// Returns the messages that differ from that of the first variant, each with its number of attempts.
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
        AbsenceKind::FailedFast | AbsenceKind::Decided => false,
    }
}
