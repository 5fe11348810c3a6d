//! The known results of a suite's tests: which tests run now, and the evidence in the store. There is one for each
//! suite, whichever of its files are open.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use speclens_runner::{
    event::RunResult,
    evidence_store::{AttemptRef, EvidenceStore},
    recording::Retention,
};
use speclens_schema::{
    mask::Secrets,
    settings::Settings,
    suite::{Case, Subject, Suite},
};

use crate::{
    ide::outcome::{CaseOutcome, Phase},
    trust,
};

/// A suite: the directory that its paths are relative to, and its main file from there. A document that was never saved
/// is its own suite, named by its URI.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SuiteId {
    pub directory: PathBuf,
    pub place: String,
}

pub(crate) fn view_of_whole(uri: &str) -> String {
    format!("{uri}#suite")
}

/// The running tests and the known results. The lock is internal, and is never held while evidence is read or judged.
#[derive(Debug, Default)]
pub(crate) struct Results(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    store: Arc<EvidenceStore>,
    inputs: Option<StoreInputs>,
    running: HashMap<String, u32>,
    /// Cases whose last run was cancelled.
    cancelled: HashSet<String>,
    /// The subjects that acted in a case since the server began, whether the suite names them or not.
    acted: HashMap<String, Vec<Subject>>,
    /// By document: each file of a suite has its own cases.
    views: HashMap<String, View>,
    /// The values masked in evidence and outcomes.
    secrets: Arc<Secrets>,
}

#[derive(Debug, Default)]
struct View {
    outcomes: HashMap<String, Remembered>,
    /// Changes since the last query of the store began.
    missed: Missed,
}

/// Changes that a query of the store may have missed.
#[derive(Debug, Default)]
struct Missed {
    all: bool,
    attempts: Vec<(String, String)>,
}

/// The outcome of a case, known or still to be looked up.
#[derive(Debug)]
enum CaseQuery {
    Known(Arc<CaseOutcome>),
    Open { case: Arc<Case>, acted: Vec<Subject>, phase: Phase },
}

/// An outcome and the data it was computed from.
#[derive(Debug)]
struct Remembered {
    case: Arc<Case>,
    phase: Phase,
    keys: Vec<String>,
    outcome: Arc<CaseOutcome>,
}

/// The inputs that decide which store a suite uses.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StoreInputs {
    suite: SuiteId,
    enabled: bool,
    commits: bool,
    limit: u64,
    retention: Retention,
    trusted: bool,
}

impl Results {
    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the evidence store of a suite, according to the settings. Recordings in an untrusted workspace are not
    /// even read because they may come from another author.
    pub(crate) fn store(&self, suite: &SuiteId, settings: &Settings, trusted: bool) -> Arc<EvidenceStore> {
        let (enabled, commits) = (settings.recordings.enabled, settings.recordings.commit);
        let (limit, retention) = (settings.limits.recording_bytes(), Retention::of(settings));
        let inputs = StoreInputs { suite: suite.clone(), enabled, commits, limit, retention, trusted };
        if let Some(store) = self.known().opened_for(&inputs) {
            return store;
        }
        let store = match trusted {
            true => EvidenceStore::of(settings, &suite.directory, &suite.place, trust::machine),
            false => EvidenceStore::default(),
        };
        let mut known = self.known();
        // Another thread may have opened it in the meantime, and a run may be writing to that one.
        if let Some(store) = known.opened_for(&inputs) {
            return store;
        }
        known.store = Arc::new(store);
        known.inputs = Some(inputs);
        known.recorded_elsewhere();
        Arc::clone(&known.store)
    }

    /// Looks for recordings that were created or deleted. Returns whether there are any.
    pub(crate) fn refresh(&self) -> bool {
        let store = Arc::clone(&self.known().store);
        let is_changed = store.refresh();
        if is_changed {
            self.known().recorded_elsewhere();
        }
        is_changed
    }

    pub(crate) fn forget(&self, uri: &str) {
        let mut known = self.known();
        known.views.remove(uri);
        known.views.remove(&view_of_whole(uri));
    }

    pub(crate) fn is_empty(&self) -> bool {
        let known = self.known();
        known.running.is_empty() && known.cancelled.is_empty() && known.store.is_empty()
    }

    pub(crate) fn started(&self, case: &str, subject: &Subject) {
        let mut known = self.known();
        known.cancelled.remove(case);
        let acted = known.acted.entry(case.to_owned()).or_default();
        if !acted.contains(subject) {
            acted.push(subject.clone());
        }
        *known.running.entry(case.to_owned()).or_default() += 1;
    }

    /// Marks an attempt of a case as finished: every case that does the same is looked up again.
    pub(crate) fn finished(&self, case: &str, key: &str) {
        for view in self.known().views.values_mut() {
            view.outcomes.retain(|_, known| !known.is_about(case, key));
            view.missed.attempts.push((case.to_owned(), key.to_owned()));
        }
    }

    pub(crate) fn stopped(&self, case: &str) {
        let mut known = self.known();
        if let Some(count) = known.running.get_mut(case) {
            *count -= 1;
            if *count == 0 {
                known.running.remove(case);
            }
        }
    }

    pub(crate) fn was_cancelled(&self, case: &str) {
        self.known().cancelled.insert(case.to_owned());
    }

    /// Returns the number of running cases that a suite no longer has, because they were renamed or removed meanwhile.
    pub(crate) fn running_without(&self, suite: &Suite) -> usize {
        self.known().running.keys().filter(|name| suite.cases.iter().all(|case| case.name != **name)).count()
    }

    /// Returns the outcome of each case of a suite. Those that changed since the last query for the document are looked
    /// up.
    pub(crate) fn outcomes(&self, uri: &str, suite: &Suite, secrets: &Secrets) -> Vec<Arc<CaseOutcome>> {
        let queries = self.known().begin(uri, suite, secrets);
        let (store, secrets) = {
            let known = self.known();
            (Arc::clone(&known.store), Arc::clone(&known.secrets))
        };
        let mut fresh = Vec::new();
        let outcomes = queries.into_iter().map(|query| match query {
            CaseQuery::Known(outcome) => outcome,
            CaseQuery::Open { case, acted, phase } => {
                let (outcome, keys) = looked_up(suite, &case, &acted, (&store, &secrets), phase);
                let outcome = Arc::new(outcome);
                fresh.push(Remembered { case, phase, keys, outcome: Arc::clone(&outcome) });
                outcome
            }
        });
        let outcomes = outcomes.collect();
        self.known().remember(uri, fresh);
        outcomes
    }
}

/// Returns the outcome of a case from the store, and the keys of its attempts. `acted` are the subjects that acted in
/// it, whether the suite names them or not.
fn looked_up(
    suite: &Suite,
    case: &Case,
    acted: &[Subject],
    (store, secrets): (&EvidenceStore, &Arc<Secrets>),
    phase: Phase,
) -> (CaseOutcome, Vec<String>) {
    let own = if case.skip { Vec::new() } else { case.action.subjects() };
    let chosen = acted.iter().filter(|subject| !own.contains(subject));
    let subjects: Vec<&Subject> = own.iter().chain(chosen).collect();
    let mut attempt_ref = Vec::new();
    for &subject in &subjects {
        attempt_ref.extend((0..case.repeat).map(|repeat| AttemptRef { suite, case, subject, repeat }));
    }
    let results: Vec<RunResult> = attempt_ref.iter().map(|attempt_ref| store.result(*attempt_ref, secrets)).collect();
    (CaseOutcome::of(case, &own, results, phase), attempt_ref.iter().map(AttemptRef::key).collect())
}

impl Known {
    fn opened_for(&self, inputs: &StoreInputs) -> Option<Arc<EvidenceStore>> {
        (self.inputs.as_ref() == Some(inputs)).then(|| Arc::clone(&self.store))
    }

    /// Discards all outcomes because recordings were created or deleted.
    fn recorded_elsewhere(&mut self) {
        for view in self.views.values_mut() {
            view.outcomes.clear();
            view.missed.all = true;
        }
    }

    fn begin(&mut self, uri: &str, suite: &Suite, secrets: &Secrets) -> Vec<CaseQuery> {
        if *self.secrets != *secrets {
            self.secrets = Arc::new(secrets.clone());
            self.views.clear();
        }
        let view = self.views.entry(uri.to_owned()).or_default();
        view.missed = Missed::default();
        let view = &self.views[uri];
        suite.cases.iter().map(|case| self.case_query(view, case)).collect()
    }

    fn case_query(&self, view: &View, case: &Arc<Case>) -> CaseQuery {
        let phase = match (self.running.contains_key(&case.name), self.cancelled.contains(&case.name)) {
            (true, _) => Phase::Running,
            (false, true) => Phase::Cancelled,
            (false, false) => Phase::AtRest,
        };
        let is_still_so = |known: &&Remembered| Arc::ptr_eq(&known.case, case) && known.phase == phase;
        match view.outcomes.get(&case.name).filter(is_still_so) {
            Some(known) => CaseQuery::Known(Arc::clone(&known.outcome)),
            None => {
                let acted = self.acted.get(&case.name).cloned().unwrap_or_default();
                CaseQuery::Open { case: Arc::clone(case), acted, phase }
            }
        }
    }

    /// Stores outcomes that were looked up, unless they have changed since the query began.
    fn remember(&mut self, uri: &str, fresh: Vec<Remembered>) {
        let view = self.views.entry(uri.to_owned()).or_default();
        let missed = std::mem::take(&mut view.missed);
        let is_void =
            |known: &Remembered| missed.all || missed.attempts.iter().any(|(case, key)| known.is_about(case, key));
        let fresh = fresh.into_iter().filter(|known| !is_void(known));
        view.outcomes.extend(fresh.map(|known| (known.case.name.clone(), known)));
    }
}

impl Remembered {
    fn is_about(&self, case: &str, key: &str) -> bool {
        self.case.name == case || self.keys.iter().any(|known| known == key)
    }
}

#[cfg(test)]
mod tests {
    use speclens_schema::{analysis::Analyzer, document::Document, files::MemoryFiles, json_schema::SpecFile};

    use super::*;

    fn suite() -> Suite {
        let text = "tests:\n  - {name: a, command: x}\n  - {name: b, command: y}\n";
        let document = Document::read(text, SpecFile::KINDLM.scalar_rules());
        Analyzer::new(SpecFile::KINDLM).analyze(&document, &MemoryFiles::default(), &Settings::default()).suite
    }

    fn looked_up_during(results: &Results, suite: &Suite, change: impl FnOnce(&Results)) -> Vec<String> {
        let queries = results.known().begin("file:///kindlm.yaml", suite, &Secrets::none());
        let open = queries.into_iter().filter_map(|query| match query {
            CaseQuery::Open { case, phase, .. } => Some((case, phase)),
            CaseQuery::Known(_) => None,
        });
        let open: Vec<_> = open.collect();
        let names = open.iter().map(|(case, _)| case.name.clone()).collect();
        change(results);
        let fresh = open.into_iter().map(|(case, phase)| {
            let (outcome, keys) = looked_up(suite, &case, &[], (&Arc::default(), &Arc::default()), phase);
            Remembered { case, phase, keys, outcome: Arc::new(outcome) }
        });
        results.known().remember("file:///kindlm.yaml", fresh.collect());
        names
    }

    fn names_looked_up(results: &Results, suite: &Suite) -> Vec<String> {
        looked_up_during(results, suite, |_| ())
    }

    #[test]
    fn known_case_is_looked_up_again_when_it_runs_and_when_it_ends() {
        let (results, suite) = (Results::default(), suite());
        assert_eq!(names_looked_up(&results, &suite), ["a", "b"]);
        assert_eq!(names_looked_up(&results, &suite), [""; 0]);
        results.started("a", &Subject::Command);
        assert_eq!(names_looked_up(&results, &suite), ["a"]);
        results.stopped("a");
        results.was_cancelled("a");
        assert_eq!(names_looked_up(&results, &suite), ["a"]);
        results.finished("b", "a key of nothing else");
        assert_eq!(names_looked_up(&results, &suite), ["b"]);
        results.known().recorded_elsewhere();
        assert_eq!(names_looked_up(&results, &suite), ["a", "b"]);
    }

    #[test]
    fn case_that_ends_during_query_is_looked_up_again() {
        let suite = suite();
        let changes: [fn(&Results); 2] =
            [|results| results.finished("a", "k"), |results| results.known().recorded_elsewhere()];
        for (change, again) in changes.into_iter().zip([["a"].as_slice(), &["a", "b"]]) {
            let results = Results::default();
            looked_up_during(&results, &suite, change);
            assert_eq!(names_looked_up(&results, &suite), again);
        }
    }

    #[test]
    fn attempts_of_one_test_end_one_at_a_time() {
        let results = Results::default();
        (0..2).for_each(|_| results.started("a", &Subject::Command));
        results.stopped("a");
        assert!(!results.is_empty());
        results.stopped("a");
        assert!(results.is_empty());
    }
}
