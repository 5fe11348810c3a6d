//! What lies between scenarios, and between stages: names, the negative scenario, handoff contracts.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::{
    dialect::ScalarRules,
    document::{Document, Pointer},
    files::{FileKind, Files},
    new_file::{self, Template},
    problem::{Code, Fix, Problem},
    shape::scalar,
    spot::Spot,
    validate::is_damaged,
    words::nearest,
};

use super::{ItemFacts, Named, edits, files as paths, pipeline};

type Items<'a> = [(usize, &'a ItemFacts)];

fn absolute(named: &Named, list: &str, index: usize, start: usize) -> (Pointer, Range<usize>) {
    let at = Pointer::root().key(list).index(index).join(&named.at);
    (at, named.range.start + start..named.range.end + start)
}

fn lint_names(items: &Items<'_>, list: &str, what: &str, problems: &mut Vec<Problem>) {
    // Where a name stands is made out only when there is something to say.
    let mut first: FxHashMap<&str, (usize, usize, &Named)> = FxHashMap::default();
    first.reserve(items.len());
    for (index, (start, facts)) in items.iter().enumerate() {
        let Some(name) = facts.name.as_ref().filter(|name| !name.name.is_empty()) else { continue };
        match first.get(name.name.as_str()) {
            Some((first_index, first_start, first)) => {
                let (at, range) = absolute(name, list, index, *start);
                let (first_at, first_range) = absolute(first, list, *first_index, *first_start);
                let message = format!("another {what} is named `{}`: only one of them is found by its name", name.name);
                let problem = Problem::new(Code::DuplicateName, at, range, message);
                problems.push(problem.with_related("first named here", first_at, first_range));
            }
            None => {
                first.insert(&name.name, (index, *start, name));
            }
        }
    }
}

pub(super) fn lint_scenarios(root: &Spot<'_>, items: &Items<'_>, problems: &mut Vec<Problem>) {
    lint_names(items, "scenarios", "scenario", problems);
    let Some(scenarios) = root.get("scenarios").filter(|list| list.is_list() && !list.is_empty()) else { return };
    if items.iter().any(|(_, facts)| facts.negative) || !root.node.document().is_intact() || is_damaged(root.node) {
        return;
    }
    let message = "no scenario is tagged `negative`: every target needs one that shows what it refuses, and the original program \
                   runs nothing without it";
    problems.push(scenarios.head_problem(Code::MissingNegative, message));
}

/// Whether a file may be a handoff contract: one that cannot be read tells its own mistakes.
fn is_contract(path: &str, files: &dyn Files) -> bool {
    let Ok(bytes) = files.read(path) else { return true };
    let Ok(text) = std::str::from_utf8(&bytes) else { return true };
    let document = Document::read(text, ScalarRules::Yaml11);
    !document.is_intact() || document.root().is_some_and(|root| root.get("handoff").is_some())
}

pub(super) fn lint_stages(root: &Spot<'_>, items: &Items<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    lint_names(items, "stages", "stage", problems);
    if !paths::is_placed(files) {
        return;
    }
    let skill = root.find(&["pipeline", "skill_path"]);
    let Some(base) = pipeline::handoff_base(files.place(), skill.as_ref().and_then(|skill| skill.text())) else {
        return;
    };
    for (index, (start, facts)) in items.iter().enumerate() {
        let Some(handoff) = facts.handoff.as_ref().filter(|handoff| !handoff.name.is_empty()) else { continue };
        let Some((wanted, kind)) = pipeline::handoff_kind(base, &handoff.name, files) else { continue };
        let (at, range) = absolute(handoff, "stages", index, *start);
        if kind == Some(FileKind::File) {
            if !is_contract(&wanted, files) {
                let message = format!("`{wanted}` is no handoff contract: it has no `handoff`");
                problems.push(Problem::new(Code::MissingFile, at, range, message));
            }
            continue;
        }
        let (directory, name) = wanted.rsplit_once('/').unwrap_or(("", &wanted));
        let names: Vec<String> = files.list(directory).into_iter().map(|(name, _)| name).collect();
        let near = nearest(name, names.iter().map(String::as_str));
        let message = match near {
            Some(near) => format!("`{wanted}` does not exist: did you mean `{near}`?"),
            None => format!("`{wanted}` does not exist: a handoff contract is relative to the directory of the skill"),
        };
        let written = root.node.find(&at).map(|node| Spot { node, key: None, at: at.clone() });
        let mut problem = Problem::new(Code::MissingFile, at, range, message);
        if let (Some(near), Some(written)) = (near, written) {
            let path = format!("{}{near}", handoff.name.strip_suffix(name).unwrap_or_default());
            let edit = edits::replace(&written, scalar(&path));
            problem.fixes.extend(edit.map(|edit| Fix::guess(format!("Change to `{path}`"), vec![edit])));
        }
        problem.fixes.extend(new_file::creation(&wanted, Template::Handoff, files));
        problems.push(problem);
    }
}
