//! The tests of a document with their last results: what a client's view of tests shows.

use std::{collections::HashMap, ops::Range};

use serde::Serialize;
use speclens_schema::{
    document::Document,
    suite::{ActionKind, Case, Suite, short_names},
    verdict::Status,
};

use super::{
    latest::Latest,
    outcome::{CaseOutcome, CaseState, JudgedAttempt, KnownState, title_by_subject},
    run_problems::{self, RunProblem},
    runnable::NotRunnableReason,
};

#[derive(Debug)]
pub(crate) struct TestItem<'s> {
    pub name: &'s str,
    /// The bytes of the test.
    pub range: Range<usize>,
    pub tags: &'s [String],
    pub action: ActionKind,
    pub state: TestState,
    /// The state in a few words, as in the lens of the test.
    pub title: String,
    /// Time of all attempts; `None` if it was not measured.
    pub duration_ms: Option<f64>,
    pub problems: Vec<RunProblem>,
    /// The attempts, if there are several.
    pub attempts: Vec<AttemptItem>,
}

#[derive(Debug)]
pub(crate) struct AttemptItem {
    /// What acted: a model, a command, a target.
    pub subject: String,
    /// Number of the repetition, from 0.
    pub repeat: u32,
    pub state: TestState,
    pub duration_ms: Option<f64>,
    pub problems: Vec<RunProblem>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum TestState {
    NotRun,
    Running,
    Passed,
    Failed,
    /// It ended with an error, so nothing is known about its assertions.
    Error,
    /// Evidence that an assertion needs is missing, or was recorded for something else.
    Unknown,
    Skipped,
    /// It cannot run, for example because it has errors.
    Blocked,
}

/// Returns the tests of a document. `obstacle` is the reason why the case at an index does not run, if any.
pub(crate) fn test_items<'s>(
    suite: &'s Suite,
    document: &Document,
    latest: Option<&Latest>,
    obstacle: impl Fn(usize) -> Option<NotRunnableReason>,
) -> Vec<TestItem<'s>> {
    let known = latest.into_iter().flat_map(Latest::own).map(|(case, outcome)| (&*case.name, &**outcome));
    let known: HashMap<&str, &CaseOutcome> = known.collect();
    let own = suite.cases.iter().enumerate().filter(|(_, case)| case.file.is_none());
    own.map(|(index, case)| item(suite, document, case, known.get(&*case.name).copied(), obstacle(index))).collect()
}

fn item<'s>(
    suite: &Suite,
    document: &Document,
    case: &'s Case,
    outcome: Option<&CaseOutcome>,
    obstacle: Option<NotRunnableReason>,
) -> TestItem<'s> {
    let nothing = KnownState::nothing();
    let known = outcome.map_or(&nothing, |outcome| &outcome.known);
    // A run that is under way began before the text was changed.
    let obstacle = obstacle.filter(|_| known.state != CaseState::Running);
    let settled = outcome.filter(|_| !matches!(known.state, CaseState::Running | CaseState::Cancelled));
    let attempts: &[JudgedAttempt] = settled.filter(|it| it.attempts.len() > 1).map_or(&[], |it| &it.attempts);
    let subjects = short_names(&attempts.iter().map(|attempt| &attempt.result.subject).collect::<Vec<_>>());
    let title = title_by_subject(&known.state, &known.subjects).or_else(|| known.state.title());
    TestItem {
        name: &case.name,
        range: document.range_of(&case.at),
        tags: &case.tags,
        action: case.action.kind(),
        state: obstacle.map_or_else(|| TestState::of(&known.state), TestState::because),
        title: obstacle.map_or_else(|| title.unwrap_or_default(), |obstacle| obstacle.title().to_owned()),
        duration_ms: known.state.duration_ms(),
        problems: settled.map(|outcome| outcome.problems(suite.dialect, document, case)).unwrap_or_default(),
        attempts: attempts
            .iter()
            .zip(subjects)
            .map(|(attempt, subject)| AttemptItem {
                subject,
                repeat: attempt.result.repeat,
                state: TestState::after(attempt.result.status),
                duration_ms: attempt.result.figures.duration_ms,
                problems: run_problems::of_attempts(
                    suite.dialect,
                    document,
                    case,
                    &[(&attempt.result, attempt.ending.as_slice())],
                ),
            })
            .collect(),
    }
}

impl TestState {
    fn of(state: &CaseState) -> TestState {
        match state {
            CaseState::NeverRun | CaseState::Cancelled => TestState::NotRun,
            CaseState::Running => TestState::Running,
            CaseState::Passed { .. } | CaseState::Warned { .. } => TestState::Passed,
            CaseState::Failed { .. } => TestState::Failed,
            CaseState::Error { .. } => TestState::Error,
            CaseState::Stale | CaseState::Unknown { .. } => TestState::Unknown,
        }
    }

    fn after(status: Status) -> TestState {
        match status {
            Status::Pass | Status::Warn => TestState::Passed,
            Status::Fail => TestState::Failed,
            Status::Error => TestState::Error,
            Status::Unknown | Status::Skip => TestState::Unknown,
        }
    }

    fn because(obstacle: NotRunnableReason) -> TestState {
        match obstacle {
            NotRunnableReason::Skipped => TestState::Skipped,
            NotRunnableReason::NoSuite
            | NotRunnableReason::WrongSettings
            | NotRunnableReason::SharedName
            | NotRunnableReason::HasProblems => TestState::Blocked,
        }
    }
}
