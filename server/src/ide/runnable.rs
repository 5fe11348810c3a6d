//! Decides whether a test can run, and if not, explains why: briefly for its lens, in a sentence for a refused run.

use std::{borrow::Cow, collections::HashSet};

use rustc_hash::FxHashMap;
use speclens_runner::exec;
use speclens_schema::{
    analysis::Problems,
    document::{Document, NodeRef},
    json_schema::SpecFile,
    problem::Severity,
    suite::{ActionKind, Suite, list_of_cases, name_of_item, written_cases},
};

use super::parts::first_after;

/// The reason why a test does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Obstacle {
    /// The author skips it.
    Skipped,
    /// This version does not support it.
    NotSupported(&'static str),
    /// It is in a file that is a part of suites, and none names it.
    NoSuite,
    /// The settings of the workspace have errors.
    WrongSettings,
    /// Another test has the same name, so a result could belong to either.
    SharedName,
    /// It has errors, or the part outside of the tests has.
    HasProblems,
}

impl Obstacle {
    /// Returns the reason why a case of a suite does not run, if any.
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

    /// Returns the text for a lens.
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

    /// Returns the sentence for a refused run of the test.
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

/// The obstacles of a document's tests, as far as the text alone shows them, which is cheaper than lowering them.
pub(crate) struct Obstacles<'a> {
    names: FxHashMap<&'a str, usize>,
    looks: Looks<'a>,
}

/// The facts, besides its own text, that decide whether a test of a document can run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looks<'a> {
    /// The kind of document.
    pub file: SpecFile,
    /// Whether a suite names the document; always true for a suite itself.
    pub has_suite: bool,
    /// Whether no test of the suite runs, because its settings have errors.
    pub is_refused: bool,
    /// The names of the tests with errors.
    pub broken: &'a HashSet<String>,
}

impl<'a> Obstacles<'a> {
    /// Collects the names of the tests of a document.
    pub(crate) fn new(all: impl Iterator<Item = &'a str>, looks: Looks<'a>) -> Obstacles<'a> {
        let mut names: FxHashMap<&str, usize> = FxHashMap::default();
        for name in all {
            *names.entry(name).or_default() += 1;
        }
        Obstacles { names, looks }
    }

    /// Returns the reason why a test does not run, if any. `skip`: the author skips it; `does`: its kind of action.
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

/// Returns the names of the tests that errors concern: those that contain one, or all if one is outside of the tests.
pub(crate) fn broken(file: SpecFile, document: &Document, problems: &Problems) -> HashSet<String> {
    let mut numbers: Vec<usize> = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    for error in problems.iter().filter(|problem| problem.severity() == Severity::Error) {
        match error.part().map(|(part, _)| part.item()).filter(|(list, _)| file.case_list() == Some(list)) {
            Some((_, number)) => numbers.push(number),
            None => places.push(error.range().start),
        }
    }
    if numbers.is_empty() && places.is_empty() {
        return HashSet::new();
    }
    let Some(at) = list_of_cases(file) else {
        return written_cases(file, document).into_iter().map(|test| test.name.into_owned()).collect();
    };
    let list = document.find(&at);
    let name = |node: NodeRef<'_>| name_of_item(file, node).map(str::to_owned);
    numbers.dedup();
    let mut broken: HashSet<String> = numbers.iter().filter_map(|number| name(list?.item_at(*number)?)).collect();
    let mut left = places.as_slice();
    // Only the tests with an error are read: there may be thousands of others.
    while let Some(&place) = left.first() {
        let around = list.and_then(|list| list.item_at(first_after(list, place).checked_sub(1)?));
        let end = around.map_or(0, |node| document.end_with_strays(node).max(node.range().end));
        let Some(node) = around.filter(|_| place < end) else {
            return list.into_iter().flat_map(NodeRef::items).filter_map(name).collect();
        };
        broken.extend(name(node));
        left = &left[left.partition_point(|place| *place < end)..];
    }
    broken
}
