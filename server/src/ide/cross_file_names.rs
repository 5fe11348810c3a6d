//! Names with the same meaning in several files: the ids of a suite's tasks, scenarios that ledgers and baselines
//! refer to, and shared names without a definition: tags, agents, targets. The schema says which texts are such names.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
};

use serde_json::Value;
use speclens_schema::{
    document::{Document, EntryRef, NodeRef, Pointer, Shape as NodeShape},
    format::Unit,
    json_schema::{FileOwner, SpecFile},
    shape::{Shape, Word},
};

use super::occurrences::{self, Occurrence};

#[derive(Clone, Debug)]
pub(crate) struct CrossFileOccurrence {
    /// The kind of thing it names, in the plural.
    pub kind: &'static str,
    pub name: String,
    /// The scope in which it has the same meaning.
    pub home: NameScope,
    pub place: Occurrence,
}

/// The scope in which a name has the same meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NameScope {
    /// The root of paths: all contracts of a workspace.
    Root,
    /// The suite that the file belongs to.
    Suite,
    /// The file at this path, relative to the root: it contains the definitions.
    File(String),
}

/// Values from log files: they are offered, but never renamed.
pub(crate) const LOGS: &str = "logs";

pub(crate) fn crosses(kind: &str) -> bool {
    matches!(kind, "tasks" | "scenarios")
}

pub(crate) fn mentions(document: &Document, file: SpecFile, place: &str) -> Vec<CrossFileOccurrence> {
    let mut walk = Walk { file, place, ways: Ways::of(file), around: Vec::new(), found: Vec::new() };
    if let Some(root) = document.root() {
        walk.below(root, &Shape::of(file), "");
    }
    walk.found
}

/// The keys that may contain such names, by their parent key: most of a document is skipped
/// without consulting the schema.
type Keys = BTreeMap<&'static str, BTreeSet<&'static str>>;

struct Ways(Keys);

/// A placeholder for keys that the author chooses.
const ANY: &str = "*";

impl Ways {
    fn of(file: SpecFile) -> &'static Ways {
        static KNOWN: Mutex<Vec<(SpecFile, &'static Ways)>> = Mutex::new(Vec::new());
        let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, ways)) = known.iter().find(|(known, _)| *known == file) {
            return ways;
        }
        let mut finder = WayFinder { root: file.schema(), ways: Keys::new(), seen: BTreeMap::new() };
        finder.leads(file.schema(), "");
        let ways: &'static Ways = Box::leak(Box::new(Ways(finder.ways)));
        known.push((file, ways));
        ways
    }

    /// Returns the context below a key; `None` if no names can be there.
    fn step(&self, context: &str, key: &str) -> Option<&'static str> {
        let keys = self.0.get(context)?;
        keys.get(key).or_else(|| keys.get(ANY)).copied()
    }
}

struct WayFinder {
    root: &'static Value,
    ways: Keys,
    /// The visited definitions by parent key, and whether they contain a name.
    seen: BTreeMap<(&'static str, &'static str), bool>,
}

impl WayFinder {
    fn leads(&mut self, schema: &'static Value, context: &'static str) -> bool {
        let Some(keywords) = schema.as_object() else { return false };
        let mut leads = self.is_name(schema);
        for (keyword, value) in keywords {
            leads |= match (keyword.as_str(), value) {
                ("$ref", Value::String(to)) => {
                    let name = to.rsplit('/').next().unwrap_or_default();
                    match self.seen.get(&(name, context)) {
                        Some(known) => *known,
                        None => {
                            self.seen.insert((name, context), false);
                            let definition = self.root.get("$defs").and_then(|all| all.get(name));
                            let leads = definition.is_some_and(|definition| self.leads(definition, context));
                            self.seen.insert((name, context), leads);
                            leads
                        }
                    }
                }
                ("properties", Value::Object(properties)) => {
                    properties.iter().fold(false, |any, (key, property)| any | self.below(property, context, key))
                }
                ("additionalProperties", value) => self.below(value, context, ANY),
                ("items" | "then" | "else", value) => self.leads(value, context),
                ("allOf", Value::Array(all)) => all.iter().fold(false, |any, one| any | self.leads(one, context)),
                _ => false,
            };
        }
        leads
    }

    fn below(&mut self, schema: &'static Value, context: &'static str, key: &'static str) -> bool {
        let leads = self.leads(schema, key);
        if leads {
            self.ways.entry(context).or_default().insert(key);
        }
        leads
    }

    fn is_name(&self, schema: &Value) -> bool {
        let kind = |keyword: &str| schema.get(keyword).and_then(Value::as_str);
        let defines = kind("x-defines");
        kind("x-shares").is_some()
            || kind("x-file") == Some("log")
            || kind("x-refers").is_some_and(crosses)
            || defines.is_some_and(crosses)
            || schema.get("x-model").is_some()
    }
}

struct Walk<'d> {
    file: SpecFile,
    place: &'d str,
    ways: &'static Ways,
    around: Vec<NodeRef<'d>>,
    found: Vec<CrossFileOccurrence>,
}

impl<'d> Walk<'d> {
    /// Visits a node with its schema, before branches of the schema are chosen.
    fn below(&mut self, node: NodeRef<'d>, shape: &Shape, context: &'static str) {
        if node.alias().is_some() {
            return;
        }
        match node.shape() {
            NodeShape::Scalar => self.scalar(node, &shape.at(Some(node))),
            NodeShape::Sequence => {
                let Some(item) = shape.item() else { return };
                for below in node.items() {
                    self.below(below, &item, context);
                }
            }
            NodeShape::Mapping => {
                let ways = |entry: EntryRef<'d>| Some((self.ways.step(context, entry.key.text()?)?, entry));
                let entries: Vec<(&'static str, EntryRef<'d>)> = node.entries().filter_map(ways).collect();
                let keys_are_names = self.file.keys_are_names;
                if entries.is_empty() && !keys_are_names {
                    return;
                }
                let shape = shape.at(Some(node));
                if let Some(Word::Refers(kind)) = shape.word().filter(|_| keys_are_names)
                    && let Some(home) = self.home_of_reference()
                {
                    for entry in node.entries() {
                        let place = occurrences::occurrence(entry.key, false);
                        self.found.push(CrossFileOccurrence {
                            kind,
                            name: entry.key.key_text(),
                            home: home.clone(),
                            place,
                        });
                    }
                }
                self.around.push(node);
                for (context, entry) in entries {
                    if let Some(below) = shape.child(entry.key.text().unwrap_or_default(), None) {
                        self.below(entry.value, &below, context);
                    }
                }
                self.around.pop();
            }
            NodeShape::Dangling => {}
        }
    }

    fn scalar(&mut self, node: NodeRef<'d>, shape: &Shape) {
        let Some(text) = node.text().filter(|text| !text.is_empty()) else { return };
        let (kind, home, is_definition) = match (shape.shares(), shape.word()) {
            (Some(kind), _) => (kind, self.home_of_shared(), false),
            (None, Some(Word::Defines(kind))) if crosses(kind) => (kind, self.home_of_definition(), true),
            // They are offered in other suites.
            (None, Some(Word::Defines(kind))) if shape.is_model_id() => {
                (kind, NameScope::File(self.place.to_owned()), true)
            }
            (None, Some(Word::Refers(kind))) if crosses(kind) => match self.home_of_reference() {
                Some(home) => (kind, home, false),
                None => return,
            },
            (None, Some(Word::File("log"))) => (LOGS, self.home_of_shared(), false),
            (None, Some(_) | None) => return,
        };
        // Only a run knows the value of a template.
        if kind != LOGS && text.contains("{{") {
            return;
        }
        let place = occurrences::occurrence(node, is_definition);
        self.found.push(CrossFileOccurrence { kind, name: text.to_owned(), home, place });
    }

    fn home_of_shared(&self) -> NameScope {
        match self.file.dialect().map(|format| format.unit()) {
            Some(Unit::Workspace) => NameScope::Root,
            Some(Unit::Suite) => NameScope::Suite,
            Some(Unit::File) | None => NameScope::File(self.place.to_owned()),
        }
    }

    fn home_of_definition(&self) -> NameScope {
        match self.home_of_shared() {
            NameScope::Suite => NameScope::Suite,
            NameScope::Root | NameScope::File(_) => NameScope::File(self.place.to_owned()),
        }
    }

    fn home_of_reference(&self) -> Option<NameScope> {
        home_of_reference(self.file, self.place, &mut self.around.iter().rev().copied())
    }
}

/// Returns the scope of the definitions that a file may refer to, given the nodes around the reference, innermost first.
fn home_of_reference<'d>(
    file: SpecFile,
    place: &str,
    around: &mut dyn Iterator<Item = NodeRef<'d>>,
) -> Option<NameScope> {
    match file.owner {
        // Such a file belongs to a suite.
        FileOwner::Serves(_) => Some(NameScope::Suite),
        FileOwner::Of(_) | FileOwner::SettingsOf(_) | FileOwner::Settings => {
            (file.contract)(place, around).map(NameScope::File)
        }
    }
}

pub(crate) fn home_at(document: &Document, file: SpecFile, place: &str, offset: usize) -> Option<NameScope> {
    let at = document.pointer_at(offset);
    let mut around = std::iter::successors(Some(at), Pointer::parent).filter_map(|at| document.find(&at));
    home_of_reference(file, place, &mut around)
}

#[cfg(test)]
mod tests {
    use speclens_schema::{document::Document, json_schema::SpecFile};

    use super::{NameScope, mentions};

    #[track_caller]
    fn check(file: SpecFile, place: &str, text: &str, expected: &[(&str, &str, NameScope)]) {
        for text in [text.to_owned(), format!("# ä😀\n{text}").replace('\n', "\r\n")] {
            let document = Document::read(&text, file.scalar_rules());
            let found = mentions(&document, file, place);
            let shown: Vec<_> =
                found.iter().map(|found| (found.kind, found.name.as_str(), found.home.clone())).collect();
            assert_eq!(shown, expected, "{text}");
            for found in found {
                assert_eq!(&text[found.place.range.clone()], found.name);
            }
        }
    }

    #[test]
    fn names_that_files_share_are_found_in_whatever_can_be_read() {
        let own = || NameScope::File("t/tests/scenarios.yaml".to_owned());
        check(
            SpecFile::CLAWSPEC_SCENARIOS,
            "t/tests/scenarios.yaml",
            "target: {type: skill, path: skills/a, trigger: /a}\nscenarios:\n  - name: \"one\n  - name: two\n    tags: [smoke, 'p 0', \"{{x}}\"]\n    then:\n      - {type: delegation_occurred, to_agent: lead, log_path: /l.log}\n",
            &[
                ("targets", "skills/a", NameScope::Root),
                ("scenarios", "one", own()),
                ("scenarios", "two", own()),
                ("tags", "smoke", NameScope::Root),
                ("tags", "p 0", NameScope::Root),
                ("agents", "lead", NameScope::Root),
                ("logs", "/l.log", NameScope::Root),
            ],
        );
        check(
            SpecFile::CLI_BENCH_TASKS,
            "tasks/a.yaml",
            "- {id: one, category: x}\n",
            &[("tasks", "one", NameScope::Suite), ("categories", "x", NameScope::Suite)],
        );
    }

    #[test]
    fn ledgers_and_baselines_name_the_scenarios_of_a_contract() {
        check(
            SpecFile::CLAWSPEC_LEDGER,
            "docs/testing/coverage-ledger.yaml",
            "waves:\n  w:\n    items:\n      - id: skills/a\n        contracts: {scenario_file: skills/a/tests/scenarios.yaml}\n        verification: {approved_smoke_scenario: one}\n",
            &[
                ("targets", "skills/a", NameScope::Root),
                ("scenarios", "one", NameScope::File("skills/a/tests/scenarios.yaml".to_owned())),
            ],
        );
        check(
            SpecFile::CLAWSPEC_BASELINES,
            "skills/a/tests/baselines.yaml",
            "version: '1.0'\nbaselines:\n  one: {runs: 5}\n",
            &[("scenarios", "one", NameScope::File("skills/a/tests/scenarios.yaml".to_owned()))],
        );
    }
}
