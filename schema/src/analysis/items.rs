//! The items of a list: what is found in each of them is kept with its block.

use std::{ops::Range, sync::Arc};

use super::{analyzer::Analyzer, cases::CaseContext, finish};
use crate::{
    document::{Block, NodeRef, parallel},
    files::Files,
    names,
    problem::Problem,
    relations::{Facts, ListFacts},
    validate::Definition,
};

/// The items of a list, in their order.
pub(super) struct ItemList {
    list: &'static str,
    items: Vec<Item>,
}

struct Item {
    start: usize,
    /// The start of the block that contains only the item: its findings are relative to it. 0 if there is no such block.
    block: usize,
    findings: Arc<Findings>,
}

/// Findings of one item. Ranges are relative to the first byte of its block, pointers to the item.
struct Findings {
    problems: Vec<Problem>,
    /// Facts of the item for the checks between items.
    facts: Option<Facts>,
}

impl ItemList {
    /// Looks at the items of a list. What is known of an item is not looked for again.
    pub(super) fn of(
        analyzer: &Analyzer,
        node: NodeRef<'_>,
        list: &'static str,
        files: &dyn Files,
        cases: Option<&CaseContext>,
    ) -> ItemList {
        let cases = cases.filter(|cases| cases.list == Some(list));
        let document = node.document();
        let nodes: Vec<(usize, NodeRef<'_>)> = node.items().enumerate().collect();
        let items = parallel::map(&nodes, |(index, item)| {
            let cases = cases.map(|cases| (cases, *index));
            let look = || analyzer.look_at(*item, list, files, cases);
            let (block, findings) = match document.own_block(*item) {
                None => (0, Arc::new(look())),
                Some((start, block)) => {
                    // An item may end up in another list although its text stays the same.
                    let key = analyzer.key(document, start, block, (list, cases.map(|(cases, _)| cases.hash)));
                    (start, block.memo(key, || look().relative_to(start, block)))
                }
            };
            Item { start: item.range().start, block, findings }
        });
        ItemList { list, items }
    }

    pub(super) fn facts(&self) -> ListFacts<'_> {
        let facts = self.items.iter().filter_map(|item| Some((item.findings.facts.as_ref()?, item.start)));
        ListFacts::new(self.list, Definition::list_at(self.list), facts)
    }

    /// Returns the problems of the items, with absolute locations.
    pub(super) fn problems(&self) -> impl Iterator<Item = Problem> {
        let list = Definition::list_at(self.list);
        self.items.iter().enumerate().flat_map(move |(index, item)| {
            let base = list.index(index);
            item.findings.problems.iter().map(move |problem| problem.clone().moved(&base, item.block))
        })
    }
}

impl Analyzer {
    fn look_at(
        &self,
        item: NodeRef<'_>,
        list: &'static str,
        files: &dyn Files,
        cases: Option<(&CaseContext, usize)>,
    ) -> Findings {
        let mut problems = self.validate(item, Definition::Item(self.file, list), files);
        if let Some((cases, index)) = cases {
            let place = Definition::list_at(list).index(index);
            cases.report_idle(self, item, &place, files, &mut problems);
        }
        finish::settle(&mut problems, item.document());
        let facts = self.format().and_then(|format| format.facts(self.file, list, item, files));
        let facts = match names::of_item(item, Definition::Item(self.file, list)) {
            None => facts,
            Some(names) => Some(Facts::with_names(facts, names)),
        };
        Findings { problems, facts }
    }
}

impl Findings {
    /// Returns the same findings with ranges relative to the start of a block. Locations outside of the block are
    /// omitted, because they may move independently.
    fn relative_to(mut self, start: usize, block: &Block) -> Findings {
        let inside = |range: &mut Range<usize>| {
            let fits = range.start >= start && range.end <= start + block.length();
            if fits {
                *range = range.start - start..range.end - start;
            }
            fits
        };
        for problem in &mut self.problems {
            if !inside(&mut problem.range) {
                problem.range = 0..0;
            }
            problem.related.retain_mut(|related| related.file.is_some() || inside(&mut related.range));
            problem.fixes.retain_mut(|fix| fix.edits.iter_mut().all(|edit| inside(&mut edit.range)));
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{super::Analyzer, Findings, ItemList};
    use crate::{
        document::{Document, ScalarRules},
        files::MemoryFiles,
        json_schema::SpecFile,
        validate::Definition,
    };

    fn findings(document: &Document) -> Vec<Arc<Findings>> {
        let tests = document.root().and_then(|root| Definition::list_in(root, "tests")).unwrap();
        let list = ItemList::of(&Analyzer::new(SpecFile::KINDLM), tests, "tests", &MemoryFiles::default(), None);
        list.items.into_iter().map(|item| item.findings).collect()
    }

    #[test]
    fn what_was_found_in_items_that_are_not_edited_is_kept() {
        let test = |number: usize| format!("  - name: t{number}\n    command: 'true'\n    expct: {{}}\n");
        for line_end in ["\n", "\r\n"] {
            let tests: String = (0..400).map(test).collect();
            let text = format!("kindlm: 1\nproject: p\nsuite: {{name: s}}\ntests:\n{tests}").replace('\n', line_end);
            let mut document = Document::read(&text, ScalarRules::Yaml12);
            // A letter in an item, and an item that is inserted above others.
            for (place, new) in [("t20", "x".to_owned()), ("  - name: t10", test(999).replace('\n', line_end))] {
                let before = findings(&document);
                let at = String::from(document.text()).find(place).unwrap();
                document.edit(at..at, &new);
                document.refresh();
                let after = findings(&document);
                let is_kept = |found: &&Arc<Findings>| before.iter().any(|known| Arc::ptr_eq(known, found));
                assert_eq!(after.iter().filter(is_kept).count(), after.len() - 1);
            }
        }
    }
}
