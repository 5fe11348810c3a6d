//! What the safe fixes make of every golden file: nothing that its author asserts is lost or emptied.
#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[path = "common/golden.rs"]
mod golden;

use std::collections::BTreeMap;

use speclens_schema::{
    cure::{Revealing, cure},
    document::{Document, NodeRef},
    problem::{Code, Problem},
};

use golden::Golden;

/// How many values and how many assertions a text has, and its values by their text.
#[derive(Default)]
struct Kept {
    assertions: usize,
    values: BTreeMap<String, usize>,
}

impl Kept {
    fn of(document: &Document) -> Kept {
        let mut kept = Kept::default();
        document.root().into_iter().for_each(|root| kept.walk(root));
        kept
    }

    fn walk(&mut self, node: NodeRef<'_>) {
        if node.alias().is_some() {
            return;
        }
        for entry in node.entries() {
            if matches!(&*entry.key.key_text(), "assert" | "then" | "given" | "expect" | "assertions") {
                self.assertions += entry.value.items().count() + entry.value.entries().count();
            }
            self.walk(entry.value);
        }
        if let Some(text) = node.text().filter(|_| !node.is_null()) {
            *self.values.entry(text.to_owned()).or_default() += 1;
        }
        node.items().for_each(|item| self.walk(item));
    }

    fn repeated(&self) -> usize {
        self.values.values().map(|count| count - 1).sum()
    }

    fn all(&self) -> usize {
        self.values.values().sum()
    }
}

#[test]
fn safe_fixes_lose_no_assertion_and_no_value() {
    let mut applied = 0;
    for golden in Golden::all() {
        let document = golden.document();
        if document.problems().iter().any(|problem| problem.code.is_about_reading()) {
            // What is not read has no values to compare.
            continue;
        }
        let safe = |problem: &Problem| problem.fixes.iter().any(|fix| fix.is_safe());
        let look = |document: &Document| golden.problems(document);
        let cured =
            cure(&document, &look, &|problem| problem.fixes.iter().find(|fix| fix.is_safe()), Revealing::Allowed);
        applied += usize::from(look(&document).iter().any(safe));
        let (before, after) = (Kept::of(&document), Kept::of(&Document::read(&cured.text, document.rules())));
        let path = golden.path.display();
        let titles: Vec<&str> = cured.applied.iter().map(|applied| applied.title.as_str()).collect();
        // Only what is there twice may go.
        let least = before.values.len();
        assert!(after.all() >= least && after.all() + before.repeated() >= before.all(), "{path}: {titles:?}");
        assert!(after.assertions + before.repeated() >= before.assertions, "{path}: assertions are lost: {titles:?}");
        let vacuous = |problems: &[Problem]| problems.iter().filter(|it| it.code == Code::VacuousClaim).count();
        let (had, has) = (vacuous(&look(&document)), vacuous(&cured.left));
        assert!(has <= had, "{path}: {had} vacuous claims became {has}: {titles:?}");
    }
    assert!(applied > 20, "only {applied} files have safe fixes");
}
