//! The outcome of a test: its attempts, judged by its current claims, and the resulting state.

use std::sync::OnceLock;

use speclens_runner::event::{Absence, AbsenceKind, Origin, RunResult};
use speclens_schema::{
    document::Document,
    format::Dialect,
    judge::{self, Judged},
    suite::{Case, Needed, Subject, short_names},
    verdict::Status,
};

use super::audit::Audited;
use super::run_problems::{self, RunProblem};

#[derive(Debug)]
pub(crate) struct CaseOutcome {
    pub known: KnownState,
    /// The attempts whose evidence matches what the case does now.
    pub attempts: Vec<JudgedAttempt>,
    /// The reason why a recording is stale; `None` if none is.
    pub stale: Option<String>,
    /// The audit of the first passing attempt, once it was asked for.
    pub audit: OnceLock<Option<Audited>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// It is not running.
    AtRest,
    Running,
    /// It is not running: its last run was cancelled.
    Cancelled,
}

impl CaseOutcome {
    /// Returns the outcome of attempts. `own` are the subjects of the suite; each of them makes `case.repeat` attempts.
    pub(crate) fn of(case: &Case, own: &[Subject], results: Vec<RunResult>, phase: Phase) -> CaseOutcome {
        let is_stale = |result: &RunResult| is_absent(result, AbsenceKind::Stale);
        let stale = results.iter().find(|result| is_stale(result)).and_then(|result| result.absence.clone());
        let any_stale = stale.is_some();
        let known =
            results.into_iter().filter(|result| !is_stale(result) && !is_absent(result, AbsenceKind::NoRecording));
        let attempts: Vec<JudgedAttempt> = known.map(JudgedAttempt::of).collect();
        let mut subjects = tallies(attempts.iter().map(|attempt| &attempt.result));
        let is_partial = any_stale || subjects.iter().any(|tally| tally.attempts < case.repeat as usize);
        let state = match phase {
            Phase::Running => CaseState::Running,
            Phase::Cancelled => CaseState::Cancelled,
            Phase::AtRest if attempts.is_empty() && any_stale => CaseState::Stale,
            Phase::AtRest if attempts.is_empty() => CaseState::NeverRun,
            Phase::AtRest => settled_state(case, &attempts, is_partial),
        };
        let is_plain = match (own, subjects.as_slice()) {
            // There is only one possible subject.
            ([only], [tally]) => *only == tally.subject && tally.attempts < 2,
            (_, _) => false,
        };
        if is_plain {
            subjects.clear();
        }
        let known = KnownState {
            state,
            from: attempts.iter().find_map(|attempt| attempt.result.from.clone()),
            is_foreign: attempts.iter().any(|attempt| attempt.result.origin == Origin::Foreign),
            subjects,
            can_ask: attempts.iter().any(|attempt| can_ask(case, &attempt.result)),
            is_present: attempts.iter().any(|attempt| attempt.result.origin == Origin::Present),
        };
        CaseOutcome { known, attempts, stale: stale.map(|absence| absence.message), audit: OnceLock::new() }
    }

    /// Returns the attempts if they are the final result of the case: none while it runs, or after a run was cancelled.
    pub(crate) fn settled(&self) -> Vec<&RunResult> {
        match self.known.state {
            CaseState::Running | CaseState::Cancelled => Vec::new(),
            CaseState::NeverRun
            | CaseState::Stale
            | CaseState::Passed { .. }
            | CaseState::Warned { .. }
            | CaseState::Failed { .. }
            | CaseState::Unknown { .. }
            | CaseState::Error { .. } => self.attempts.iter().map(|attempt| &attempt.result).collect(),
        }
    }

    pub(crate) fn problems(&self, dialect: Dialect, document: &Document, case: &Case) -> Vec<RunProblem> {
        let mut found: Vec<RunProblem> = Vec::new();
        let begun = self.attempts.iter().map(|attempt| &attempt.result).filter(|result| !result.is_left_out());
        for attempt in begun {
            let run_error =
                attempt.absence.as_ref().map(|it| run_problems::run_error(dialect, document, case, &it.message));
            for problem in run_error.into_iter().chain(run_problems::noted(dialect, document, case, &attempt.notes)) {
                // Attempts with the same error are one diagnostic.
                if !found.contains(&problem) {
                    found.push(problem);
                }
            }
        }
        let judged = self.attempts.iter().filter(|attempt| attempt.result.absence.is_none());
        let judged: Vec<_> = judged.map(|attempt| (&attempt.result, attempt.ending.as_slice())).collect();
        found.extend(run_problems::of_attempts(dialect, document, case, &judged));
        found
    }
}

#[derive(Clone, Debug)]
pub(crate) struct JudgedAttempt {
    pub result: RunResult,
    /// The end of the action if it did not succeed, and the last lines of its standard error.
    pub ending: Vec<String>,
}

impl JudgedAttempt {
    fn of(result: RunResult) -> JudgedAttempt {
        let is_shown = matches!(result.status, Status::Fail | Status::Error) && result.absence.is_none();
        let evidence = is_shown.then(|| result.evidence.get()).flatten();
        let ending = evidence.as_deref().map(run_problems::ending).unwrap_or_default();
        JudgedAttempt { result, ending }
    }
}

/// Whether a judge can be asked about an attempt: it is recorded, so that the answer can be. Evidence is read only if
/// something is unknown.
fn can_ask(case: &Case, result: &RunResult) -> bool {
    let is_unknown = |judged: &Judged| judged.verdict.outcome.status() == Status::Unknown;
    result.origin != Origin::Present
        && result.verdicts.iter().any(is_unknown)
        && result.evidence.get().is_some_and(|evidence| !judge::open_questions(case, &evidence).is_empty())
}

pub(super) fn is_absent(result: &RunResult, kind: AbsenceKind) -> bool {
    result.absence.as_ref().is_some_and(|absence| absence.kind == kind)
}

pub(super) fn settled_state(case: &Case, attempts: &[JudgedAttempt], is_partial: bool) -> CaseState {
    match finished_state(case.needed, attempts) {
        // The missing repetitions may fail.
        CaseState::Passed { .. } | CaseState::Warned { .. } if is_partial && case.needed == Needed::All => {
            CaseState::Stale
        }
        state => state,
    }
}

fn finished_state(needed: Needed, attempts: &[JudgedAttempt]) -> CaseState {
    let results = || attempts.iter().map(|attempt| &attempt.result);
    let timed = || results().filter_map(|result| result.figures.duration_ms);
    let duration_ms = timed().next().map(|_| timed().sum());
    let status = needed.status(results().map(|result| result.status)).unwrap_or(Status::Pass);
    let is_met = matches!(status, Status::Pass | Status::Warn);
    if let Some(Absence { message, .. }) = results().find_map(|result| result.absence.as_ref()).filter(|_| !is_met) {
        return CaseState::Error { message: message.clone() };
    }
    let count = |wanted: &[Status]| {
        let verdicts = results().flat_map(|result| &result.verdicts);
        verdicts.filter(|judged| wanted.contains(&judged.verdict.outcome.status())).count()
    };
    match status {
        Status::Pass => CaseState::Passed { duration_ms },
        Status::Warn => CaseState::Warned { claims: count(&[Status::Warn]), duration_ms },
        // If all is skipped, the result is unknown as well.
        Status::Unknown | Status::Skip => CaseState::Unknown { claims: count(&[Status::Unknown, Status::Skip]) },
        Status::Fail | Status::Error => CaseState::Failed { claims: count(&[Status::Fail, Status::Error]) },
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum CaseState {
    NeverRun,
    /// It runs now.
    Running,
    /// Its last run was cancelled.
    Cancelled,
    /// The recording does not match what the test does now.
    Stale,
    /// Everything holds.
    Passed {
        /// Time from start to end; `None` if it was not measured.
        duration_ms: Option<f64>,
    },
    Warned {
        claims: usize,
        /// Time from start to end; `None` if it was not measured.
        duration_ms: Option<f64>,
    },
    /// Claims do not hold.
    Failed {
        claims: usize,
    },
    /// Evidence that a claim needs was not recorded.
    Unknown {
        claims: usize,
    },
    /// The run ended with an error.
    Error {
        message: String,
    },
}

/// The state of a test, and the run it comes from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct KnownState {
    pub state: CaseState,
    /// The name of the other test that was run, if both do the same.
    pub from: Option<String>,
    /// Whether it was recorded on another machine.
    pub is_foreign: bool,
    /// Counts by subject, if the state alone does not show which subject it belongs to.
    pub subjects: Vec<Tally>,
    /// Whether a judge can be asked about the recording.
    pub can_ask: bool,
    /// Whether only the present state was judged, without starting anything.
    pub is_present: bool,
}

impl KnownState {
    /// Returns the state of a test that never ran.
    pub(crate) fn nothing() -> KnownState {
        KnownState {
            state: CaseState::NeverRun,
            from: None,
            is_foreign: false,
            subjects: Vec::new(),
            can_ask: false,
            is_present: false,
        }
    }
}

impl CaseState {
    /// Returns the time from start to end of a test that passed, if it was measured.
    pub(crate) fn duration_ms(&self) -> Option<f64> {
        match self {
            CaseState::Passed { duration_ms } | CaseState::Warned { duration_ms, .. } => *duration_ms,
            CaseState::NeverRun
            | CaseState::Running
            | CaseState::Cancelled
            | CaseState::Stale
            | CaseState::Failed { .. }
            | CaseState::Unknown { .. }
            | CaseState::Error { .. } => None,
        }
    }

    /// Returns the state in a few words; `None` for a test that never ran.
    pub(crate) fn title(&self) -> Option<String> {
        let passed = |milliseconds: &Option<f64>| {
            milliseconds.map_or_else(|| "✓ passed".to_owned(), |it| format!("✓ passed {}", duration(it)))
        };
        let claims = |count: &usize| if *count == 1 { "1 assertion".to_owned() } else { format!("{count} assertions") };
        Some(match self {
            CaseState::NeverRun => return None,
            CaseState::Running => "… running".to_owned(),
            CaseState::Cancelled => "⊘ cancelled".to_owned(),
            CaseState::Stale => "⚠ stale, run again".to_owned(),
            CaseState::Passed { duration_ms } => passed(duration_ms),
            CaseState::Warned { claims: count, duration_ms } => {
                format!("{}, {} warned", passed(duration_ms), claims(count))
            }
            CaseState::Failed { claims: count } => format!("✗ {} failed", claims(count)),
            CaseState::Unknown { claims: count } => format!("? {} unknown", claims(count)),
            CaseState::Error { message } => format!("! error: {message}"),
        })
    }
}

pub(crate) fn duration(milliseconds: f64) -> String {
    if milliseconds < 1000.0 {
        format!("{} ms", milliseconds.round())
    } else {
        format!("{:.1} s", milliseconds / 1000.0)
    }
}

const MAX_NAMED: usize = 4;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tally {
    pub subject: Subject,
    pub worst: Status,
    pub passed: usize,
    pub attempts: usize,
}

pub(crate) fn tallies<'r>(results: impl IntoIterator<Item = &'r RunResult>) -> Vec<Tally> {
    let mut tallies: Vec<Tally> = Vec::new();
    for result in results {
        Tally::add(&mut tallies, &result.subject, result.status);
    }
    tallies
}

impl Tally {
    /// Counts an attempt of a subject.
    pub(crate) fn add(tallies: &mut Vec<Tally>, subject: &Subject, status: Status) {
        let passed = usize::from(matches!(status, Status::Pass | Status::Warn));
        match tallies.iter_mut().find(|tally| tally.subject == *subject) {
            Some(tally) => {
                tally.worst = tally.worst.max(status);
                tally.passed += passed;
                tally.attempts += 1;
            }
            None => tallies.push(Tally { subject: subject.clone(), worst: status, passed, attempts: 1 }),
        }
    }
}

/// Returns the lens text for a test with several subjects. `None` for a state that counts do not describe.
pub(crate) fn title_by_subject(state: &CaseState, tallies: &[Tally]) -> Option<String> {
    match state {
        CaseState::NeverRun | CaseState::Running | CaseState::Cancelled | CaseState::Stale => None,
        CaseState::Passed { .. }
        | CaseState::Warned { .. }
        | CaseState::Failed { .. }
        | CaseState::Unknown { .. }
        | CaseState::Error { .. } => by_subject(tallies),
    }
}

/// Returns the counts of each subject: `✓ 3/3 sonnet · ✗ 1/3 gpt`. If there are more than it names, those that failed
/// come first. `None` without any.
pub(crate) fn by_subject(tallies: &[Tally]) -> Option<String> {
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
        let count = format!("{mark} {}/{}", tally.passed, tally.attempts);
        // Only models can be exchanged.
        if tally.subject.model_id().is_some() { format!("{count} {name}") } else { count }
    });
    let mut parts: Vec<String> = shown.collect();
    if named.len() > MAX_NAMED {
        parts.push(format!("+{}", named.len() - MAX_NAMED));
    }
    (!parts.is_empty()).then(|| parts.join(" · "))
}

#[cfg(test)]
mod tests {
    use speclens_schema::{analysis::Analyzer, files::MemoryFiles, json_schema::SpecFile, settings::Settings};

    use super::*;

    fn case() -> Case {
        let text = "cli: git\nproviders: [a/one, b/two]\nrepeat: 2\ntasks:\n  - {id: t, intent: x, assert: []}\n";
        let document = Document::read(text, SpecFile::CLI_BENCH.scalar_rules());
        let suite =
            Analyzer::new(SpecFile::CLI_BENCH).analyze(&document, &MemoryFiles::default(), &Settings::default()).suite;
        suite.cases[0].as_ref().clone()
    }

    fn outcome(phase: Phase, attempts: &[(usize, u32, Status)]) -> CaseOutcome {
        let case = case();
        let own = case.action.subjects();
        let results = attempts.iter().map(|(who, repeat, status)| RunResult::of(&own[*who], *repeat, *status));
        CaseOutcome::of(&case, &own, results.collect(), phase)
    }

    fn state(attempts: &[(usize, u32, Status)]) -> CaseState {
        outcome(Phase::AtRest, attempts).known.state
    }

    #[test]
    fn test_passes_where_every_repetition_passed() {
        let all = [(0, 0, Status::Pass), (0, 1, Status::Pass), (1, 0, Status::Pass), (1, 1, Status::Pass)];
        assert_eq!(state(&all), CaseState::Passed { duration_ms: None });
        assert_eq!(state(&all[..3]), CaseState::Stale);
        assert_eq!(state(&[]), CaseState::NeverRun);
    }

    #[test]
    fn failure_needs_no_other_repetition() {
        assert_eq!(state(&[(0, 0, Status::Fail)]), CaseState::Failed { claims: 0 });
        assert_eq!(state(&[(0, 0, Status::Skip)]), CaseState::Unknown { claims: 0 });
    }

    #[test]
    fn attempt_of_something_else_makes_the_test_stale() {
        let case = case();
        let own = case.action.subjects();
        let absent = |repeat, kind: AbsenceKind| RunResult {
            absence: Some(Absence { kind, message: String::new() }),
            ..RunResult::of(&own[0], repeat, kind.status())
        };
        let of = |results| CaseOutcome::of(&case, &own, results, Phase::AtRest);
        assert_eq!(of(vec![absent(0, AbsenceKind::Stale)]).known.state, CaseState::Stale);
        assert_eq!(of(vec![absent(0, AbsenceKind::NoRecording)]).known.state, CaseState::NeverRun);
        let mixed = vec![RunResult::of(&own[0], 0, Status::Fail), absent(1, AbsenceKind::Stale)];
        assert_eq!(of(mixed).known.state, CaseState::Failed { claims: 0 });
    }

    #[test]
    fn attempts_before_a_run_are_not_the_last_word() {
        let attempts = [(0, 0, Status::Fail)];
        assert_eq!(outcome(Phase::AtRest, &attempts).settled().len(), 1);
        for (phase, state) in [(Phase::Running, CaseState::Running), (Phase::Cancelled, CaseState::Cancelled)] {
            let outcome = outcome(phase, &attempts);
            assert_eq!((outcome.settled().len(), outcome.attempts.len(), outcome.known.state), (0, 1, state));
        }
    }

    #[test]
    fn attempts_are_counted_unless_there_is_only_one() {
        let case = case();
        let own = case.action.subjects();
        let results = || vec![RunResult::of(&own[0], 0, Status::Pass)];
        assert_eq!(CaseOutcome::of(&case, &own, results(), Phase::AtRest).known.subjects.len(), 1);
        assert_eq!(CaseOutcome::of(&case, &own[..1], results(), Phase::AtRest).known.subjects, []);
        let twice = vec![RunResult::of(&own[0], 0, Status::Pass), RunResult::of(&own[0], 1, Status::Pass)];
        assert_eq!(CaseOutcome::of(&case, &own[..1], twice, Phase::AtRest).known.subjects.len(), 1);
    }

    fn tally(id: &str, worst: Status, passed: usize) -> Tally {
        Tally { subject: Subject::model(id, None), worst, passed, attempts: 3 }
    }

    #[test]
    fn title_counts_by_subject_and_names_four_with_failures_first() {
        let failed = CaseState::Failed { claims: 1 };
        let two = [tally("a/sonnet", Status::Pass, 3), tally("b/gpt", Status::Fail, 1)];
        assert_eq!(title_by_subject(&failed, &two).as_deref(), Some("✓ 3/3 sonnet · ✗ 1/3 gpt"));
        let mut many: Vec<Tally> = ["p", "q", "r", "s", "t"].iter().map(|id| tally(id, Status::Pass, 3)).collect();
        many.push(tally("u", Status::Error, 0));
        assert_eq!(title_by_subject(&failed, &many).as_deref(), Some("! 0/3 u · ✓ 3/3 p · ✓ 3/3 q · ✓ 3/3 r · +2"));
        assert_eq!(title_by_subject(&CaseState::Running, &two), None);
        let command = Tally { subject: Subject::Command, ..tally("", Status::Fail, 2) };
        assert_eq!(title_by_subject(&failed, &[command]).as_deref(), Some("✗ 2/3"));
    }
}
