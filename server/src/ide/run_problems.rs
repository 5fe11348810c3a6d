//! Run results as diagnostics: each failing claim on the part that decides, a run error on its action.

use std::ops::Range;

use speclens_runner::event::{RunResult, measured, share};
use speclens_schema::{
    check::text::uncolored,
    document::{Document, NodeRef, Pointer},
    evidence::Evidence,
    format::Dialect,
    judge::Judged,
    mask::Secrets,
    suite::{Case, Subject, Suite},
    unparsed,
    verdict::{FailureCode, FilePlace, Outcome, RelatedPlace, Status},
};

/// A result to show to the author.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunProblem {
    /// The bytes to underline.
    pub range: Range<usize>,
    /// The failure code of the original tool, if it has one.
    pub code: Option<&'static str>,
    /// The message, with expected and actual values.
    pub message: String,
    /// Its status: fail and error are failures; warn and unknown are less severe.
    pub status: Status,
    /// The expected and the actual value; `None` if a claim compares no values.
    pub difference: Option<(String, String)>,
    pub related: Vec<RunRelated>,
}

impl RunProblem {
    /// Masks secrets: names of tests and texts of assertions come from the suite, which may contain some.
    pub(crate) fn mask(&mut self, secrets: &Secrets) {
        let related = self.related.iter_mut().map(|related| &mut related.message);
        let values = self.difference.iter_mut().flat_map(|(expected, actual)| [expected, actual]);
        related.chain(values).chain([&mut self.message]).for_each(|text| *text = secrets.mask(text));
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunRelated {
    pub message: String,
    pub at: RunPlace,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum RunPlace {
    /// A range in the same file.
    Here(Range<usize>),
    /// A place in a file without tests.
    File(FilePlace),
}

/// Maximum number of characters of a value in a diagnostic; the transcript has all of it.
const MAX_VALUE_CHARACTERS: usize = 400;
const MAX_VALUE_LINES: usize = 5;

const MAX_ERROR_LINES: usize = 3;

/// Returns the results of attempts that are not as expected: one per claim, however many attempts it concerns, with the
/// details of the worst, and of the newest of these. A claim that holds in some repetitions of each subject that fails it is a
/// warning.
///
/// Each attempt comes with the end of its action if it did not succeed.
pub(crate) fn of_attempts(
    dialect: Dialect,
    document: &Document,
    case: &Case,
    attempts: &[(&RunResult, &[String])],
) -> Vec<RunProblem> {
    let mut found: Vec<(Part, Vec<(&RunResult, RunProblem)>)> = Vec::new();
    for (result, ending) in attempts {
        let mut seen: Vec<Part> = Vec::new();
        for (mut part, problem) in of_attempt(dialect, document, case, &result.verdicts, ending) {
            // A claim may have several verdicts on one place.
            part.nth = seen.iter().filter(|known| (known.claim, &known.at) == (part.claim, &part.at)).count();
            seen.push(part.clone());
            match found.iter_mut().find(|(known, _)| *known == part) {
                Some((_, problems)) => problems.push((result, problem)),
                None => found.push((part, vec![(result, problem)])),
            }
        }
    }
    found.into_iter().filter_map(|(_, problems)| counted(attempts, problems)).collect()
}

#[derive(Clone, Debug, PartialEq)]
struct Part {
    claim: usize,
    at: Pointer,
    nth: usize,
}

fn counted(attempts: &[(&RunResult, &[String])], problems: Vec<(&RunResult, RunProblem)>) -> Option<RunProblem> {
    let all: Vec<&RunResult> = attempts.iter().map(|(result, _)| *result).collect();
    let concerned: Vec<(&RunResult, Status)> =
        problems.iter().map(|(result, problem)| (*result, problem.status)).collect();
    let (_, mut problem) = problems.into_iter().max_by_key(|(result, problem)| (problem.status, result.began_us))?;
    let Frequency { word, counts, status } = Frequency::of(&all, &concerned)?;
    if !counts.is_empty() {
        problem.message.push_str(&format!("\n{word}{counts}"));
    }
    problem.status = status;
    Some(problem)
}

fn of_attempt(
    dialect: Dialect,
    document: &Document,
    case: &Case,
    judged: &[Judged],
    ending: &[String],
) -> Vec<(Part, RunProblem)> {
    let mut problems = Vec::new();
    for Judged { claim, verdict } in judged {
        let status = verdict.outcome.status();
        // A part that cannot be parsed is reported as a problem of the text.
        if matches!(status, Status::Pass | Status::Skip) || verdict.kind == unparsed::KIND {
            continue;
        }
        let base = case.claims.get(*claim).map_or_else(|| case.at.clone(), |claim| claim.at.clone());
        let at = base.join(&verdict.at);
        let mut message = format!("`{}`: {}", case.name, message(&verdict.label, &verdict.outcome));
        if matches!(status, Status::Fail | Status::Error) {
            for line in ending {
                message.push_str(&format!("\n{line}"));
            }
        }
        let related = verdict.related.iter();
        let part = Part { claim: *claim, at: verdict.at.clone(), nth: 0 };
        let problem = RunProblem {
            range: place(document, dialect.name_key(), case, &at),
            code: verdict.code.map(FailureCode::as_str),
            message,
            status,
            difference: difference(&verdict.outcome),
            related: related
                .map(|related| RunRelated {
                    message: related.message.clone(),
                    at: match &related.at {
                        RelatedPlace::Claim(at) => {
                            RunPlace::Here(place(document, dialect.name_key(), case, &base.join(at)))
                        }
                        RelatedPlace::File(place) => RunPlace::File(place.clone()),
                    },
                })
                .collect(),
        };
        problems.push((part, problem));
    }
    problems
}

pub(crate) fn run_error(dialect: Dialect, document: &Document, case: &Case, message: &str) -> RunProblem {
    let at = case.action.at().unwrap_or(&case.at);
    RunProblem {
        range: place(document, dialect.name_key(), case, at),
        code: None,
        message: format!("`{}` ended with an error: {message}", case.name),
        status: Status::Error,
        difference: None,
        related: Vec::new(),
    }
}

/// Returns the notes about an attempt, such as a process that it left behind, at the test.
pub(crate) fn noted(dialect: Dialect, document: &Document, case: &Case, notes: &[String]) -> Vec<RunProblem> {
    let notes = notes.iter().map(|note| RunProblem {
        range: place(document, dialect.name_key(), case, &case.at),
        code: None,
        message: format!("`{}`: {note}", case.name),
        status: Status::Pass,
        difference: None,
        related: Vec::new(),
    });
    notes.collect()
}

/// Returns how a command ended that did not succeed, and its last lines of standard error. Empty for one that
/// succeeded.
pub(crate) fn ending(evidence: &Evidence) -> Vec<String> {
    let Some(exit) = evidence.exit().filter(|exit| exit.code != Some(0)) else { return Vec::new() };
    let mut lines = vec![format!("the command {}", exit.sentence())];
    let written = evidence.stderr().into_iter().flat_map(|stderr| stderr.text.lines());
    let written: Vec<&str> = written.filter(|line| !line.trim().is_empty()).collect();
    let last = &written[written.len().saturating_sub(MAX_ERROR_LINES)..];
    lines.extend(last.iter().map(|line| format!("standard error: {}", shortened(&uncolored(line)))));
    lines
}

/// Returns one line for the target of a pointer: the node itself, its key, or its start. For the test as a whole, its
/// name.
pub(super) fn place(document: &Document, name_key: &str, case: &Case, at: &Pointer) -> Range<usize> {
    let text = document.text();
    let fits = |range: &Range<usize>| {
        let end = range.end.min(text.len_bytes());
        !range.is_empty() && text.byte_to_line(range.start.min(end)) == text.byte_to_line(end)
    };
    let name = || document.find(&case.at.key(name_key)).map(NodeRef::range).filter(fits);
    if *at == case.at
        && let Some(name) = name()
    {
        return name;
    }
    let range = document.range_of(at);
    let first_key = || document.find(at).and_then(|node| Some(node.entries().next()?.key.range()));
    let candidates = [Some(range.clone()), Some(document.key_range_of(at)), first_key()];
    candidates.into_iter().flatten().find(fits).unwrap_or_else(|| {
        let start = range.start.min(text.len_bytes());
        let line = text.line(text.byte_to_line(start));
        let end = text.line_to_byte(text.byte_to_line(start)) + String::from(line).trim_end().len();
        start..end.max(start)
    })
}

fn difference(outcome: &Outcome) -> Option<(String, String)> {
    let (Outcome::Fail(mismatch) | Outcome::Warn(mismatch)) = outcome else { return None };
    let is_whole = !mismatch.expected.is_empty() && !mismatch.actual.is_empty();
    is_whole.then(|| (mismatch.expected.clone(), mismatch.actual.clone()))
}

fn message(label: &str, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Fail(mismatch) | Outcome::Warn(mismatch) => {
            let mut message = mismatch.message.clone();
            // Notes and help come before values, which may be long.
            for (name, text) in mismatch.labelled() {
                message.push_str(&format!("\n{name}: {}", shortened(text)));
            }
            for (name, value) in [("expected", &mismatch.expected), ("actual", &mismatch.actual)] {
                // A value that the sentence contains is not repeated.
                if !value.is_empty() && !mismatch.message.contains(value.as_str()) {
                    message.push_str(&format!("\n{name}: {}", shortened(value)));
                }
            }
            message
        }
        Outcome::Unknown(reason) => format!("unknown result: {reason}\nassertion: {label}"),
        Outcome::Error(reason) => format!("{reason}\nassertion: {label}"),
        Outcome::Pass | Outcome::Skip(_) => label.to_owned(),
    }
}

fn shortened(value: &str) -> String {
    let mut shown = String::new();
    for line in value.lines().take(MAX_VALUE_LINES) {
        if !shown.is_empty() {
            shown.push('\n');
        }
        shown.push_str(line);
    }
    if let Some((end, _)) = shown.char_indices().nth(MAX_VALUE_CHARACTERS) {
        shown.truncate(end);
    }
    if shown.len() < value.trim_end_matches(['\r', '\n']).len() {
        shown.push_str(" … (the transcript shows all of it)");
    }
    shown
}

/// The number of attempts in which a claim, or a part of it, has an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frequency {
    /// The outcome as a verb, such as `fails`.
    pub(super) word: &'static str,
    /// Number of attempts, by subject if there are several subjects. Empty for a single attempt.
    pub(super) counts: String,
    /// The overall status: a failure that does not occur in every repetition of any subject is a warning.
    pub(super) status: Status,
}

impl Frequency {
    /// Counts the attempts concerned, each with its status. The worst of them decides the outcome; `None` if there are
    /// none.
    pub(super) fn of(attempts: &[&RunResult], concerned: &[(&RunResult, Status)]) -> Option<Frequency> {
        let status = concerned.iter().map(|(_, status)| *status).max()?;
        let mut subjects: Vec<&Subject> = Vec::new();
        for result in attempts {
            if !subjects.contains(&&result.subject) {
                subjects.push(&result.subject);
            }
        }
        let count = |of: Status| concerned.iter().filter(|(_, status)| *status == of).count();
        let counts_of = |subject: &Subject| {
            let all = attempts.iter().filter(|result| result.subject == *subject).count();
            let some = concerned.iter().filter(|(result, own)| result.subject == *subject && *own == status);
            (some.count(), all)
        };
        let is_failure = concerned.iter().all(|(_, status)| *status == Status::Fail);
        let is_sometimes = |(some, all): (usize, usize)| some == 0 || some < all;
        let is_flaky = is_failure && subjects.iter().all(|subject| is_sometimes(counts_of(subject)));
        let is_shown = |result: &&RunResult| {
            let own = concerned.iter().find(|(other, _)| std::ptr::eq(*other, *result));
            if is_flaky { own.is_none() } else { own.is_some_and(|(_, own)| *own == status) }
        };
        let shown: Vec<&RunResult> = attempts.iter().copied().filter(is_shown).collect();
        let word = if is_flaky { "flaky: passes" } else { verb(status) };
        let mut counts = share(attempts, &shown);
        let better = Status::ALL.iter().copied().filter(|other| *other < status && count(*other) > 0);
        counts.extend(better.map(|other| format!(", {} in {}", verb(other), count(other))));
        Some(Frequency { word, counts, status: if is_flaky { Status::Warn } else { status } })
    }
}

fn verb(status: Status) -> &'static str {
    match status {
        Status::Fail => "fails",
        Status::Error => "error",
        Status::Unknown => "unknown",
        Status::Warn => "warns",
        Status::Skip => "skipped",
        Status::Pass => "passes",
    }
}

/// Returns the gates that do not hold, each at its key. Empty if a result is missing: `attempts` has, for each case,
/// those attempts whose evidence matches what the case does now.
pub(crate) fn failing_gates(suite: &Suite, document: &Document, attempts: &[Vec<&RunResult>]) -> Vec<RunProblem> {
    let cases = suite.cases.iter().zip(attempts);
    let cases = cases.map(|(case, attempts)| Some((case, planned(case, attempts)?)));
    let Some(cases) = cases.collect::<Option<Vec<_>>>() else {
        return Vec::new();
    };
    let outcomes: Vec<_> = cases
        .iter()
        .map(|(case, attempts)| {
            let worst = attempts.iter().map(|attempt| attempt.status).max();
            measured(case, worst.unwrap_or(Status::Skip), attempts.iter().copied())
        })
        .collect();
    let gates = suite.gates.evaluate(&outcomes).gates.into_iter();
    let failing = gates.filter_map(|gate| {
        let is_failing = match gate.status {
            Status::Fail | Status::Warn => true,
            Status::Pass | Status::Skip | Status::Unknown | Status::Error => false,
        };
        // A limit that is a default of the format, or in the settings, is not in the file.
        let at = gate.source.in_suite().filter(|_| is_failing)?;
        Some(RunProblem {
            range: document.key_range_of(at),
            code: Some(gate.name),
            message: gate.message,
            status: gate.status,
            difference: None,
            related: Vec::new(),
        })
    });
    failing.collect()
}

/// Returns the attempts that a run of the suite makes of a case; `None` if some have no result.
fn planned<'r>(case: &Case, attempts: &[&'r RunResult]) -> Option<Vec<&'r RunResult>> {
    if case.skip {
        return Some(Vec::new());
    }
    if !case.intact {
        return None;
    }
    let subjects = case.action.subjects();
    // Other models may have been chosen in addition.
    let own = attempts.iter().copied().filter(|attempt| subjects.contains(&attempt.subject));
    let own: Vec<&RunResult> = own.collect();
    let is_whole = !own.is_empty() && own.len() == subjects.len() * case.repeat as usize;
    is_whole.then_some(own)
}

#[cfg(test)]
mod tests {
    use super::{shortened, *};

    #[test]
    fn long_values_are_cut_between_lines_and_short_ones_are_whole() {
        assert_eq!(shortened("a\nb\n"), "a\nb");
        let long: String = (1..=3000).map(|line| format!("line {line}\n")).collect();
        assert_eq!(shortened(&long), "line 1\nline 2\nline 3\nline 4\nline 5 … (the transcript shows all of it)");
        let wide = "ä".repeat(1000);
        assert_eq!(shortened(&wide).chars().filter(|letter| *letter == 'ä').count(), 400);
    }

    #[test]
    fn the_worst_status_decides_and_each_status_is_counted_apart() {
        for (statuses, word, counts, status) in [
            (vec![Status::Fail, Status::Unknown], "fails", " in 1 of 2 attempts, unknown in 1", Status::Fail),
            (vec![Status::Unknown, Status::Fail], "fails", " in 1 of 2 attempts, unknown in 1", Status::Fail),
            (vec![Status::Fail, Status::Error], "error", " in 1 of 2 attempts, fails in 1", Status::Error),
            (vec![Status::Unknown, Status::Unknown], "unknown", " in 2 of 2 attempts", Status::Unknown),
            (vec![Status::Fail], "fails", "", Status::Fail),
        ] {
            let results: Vec<RunResult> = (0..)
                .zip(&statuses)
                .map(|(repeat, status)| RunResult::of(&Subject::Command, repeat, *status))
                .collect();
            let attempts: Vec<&RunResult> = results.iter().collect();
            let concerned: Vec<(&RunResult, Status)> = attempts.iter().copied().zip(statuses.iter().copied()).collect();
            let expected = Frequency { word, counts: counts.to_owned(), status };
            assert_eq!(Frequency::of(&attempts, &concerned), Some(expected), "{statuses:?}");
        }
    }
}
