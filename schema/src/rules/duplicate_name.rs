//! Names that must differ, and do not: in a part of a file, and between the items of a list.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::{
    document::{NodeRef, Pointer},
    finding::{Finding, MessageParts, Relation, Report},
    lint_node::LintNode,
    names::{self, Declaration, Name, Role},
    problem::{Code, Severity, Subject},
    relations::Items,
    validate::Definition,
};

/// Label of the definition that the name belongs to.
const FIRST: &str = "first used here";

/// Checks the names within a part of a file.
pub(crate) fn check(node: NodeRef<'_>, definition: Definition, report: &mut Report) {
    let defines = |it: &&Declaration| it.role == Role::Defines && !it.is_keys();
    for declaration in names::declared(definition).iter().filter(defines) {
        let mut seen: FxHashMap<String, LintNode<'_>> = FxHashMap::default();
        declaration.each(LintNode::root(node), &mut |name, node| match seen.get(name) {
            Some(first) => {
                report.push(duplicate(declaration, name, node.at.clone(), node.range()).with(FIRST, first));
            }
            None => drop(seen.insert(name.to_owned(), node)),
        });
    }
}

/// Returns the duplicate names of the items of a list. All places are absolute.
pub(crate) fn of_items(items: Items<'_>) -> Vec<Finding> {
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
                let (first_at, first_range) = (first_at.clone(), first_range.clone());
                let finding = duplicate(declaration, &named.name, at, range);
                findings.push(finding.related(Relation::Labelled(FIRST), first_at, first_range));
            }
            None => drop(seen.insert(&named.name, (at, range))),
        }
    }
    findings
}

/// Reports a name whose field declares that names must differ.
fn duplicate(declaration: &Declaration, name: &str, at: Pointer, range: Range<usize>) -> Finding {
    let about = declaration.shape.name_words();
    let what = match about.what {
        Some(what) => what.to_owned(),
        None => format!("{} {}", names::singular(declaration.kind), declaration.key()),
    };
    let words = MessageParts::new(format!("duplicate {what} `{name}`")).subject(Subject::Name(name.to_owned()));
    let words = about.note.into_iter().fold(words, MessageParts::note);
    let noun = ["id", "label"].into_iter().find(|noun| what.ends_with(noun)).unwrap_or("name");
    let words = words.help(about.help.map_or_else(|| format!("give it a different {noun}"), str::to_owned));
    let finding = Finding::stated(Code::DuplicateName, words, at, range);
    if about.is_warning { finding.with_severity(Severity::Warning) } else { finding }
}
