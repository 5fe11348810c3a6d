//! The frequency of an outcome among the attempts of a test.

use speclens_runner::event::RunResult;
use speclens_schema::{
    suite::{Subject, short_names},
    verdict::Status,
};

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
        let (word, shown) = match is_flaky {
            true => ("flaky: passes", attempts.len() - concerned.len()),
            false => (verb(status), count(status)),
        };
        let mut counts = String::new();
        if attempts.len() > 1 {
            counts.push_str(&format!(" in {shown} of {} attempts", attempts.len()));
        }
        if subjects.len() > 1 {
            let each = subjects.iter().zip(short_names(&subjects)).map(|(subject, name)| {
                let (some, all) = counts_of(subject);
                format!("{name} {}/{all}", if is_flaky { all - some } else { some })
            });
            counts.push_str(&format!(" ({})", each.collect::<Vec<_>>().join(", ")));
        }
        let better = Status::all().filter(|other| *other < status && count(*other) > 0);
        counts.extend(better.map(|other| format!(", {} in {}", verb(other), count(other))));
        Some(Frequency { word, counts, status: if is_flaky { Status::Warn } else { status } })
    }
}

/// Returns a status as a verb.
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

#[cfg(test)]
mod tests {
    use super::*;

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
