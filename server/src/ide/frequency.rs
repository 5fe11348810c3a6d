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
    /// Counts the attempts concerned, each with its status. The newest of them decides the outcome; `None` if there are
    /// none.
    pub(super) fn of(attempts: &[&RunResult], concerned: &[(&RunResult, Status)]) -> Option<Frequency> {
        let (_, status) = *concerned.iter().max_by_key(|(result, _)| result.began_us)?;
        let mut subjects: Vec<&Subject> = Vec::new();
        for result in attempts {
            if !subjects.contains(&&result.subject) {
                subjects.push(&result.subject);
            }
        }
        let counts_of = |subject: &Subject| {
            let all = attempts.iter().filter(|result| result.subject == *subject).count();
            (concerned.iter().filter(|(result, _)| result.subject == *subject).count(), all)
        };
        let is_failure = concerned.iter().all(|(_, status)| *status == Status::Fail);
        let is_sometimes = |(some, all): (usize, usize)| some == 0 || some < all;
        let is_flaky = is_failure && subjects.iter().all(|subject| is_sometimes(counts_of(subject)));
        let (word, shown) = match (is_flaky, status) {
            (true, _) => ("flaky: passes", attempts.len() - concerned.len()),
            (false, Status::Fail) => ("fails", concerned.len()),
            (false, Status::Error) => ("error", concerned.len()),
            (false, Status::Unknown) => ("unknown", concerned.len()),
            (false, Status::Warn) => ("warns", concerned.len()),
            (false, Status::Skip) => ("skipped", concerned.len()),
            (false, Status::Pass) => ("passes", concerned.len()),
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
        Some(Frequency { word, counts, status: if is_flaky { Status::Warn } else { status } })
    }
}
