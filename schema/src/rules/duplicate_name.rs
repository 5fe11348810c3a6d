pub(crate) mod clawspec;
pub(crate) mod cli_bench;

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashMap, FxHasher};

use crate::{
    document::NodeRef,
    finding::{Finding, Location, MessageParts, Relation, Report, Rule},
    lint_node::LintNode,
    names::{self, Declaration, Role},
    problem::{Code, Severity, Subject},
    relations::{CrossItemRule, FactRef, Items, Link},
    validate::Definition,
};

page! {
    /// Two things that must have different names have the same name.
    "duplicate-name", Error
}

/// Label of the definition that the name belongs to.
const FIRST: &str = "first used here";

/// A duplicate name, where its field declares that names must differ.
#[derive(Debug)]
struct DuplicateName {
    declaration: &'static Declaration,
    name: String,
}

/// Checks the names within a part of a file.
pub(crate) fn check(node: NodeRef<'_>, definition: Definition, report: &mut Report) {
    let defines = |it: &&Declaration| it.role == Role::Defines && !it.is_keys();
    for declaration in names::declared(definition).iter().filter(defines) {
        let mut seen: FxHashMap<String, LintNode<'_>> = FxHashMap::default();
        declaration.each(LintNode::root(node), &mut |name, node| match seen.get(name) {
            Some(first) => {
                report.push(node.finding(DuplicateName { declaration, name: name.to_owned() }).with(FIRST, first));
            }
            None => drop(seen.insert(name.to_owned(), node)),
        });
    }
}

/// Duplicate names of the items of a list.
#[derive(Debug)]
pub(crate) struct OfItems;

impl CrossItemRule for OfItems {
    fn digest(&self, items: Items<'_>, index: usize) -> u64 {
        let mut hasher = FxHasher::default();
        items.own_name(index).map(|name| &name.named.name).hash(&mut hasher);
        hasher.finish()
    }

    fn links(&self, items: Items<'_>) -> Vec<Link> {
        let mut first: FxHashMap<&str, usize> = FxHashMap::default();
        let mut links = Vec::new();
        for item in items.namesakes() {
            // A list whose items are names themselves is not a list of things with a name.
            let Some(name) = items.own_name(item).filter(|name| !name.named.at.is_root()) else { continue };
            match first.get(name.named.name.as_str()) {
                Some(first) => {
                    let fact = |item| FactRef { item, part: 0 };
                    links.push(Link { of: fact(item), causes: vec![fact(*first)] });
                }
                None => drop(first.insert(&name.named.name, item)),
            }
        }
        links
    }

    fn finding(&self, items: Items<'_>, link: &Link) -> Option<Finding> {
        let place = |fact: &FactRef| {
            let name = items.own_name(fact.item)?;
            Some((name, items.place(fact.item, &name.named)))
        };
        let (name, (at, range)) = place(&link.of)?;
        let (_, (first_at, first_range)) = place(link.causes.first()?)?;
        let rule = DuplicateName { declaration: name.declaration, name: name.named.name.clone() };
        Some(Finding::new(rule, at, range).related(Relation::Labelled(FIRST), first_at, first_range))
    }
}

impl Rule for DuplicateName {
    const CODE: Code = Code::DuplicateName;

    fn severity(&self) -> Severity {
        if self.declaration.shape.name_words().is_warning { Severity::Warning } else { Code::DuplicateName.severity() }
    }

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let DuplicateName { declaration, name } = self;
        let about = declaration.shape.name_words();
        let what = match about.what {
            Some(what) => what.to_owned(),
            None => format!("{} {}", names::singular(declaration.kind), declaration.key()),
        };
        let words = MessageParts::new(format!("duplicate {what} `{name}`")).subject(Subject::Name(name.clone()));
        let words = about.note.into_iter().fold(words, MessageParts::note);
        let noun = ["id", "label"].into_iter().find(|noun| what.ends_with(noun)).unwrap_or("name");
        words.help(about.help.map_or_else(|| format!("give it a different {noun}"), str::to_owned))
    }
}
