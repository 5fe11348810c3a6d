//! Whether a test can be run, and if not, why: in a few words for its lens, in a sentence for who asked for the run.

use std::{
    borrow::Cow,
    collections::{HashMap, HashSet},
};

use speclens_runner::exec;
use speclens_schema::{
    analysis::Problems,
    document::{Document, NodeRef},
    json_schema::SpecFile,
    problem::Severity,
    suite::{ActionKind, Suite, case_items, list_of_cases, name_of_item, written_cases},
};

/// Why a test is not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Obstacle {
    /// The author switched it off.
    Skipped,
    /// This version cannot do that.
    NotSupported(&'static str),
    /// It is in a file that is a part of suites, and none names it.
    NoSuite,
    /// The settings of the workspace have errors.
    WrongSettings,
    /// Another test has its name, so a result could belong to either.
    SharedName,
    /// It has errors, or what is outside of the tests has.
    HasProblems,
}

impl Obstacle {
    /// Returns why a case of a suite is not run, if it is not.
    pub(crate) fn of(suite: &Suite, index: usize) -> Option<Obstacle> {
        let case = suite.cases.get(index)?;
        let namesakes = || suite.cases.iter().filter(|other| other.name == case.name).count();
        if case.skip {
            Some(Obstacle::Skipped)
        } else if let Some(what) = exec::unsupported(suite.dialect, &case.action) {
            Some(Obstacle::NotSupported(what))
        } else if namesakes() > 1 {
            Some(Obstacle::SharedName)
        } else {
            (!case.intact).then_some(Obstacle::HasProblems)
        }
    }

    /// Returns the words for a lens.
    pub(crate) fn title(self) -> Cow<'static, str> {
        match self {
            Obstacle::Skipped => "○ skipped".into(),
            Obstacle::NotSupported(what) => format!("? not supported yet: {what}").into(),
            Obstacle::NoSuite => "! no suite names this file".into(),
            Obstacle::WrongSettings => "! the settings have errors".into(),
            Obstacle::SharedName => "! another test has this name".into(),
            Obstacle::HasProblems => "! has problems".into(),
        }
    }

    /// Returns the sentence for who asked for a run of the test.
    pub(crate) fn sentence(self, test: &str) -> String {
        match self {
            Obstacle::Skipped => format!("`{test}` is skipped: remove `skip: true` to run it"),
            Obstacle::NotSupported(what) => format!("`{test}` was not run: {what} is not supported yet"),
            Obstacle::NoSuite => {
                format!("`{test}` was not run: no suite names this file; add it to the `tasks` of a suite")
            }
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
pub(crate) struct Obstacles<'a> {
    names: HashMap<&'a str, usize>,
    looks: Looks<'a>,
}

/// What decides, beside its own text, whether a test of a document can be run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looks<'a> {
    /// The kind of document.
    pub file: SpecFile,
    /// Whether a suite names the document; that of a suite itself counts as named.
    pub has_suite: bool,
    /// Whether no test of the suite runs, because its settings have errors.
    pub is_refused: bool,
    /// The names of the tests with errors.
    pub broken: &'a HashSet<String>,
}

impl<'a> Obstacles<'a> {
    /// Looks at the names of the tests of a document.
    pub(crate) fn new(all: impl Iterator<Item = &'a str>, looks: Looks<'a>) -> Obstacles<'a> {
        let mut names: HashMap<&str, usize> = HashMap::new();
        for name in all {
            *names.entry(name).or_default() += 1;
        }
        Obstacles { names, looks }
    }

    /// Returns why a test is not run, if it is not. `skip`: the author switched it off; `does`: what it does.
    pub(crate) fn of(&self, name: &str, skip: bool, does: ActionKind) -> Option<Obstacle> {
        let unsupported = || exec::unsupported(self.looks.file.dialect()?, does);
        if skip {
            Some(Obstacle::Skipped)
        } else if let Some(what) = unsupported() {
            Some(Obstacle::NotSupported(what))
        } else if !self.looks.has_suite {
            Some(Obstacle::NoSuite)
        } else if self.looks.is_refused {
            Some(Obstacle::WrongSettings)
        } else if self.names.get(name).is_some_and(|count| *count > 1) {
            Some(Obstacle::SharedName)
        } else {
            self.looks.broken.contains(name).then_some(Obstacle::HasProblems)
        }
    }
}

/// Returns the names of the tests that errors concern: those in which one begins, or all when one is outside of the tests.
pub(crate) fn broken(file: SpecFile, document: &Document, problems: &Problems) -> HashSet<String> {
    let errors = problems.iter().filter(|problem| problem.severity() == Severity::Error);
    let places: Vec<usize> = errors.map(|problem| problem.range().start).collect();
    if places.is_empty() {
        return HashSet::new();
    }
    // Only the tests in which something is wrong are read: there may be thousands of others.
    let nodes: Vec<NodeRef<'_>> = match case_items(file, document) {
        Some(items) => items.collect(),
        None => written_cases(file, document).into_iter().map(|test| test.node).collect(),
    };
    let name = |node: NodeRef<'_>| match list_of_cases(file) {
        Some(_) => name_of_item(file, node).map(str::to_owned),
        None => written_cases(file, document).first().map(|test| test.name.to_string()),
    };
    let mut broken = HashSet::new();
    let mut left = places.as_slice();
    while let Some(&place) = left.first() {
        let around = nodes.partition_point(|node| node.range().start <= place).checked_sub(1).map(|at| nodes[at]);
        let end = around.map_or(0, |node| document.end_with_strays(node).max(node.range().end));
        let Some(node) = around.filter(|_| place < end) else {
            return nodes.iter().filter_map(|node| name(*node)).collect();
        };
        broken.extend(name(node));
        left = &left[left.partition_point(|place| *place < end)..];
    }
    broken
}
