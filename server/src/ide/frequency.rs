//! The frequency of an outcome among the attempts of a test.

use speclens_runner::event::{RunResult, share};
use speclens_schema::{suite::Subject, verdict::Status};

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
