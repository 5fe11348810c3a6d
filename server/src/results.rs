//! The known results of a suite's tests: which tests run now, and the evidence in the store. There is one for each
//! suite, whichever of its files are open.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
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
    /// The directory.
    pub directory: PathBuf,
    /// The main file.
    pub place: String,
}

/// Returns the name of the view of the whole suite for a document that has a part of its tests.
pub(crate) fn view_of_whole(uri: &str) -> String {
    format!("{uri}#suite")
}

/// The running tests and the known results.
#[derive(Debug, Default)]
pub(crate) struct Results {
    store: Arc<EvidenceStore>,
    /// The inputs that the store was opened with.
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

/// The state of one document.
#[derive(Debug, Default)]
struct View {
    /// By the case.
    outcomes: HashMap<String, Remembered>,
    /// Changes since the last query of the store began.
    missed: Missed,
}

/// Changes that a query of the store may have missed.
#[derive(Debug, Default)]
struct Missed {
    all: bool,
    /// Attempts, by case and key.
    attempts: Vec<(String, String)>,
}

/// A query of the store. It is done without the lock because reading and judging take too long to hold it.
#[derive(Debug)]
pub(crate) struct Query {
    uri: String,
    store: Arc<EvidenceStore>,
    secrets: Arc<Secrets>,
    cases: Vec<CaseQuery>,
}

/// The outcome of a case, known or still to be looked up.
#[derive(Debug)]
enum CaseQuery {
    Known(Arc<CaseOutcome>),
    Open { case: Arc<Case>, acted: Vec<Subject>, phase: Phase },
}

/// The result of a query.
#[derive(Debug)]
pub(crate) struct QueryResult {
    uri: String,
    outcomes: Vec<Arc<CaseOutcome>>,
    fresh: Vec<Remembered>,
}

impl Query {
    /// Looks up the cases whose outcome is not known.
    pub(crate) fn run(self, suite: &Suite) -> QueryResult {
        let mut fresh = Vec::new();
        let outcomes = self.cases.into_iter().map(|case_query| match case_query {
            CaseQuery::Known(outcome) => outcome,
            CaseQuery::Open { case, acted, phase } => {
                let (outcome, keys) = looked_up(suite, &case, &acted, (&self.store, &self.secrets), phase);
                let outcome = Arc::new(outcome);
                fresh.push(Remembered { case, phase, keys, outcome: Arc::clone(&outcome) });
                outcome
            }
        });
        QueryResult { uri: self.uri, outcomes: outcomes.collect(), fresh }
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

/// An outcome and the data it was computed from.
#[derive(Debug)]
struct Remembered {
    case: Arc<Case>,
    phase: Phase,
    /// The keys of its attempts.
    keys: Vec<String>,
    outcome: Arc<CaseOutcome>,
}

/// The inputs that decide which store a suite uses.
#[derive(Clone, Debug, PartialEq, Eq)]
struct StoreInputs {
    suite: SuiteId,
    /// Whether runs are recorded.
    enabled: bool,
    limit: u64,
    retention: Retention,
    /// Whether its recordings are trusted.
    trusted: bool,
}

/// Returns the evidence store of a suite, according to the settings. Recordings in an untrusted workspace are
/// not even read because they may come from another author. The lock is not held while a store is opened.
pub(crate) fn evidence_store(
    results: &Mutex<Results>,
    suite: &SuiteId,
    settings: &Settings,
    trusted: bool,
) -> Arc<EvidenceStore> {
    let results = || results.lock().unwrap_or_else(PoisonError::into_inner);
    let enabled = settings.recordings.enabled;
    let (limit, retention) = (settings.limits.recording_bytes(), Retention::of(settings));
    let inputs = StoreInputs { suite: suite.clone(), enabled, limit, retention, trusted };
    if let Some(store) = results().opened_for(&inputs) {
        return store;
    }
    let store = match trusted {
        true => EvidenceStore::of(settings, &suite.directory, &suite.place, trust::machine),
        false => EvidenceStore::default(),
    };
    let mut results = results();
    // Another thread may have opened it in the meantime, and a run may be writing to that one.
    if let Some(store) = results.opened_for(&inputs) {
        return store;
    }
    results.store = Arc::new(store);
    results.recorded_elsewhere();
    results.inputs = Some(inputs);
    results.opened()
}

impl Results {
    fn opened_for(&self, inputs: &StoreInputs) -> Option<Arc<EvidenceStore>> {
        (self.inputs.as_ref() == Some(inputs)).then(|| self.opened())
    }

    /// Returns the last opened store. A caller that finds changed recordings must call `recorded_elsewhere`.
    pub(crate) fn opened(&self) -> Arc<EvidenceStore> {
        Arc::clone(&self.store)
    }

    /// Discards all outcomes because recordings were created or deleted.
    pub(crate) fn recorded_elsewhere(&mut self) {
        for view in self.views.values_mut() {
            view.outcomes.clear();
            view.missed.all = true;
        }
    }

    /// Discards the state of a closed document.
    pub(crate) fn forget(&mut self, uri: &str) {
        self.views.remove(uri);
        self.views.remove(&view_of_whole(uri));
    }

    /// Whether nothing is known about any case.
    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty() && self.cancelled.is_empty() && self.store.is_empty()
    }

    /// Marks a case as running.
    pub(crate) fn started(&mut self, case: &str, subject: &Subject) {
        self.cancelled.remove(case);
        let acted = self.acted.entry(case.to_owned()).or_default();
        if !acted.contains(subject) {
            acted.push(subject.clone());
        }
        *self.running.entry(case.to_owned()).or_default() += 1;
    }

    /// Marks an attempt of a case as finished: every case that does the same is looked up again.
    pub(crate) fn finished(&mut self, case: &str, key: &str) {
        for view in self.views.values_mut() {
            view.outcomes.retain(|_, known| !known.is_about(case, key));
            view.missed.attempts.push((case.to_owned(), key.to_owned()));
        }
    }

    /// Marks a case as not running.
    pub(crate) fn stopped(&mut self, case: &str) {
        if let Some(count) = self.running.get_mut(case) {
            *count -= 1;
            if *count == 0 {
                self.running.remove(case);
            }
        }
    }

    /// Returns the number of running cases that a suite no longer has, because they were renamed or removed meanwhile.
    pub(crate) fn running_without(&self, suite: &Suite) -> usize {
        self.running.keys().filter(|name| suite.cases.iter().all(|case| case.name != **name)).count()
    }

    /// Marks a running case as cancelled.
    pub(crate) fn was_cancelled(&mut self, case: &str) {
        self.cancelled.insert(case.to_owned());
    }

    /// Begins a query, for a document, of each case of a suite that changed since its last one.
    pub(crate) fn query(&mut self, uri: &str, suite: &Suite, secrets: &Secrets) -> Query {
        if *self.secrets != *secrets {
            self.secrets = Arc::new(secrets.clone());
            self.views.clear();
        }
        let view = self.views.entry(uri.to_owned()).or_default();
        view.missed = Missed::default();
        let view = &self.views[uri];
        let cases = suite.cases.iter().map(|case| self.case_query(view, case)).collect();
        Query { uri: uri.to_owned(), store: Arc::clone(&self.store), secrets: Arc::clone(&self.secrets), cases }
    }

    fn case_query(&self, view: &View, case: &Arc<Case>) -> CaseQuery {
        let phase = match (self.running.contains_key(&case.name), self.cancelled.contains(&case.name)) {
            (true, _) => Phase::Running,
            (false, true) => Phase::Cancelled,
            (false, false) => Phase::AtRest,
        };
        let is_still_so = |known: &&Remembered| Arc::ptr_eq(&known.case, case) && known.phase == phase;
        let known = view.outcomes.get(&case.name).filter(is_still_so);
        match known {
            Some(known) => CaseQuery::Known(Arc::clone(&known.outcome)),
            None => {
                let acted = self.acted.get(&case.name).cloned().unwrap_or_default();
                CaseQuery::Open { case: Arc::clone(case), acted, phase }
            }
        }
    }

    /// Stores the result of a query, unless it has changed since the query began.
    pub(crate) fn remember(&mut self, result: QueryResult) -> Vec<Arc<CaseOutcome>> {
        let view = self.views.entry(result.uri).or_default();
        let missed = std::mem::take(&mut view.missed);
        let is_void =
            |known: &Remembered| missed.all || missed.attempts.iter().any(|(case, key)| known.is_about(case, key));
        let fresh = result.fresh.into_iter().filter(|known| !is_void(known));
        view.outcomes.extend(fresh.map(|known| (known.case.name.clone(), known)));
        result.outcomes
    }
}

impl Remembered {
    /// Whether an attempt with this case and key belongs to the remembered case, or does the same.
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

    /// Returns the names of the cases that a query for a document looks up.
    fn looked_up(results: &mut Results, suite: &Suite) -> Vec<String> {
        let query = results.query("file:///kindlm.yaml", suite, &Secrets::none());
        let open = query.cases.iter().filter_map(|case_query| match case_query {
            CaseQuery::Open { case, .. } => Some(case.name.clone()),
            CaseQuery::Known(_) => None,
        });
        let open = open.collect();
        let result = query.run(suite);
        results.remember(result);
        open
    }

    #[test]
    fn known_case_is_looked_up_again_when_it_runs_and_when_it_ends() {
        let (mut results, suite) = (Results::default(), suite());
        assert_eq!(looked_up(&mut results, &suite), ["a", "b"]);
        assert_eq!(looked_up(&mut results, &suite), [""; 0]);
        results.started("a", &Subject::Command);
        assert_eq!(looked_up(&mut results, &suite), ["a"]);
        results.stopped("a");
        results.was_cancelled("a");
        assert_eq!(looked_up(&mut results, &suite), ["a"]);
        results.finished("b", "a key of nothing else");
        assert_eq!(looked_up(&mut results, &suite), ["b"]);
        results.recorded_elsewhere();
        assert_eq!(looked_up(&mut results, &suite), ["a", "b"]);
    }

    #[test]
    fn case_that_ends_during_query_is_looked_up_again() {
        let suite = suite();
        let changes: [fn(&mut Results); 2] = [|results| results.finished("a", "k"), Results::recorded_elsewhere];
        for (change, again) in changes.into_iter().zip([["a"].as_slice(), &["a", "b"]]) {
            let mut results = Results::default();
            let query = results.query("file:///kindlm.yaml", &suite, &Secrets::none());
            let result = query.run(&suite);
            change(&mut results);
            results.remember(result);
            assert_eq!(looked_up(&mut results, &suite), again);
        }
    }

    #[test]
    fn attempts_of_one_test_end_one_at_a_time() {
        let mut results = Results::default();
        (0..2).for_each(|_| results.started("a", &Subject::Command));
        results.stopped("a");
        assert!(!results.is_empty());
        results.stopped("a");
        assert!(results.is_empty());
    }
}
