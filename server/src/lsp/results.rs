//! What the last runs of a document's tests left behind, and what its claims say about it now. Verdicts
//! are never kept: they follow from the claims as they stand and the evidence.

use std::{
    collections::{HashMap, HashSet},
    path::Path,
    sync::Arc,
};

use speclens_runner::{
    event::RunResult,
    recording::{Found, Label, Recordings},
};
use speclens_schema::{
    dialect::Dialect,
    evidence::Evidence,
    judge::{Judged, judge},
    mask::Secrets,
    suite::{Action, Case, Suite},
    verdict::Status,
};

use crate::ide::lens::CaseState;

/// What the analysis found last.
#[derive(Debug, Default)]
pub(super) struct Latest {
    pub suite: Option<Arc<Suite>>,
    /// One per case of the suite.
    pub outcomes: Vec<Arc<CaseOutcome>>,
    /// The names of the tests with errors.
    pub broken: HashSet<String>,
    /// Whether nothing runs because the settings have errors.
    pub is_refused: bool,
}

/// What is known about one case.
#[derive(Debug)]
pub(super) struct CaseOutcome {
    pub state: CaseState,
    /// The other case whose recording it is, where the two do the same.
    pub from: Option<String>,
    /// The attempts whose evidence is of what the case does now.
    pub attempts: Vec<JudgedAttempt>,
}

/// An attempt, judged by the claims as they stand.
#[derive(Debug)]
pub(super) struct JudgedAttempt {
    pub repeat: u32,
    pub evidence: Arc<Evidence>,
    pub judged: Vec<Judged>,
    /// What else was noticed.
    pub notes: Vec<String>,
}

/// The evidence that is known, by case.
#[derive(Debug, Default)]
pub(super) struct Results {
    recordings: Option<Arc<Recordings>>,
    attempts: HashMap<String, Vec<Attempt>>,
    /// Cases whose recordings were looked for, with what they did then.
    loaded: HashMap<String, String>,
    running: HashMap<String, u32>,
    /// Cases whose last run was cancelled.
    cancelled: HashSet<String>,
    outcomes: HashMap<String, Remembered>,
    /// What is masked in the evidence, and in what the outcomes say.
    secrets: Secrets,
}

#[derive(Clone, Debug)]
struct Attempt {
    subject: String,
    repeat: u32,
    key: String,
    evidence: Arc<Evidence>,
    notes: Vec<String>,
    /// The case that was run, where that was another one.
    from: Option<String>,
    /// Whether the secrets known now are masked in the evidence.
    masked: bool,
}

/// An outcome with what it was made of.
#[derive(Debug)]
struct Remembered {
    case: Arc<Case>,
    running: bool,
    cancelled: bool,
    revision: usize,
    outcome: Arc<CaseOutcome>,
}

impl Results {
    /// Somebody else wrote recordings: what is known is read from them again.
    pub(super) fn forget(&mut self) {
        self.recordings = None;
        self.attempts.clear();
        self.loaded.clear();
        self.cancelled.clear();
        self.outcomes.clear();
    }

    /// The recordings of a suite, looked at now if nobody did before. What is known of runs stays.
    pub(super) fn recordings(&mut self, directory: &Path, file_name: &str) -> Arc<Recordings> {
        let open = || Arc::new(Recordings::open(directory, file_name));
        Arc::clone(self.recordings.get_or_insert_with(open))
    }

    /// Whether nothing is known about any case, so that nothing can be said about one.
    pub(super) fn is_empty(&self) -> bool {
        self.attempts.is_empty()
            && self.running.is_empty()
            && self.cancelled.is_empty()
            && self.recordings.as_ref().is_none_or(|recordings| recordings.is_empty())
    }

    /// A case begins to run.
    pub(super) fn started(&mut self, case: &str) {
        self.cancelled.remove(case);
        *self.running.entry(case.to_owned()).or_default() += 1;
    }

    /// An attempt of a case has left this behind.
    pub(super) fn finished(&mut self, case: &str, key: String, run: &RunResult, evidence: Arc<Evidence>) {
        let (subject, repeat) = (run.subject.as_str(), run.repeat);
        let attempts = self.attempts.entry(case.to_owned()).or_default();
        // Evidence of what the case did before must not stand beside it.
        attempts.retain(|attempt| attempt.key == key && (attempt.subject != subject || attempt.repeat != repeat));
        let subject = subject.to_owned();
        let notes = run.notes.clone();
        attempts.push(Attempt { subject, repeat, key: key.clone(), evidence, notes, from: None, masked: false });
        attempts.sort_by_key(|attempt| attempt.repeat);
        // Others that do the same may look again.
        self.loaded.retain(|_, looked| *looked != key);
        self.loaded.insert(case.to_owned(), key);
        self.outcomes.remove(case);
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
    pub(super) fn outcomes(&mut self, suite: &Suite, secrets: &Secrets) -> Vec<Arc<CaseOutcome>> {
        if self.secrets != *secrets {
            self.secrets = secrets.clone();
            self.outcomes.clear();
            self.attempts.values_mut().flatten().for_each(|attempt| attempt.masked = false);
        }
        suite.cases.iter().map(|case| self.outcome(suite.dialect, case, secrets)).collect()
    }

    fn outcome(&mut self, dialect: Dialect, case: &Arc<Case>, secrets: &Secrets) -> Arc<CaseOutcome> {
        self.load(dialect, case, secrets);
        for attempt in self.attempts.get_mut(&case.name).into_iter().flatten().filter(|attempt| !attempt.masked) {
            let mut evidence = attempt.evidence.as_ref().clone();
            dialect.mask(&mut evidence, secrets);
            dialect.interpret(&mut evidence);
            (attempt.evidence, attempt.masked) = (Arc::new(evidence), true);
        }
        let running = self.running.contains_key(&case.name);
        let cancelled = self.cancelled.contains(&case.name);
        let revision = self.attempts.get(&case.name).map_or(0, Vec::len);
        if let Some(known) = self.outcomes.get(&case.name)
            && Arc::ptr_eq(&known.case, case)
            && (known.running, known.cancelled) == (running, cancelled)
            && known.revision == revision
        {
            return Arc::clone(&known.outcome);
        }
        let outcome = Arc::new(self.judge(dialect, case, running, secrets));
        let kept = Arc::clone(&outcome);
        let remembered = Remembered { case: Arc::clone(case), running, cancelled, revision, outcome: kept };
        self.outcomes.insert(case.name.clone(), remembered);
        outcome
    }

    /// Looks for recordings of what a case does, once.
    fn load(&mut self, dialect: Dialect, case: &Arc<Case>, secrets: &Secrets) {
        let Some(recordings) = self.recordings.clone() else { return };
        let Action::Command(command) = &case.action else { return };
        let looked = self.loaded.get(&case.name);
        let is_same = self.outcomes.get(&case.name).is_some_and(|known| Arc::ptr_eq(&known.case, case));
        // Making the key of thousands of cases takes longer than a keystroke may.
        if looked.is_some() && is_same {
            return;
        }
        let key = command.key(dialect);
        if looked == Some(&key) {
            return;
        }
        self.loaded.insert(case.name.clone(), key.clone());
        let known = self.attempts.entry(case.name.clone()).or_default();
        // In recordings, secrets are masked.
        let name = secrets.mask(&case.name);
        for subject in case.action.subjects() {
            for repeat in 0..case.repeat {
                let label = Label { case: name.clone(), subject: subject.clone(), repeat };
                let is_known = |attempt: &Attempt| attempt.subject == *subject && attempt.repeat == repeat;
                let path = match recordings.find(&key, &label) {
                    Found::Fresh(_) if known.iter().any(|attempt| attempt.key == key && is_known(attempt)) => continue,
                    // That there is one says that the case did something else before.
                    Found::Stale(_) if known.iter().any(is_known) => continue,
                    Found::Fresh(path) | Found::Stale(path) => path,
                    Found::None => continue,
                };
                let Some(recording) = recordings.read(&path, dialect, secrets) else { continue };
                let evidence = Arc::new(recording.evidence);
                let from = (recording.case != name).then_some(recording.case);
                let (subject, key) = (subject.clone(), recording.key);
                let notes = recording.notes;
                known.push(Attempt { subject, repeat, key, evidence, notes, from, masked: true });
            }
        }
    }

    fn judge(&self, dialect: Dialect, case: &Case, running: bool, secrets: &Secrets) -> CaseOutcome {
        let known = self.attempts.get(&case.name).map(Vec::as_slice).unwrap_or_default();
        let key = match &case.action {
            Action::Command(command) => Some(command.key(dialect)),
            Action::Prompt(_) | Action::Agent(_) | Action::Trigger(_) | Action::None => None,
        };
        if case.skip {
            let state = if running { CaseState::Running } else { CaseState::NeverRun };
            return CaseOutcome { state, from: None, attempts: Vec::new() };
        }
        let wanted = |attempt: &&Attempt| Some(&attempt.key) == key.as_ref() && attempt.repeat < case.repeat;
        let fresh: Vec<&Attempt> = known.iter().filter(wanted).collect();
        let complete = fresh.len() >= case.action.subjects().len() * case.repeat as usize;
        let attempts: Vec<JudgedAttempt> = fresh
            .iter()
            .map(|attempt| JudgedAttempt {
                repeat: attempt.repeat,
                evidence: Arc::clone(&attempt.evidence),
                notes: attempt.notes.iter().map(|note| secrets.mask(note)).collect(),
                judged: if attempt.evidence.error.is_some() {
                    Vec::new()
                } else {
                    judge(case, &attempt.evidence, secrets)
                },
            })
            .collect();
        let state = if running {
            CaseState::Running
        } else if self.cancelled.contains(&case.name) {
            CaseState::Cancelled
        } else if attempts.is_empty() {
            if known.is_empty() { CaseState::NeverRun } else { CaseState::Stale }
        } else {
            match finished_state(&attempts) {
                // Repetitions that were never seen may fail.
                CaseState::Passed { .. } | CaseState::Warned { .. } if !complete => CaseState::Stale,
                state => state,
            }
        };
        let from = fresh.iter().find_map(|attempt| attempt.from.clone());
        CaseOutcome { state, from, attempts }
    }
}

fn finished_state(attempts: &[JudgedAttempt]) -> CaseState {
    let duration_ms = attempts.iter().filter_map(|attempt| attempt.evidence.duration_ms).sum();
    if let Some(error) = attempts.iter().find_map(|attempt| attempt.evidence.error.as_ref()) {
        return CaseState::Broke { message: error.message.clone() };
    }
    let statuses = attempts.iter().flat_map(|attempt| &attempt.judged).map(|judged| judged.verdict.outcome.status());
    let statuses: Vec<Status> = statuses.collect();
    let count = |status: Status| statuses.iter().filter(|found| **found == status).count();
    match statuses.iter().max().copied().unwrap_or(Status::Pass) {
        Status::Skip | Status::Pass => CaseState::Passed { duration_ms },
        Status::Warn => CaseState::Warned { claims: count(Status::Warn), duration_ms },
        Status::Unknown => CaseState::Unknown { claims: count(Status::Unknown) },
        Status::Fail | Status::Error => CaseState::Failed { claims: count(Status::Fail) + count(Status::Error) },
    }
}
