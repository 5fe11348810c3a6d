//! Run results as diagnostics: each failing claim on the part that decides, a run error on its action.

use std::ops::Range;

use speclens_runner::event::RunResult;
use speclens_schema::{
    check::text::uncolored,
    document::{Document, NodeRef, Pointer},
    evidence::Evidence,
    format::Dialect,
    judge::Judged,
    suite::Case,
    unparsed,
    verdict::{FailureCode, FilePlace, Outcome, RelatedPlace, Status},
};

use super::frequency::Frequency;

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
    /// Related places.
    pub related: Vec<RunRelated>,
}

/// A related place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RunRelated {
    /// The message about the place.
    pub message: String,
    /// The place.
    pub at: RunPlace,
}

/// The location of a related place.
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

/// Maximum number of lines from the end of standard error.
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

/// The subject of a verdict.
#[derive(Clone, Debug, PartialEq)]
struct Part {
    claim: usize,
    at: Pointer,
    nth: usize,
}

/// Returns the worst problem, of the newest attempt that has it, with the number of attempts.
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

/// Returns the results of one attempt that are not as expected, each with the part that decides.
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

/// Returns a run error at its action.
pub(crate) fn run_error(dialect: Dialect, document: &Document, case: &Case, message: &str) -> RunProblem {
    let at = case.action.at().unwrap_or(&case.at);
    RunProblem {
        range: place(document, dialect.name_key(), case, at),
        code: None,
        message: format!("`{}` ended with an error: {message}", case.name),
        status: Status::Error,
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
fn place(document: &Document, name_key: &str, case: &Case, at: &Pointer) -> Range<usize> {
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

/// Returns the start of a value, cut between lines if it has many.
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

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn long_values_are_cut_between_lines_and_short_ones_are_whole() {
        assert_eq!(shortened("a\nb\n"), "a\nb");
        let long: String = (1..=3000).map(|line| format!("line {line}\n")).collect();
        assert_eq!(shortened(&long), "line 1\nline 2\nline 3\nline 4\nline 5 … (the transcript shows all of it)");
        let wide = "ä".repeat(1000);
        assert_eq!(shortened(&wide).chars().filter(|letter| *letter == 'ä').count(), 400);
    }
}
