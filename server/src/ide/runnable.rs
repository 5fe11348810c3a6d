//! Decides whether a test can run, and if not, explains why: briefly for its lens, in a sentence for a refused run.

use std::collections::HashSet;

use rustc_hash::FxHashMap;
use speclens_schema::{
    analysis::Problems,
    document::Document,
    json_schema::SpecFile,
    problem::Severity,
    suite::{Suite, list_of_cases, name_of_item},
};

use super::walk::first_after;

/// The reason why a test does not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotRunnableReason {
    Skipped,
    /// It is in a file that is a part of suites, and none names it.
    NoSuite,
    /// The settings of the workspace have errors.
    WrongSettings,
    /// Another test has the same name, so a result could belong to either.
    SharedName,
    /// It has errors, or the part outside of the tests has.
    HasProblems,
}

impl NotRunnableReason {
    pub(crate) fn of(suite: &Suite, index: usize) -> Option<NotRunnableReason> {
        let case = suite.cases.get(index)?;
        let namesakes = || suite.cases.iter().filter(|other| other.name == case.name).count();
        if case.skip {
            Some(NotRunnableReason::Skipped)
        } else if namesakes() > 1 {
            Some(NotRunnableReason::SharedName)
        } else {
            (!case.intact).then_some(NotRunnableReason::HasProblems)
        }
    }

    pub(crate) fn title(self) -> &'static str {
        match self {
            NotRunnableReason::Skipped => "○ skipped",
            NotRunnableReason::NoSuite => "! no suite names this file",
            NotRunnableReason::WrongSettings => "! the settings have errors",
            NotRunnableReason::SharedName => "! another test has this name",
            NotRunnableReason::HasProblems => "! has errors",
        }
    }

    pub(crate) fn sentence(self, test: &str) -> String {
        match self {
            NotRunnableReason::Skipped => format!("`{test}` is skipped; remove `skip: true` to run it"),
            NotRunnableReason::NoSuite => {
                format!("`{test}` was not run: no suite names this file; add it to the `tasks` of a suite")
            }
            NotRunnableReason::WrongSettings => {
                format!("`{test}` was not run; fix the errors in `speclens.yaml` first")
            }
            NotRunnableReason::SharedName => {
                format!("`{test}` was not run: another test has the same name; rename one of them")
            }
            NotRunnableReason::HasProblems => format!("`{test}` was not run; fix the underlined errors first"),
        }
    }
}

/// The reasons why tests of a document do not run, as far as the text alone shows them, which is cheaper than lowering
/// them.
pub(crate) struct NotRunnableReasons<'a> {
    names: FxHashMap<&'a str, usize>,
    looks: Looks<'a>,
}

/// The facts, besides its own text, that decide whether a test of a document can run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Looks<'a> {
    pub file: SpecFile,
    /// Whether a suite names the document; always true for a suite itself.
    pub has_suite: bool,
    /// Whether no test of the suite runs, because its settings have errors.
    pub is_refused: bool,
    pub broken: &'a BrokenTests,
}

impl<'a> NotRunnableReasons<'a> {
    pub(crate) fn new(all: impl Iterator<Item = &'a str>, looks: Looks<'a>) -> NotRunnableReasons<'a> {
        let mut names: FxHashMap<&str, usize> = FxHashMap::default();
        for name in all {
            *names.entry(name).or_default() += 1;
        }
        NotRunnableReasons { names, looks }
    }

    /// Returns the reason why a test does not run, if any. `skip`: the author skips it.
    pub(crate) fn of(&self, name: &str, skip: bool) -> Option<NotRunnableReason> {
        if skip {
            Some(NotRunnableReason::Skipped)
        } else if !self.looks.has_suite {
            Some(NotRunnableReason::NoSuite)
        } else if self.looks.is_refused {
            Some(NotRunnableReason::WrongSettings)
        } else if self.names.get(name).is_some_and(|count| *count > 1) {
            Some(NotRunnableReason::SharedName)
        } else {
            self.looks.broken.contains(name).then_some(NotRunnableReason::HasProblems)
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BrokenTests {
    /// All of them: an error is outside of the tests.
    All,
    /// Those with these names.
    These(HashSet<String>),
}

impl Default for BrokenTests {
    fn default() -> BrokenTests {
        BrokenTests::none()
    }
}

impl BrokenTests {
    pub(crate) fn none() -> BrokenTests {
        BrokenTests::These(HashSet::new())
    }

    pub(crate) fn among(problems: &Problems, file: SpecFile, document: &Document) -> BrokenTests {
        let errors = problems.iter().filter(|problem| problem.severity == Severity::Error);
        let mut places: Vec<usize> = errors.map(|problem| problem.range.start).collect();
        if places.is_empty() {
            return BrokenTests::none();
        }
        places.sort_unstable();
        let Some(at) = list_of_cases(file) else { return BrokenTests::All };
        let list = document.find(&at);
        let mut broken = HashSet::new();
        let mut left = places.as_slice();
        // Only the tests with an error are read: there may be thousands of others.
        while let Some(&place) = left.first() {
            let around = list.and_then(|list| list.item_at(first_after(list, place).checked_sub(1)?));
            let end = around.map_or(0, |node| document.end_with_strays(node).max(node.range().end));
            let Some(node) = around.filter(|_| place < end) else { return BrokenTests::All };
            broken.extend(name_of_item(file, node).map(str::to_owned));
            left = &left[left.partition_point(|place| *place < end)..];
        }
        BrokenTests::These(broken)
    }

    fn contains(&self, name: &str) -> bool {
        match self {
            BrokenTests::All => true,
            BrokenTests::These(names) => names.contains(name),
        }
    }
}

#[cfg(test)]
mod tests {
    use speclens_schema::{
        analysis::Analyzer, document::Document, files::MemoryFiles, json_schema::SpecFile, settings::Settings,
    };

    use super::BrokenTests;

    #[test]
    fn errors_concern_other_tests_only_if_their_tests_change() {
        let file = SpecFile::KINDLM;
        for line_end in ["\n", "\r\n"] {
            let test = |number: usize| {
                let error = if number.is_multiple_of(9) { "    repeat: many\n" } else { "" };
                format!("  - name: t{number}\n    command: 'true'\n{error}    expect: {{output: {{contains: [a]}}}}\n")
            };
            let tests: String = (0..300).map(test).collect();
            let text = format!("kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n{tests}").replace('\n', line_end);
            let mut document = Document::read(&text, file.scalar_rules());
            let broken = |document: &Document| {
                let problems = Analyzer::new(file).look(document, &MemoryFiles::default(), &Settings::default());
                BrokenTests::among(&problems, file, document)
            };
            let mut before = broken(&document);
            let edits = [
                ("- name: t150", "- name: t150 ", false),
                ("kindlm: 1", "# a line\nkindlm: 1", false),
                (
                    "  - name: t100",
                    "  - name: new\n    command: ls\n    expect: {output: {contains: [a]}}\n  - name: t100",
                    false,
                ),
                ("t151\n    command", "t151\n    repeat: x\n    command", true),
                // The test is still one with an error.
                ("t180\n    command: 'true'", "t180\n    command: ls", false),
                ("t153\n    command: 'true'\n    repeat: many", "t153\n    command: 'true'", true),
                ("- name: t270", "- name: renamed", true),
                ("project: p", "project: [p]", true),
                ("project: [p]", "project: p", true),
            ];
            for (old, new, differs) in edits {
                let (old, new) = (old.replace('\n', line_end), new.replace('\n', line_end));
                let at = String::from(document.text()).find(&old).unwrap();
                document.edit(at..at + old.len(), &new);
                document.refresh();
                let now = broken(&document);
                assert_eq!(now != before, differs, "{new}");
                before = now;
            }
        }
    }
}
