//! Whether a test can be run, and if not, why: in a few words for its lens, in a sentence for who asked for the run.

use std::collections::{HashMap, HashSet};

use speclens_schema::{
    document::{Document, NodeRef, Scalar},
    problem::{Problem, Severity},
    suite::{Action, Suite},
};

/// Why a test is not run when somebody asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// The author switched it off.
    Skipped,
    /// It asks a model, which this version does not do.
    AsksModel,
    /// The settings of the workspace have errors.
    WrongSettings,
    /// Another test has its name, so a result could belong to either.
    SharedName,
    /// It has errors, or what is outside of the tests has.
    HasProblems,
}

impl Obstacle {
    /// Returns why a case of a suite is not run, if it is not.
    pub fn of(suite: &Suite, index: usize) -> Option<Obstacle> {
        let case = suite.cases.get(index)?;
        let namesakes = || suite.cases.iter().filter(|other| other.name == case.name).count();
        if case.skip {
            Some(Obstacle::Skipped)
        } else if matches!(case.action, Action::Prompt(_)) {
            Some(Obstacle::AsksModel)
        } else if namesakes() > 1 {
            Some(Obstacle::SharedName)
        } else {
            (!case.intact).then_some(Obstacle::HasProblems)
        }
    }

    /// Returns the words for a lens.
    pub fn title(self) -> &'static str {
        match self {
            Obstacle::Skipped => "○ skipped",
            Obstacle::AsksModel => "? cannot run yet: asks a model",
            Obstacle::WrongSettings => "! the settings have errors",
            Obstacle::SharedName => "! another test has this name",
            Obstacle::HasProblems => "! has problems",
        }
    }

    /// Returns the sentence for who asked for a run of the test.
    pub fn sentence(self, test: &str) -> String {
        match self {
            Obstacle::Skipped => format!("`{test}` is skipped: remove `skip: true` to run it"),
            Obstacle::AsksModel => format!("`{test}` was not run: speclens cannot ask models yet"),
            Obstacle::WrongSettings => {
                format!("`{test}` was not run: fix the errors of `speclens.yaml` first")
            }
            Obstacle::SharedName => {
                format!("`{test}` was not run: another test has the same name, so rename one of them")
            }
            Obstacle::HasProblems => format!("`{test}` was not run: fix the underlined errors first"),
        }
    }
}

/// The tests of a document that cannot be run, as far as their text alone shows it: that costs less than lowering them.
pub struct Obstacles<'a> {
    names: HashMap<&'a str, usize>,
    broken: &'a HashSet<String>,
    is_refused: bool,
}

impl<'a> Obstacles<'a> {
    /// Looks at the tests of a document. `broken` are the names of those with errors; `is_refused` says whether the
    /// settings of the document have some.
    pub fn new(tests: NodeRef<'a>, broken: &'a HashSet<String>, is_refused: bool) -> Obstacles<'a> {
        let mut names = HashMap::new();
        for name in tests.items().filter_map(name_of) {
            *names.entry(name).or_default() += 1;
        }
        Obstacles { names, broken, is_refused }
    }

    /// Returns why a test is not run, if it is not.
    pub fn of(&self, test: NodeRef<'_>, name: &str) -> Option<Obstacle> {
        if test.get("skip").and_then(NodeRef::scalar) == Some(Scalar::Bool(true)) {
            Some(Obstacle::Skipped)
        } else if test.get("prompt").is_some() && test.get("command").is_none() {
            Some(Obstacle::AsksModel)
        } else if self.is_refused {
            Some(Obstacle::WrongSettings)
        } else if self.names.get(name).is_some_and(|count| *count > 1) {
            Some(Obstacle::SharedName)
        } else {
            self.broken.contains(name).then_some(Obstacle::HasProblems)
        }
    }
}

/// The name of a test, if it has one.
pub fn name_of(test: NodeRef<'_>) -> Option<&str> {
    test.get("name")?.as_str().filter(|name| !name.is_empty())
}

/// Returns the names of the tests that errors concern: those in which one begins, or all when one is outside of the tests.
pub fn broken(document: &Document, problems: &[Problem]) -> HashSet<String> {
    let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
    let mut places: Vec<usize> = errors.map(|problem| problem.range.start).collect();
    if places.is_empty() {
        return HashSet::new();
    }
    places.sort_unstable();
    let tests = || document.root().and_then(|root| root.get("tests")).into_iter().flat_map(NodeRef::items);
    let mut broken = HashSet::new();
    let mut inside = 0;
    for test in tests() {
        let start = test.range().start;
        let end = document.end_with_strays(test).max(test.range().end);
        let first = places.partition_point(|place| *place < start);
        let count = places[first..].iter().take_while(|place| **place < end).count();
        inside += count;
        if count > 0 {
            broken.extend(name_of(test).map(str::to_owned));
        }
    }
    if inside < places.len() {
        broken.extend(tests().filter_map(|test| name_of(test).map(str::to_owned)));
    }
    broken
}
