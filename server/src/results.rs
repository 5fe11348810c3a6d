//! What is known about the tests of a suite: which run now, and what the book says. One for each suite, whichever of its
//! files are open.

use std::{
    collections::{HashMap, HashSet},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use speclens_runner::{
    book::{Asked, Book},
    event::RunResult,
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

/// A suite: the directory that its paths start from, and its main file from there. A document that was never saved is a
/// suite of its own, named by its address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct SuiteId {
    /// The directory.
    pub directory: PathBuf,
    /// The main file.
    pub place: String,
}

/// What runs, and what is known.
#[derive(Debug, Default)]
pub(crate) struct Results {
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

/// A look at the book. It is taken without the lock: reading and judging take too long to hold it.
#[derive(Debug)]
pub(crate) struct Look {
    uri: String,
    book: Arc<Book>,
    secrets: Arc<Secrets>,
    cases: Vec<Sight>,
}

/// What is known of a case, or is to be looked up.
#[derive(Debug)]
enum Sight {
    Known(Arc<CaseOutcome>),
    Open { case: Arc<Case>, acted: Vec<Subject>, phase: Phase },
}

/// What a look found.
#[derive(Debug)]
pub(crate) struct Seen {
    uri: String,
    outcomes: Vec<Arc<CaseOutcome>>,
    fresh: Vec<Remembered>,
}

impl Look {
    /// Looks at the cases that nothing is known of.
    pub(crate) fn take(self, suite: &Suite) -> Seen {
        let mut fresh = Vec::new();
        let outcomes = self.cases.into_iter().map(|sight| match sight {
            Sight::Known(outcome) => outcome,
            Sight::Open { case, acted, phase } => {
                let (outcome, keys) = looked_up(suite, &case, &acted, (&self.book, &self.secrets), phase);
                let outcome = Arc::new(outcome);
                fresh.push(Remembered { case, phase, keys, outcome: Arc::clone(&outcome) });
                outcome
            }
        });
        Seen { uri: self.uri, outcomes: outcomes.collect(), fresh }
    }
}

/// Returns what the book says about a case, and the keys of its attempts. `acted` are those who acted in it, whether
/// the suite names them or not.
fn looked_up(
    suite: &Suite,
    case: &Case,
    acted: &[Subject],
    (book, secrets): (&Book, &Arc<Secrets>),
    phase: Phase,
) -> (CaseOutcome, Vec<String>) {
    let own = if case.skip { Vec::new() } else { case.action.subjects() };
    let chosen = acted.iter().filter(|subject| !own.contains(subject));
    let subjects: Vec<&Subject> = own.iter().chain(chosen).collect();
    let mut asked = Vec::new();
    for &subject in &subjects {
        asked.extend((0..case.repeat).map(|repeat| Asked { suite, case, subject, repeat }));
    }
    let results: Vec<RunResult> = asked.iter().map(|asked| book.look(*asked, secrets)).collect();
    (CaseOutcome::of(case, &own, results, phase), asked.iter().map(Asked::key).collect())
}

/// An outcome with what it was made of.
#[derive(Debug)]
struct Remembered {
    case: Arc<Case>,
    phase: Phase,
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

/// Returns the book of evidence of a suite, as the settings want it. Recordings in a workspace that is not trusted are
/// not even read: they may come from another author. The lock is not held while a book is opened.
pub(crate) fn book(results: &Mutex<Results>, suite: &SuiteId, settings: &Settings, trusted: bool) -> Arc<Book> {
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
    // Another thread may have opened it meanwhile, and a run may write into that one.
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
    pub(crate) fn opened(&self) -> Arc<Book> {
        Arc::clone(&self.book)
    }

    /// Recordings came or went: nothing that was found out before counts.
    pub(crate) fn recorded_elsewhere(&mut self) {
        for view in self.views.values_mut() {
            view.outcomes.clear();
            view.missed.all = true;
        }
    }

    /// A document is closed.
    pub(crate) fn forget(&mut self, uri: &str) {
        self.views.remove(uri);
    }

    /// Whether nothing is known about any case, so that nothing can be said about one.
    pub(crate) fn is_empty(&self) -> bool {
        self.running.is_empty() && self.cancelled.is_empty() && self.book.is_empty()
    }

    /// A case begins to run.
    pub(crate) fn started(&mut self, case: &str, subject: &Subject) {
        self.cancelled.remove(case);
        let acted = self.acted.entry(case.to_owned()).or_default();
        if !acted.contains(subject) {
            acted.push(subject.clone());
        }
        *self.running.entry(case.to_owned()).or_default() += 1;
    }

    /// An attempt of a case has left something after: every case that does the same is looked at again.
    pub(crate) fn finished(&mut self, case: &str, key: &str) {
        for view in self.views.values_mut() {
            view.outcomes.retain(|_, known| !known.is_about(case, key));
            view.missed.attempts.push((case.to_owned(), key.to_owned()));
        }
    }

    /// A case no longer runs.
    pub(crate) fn stopped(&mut self, case: &str) {
        if let Some(count) = self.running.get_mut(case) {
            *count -= 1;
            if *count == 0 {
                self.running.remove(case);
            }
        }
    }

    /// The run of a case was cancelled while the case was under way.
    pub(crate) fn was_cancelled(&mut self, case: &str) {
        self.cancelled.insert(case.to_owned());
    }

    /// Begins a look of a document at each case of a suite that changed since its last one.
    pub(crate) fn look(&mut self, uri: &str, suite: &Suite, secrets: &Secrets) -> Look {
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
        let phase = match (self.running.contains_key(&case.name), self.cancelled.contains(&case.name)) {
            (true, _) => Phase::Running,
            (false, true) => Phase::Cancelled,
            (false, false) => Phase::AtRest,
        };
        let is_still_so = |known: &&Remembered| Arc::ptr_eq(&known.case, case) && known.phase == phase;
        let known = view.outcomes.get(&case.name).filter(is_still_so);
        match known {
            Some(known) => Sight::Known(Arc::clone(&known.outcome)),
            None => {
                let acted = self.acted.get(&case.name).cloned().unwrap_or_default();
                Sight::Open { case: Arc::clone(case), acted, phase }
            }
        }
    }

    /// Keeps what a look found, as far as nothing has changed since it began.
    pub(crate) fn remember(&mut self, seen: Seen) -> Vec<Arc<CaseOutcome>> {
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

#[cfg(test)]
mod tests {
    use speclens_schema::{analysis::Analyzer, document::Document, files::MemoryFiles, json_schema::SpecFile};

    use super::*;

    fn suite() -> Suite {
        let text = "tests:\n  - {name: a, command: x}\n  - {name: b, command: y}\n";
        let document = Document::read(text, SpecFile::KINDLM.scalar_rules());
        Analyzer::new(SpecFile::KINDLM).analyze(&document, &MemoryFiles::default(), &Settings::default()).suite
    }

    /// Returns the cases that a look at a document looks up, by their names.
    fn looked_up(results: &mut Results, suite: &Suite) -> Vec<String> {
        let look = results.look("file:///kindlm.yaml", suite, &Secrets::none());
        let open = look.cases.iter().filter_map(|sight| match sight {
            Sight::Open { case, .. } => Some(case.name.clone()),
            Sight::Known(_) => None,
        });
        let open = open.collect();
        let seen = look.take(suite);
        results.remember(seen);
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
    fn what_ends_during_a_look_is_looked_up_again() {
        let suite = suite();
        let changes: [fn(&mut Results); 2] = [|results| results.finished("a", "k"), Results::recorded_elsewhere];
        for (change, again) in changes.into_iter().zip([["a"].as_slice(), &["a", "b"]]) {
            let mut results = Results::default();
            let look = results.look("file:///kindlm.yaml", &suite, &Secrets::none());
            let seen = look.take(&suite);
            change(&mut results);
            results.remember(seen);
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
