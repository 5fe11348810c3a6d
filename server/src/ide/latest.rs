//! The last known results of the tests of a suite: the source of lenses, hovers and transcripts.

use std::{
    collections::{HashMap, HashSet},
    iter,
    sync::Arc,
};

use ropey::Rope;
use speclens_runner::event::RunResult;
use speclens_schema::{
    document::{Document, Pointer},
    evidence::Evidence,
    judge::Judged,
    suite::{Case, CaseFile, Suite},
    verdict::{FilePlace, RelatedPlace},
};

use super::{
    audit::Audited,
    outcome::{CaseOutcome, CaseState, KnownState},
    run_problems::{self, RunProblem},
    runnable::BrokenTests,
};

/// Maximum number of attempts whose evidence is read while the author types.
const MAX_ATTEMPTS: usize = 10;

/// Maximum number of tests of a file that are audited for its lenses.
const MAX_AUDITED: usize = 50;

/// The last known results of a suite.
#[derive(Debug, Default)]
pub(crate) struct Latest {
    pub text: Rope,
    /// The suite; `None` if nothing is known about its tests.
    pub suite: Option<Arc<Suite>>,
    pub outcomes: Vec<Arc<CaseOutcome>>,
    /// The number of running tests that the suite no longer has.
    pub running_without: usize,
    pub broken: BrokenTests,
    /// Whether no test runs, because the settings have errors.
    pub is_refused: bool,
}

impl Latest {
    pub(crate) fn own(&self) -> impl Iterator<Item = (&Arc<Case>, &Arc<CaseOutcome>)> {
        self.all().filter(|(case, _)| case.file.is_none())
    }

    /// Returns the states of the cases that are not in the document: those in other files of the suite, and running ones
    /// that it no longer has.
    pub(crate) fn elsewhere(&self) -> Vec<CaseState> {
        let in_files = self.all().filter(|(case, _)| case.file.is_some());
        let in_files = in_files.map(|(_, outcome)| outcome.known.state.clone());
        in_files.chain(iter::repeat_n(CaseState::Running, self.running_without)).collect()
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&Arc<Case>, &Arc<CaseOutcome>)> {
        self.suite.iter().flat_map(|suite| &suite.cases).zip(&self.outcomes)
    }

    /// Whether the analyzed text is the current text of a document, so that pointers are valid in it.
    pub(crate) fn is_of(&self, document: &Document) -> bool {
        self.text.is_instance(document.text())
    }

    /// Returns the states that lenses show for the cases of the document itself, by name.
    pub(crate) fn known(&self) -> HashMap<&str, KnownState> {
        let mut known: HashMap<&str, KnownState> =
            self.own().map(|(case, outcome)| (case.name.as_str(), outcome.known.clone())).collect();
        // A test that no longer exists has been renamed.
        let gone: HashSet<String> = known.values().filter_map(|known| known.from.clone()).collect();
        let gone: HashSet<String> = gone.into_iter().filter(|from| !known.contains_key(from.as_str())).collect();
        for known in known.values_mut() {
            known.from.take_if(|from| gone.contains(from));
        }
        known
    }

    /// Returns the titles of audits with faults that no assertion notices, by the name of the test.
    pub(crate) fn audits(&self) -> HashMap<&str, String> {
        let Some(suite) = &self.suite else { return HashMap::new() };
        let audit = |(case, outcome): (&'_ Arc<Case>, &'_ Arc<CaseOutcome>)| {
            outcome.audited(case, suite.dialect).and_then(Audited::title)
        };
        let titled =
            self.own().take(MAX_AUDITED).filter_map(|(case, outcome)| Some((&*case.name, audit((case, outcome))?)));
        titled.collect()
    }

    pub(crate) fn has_transcript(&self, test: &str) -> bool {
        self.all().any(|(case, outcome)| case.name == test && !outcome.attempts.is_empty())
    }

    /// Returns the evidence of the newest recorded attempts of a test.
    pub(crate) fn evidence_of(&self, test: &str) -> Vec<Arc<Evidence>> {
        self.newest(test).into_iter().filter_map(|result| result.evidence.get()).collect()
    }

    /// Returns the number of attempts whose evidence is read.
    pub(crate) fn recorded(&self, test: &str) -> usize {
        self.newest(test).len()
    }

    fn newest(&self, test: &str) -> Vec<&RunResult> {
        let outcome = self.all().find(|(case, _)| case.name == test).map(|(_, outcome)| outcome);
        let attempts = outcome.into_iter().flat_map(|outcome| &outcome.attempts).map(|attempt| &attempt.result);
        let mut newest: Vec<&RunResult> = attempts.filter(|result| !result.evidence.is_nowhere()).collect();
        newest.sort_by_key(|result| std::cmp::Reverse(result.began_us));
        newest.truncate(MAX_ATTEMPTS);
        newest
    }

    /// Returns the places in other files that the newest attempt of a test recorded for the claim around a place of the
    /// document.
    pub(crate) fn sightings(&self, document: &Document, at: &Pointer) -> Vec<FilePlace> {
        let found = self.own().filter(|_| self.is_of(document)).find(|(case, _)| at.below(&case.at).is_some());
        let Some((case, outcome)) = found else { return Vec::new() };
        let results = outcome.attempts.iter().map(|attempt| &attempt.result);
        let Some(newest) = results.max_by_key(|result| result.began_us) else { return Vec::new() };
        let is_here =
            |judged: &&Judged| case.claims.get(judged.claim).is_some_and(|claim| at.below(&claim.at).is_some());
        let related = newest.verdicts.iter().filter(is_here).flat_map(|judged| &judged.verdict.related);
        let places = related.filter_map(|related| match &related.at {
            RelatedPlace::File(place) => Some(place.clone()),
            RelatedPlace::Claim(_) => None,
        });
        places.collect()
    }

    pub(crate) fn can_ask(&self, test: &str) -> bool {
        self.own().any(|(case, outcome)| case.name == test && outcome.known.can_ask)
    }

    fn states(&self) -> HashMap<&str, &KnownState> {
        self.all().map(|(case, outcome)| (case.name.as_str(), &outcome.known)).collect()
    }

    pub(crate) fn changes_lenses(&self, before: Option<&Latest>) -> bool {
        let none = BrokenTests::none();
        if before.map_or(&none, |before| &before.broken) != &self.broken
            || before.is_some_and(|before| before.is_refused) != self.is_refused
            || before.map_or(0, |before| before.running_without) != self.running_without
        {
            return true;
        }
        let Some(before) = before else {
            return self.outcomes.iter().any(|outcome| outcome.known.state != CaseState::NeverRun);
        };
        !self.has_outcomes_of(before) && before.states() != self.states()
    }

    /// Returns whether these are other results of the same text.
    pub(crate) fn changes_verdicts(&self, before: &Latest) -> bool {
        self.text.is_instance(&before.text) && !self.has_outcomes_of(before)
    }

    fn has_outcomes_of(&self, other: &Latest) -> bool {
        other.outcomes.len() == self.outcomes.len()
            && other.outcomes.iter().zip(&self.outcomes).all(|(other, own)| Arc::ptr_eq(other, own))
    }
}

/// The problems in the results of a suite, by file.
#[derive(Debug, Default)]
pub(crate) struct RunProblems {
    pub own: Vec<RunProblem>,
    pub parts: Vec<(Arc<CaseFile>, Vec<RunProblem>)>,
}

/// Returns the problems in the results of a suite. `outcomes` has one entry per case; `with_gates`: the document is the
/// main file of the suite and has no errors, so its gates are judged as well.
pub(crate) fn problems(
    suite: &Suite,
    document: &Document,
    outcomes: &[Arc<CaseOutcome>],
    with_gates: bool,
) -> RunProblems {
    let mut found = RunProblems::default();
    let mut names: HashMap<&str, usize> = HashMap::new();
    for case in &suite.cases {
        *names.entry(&case.name).or_default() += 1;
    }
    for (case, outcome) in suite.cases.iter().zip(outcomes) {
        // It is unknown which of several tests with one name was run; a truncated result says little about the test.
        if names.get(case.name.as_str()).is_some_and(|count| *count > 1) || outcome.known.state == CaseState::Cancelled
        {
            continue;
        }
        let Some(file) = &case.file else {
            found.own.extend(outcome.problems(suite.dialect, document, case));
            continue;
        };
        let problems = outcome.problems(suite.dialect, &file.document, case);
        match found.parts.iter_mut().find(|(known, _)| known.path == file.path) {
            Some((_, known)) => known.extend(problems),
            None => found.parts.push((Arc::clone(file), problems)),
        }
    }
    found.parts.retain(|(_, problems)| !problems.is_empty());
    // A run refuses a suite with duplicate test names, so gates are not judged.
    if with_gates && names.values().all(|count| *count == 1) {
        let attempts: Vec<_> = outcomes.iter().map(|outcome| outcome.settled()).collect();
        found.own.extend(run_problems::failing_gates(suite, document, &attempts));
    }
    found
}

#[cfg(test)]
mod tests {
    use speclens_schema::{suite::Subject, verdict::Status};

    use super::*;
    use crate::ide::tests::fixture::Fixture;

    fn passed(_: &Case) -> Vec<RunResult> {
        vec![RunResult::of(&Subject::Command, 0, Status::Pass)]
    }

    #[test]
    fn results_are_of_the_text_in_which_they_were_found() {
        let fixture = Fixture::parse("tests:\n  - {name: a, command: x}\n");
        let latest = fixture.latest(passed);
        let mut document = fixture.document.clone();
        assert!(latest.is_of(&document));
        document.edit(0..0, "# a comment\n");
        assert!(!latest.is_of(&document));
    }

    #[test]
    fn recording_of_a_renamed_test_is_its_own() {
        let fixture = Fixture::parse("tests:\n  - {name: a, command: x}\n  - {name: b, command: x}\n");
        let from = |name: &str| {
            let latest = fixture.latest(|case| {
                let from = (case.name == "a").then(|| name.to_owned());
                vec![RunResult { from, ..RunResult::of(&Subject::Command, 0, Status::Pass) }]
            });
            latest.known()["a"].from.clone()
        };
        assert_eq!(from("b").as_deref(), Some("b"));
        assert_eq!(from("removed"), None);
    }

    #[test]
    fn lenses_change_with_the_states_of_tests_alone() {
        let fixture = Fixture::parse("tests:\n  - {name: a, command: x}\n");
        let [first, same] = [fixture.latest(passed), fixture.latest(passed)];
        assert!(first.changes_lenses(None));
        assert!(!same.changes_lenses(Some(&first)));
        assert!(fixture.latest(|_| Vec::new()).changes_lenses(Some(&first)));
        assert!(!fixture.latest(|_| Vec::new()).changes_lenses(None));
    }

    #[test]
    fn results_of_tests_with_one_name_are_not_shown() {
        let broken = |_: &Case| {
            let notes = vec!["left a process behind".to_owned()];
            vec![RunResult { notes, ..RunResult::of(&Subject::Command, 0, Status::Pass) }]
        };
        let count = |text: &str| {
            let fixture = Fixture::parse(text);
            let latest = fixture.latest(broken);
            problems(latest.suite.as_ref().unwrap(), &fixture.document, &latest.outcomes, true).own.len()
        };
        assert_eq!(count("tests:\n  - {name: a, command: x}\n  - {name: b, command: x}\n"), 2);
        assert_eq!(count("tests:\n  - {name: a, command: x}\n  - {name: a, command: x}\n"), 0);
    }
}
