use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::{
    document::{NodeRef, Pointer},
    finding::{Finding, Location, MessageParts, Relation, Report, Rule},
    lint_node::LintNode,
    names::{self, Declaration, Name, Role},
    problem::{Code, Severity, Subject},
    relations::{CrossItemRule, Items},
    validate::Definition,
};

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
    fn findings(&self, items: Items<'_>) -> Vec<Finding> {
        let mut seen: FxHashMap<&str, (Pointer, Range<usize>)> = FxHashMap::default();
        let mut findings = Vec::new();
        for item in items.namesakes() {
            // A list whose items are names themselves is not a list of things with a name.
            let Some(Name { declaration, named }) = items.own_name(item).filter(|name| !name.named.at.is_root()) else {
                continue;
            };
            let (at, range) = items.place(item, named);
            match seen.get(named.name.as_str()) {
                Some((first_at, first_range)) => {
                    let rule = DuplicateName { declaration, name: named.name.clone() };
                    let (first_at, first_range) = (first_at.clone(), first_range.clone());
                    let finding = Finding::new(rule, at, range);
                    findings.push(finding.related(Relation::Labelled(FIRST), first_at, first_range));
                }
                None => drop(seen.insert(&named.name, (at, range))),
            }
        }
        findings
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
