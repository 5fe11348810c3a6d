//! Cases as they are written in one file.

use std::borrow::Cow;

use super::{ActionKind, Phase};
use crate::{
    document::{Document, NodeRef, Pointer},
    json_schema::{Cases, SpecFile},
    validate::Definition,
};

#[derive(Clone, Debug)]
pub struct WrittenCase<'d> {
    /// Name of the case.
    pub name: Cow<'d, str>,
    /// Node of the case; the root if the file is one case.
    pub node: NodeRef<'d>,
    /// Location of the node.
    pub at: Pointer,
    /// Whether the author disabled the case.
    pub skip: bool,
    pub does: ActionKind,
}

impl WrittenCase<'_> {
    pub fn has_preconditions(&self) -> bool {
        let list = || self.node.get(Phase::Given.as_str());
        self.does == ActionKind::Trigger && list().is_some_and(|list| list.items().next().is_some())
    }
}

/// Returns the named cases in a file, in document order. Cases of other files that it includes are
/// excluded.
pub fn written_cases(file: SpecFile, document: &Document) -> Vec<WrittenCase<'_>> {
    let Some(root) = document.root() else { return Vec::new() };
    match file.cases {
        Cases::List(list) | Cases::PartOfSuite(list) => {
            let at = Definition::list_at(list);
            let items = document.find(&at).into_iter().flat_map(NodeRef::items).enumerate();
            items.filter_map(|(index, node)| written_case(file, node, at.index(index))).collect()
        }
        Cases::Whole(name) => {
            let name = name(root).filter(|name| !name.is_empty());
            name.and_then(|name| case(file, Cow::Owned(name), root, Pointer::root())).into_iter().collect()
        }
        Cases::None => Vec::new(),
    }
}

pub fn list_of_cases(file: SpecFile) -> Option<Pointer> {
    file.case_list().map(Definition::list_at)
}

/// Returns the items of the list of cases, including those without a name; `None` if the file is one case, or has none.
/// The items are not read, so this is fast for long lists.
pub fn case_items(file: SpecFile, document: &Document) -> Option<impl Iterator<Item = NodeRef<'_>>> {
    let at = list_of_cases(file)?;
    Some(document.find(&at).into_iter().flat_map(NodeRef::items))
}

pub fn name_of_item(file: SpecFile, node: NodeRef<'_>) -> Option<&str> {
    node.get(file.name_key())?.as_str().filter(|name| !name.is_empty())
}

/// Returns an item of the list of cases, if it has a name. `at` is its location.
pub fn written_case(file: SpecFile, node: NodeRef<'_>, at: Pointer) -> Option<WrittenCase<'_>> {
    case(file, Cow::Borrowed(name_of_item(file, node)?), node, at)
}

fn case<'d>(file: SpecFile, name: Cow<'d, str>, node: NodeRef<'d>, at: Pointer) -> Option<WrittenCase<'d>> {
    let format = file.dialect()?.format();
    Some(WrittenCase { name, node, at, skip: format.is_skipped(node), does: format.act_of(node) })
}

#[cfg(test)]
mod tests {
    use crate::{
        analysis::Analyzer, document::Document, files::MemoryFiles, json_schema::SpecFile, settings::Settings,
        suite::ActionKind,
    };

    use super::written_cases;

    /// Written cases have the same names, locations and actions as lowered ones.
    #[test]
    fn written_cases_are_those_that_lowering_finds() {
        let files = [
            (
                SpecFile::KINDLM,
                "tests:\n- {name: a, command: x}\n- {name: b, prompt: p}\n- {name: c, skip: true, command: y}\n",
            ),
            (SpecFile::CLI_BENCH, "cli: git\ntasks:\n- {id: a, intent: b}\n- id: c\n  intent: d\n"),
            (SpecFile::CLI_BENCH_TASKS, "- {id: a, intent: b}\n- id: c\n  intent: d\n"),
            (
                SpecFile::CLAWSPEC_SCENARIOS,
                "scenarios:\n- {name: a, when: {invoke: /x}}\n- name: b\n  when: {invoke: /y}\n",
            ),
            (SpecFile::CLAWSPEC_HANDOFF, "handoff: {from: a, to: b}\n"),
            (SpecFile::CLAWSPEC_PIPELINE, "pipeline: {name: a, trigger: /a}\nstages: []\n"),
        ];
        for (file, text) in files {
            for text in
                [text.to_owned(), text.replace("\n  ", "\n    ").replace("\n- ", "\n  - "), text.replace('\n', "\r\n")]
            {
                let text = if file == SpecFile::CLI_BENCH_TASKS {
                    text.replace("\n  - ", "\n- ").replace("\n    ", "\n  ")
                } else {
                    text
                };
                let document = Document::read(&text, file.scalar_rules());
                let suite =
                    Analyzer::new(file).analyze(&document, &MemoryFiles::new("/", []), &Settings::default()).suite;
                let lowered = suite.cases.iter().map(|case| {
                    let range = document.find(&case.at).unwrap().range();
                    (case.name.clone(), case.at.clone(), range, case.skip, case.action.kind())
                });
                let lowered: Vec<_> = lowered.collect();
                let written = written_cases(file, &document)
                    .into_iter()
                    .map(|case| (case.name.into_owned(), case.at, case.node.range(), case.skip, case.does));
                assert_eq!(written.collect::<Vec<_>>(), lowered, "{text}");
                assert!(lowered.iter().all(|(.., does)| *does != ActionKind::None) && !lowered.is_empty(), "{text}");
            }
        }
    }
}
