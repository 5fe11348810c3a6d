//! What is known about the tests of a suite: what runs now, and what the book says. One for each suite, whichever of its
//! files are open.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use speclens_runner::{
    book::{Asked, Book},
    event::{Absence, AbsenceKind, Origin, RunResult},
    recording::Retention,
    run::left_out,
};
use speclens_schema::{
    judge::{self, Judged},
    mask::Secrets,
    settings::Settings,
    suite::{Case, Subject, Suite},
    verdict::Status,
};

use super::documents::SuiteId;
use crate::{
    ide::{
        lens::{CaseState, Known},
        run_problems,
        tally::{self, Tally},
    },
    trust,
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
    /// Whether one of its recordings is of another machine.
    pub is_foreign: bool,
    /// The attempts whose evidence is of what the case does now.
    pub attempts: Vec<JudgedAttempt>,
    /// What came of each subject, where the state alone does not say whose it is.
    pub subjects: Vec<Tally>,
    /// Whether a judge can be asked about what is recorded.
    pub can_ask: bool,
}

impl CaseOutcome {
    /// What a lens says about it.
    pub(super) fn known(&self) -> Known {
        let (subjects, can_ask) = (self.subjects.clone(), self.can_ask);
        Known { state: self.state.clone(), from: self.from.clone(), is_foreign: self.is_foreign, subjects, can_ask }
    }
}

/// An attempt, judged by the claims as they are.
#[derive(Clone, Debug)]
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
    /// Who acted in a case since the server began, whether the suite names them or not.
    acted: HashMap<String, Vec<Subject>>,
    /// By the document that asks: each file of a suite has cases of its own making.
    views: HashMap<String, View>,
    /// What is masked in the evidence, and in what the outcomes say.
    secrets: Arc<Secrets>,
}

/// What one document knows.
#[derive(Debug, Default)]
struct View {
    /// By the case.
    outcomes: HashMap<String, Remembered>,
    /// What was found out to have changed since the last look at the book began.
    missed: Missed,
}

/// What a look at the book may have come too early for.
#[derive(Debug, Default)]
struct Missed {
    all: bool,
    /// Attempts, by their case and their key.
    attempts: Vec<(String, String)>,
}

/// A look at the book. It is taken without the lock: reading and judging take longer than anybody may wait for it.
#[derive(Debug)]
pub(super) struct Look {
    uri: String,
    book: Arc<Book>,
    secrets: Arc<Secrets>,
    cases: Vec<Sight>,
}

/// What is known of a case, or is to be looked up.
#[derive(Debug)]
enum Sight {
    Known(Arc<CaseOutcome>),
    Open { case: Arc<Case>, acted: Vec<Subject>, running: bool, cancelled: bool },
}

/// What a look found.
#[derive(Debug)]
pub(super) struct Seen {
    uri: String,
    pub(super) outcomes: Vec<Arc<CaseOutcome>>,
    fresh: Vec<Remembered>,
}

impl Look {
    /// Looks at the cases that nothing is known of.
    pub(super) fn take(self, suite: &Suite) -> Seen {
        let mut fresh = Vec::new();
        let outcomes = self.cases.into_iter().map(|sight| match sight {
            Sight::Known(outcome) => outcome,
            Sight::Open { case, acted, running, cancelled } => {
                let (outcome, keys) = outcome(suite, &case, &acted, (&self.book, &self.secrets), (running, cancelled));
                let outcome = Arc::new(outcome);
                fresh.push(Remembered { case, running, cancelled, keys, outcome: Arc::clone(&outcome) });
                outcome
            }
        });
        Seen { uri: self.uri, outcomes: outcomes.collect(), fresh }
    }
}

fn outcome(
    suite: &Suite,
    case: &Case,
    acted: &[Subject],
    (book, secrets): (&Book, &Arc<Secrets>),
    (running, cancelled): (bool, bool),
) -> (CaseOutcome, Vec<String>) {
    let own = if case.skip { Vec::new() } else { case.action.subjects() };
    let chosen = acted.iter().filter(|subject| !own.contains(subject));
    let subjects: Vec<&Subject> = own.iter().chain(chosen).collect();
    let mut asked = Vec::new();
    for &subject in &subjects {
        asked.extend((0..case.repeat).map(|repeat| Asked { suite, case, subject, repeat }));
    }
    let results: Vec<RunResult> = asked.iter().map(|asked| book.look(*asked, secrets)).collect();
    let mut outcome = outcome_of(results, case.repeat as usize, running, cancelled);
    outcome.can_ask = outcome.attempts.iter().any(|attempt| can_ask(case, &attempt.result));
    let is_plain = match (own.as_slice(), outcome.subjects.as_slice()) {
        // Nobody else could be meant.
        ([only], [tally]) => *only == tally.subject,
        (_, _) => false,
    };
    if is_plain {
        outcome.subjects.clear();
    }
    (outcome, asked.iter().map(Asked::key).collect())
}

/// Settles what is known of the cases of a suite where repeats stop: an attempt that a run leaves out is not missing.
pub(super) fn without_spare(suite: &Suite, outcomes: Vec<Arc<CaseOutcome>>) -> Vec<Arc<CaseOutcome>> {
    let repeats = suite.cases.iter().filter(|case| case.repeat > 1);
    if !repeats.flat_map(|case| case.action.subjects()).any(|subject| suite.gates.can_be_decided(&subject)) {
        return outcomes;
    }
    let planned = suite.cases.iter().zip(&outcomes).enumerate().filter(|(_, (case, _))| !case.skip);
    let attempts: Vec<(usize, Cow<'_, RunResult>)> = planned
        .flat_map(|(index, (case, outcome))| {
            let subjects = case.action.subjects();
            let known = |asked: Asked<'_>| match outcome.attempt(asked.subject, asked.repeat) {
                Some(known) => Cow::Borrowed(&known.result),
                None => Cow::Owned(asked.absent(AbsenceKind::NoRecording, "")),
            };
            let of_subject = |subject: &Subject| {
                let asked = |repeat| known(Asked { suite, case, subject, repeat });
                (0..case.repeat).map(asked).collect::<Vec<_>>()
            };
            subjects.iter().flat_map(of_subject).map(|known| (index, known)).collect::<Vec<_>>()
        })
        .collect();
    let seen: Vec<(usize, &RunResult)> = attempts.iter().map(|(case, known)| (*case, &**known)).collect();
    let left_out = left_out(&suite.gates, &seen);
    let mut settled = outcomes.clone();
    let mut left_out = left_out.into_iter();
    for own in attempts.chunk_by(|(one, _), (other, _)| one == other) {
        let index = own[0].0;
        let own: Vec<(&RunResult, bool)> = own.iter().map(|(_, known)| &**known).zip(left_out.by_ref()).collect();
        let spare: Vec<&RunResult> = own.iter().filter(|(_, is_spare)| *is_spare).map(|(known, _)| *known).collect();
        if !spare.is_empty() {
            let is_missing =
                |(known, is_spare): &(&RunResult, bool)| !is_spare && is_absent(known, AbsenceKind::NoRecording);
            let is_partial = own.iter().any(is_missing);
            settled[index] = Arc::new(outcomes[index].without(suite, &suite.cases[index], &spare, is_partial));
        }
    }
    settled
}

impl CaseOutcome {
    fn attempt(&self, subject: &Subject, repeat: u32) -> Option<&JudgedAttempt> {
        self.attempts.iter().find(|known| (&known.result.subject, known.result.repeat) == (subject, repeat))
    }

    /// The same where some attempts are left out.
    fn without(&self, suite: &Suite, case: &Case, spare: &[&RunResult], is_partial: bool) -> CaseOutcome {
        let is_spare = |known: &RunResult| {
            spare.iter().any(|spare| (&spare.subject, spare.repeat) == (&known.subject, known.repeat))
        };
        let mut attempts = self.attempts.clone();
        attempts.retain(|attempt| !is_spare(&attempt.result));
        let is_final = !attempts.is_empty() && !matches!(self.state, CaseState::Running | CaseState::Cancelled);
        let state = if is_final { settled_state(&attempts, is_partial) } else { self.state.clone() };
        let subjects = match self.subjects.is_empty() {
            true => Vec::new(),
            false => tally::tallies(attempts.iter().map(|attempt| &attempt.result)),
        };
        attempts.extend(spare.iter().map(|spare| {
            let result = Asked { suite, case, subject: &spare.subject, repeat: spare.repeat }.left_out();
            JudgedAttempt { result, ending: Vec::new() }
        }));
        CaseOutcome {
            state,
            from: self.from.clone(),
            is_foreign: self.is_foreign,
            attempts,
            subjects,
            can_ask: self.can_ask,
        }
    }
}

/// Whether a judge can be asked about an attempt. Only where something is unknown is its evidence read.
fn can_ask(case: &Case, result: &RunResult) -> bool {
    let is_unknown = |judged: &Judged| judged.verdict.outcome.status() == Status::Unknown;
    result.verdicts.iter().any(is_unknown)
        && result.evidence.get().is_some_and(|evidence| !judge::open_questions(case, &evidence).is_empty())
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

/// The book of evidence of a suite, as the settings want it. Recordings in a workspace that is not trusted are not even read:
/// somebody else may have made them. The lock is not held while a book is opened.
pub(super) fn book(results: &Mutex<Results>, suite: &SuiteId, settings: &Settings, trusted: bool) -> Arc<Book> {
    let results = || results.lock().unwrap_or_else(PoisonError::into_inner);
    let enabled = settings.recordings.enabled;
    let (limit, retention) = (settings.limits.recording_bytes(), Retention::of(settings));
    let kept = Kept { suite: suite.clone(), enabled, limit, retention, trusted };
    if let Some(book) = results().opened_for(&kept) {
        return book;
    }
    let book = match trusted {
        true => Book::of(settings, &suite.directory, &suite.place, trust::machine),
        false => Book::default(),
    };
    let mut results = results();
    // Somebody else may have opened it meanwhile, and a run may write into that one.
    if let Some(book) = results.opened_for(&kept) {
        return book;
    }
    results.book = Arc::new(book);
    results.recorded_elsewhere();
    results.kept = Some(kept);
    results.opened()
}

impl Results {
    fn opened_for(&self, kept: &Kept) -> Option<Arc<Book>> {
        (self.kept.as_ref() == Some(kept)).then(|| self.opened())
    }

    /// The book as it was opened last. Who asks it for what others recorded, and learns that some came or went, says so.
    pub(super) fn opened(&self) -> Arc<Book> {
        Arc::clone(&self.book)
    }

    /// Recordings came or went: nothing that was found out before counts.
    pub(super) fn recorded_elsewhere(&mut self) {
        for view in self.views.values_mut() {
            view.outcomes.clear();
            view.missed.all = true;
        }
    }

    /// A document is closed.
    pub(super) fn forget(&mut self, uri: &str) {
        self.views.remove(uri);
    }

    /// Whether nothing is known about any case, so that nothing can be said about one.
    pub(super) fn is_empty(&self) -> bool {
        self.running.is_empty() && self.cancelled.is_empty() && self.book.is_empty()
    }

    /// A case begins to run.
    pub(super) fn started(&mut self, case: &str, subject: &Subject) {
        self.cancelled.remove(case);
        let acted = self.acted.entry(case.to_owned()).or_default();
        if !acted.contains(subject) {
            acted.push(subject.clone());
        }
        *self.running.entry(case.to_owned()).or_default() += 1;
    }

    /// An attempt of a case has left something behind: whoever does the same may look again.
    pub(super) fn finished(&mut self, case: &str, key: &str) {
        for view in self.views.values_mut() {
            view.outcomes.retain(|_, known| !known.is_about(case, key));
            view.missed.attempts.push((case.to_owned(), key.to_owned()));
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

    /// Begins a look of a document at each case of a suite that changed since its last one.
    pub(super) fn look(&mut self, uri: &str, suite: &Suite, secrets: &Secrets) -> Look {
        if *self.secrets != *secrets {
            self.secrets = Arc::new(secrets.clone());
            self.views.clear();
        }
        let view = self.views.entry(uri.to_owned()).or_default();
        view.missed = Missed::default();
        let view = &self.views[uri];
        let cases = suite.cases.iter().map(|case| self.sight(view, case)).collect();
        Look { uri: uri.to_owned(), book: Arc::clone(&self.book), secrets: Arc::clone(&self.secrets), cases }
    }

    fn sight(&self, view: &View, case: &Arc<Case>) -> Sight {
        let running = self.running.contains_key(&case.name);
        let cancelled = self.cancelled.contains(&case.name);
        let known = view
            .outcomes
            .get(&case.name)
            .filter(|known| Arc::ptr_eq(&known.case, case) && (known.running, known.cancelled) == (running, cancelled));
        match known {
            Some(known) => Sight::Known(Arc::clone(&known.outcome)),
            None => {
                let acted = self.acted.get(&case.name).cloned().unwrap_or_default();
                Sight::Open { case: Arc::clone(case), acted, running, cancelled }
            }
        }
    }

    /// Keeps what a look found, as far as nothing has changed since it began.
    pub(super) fn remember(&mut self, seen: Seen) -> Vec<Arc<CaseOutcome>> {
        let view = self.views.entry(seen.uri).or_default();
        let missed = std::mem::take(&mut view.missed);
        let is_void =
            |known: &Remembered| missed.all || missed.attempts.iter().any(|(case, key)| known.is_about(case, key));
        let fresh = seen.fresh.into_iter().filter(|known| !is_void(known));
        view.outcomes.extend(fresh.map(|known| (known.case.name.clone(), known)));
        seen.outcomes
    }
}

impl Remembered {
    /// Whether an attempt of a case with this key is one of its own, or does the same.
    fn is_about(&self, case: &str, key: &str) -> bool {
        self.case.name == case || self.keys.iter().any(|known| known == key)
    }
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
        settled_state(&attempts, is_partial)
    };
    let from = attempts.iter().find_map(|attempt| attempt.result.from.clone());
    let is_foreign = attempts.iter().any(|attempt| attempt.result.origin == Origin::Foreign);
    CaseOutcome { state, from, is_foreign, attempts, subjects, can_ask: false }
}

/// The state of a case that does not run, where some of its attempts may be missing.
fn settled_state(attempts: &[JudgedAttempt], is_partial: bool) -> CaseState {
    match finished_state(attempts) {
        // Repetitions that were never seen may fail.
        CaseState::Passed { .. } | CaseState::Warned { .. } if is_partial => CaseState::Stale,
        state => state,
    }
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
