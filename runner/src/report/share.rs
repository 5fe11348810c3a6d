//! The share of the attempts of a test that something concerns.

use speclens_schema::suite::{Subject, short_names};

use crate::event::RunResult;

/// Returns how many of the attempts are concerned, by subject if there are several: ` in 3 of 4 attempts (a 1/2, b 2/2)`.
/// Empty if there is only one attempt.
pub fn share(attempts: &[&RunResult], concerned: &[&RunResult]) -> String {
    let mut share = String::new();
    if attempts.len() > 1 {
        share.push_str(&format!(" in {} of {} attempts", concerned.len(), attempts.len()));
    }
    let mut subjects: Vec<&Subject> = Vec::new();
    for result in attempts {
        if !subjects.contains(&&result.subject) {
            subjects.push(&result.subject);
        }
    }
    if subjects.len() > 1 {
        let count = |results: &[&RunResult], subject: &Subject| {
            results.iter().filter(|result| result.subject == *subject).count()
        };
        let each = subjects.iter().zip(short_names(&subjects));
        let each = each.map(|(it, name)| format!("{name} {}/{}", count(concerned, it), count(attempts, it)));
        share.push_str(&format!(" ({})", each.collect::<Vec<_>>().join(", ")));
    }
    share
}
