//! How often something is so in the attempts of a test.

use speclens_runner::event::RunResult;
use speclens_schema::{
    suite::{Subject, short_names},
    verdict::Status,
};

/// How often a claim, or a part of it, has an outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frequency {
    /// What happens, such as `fails`.
    pub(super) word: &'static str,
    /// In how many attempts, by subject where there are several. Empty where there is one attempt.
    pub(super) counts: String,
    /// The status of it all: a failure that does not happen in every repeat of any subject is a warning.
    pub(super) status: Status,
}

impl Frequency {
    /// Counts the attempts that are concerned, each with its status. The newest of them says what happens; `None` where
    /// there are none.
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
