//! The attempts of one test, counted by who acted.

use speclens_runner::event::RunResult;
use speclens_schema::{
    suite::{Subject, short_names},
    verdict::Status,
};

use super::lens::CaseState;

/// Maximum number of subjects that a line names.
const MAX_NAMED: usize = 4;

/// The attempts of one subject.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tally {
    /// The subject that acted.
    pub subject: Subject,
    /// The worst of the attempts.
    pub worst: Status,
    /// Number of attempts that passed.
    pub passed: usize,
    /// Number of attempts.
    pub attempts: usize,
}

/// Counts attempts, subjects in the order in which they appear.
pub(crate) fn tallies<'r>(results: impl IntoIterator<Item = &'r RunResult>) -> Vec<Tally> {
    let mut tallies: Vec<Tally> = Vec::new();
    for result in results {
        let is_passed = matches!(result.status, Status::Pass | Status::Warn);
        match tallies.iter_mut().find(|tally| tally.subject == result.subject) {
            Some(tally) => {
                tally.worst = tally.worst.max(result.status);
                tally.passed += usize::from(is_passed);
                tally.attempts += 1;
            }
            None => tallies.push(Tally {
                subject: result.subject.clone(),
                worst: result.status,
                passed: usize::from(is_passed),
                attempts: 1,
            }),
        }
    }
    tallies
}

/// Returns the lens text for a test with several subjects: `✓ 3/3 sonnet · ✗ 1/3 gpt`. If there are more than it
/// names, those that failed come first. `None` for a state that counts do not describe.
pub(crate) fn title(state: &CaseState, tallies: &[Tally]) -> Option<String> {
    match state {
        CaseState::NeverRun | CaseState::Running | CaseState::Cancelled | CaseState::Stale => return None,
        CaseState::Passed { .. }
        | CaseState::Warned { .. }
        | CaseState::Failed { .. }
        | CaseState::Unknown { .. }
        | CaseState::Error { .. } => {}
    }
    let names = short_names(&tallies.iter().map(|tally| &tally.subject).collect::<Vec<_>>());
    let mut named: Vec<(&Tally, String)> = tallies.iter().zip(names).collect();
    if named.len() > MAX_NAMED {
        named.sort_by_key(|(tally, _)| std::cmp::Reverse(tally.worst));
    }
    let shown = named.iter().take(MAX_NAMED).map(|(tally, name)| {
        let mark = match tally.worst {
            Status::Pass | Status::Warn => '✓',
            Status::Fail => '✗',
            Status::Error => '!',
            Status::Unknown => '?',
            Status::Skip => '○',
        };
        format!("{mark} {}/{} {name}", tally.passed, tally.attempts)
    });
    let mut parts: Vec<String> = shown.collect();
    if named.len() > MAX_NAMED {
        parts.push(format!("+{}", named.len() - MAX_NAMED));
    }
    (!parts.is_empty()).then(|| parts.join(" · "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(id: &str, worst: Status, passed: usize) -> Tally {
        Tally { subject: Subject::model(id, None), worst, passed, attempts: 3 }
    }

    #[test]
    fn title_counts_by_subject_and_names_four_with_failures_first() {
        let failed = CaseState::Failed { claims: 1 };
        let two = [tally("a/sonnet", Status::Pass, 3), tally("b/gpt", Status::Fail, 1)];
        assert_eq!(title(&failed, &two).as_deref(), Some("✓ 3/3 sonnet · ✗ 1/3 gpt"));
        let mut many: Vec<Tally> = ["p", "q", "r", "s", "t"].iter().map(|id| tally(id, Status::Pass, 3)).collect();
        many.push(tally("u", Status::Error, 0));
        assert_eq!(title(&failed, &many).as_deref(), Some("! 0/3 u · ✓ 3/3 p · ✓ 3/3 q · ✓ 3/3 r · +2"));
        assert_eq!(title(&CaseState::Running, &two), None);
    }
}
