//! Duplicate names in ClawSpec files: of scenarios, stages, facts of a handoff, entries of the coverage ledger.

use std::{
    collections::HashMap,
    hash::{Hash, Hasher},
    sync::Arc,
};

use rustc_hash::{FxHashMap, FxHasher};

use crate::{
    dialect::clawspec::{
        facts::{About, ItemFacts, Items, Named},
        siblings::Sibling,
    },
    document::Pointer,
    finding::{Finding, Relation, Report, Rule, Site, Words},
    problem::{Code, OtherFile, Severity, Subject},
    relations::{self, CrossItemRule, FactRef, Link},
    lint_node::LintNode,
};

/// Maximum number of locations to show in another contract.
const MAX_PLACES: usize = 10;

/// A duplicate id in the ledger.
#[derive(Debug)]
struct DuplicateId(String);

/// A duplicate name in a list of items.
#[derive(Debug)]
struct DuplicateItem {
    /// Owner of the name: a scenario, a stage.
    owner: &'static str,
    name: String,
}

/// A duplicate name of a fact in a handoff.
#[derive(Debug)]
struct DuplicateFact(String);

/// Another contract of the same target with scenarios of the same names.
#[derive(Debug)]
struct SharedNames(String);

/// Checks the entries of a coverage ledger.
pub(crate) fn check_ledger(items: &[LintNode<'_>], report: &mut Report) {
    let mut known: HashMap<&str, LintNode<'_>> = HashMap::new();
    for id in items.iter().filter_map(|item| item.get("id")) {
        let Some(text) = id.text().filter(|text| !text.is_empty()) else { continue };
        match known.get(text) {
            Some(first) => report.push(id.finding(DuplicateId(text.to_owned())).with("first here", first)),
            None => drop(known.insert(text, id)),
        }
    }
}

/// Checks the names of a list of items.
pub(crate) struct DuplicateNames {
    /// Key of the list.
    pub(crate) list: &'static str,
    /// Owner of the names: "scenario".
    pub(crate) owner: &'static str,
}

impl DuplicateNames {
    fn name<'f>(items: relations::Items<'f>, index: usize) -> Option<&'f Named> {
        items.facts::<ItemFacts>(index)?.name.as_ref()
    }
}

impl CrossItemRule for DuplicateNames {
    fn digest(&self, items: relations::Items<'_>, index: usize) -> u64 {
        let mut hasher = FxHasher::default();
        DuplicateNames::name(items, index).map(|name| &name.name).hash(&mut hasher);
        hasher.finish()
    }

    fn links(&self, items: relations::Items<'_>) -> Vec<Link> {
        let mut first: FxHashMap<&str, usize> = FxHashMap::default();
        let mut links = Vec::new();
        for (item, facts) in Items::new(self.list, items).sharing(About::Name) {
            let Some(name) = facts.name.as_ref().filter(|name| !name.name.is_empty()) else { continue };
            match first.get(name.name.as_str()) {
                Some(first) => {
                    let fact = |item| FactRef { item, part: 0 };
                    links.push(Link { of: fact(item), causes: vec![fact(*first)] });
                }
                None => drop(first.insert(&name.name, item)),
            }
        }
        links
    }

    fn finding(&self, items: relations::Items<'_>, link: &Link) -> Option<Finding> {
        let place = |fact: &FactRef| {
            let name = DuplicateNames::name(items, fact.item)?;
            Some((name, Items::new(self.list, items).place(fact.item, name)))
        };
        let (name, (at, range)) = place(&link.of)?;
        let (_, (first_at, first_range)) = place(link.causes.first()?)?;
        let finding = Finding::new(DuplicateItem { owner: self.owner, name: name.name.clone() }, at, range);
        Some(finding.related(Relation::Labelled("first named here"), first_at, first_range))
    }
}

/// Reports scenarios of other contracts with the same names.
pub(crate) fn check_siblings(root: &LintNode<'_>, items: Items<'_>, siblings: &[Sibling], report: &mut Report) {
    let Some(target) = root.find(&["target", "path"]) else { return };
    let is_own = |name: &str| !name.is_empty() && items.have_name(name);
    for Sibling { path, bytes, document } in siblings {
        let Some(scenarios) = document.root().and_then(|root| root.get("scenarios")) else { continue };
        let names = scenarios.items().enumerate().filter_map(|(index, scenario)| Some((index, scenario.get("name")?)));
        let mut shared = names.filter(|(_, name)| name.as_str().is_some_and(is_own)).take(MAX_PLACES).peekable();
        if shared.peek().is_none() {
            continue;
        }
        let finding = target.finding(SharedNames(path.clone()));
        report.push(shared.fold(finding, |finding, (index, name)| {
            let file = OtherFile { path: path.clone(), bytes: Arc::clone(bytes) };
            let at = Pointer::root().key("scenarios").index(index).key("name");
            finding.with_other_file("the same name", file, at, name.range())
        }));
    }
}

/// Checks the context and artifacts that the caller of a handoff provides.
pub(crate) fn check_handoff(root: &LintNode<'_>, report: &mut Report) {
    let context = root.find(&["caller_provides", "required_context"]).map(|list| list.items()).unwrap_or_default();
    let mut names: Vec<(&str, LintNode<'_>)> = Vec::new();
    for name in context.iter().filter_map(|item| item.get("name")) {
        let Some(text) = name.text() else { continue };
        match names.iter().find(|(known, _)| *known == text) {
            Some((_, first)) => {
                report.push(name.finding(DuplicateFact(text.to_owned())).with("first named here", first));
            }
            None => names.push((text, name)),
        }
    }
}

impl Rule for DuplicateId {
    const CODE: Code = Code::DuplicateName;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new(format!("duplicate id `{}` in the ledger", self.0)).subject(Subject::Name(self.0.clone()))
    }
}

impl Rule for DuplicateItem {
    const CODE: Code = Code::DuplicateName;

    fn words(&self, _: &Site<'_>) -> Words {
        let DuplicateItem { owner, name } = self;
        Words::new(format!("duplicate {owner} name `{name}`"))
            .note("only one of them can be found by name")
            .subject(Subject::Name(name.clone()))
    }
}

impl Rule for DuplicateFact {
    const CODE: Code = Code::DuplicateName;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new(format!("duplicate name `{}`", self.0))
            .help("give each fact a different name")
            .subject(Subject::Name(self.0.clone()))
    }
}

impl Rule for SharedNames {
    const CODE: Code = Code::DuplicateName;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new(format!("`{}` has scenarios with the same names for the same target", self.0))
            .note("ClawSpec gives their reports the same name and counts them together")
            .help("rename the scenarios of one of the two files")
    }
}
