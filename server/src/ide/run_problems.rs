//! Results of runs as diagnostics: each failing claim on the part that decides, a broken run on its action.

use std::ops::Range;

use speclens_schema::{
    document::{Document, Pointer},
    judge::Judged,
    suite::Case,
    verdict::{Outcome, Status},
};

/// A result that the author should see.
#[derive(Clone, Debug, PartialEq)]
pub struct RunProblem {
    /// The bytes to underline.
    pub range: Range<usize>,
    /// The original tool's failure code, where there is one.
    pub code: Option<&'static str>,
    /// What happened, with expected and actual.
    pub message: String,
    /// Fail and error are failures; warn and unknown are milder.
    pub status: Status,
    /// Places that belong to it.
    pub related: Vec<(Range<usize>, String)>,
}

/// As much of a value is shown in a diagnostic; the transcript has all of it.
const VALUE_LIMIT: usize = 400;

/// The results of one attempt that are not as they should be.
pub fn of_attempt(document: &Document, case: &Case, judged: &[Judged]) -> Vec<RunProblem> {
    let mut problems = Vec::new();
    for Judged { claim, verdict } in judged {
        let status = verdict.outcome.status();
        if matches!(status, Status::Pass | Status::Skip) {
            continue;
        }
        let base = case.claims.get(*claim).map_or_else(|| case.at.clone(), |claim| claim.at.clone());
        let at = base.join(&verdict.at);
        let related = verdict.related.iter();
        problems.push(RunProblem {
            range: place(document, &at),
            code: verdict.code,
            message: message(&verdict.label, &verdict.outcome),
            status,
            related: related
                .map(|related| (place(document, &base.join(&related.at)), related.message.clone()))
                .collect(),
        });
    }
    problems
}

/// A run that broke, at what it should have done.
pub fn broken(document: &Document, case: &Case, message: &str) -> RunProblem {
    let at = case.action.at().unwrap_or(&case.at);
    RunProblem {
        range: place(document, at),
        code: None,
        message: format!("the run broke: {message}"),
        status: Status::Error,
        related: Vec::new(),
    }
}

/// A node on one line itself, a longer one by its key.
fn place(document: &Document, at: &Pointer) -> Range<usize> {
    let range = document.range_of(at);
    let text = document.text();
    let end = range.end.min(text.len_bytes());
    if text.byte_to_line(range.start.min(end)) == text.byte_to_line(end) { range } else { document.key_range_of(at) }
}

fn message(label: &str, outcome: &Outcome) -> String {
    match outcome {
        Outcome::Fail(mismatch) | Outcome::Warn(mismatch) => {
            let mut message = mismatch.message.clone();
            for (name, value) in [("expected", &mismatch.expected), ("actual", &mismatch.actual)] {
                // What the sentence says already is not said again.
                if !value.is_empty() && !mismatch.message.contains(value.as_str()) {
                    message.push_str(&format!("\n{name}: {}", shortened(value)));
                }
            }
            for help in &mismatch.help {
                message.push_str(&format!("\n{}", shortened(help)));
            }
            message
        }
        Outcome::Unknown(reason) => format!("unknown: {label}: {reason}"),
        Outcome::Error(reason) => format!("{label}: {reason}"),
        Outcome::Pass | Outcome::Skip(_) => label.to_owned(),
    }
}

fn shortened(value: &str) -> String {
    if value.chars().count() <= VALUE_LIMIT {
        return value.to_owned();
    }
    let start: String = value.chars().take(VALUE_LIMIT * 3 / 4).collect();
    let end: String = value.chars().rev().take(VALUE_LIMIT / 4).collect::<Vec<_>>().into_iter().rev().collect();
    format!("{start} … {end} (the transcript shows all of it)")
}
