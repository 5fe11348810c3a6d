//! What is known about the tests of a suite: what runs now, and what the book says. One for each suite, whichever of its
//! files are open.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use speclens_runner::{
    book::{Asked, Book},
    event::{Absence, AbsenceKind, RunResult},
    recording::Retention,
};
use speclens_schema::{
    judge::{self, Judged},
    mask::Secrets,
    settings::Settings,
    suite::{Case, Subject, Suite},
    verdict::Status,
};

use super::documents::SuiteId;
use crate::ide::{
    lens::{CaseState, Known},
    run_problems,
    tally::{self, Tally},
};

/// What the analysis found last.
#[derive(Debug, Default)]
pub(super) struct Latest {
    pub suite: Option<Arc<Suite>>,
    /// One per case of the suite.
    pub outcomes: Vec<Arc<CaseOutcome>>,
    /// The names of the tests with errors.
    pub broken: HashSet<String>,
    /// Whether no test runs, because the settings have errors.
    pub is_refused: bool,
}

impl Latest {
    /// The cases that are written in the document itself, each with what is known about it.
    pub(super) fn own(&self) -> impl Iterator<Item = (&Arc<Case>, &Arc<CaseOutcome>)> {
        self.all().filter(|(case, _)| case.file.is_none())
    }

    /// The states of the cases of the suite that are in other files.
    pub(super) fn elsewhere(&self) -> Vec<CaseState> {
        self.all().filter(|(case, _)| case.file.is_some()).map(|(_, outcome)| outcome.state.clone()).collect()
    }

    pub(super) fn all(&self) -> impl Iterator<Item = (&Arc<Case>, &Arc<CaseOutcome>)> {
        self.suite.iter().flat_map(|suite| &suite.cases).zip(&self.outcomes)
    }
}

/// What is known about one case.
#[derive(Debug)]
pub(super) struct CaseOutcome {
    pub state: CaseState,
    /// The other case whose recording it is, where the two do the same.
    pub from: Option<String>,
    /// The attempts whose evidence is of what the case does now.
    pub attempts: Vec<JudgedAttempt>,
    /// What came of each subject, where the state alone does not say whose it is.
    pub subjects: Vec<Tally>,
    /// Whether a judge can be asked about what is recorded.
    pub can_ask: bool,
}

impl CaseOutcome {
    /// What lenses show of it.
    pub(super) fn known(&self) -> Known {
        let (subjects, can_ask) = (self.subjects.clone(), self.can_ask);
        Known { state: self.state.clone(), from: self.from.clone(), subjects, can_ask }
    }
}

/// An attempt, judged by the claims as they are.
#[derive(Debug)]
pub(super) struct JudgedAttempt {
    pub result: RunResult,
    /// How the act ended, where it did not succeed, and the last that it wrote to standard error.
    pub ending: Vec<String>,
}

/// What runs, and what is known.
#[derive(Debug, Default)]
pub(super) struct Results {
    book: Arc<Book>,
    /// What the book was opened for.
    kept: Option<Kept>,
    running: HashMap<String, u32>,
    /// Cases whose last run was cancelled.
    cancelled: HashSet<String>,
    /// Who was chosen to act in a case beside those whom the suite names.
    chosen: HashMap<String, Vec<Subject>>,
    /// By the document that asks and the case: each file of a suite has cases of its own making.
    outcomes: HashMap<String, HashMap<String, Remembered>>,
    /// What is masked in the evidence, and in what the outcomes say.
    secrets: Arc<Secrets>,
}

/// An outcome with what it was made of.
#[derive(Debug)]
struct Remembered {
    case: Arc<Case>,
    running: bool,
    cancelled: bool,
    /// The keys of its attempts.
    keys: Vec<String>,
    outcome: Arc<CaseOutcome>,
}

/// What decides which book a suite has.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kept {
    suite: SuiteId,
    /// Whether runs are recorded.
    enabled: bool,
    limit: u64,
    retention: Retention,
    /// Whether what is recorded there is believed.
    trusted: bool,
}

impl Results {
    /// The book of evidence of a suite, as the settings want it. Recordings in a workspace that is not trusted are not
    /// even read: somebody else may have made them.
    pub(super) fn book(&mut self, suite: &SuiteId, settings: &Settings, trusted: bool) -> Arc<Book> {
        let enabled = settings.recordings.enabled;
        let (limit, retention) = (settings.limits.recording_bytes(), Retention::of(settings));
        let kept = Kept { suite: suite.clone(), enabled, limit, retention, trusted };
        if self.kept.as_ref() != Some(&kept) {
            self.book = Arc::new(match trusted {
                true => Book::of(settings, &suite.directory, &suite.place),
                false => Book::default(),
            });
            self.outcomes.clear();
            self.kept = Some(kept);
        }
        Arc::clone(&self.book)
    }

    /// Looks for recordings that others wrote, and returns whether any came or went.
    pub(super) fn look_again(&mut self) -> bool {
        let differs = self.book.look_again();
        if differs {
            self.outcomes.clear();
        }
        differs
    }

    /// Whether nothing is known about any case, so that nothing can be said about one.
    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty() && self.cancelled.is_empty() && self.book.is_empty()
    }

    /// A case begins to run.
    pub(super) fn started(&mut self, case: &str, subject: &Subject) {
        self.cancelled.remove(case);
        let chosen = self.chosen.entry(case.to_owned()).or_default();
        if !chosen.contains(subject) {
            chosen.push(subject.clone());
        }
        *self.running.entry(case.to_owned()).or_default() += 1;
    }

    /// An attempt of a case has left something behind: whoever does the same may look again.
    pub(super) fn finished(&mut self, case: &str, key: &str) {
        for outcomes in self.outcomes.values_mut() {
            outcomes.retain(|name, known| name != case && !known.keys.iter().any(|known| known == key));
        }
    }

    /// A case no longer runs.
    pub(super) fn stopped(&mut self, case: &str) {
        if let Some(count) = self.running.get_mut(case) {
            *count -= 1;
            if *count == 0 {
                self.running.remove(case);
            }
        }
    }

    /// The run of a case was cancelled while the case was under way.
    pub(super) fn was_cancelled(&mut self, case: &str) {
        self.cancelled.insert(case.to_owned());
    }

    /// What is known about each case of a suite. Looks only at cases that changed.
    pub(super) fn outcomes(&mut self, uri: &str, suite: &Suite, secrets: &Secrets) -> Vec<Arc<CaseOutcome>> {
        if *self.secrets != *secrets {
            self.secrets = Arc::new(secrets.clone());
            self.outcomes.clear();
        }
        let mut known = self.outcomes.remove(uri).unwrap_or_default();
        let outcomes = suite.cases.iter().map(|case| self.outcome(&mut known, suite, case)).collect();
        self.outcomes.insert(uri.to_owned(), known);
        outcomes
    }

    /// A document is closed.
    pub(super) fn forget(&mut self, uri: &str) {
        self.outcomes.remove(uri);
    }

    fn outcome(&self, outcomes: &mut HashMap<String, Remembered>, suite: &Suite, case: &Arc<Case>) -> Arc<CaseOutcome> {
        let running = self.running.contains_key(&case.name);
        let cancelled = self.cancelled.contains(&case.name);
        if let Some(known) = outcomes.get(&case.name)
            && Arc::ptr_eq(&known.case, case)
            && (known.running, known.cancelled) == (running, cancelled)
        {
            return Arc::clone(&known.outcome);
        }
        let own = if case.skip { Vec::new() } else { case.action.subjects() };
        let chosen = self.chosen.get(&case.name).into_iter().flatten().filter(|chosen| !own.contains(chosen));
        let subjects: Vec<Subject> = own.iter().chain(chosen).cloned().collect();
        let mut asked = Vec::new();
        for subject in &subjects {
            asked.extend((0..case.repeat).map(|repeat| Asked { suite, case, subject, repeat }));
        }
        let results: Vec<RunResult> = asked.iter().map(|asked| self.book.look(*asked, &self.secrets)).collect();
        let keys = asked.iter().map(Asked::key).collect();
        let mut outcome = outcome_of(results, case.repeat as usize, running, cancelled);
        outcome.can_ask = outcome.attempts.iter().any(|attempt| can_ask(case, &attempt.result));
        let actors: Vec<&Subject> = outcome.subjects.iter().map(|tally| &tally.subject).collect();
        if let ([only], [acted]) = (own.as_slice(), actors.as_slice())
            && only == *acted
        {
            outcome.subjects.clear();
        }
        let outcome = Arc::new(outcome);
        let kept = Arc::clone(&outcome);
        outcomes
            .insert(case.name.clone(), Remembered { case: Arc::clone(case), running, cancelled, keys, outcome: kept });
        outcome
    }
}

/// Whether a judge can be asked about an attempt. Only where something is unknown is its evidence read.
fn can_ask(case: &Case, result: &RunResult) -> bool {
    let is_unknown = |judged: &Judged| judged.verdict.outcome.status() == Status::Unknown;
    result.verdicts.iter().any(is_unknown)
        && result.evidence.get().is_some_and(|evidence| !judge::open_questions(case, &evidence).is_empty())
}

/// `repeat` is how many attempts of each subject are planned.
fn outcome_of(results: Vec<RunResult>, repeat: usize, running: bool, cancelled: bool) -> CaseOutcome {
    let is_stale = |result: &RunResult| is_absent(result, AbsenceKind::Stale);
    let any_stale = results.iter().any(is_stale);
    let known = results.into_iter().filter(|result| !is_stale(result) && !is_absent(result, AbsenceKind::NoRecording));
    let attempts: Vec<JudgedAttempt> = known
        .map(|result| {
            let is_shown = matches!(result.status, Status::Fail | Status::Error) && result.absence.is_none();
            let evidence = is_shown.then(|| result.evidence.get()).flatten();
            let ending = evidence.as_deref().map(run_problems::ending).unwrap_or_default();
            JudgedAttempt { result, ending }
        })
        .collect();
    let subjects = tally::tallies(attempts.iter().map(|attempt| &attempt.result));
    let is_partial = any_stale || subjects.iter().any(|tally| tally.attempts < repeat);
    let state = if running {
        CaseState::Running
    } else if cancelled {
        CaseState::Cancelled
    } else if attempts.is_empty() {
        if any_stale { CaseState::Stale } else { CaseState::NeverRun }
    } else {
        match finished_state(&attempts) {
            // Repetitions that were never seen may fail.
            CaseState::Passed { .. } | CaseState::Warned { .. } if is_partial => CaseState::Stale,
            state => state,
        }
    };
    let from = attempts.iter().find_map(|attempt| attempt.result.from.clone());
    CaseOutcome { state, from, attempts, subjects, can_ask: false }
}

fn is_absent(result: &RunResult, kind: AbsenceKind) -> bool {
    result.absence.as_ref().is_some_and(|absence| absence.kind == kind)
}

fn finished_state(attempts: &[JudgedAttempt]) -> CaseState {
    let results = || attempts.iter().map(|attempt| &attempt.result);
    let duration_ms = results().filter_map(|result| result.figures.duration_ms).sum();
    if let Some(Absence { message, .. }) = results().find_map(|result| result.absence.as_ref()) {
        return CaseState::Broke { message: message.clone() };
    }
    let count = |wanted: &[Status]| {
        let verdicts = results().flat_map(|result| &result.verdicts);
        verdicts.filter(|judged| wanted.contains(&judged.verdict.outcome.status())).count()
    };
    match results().map(|result| result.status).max().unwrap_or(Status::Pass) {
        Status::Pass => CaseState::Passed { duration_ms },
        Status::Warn => CaseState::Warned { claims: count(&[Status::Warn]), duration_ms },
        // What was skipped is not known either, where it is all there is.
        Status::Unknown | Status::Skip => CaseState::Unknown { claims: count(&[Status::Unknown, Status::Skip]) },
        Status::Fail | Status::Error => CaseState::Failed { claims: count(&[Status::Fail, Status::Error]) },
    }
}
