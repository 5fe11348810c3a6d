//! What a schema cannot say about cli-bench files.
//!
//! As for every dialect: what [`lint_item`] and [`item_facts`] answer depends on the item's own node and
//! on files only, so that the answers can be kept; [`lint_relations`] is asked anew after every edit.

mod assertions;
mod blank;
mod environment;
mod facts;
mod files;
mod intent;
mod merges;
mod names;
mod paths;
mod patterns;
mod refine;
mod revisions;
mod scripts;
mod slips;
mod templates;
mod thresholds;
mod turns;
mod workdir;

use crate::{
    document::{NodeRef, Shape},
    files::Files,
    json_schema::SpecFile,
    problem::{Code, Problem},
    spot::Spot,
    validate::{Definition, is_damaged},
};

pub use facts::{FileFacts, ItemFacts, Named, SuiteFacts, TaskFacts, TaskId, item_facts};
pub use refine::refine;
pub use scripts::known as known_scripts;
pub(crate) use slips::lint as slips;

/// What is wrong outside of the items, each section looked at alone. Pointers and ranges are absolute.
pub fn lint_root(file: SpecFile, root: NodeRef<'_>, files: &dyn Files) -> Vec<Problem> {
    let mut problems = Vec::new();
    if file != SpecFile::CliBench || root.shape() != Shape::Mapping {
        return problems;
    }
    let spot = Spot::root(root);
    environment::lint(&spot, &mut problems);
    files::lint_scaffold(&spot, files, &mut problems);
    revisions::lint_root(&spot, &mut problems);
    thresholds::lint(&spot, &mut problems);
    thresholds::lint_models(&spot, &mut problems);
    blank::lint_root(&spot, &mut problems);
    templates::lint_root(&spot, &mut problems);
    merges::lint(&spot, Definition::lists(file), &mut problems);
    workdir::lint(&spot, &mut problems);
    problems
}

/// What is wrong in one item of a top-level list, looked at alone. Pointers are relative to it, ranges as the
/// nodes give them.
pub fn lint_item(file: SpecFile, list: &'static str, item: NodeRef<'_>, files: &dyn Files) -> Vec<Problem> {
    let mut problems = Vec::new();
    let spot = Spot::root(item);
    if list == "redact_patterns" {
        patterns::lint_redaction(&spot, &mut problems);
    }
    if list == "redact_env" {
        environment::lint_name(&spot, &mut problems);
    }
    if list == "providers" {
        thresholds::lint_id(&spot, &mut problems);
        scripts::lint(&spot, files, &mut problems);
    }
    if list == "setup" {
        templates::lint_command(&spot, &mut problems);
    }
    if file.case_list() != Some(list) {
        return problems;
    }
    if file == SpecFile::CliBench {
        files::lint_entry(&spot, files, &mut problems);
    }
    names::lint_id(&spot, &mut problems);
    blank::lint_task(&spot, &mut problems);
    templates::lint_task(&spot, &mut problems);
    merges::lint(&spot, &[], &mut problems);
    turns::lint(&spot, &mut problems);
    environment::lint(&spot, &mut problems);
    files::lint_scaffold(&spot, files, &mut problems);
    revisions::lint_task(&spot, &mut problems);
    if let Some(list) = spot.get("assert").filter(Spot::is_list) {
        for assertion in list.items() {
            patterns::lint(&assertion, &mut problems);
            paths::lint(&assertion, &mut problems);
        }
        assertions::lint(&list, &mut problems);
    }
    if spot.get("exit_code").is_some() {
        // It is only in the wrong place, which is reported there.
        problems.retain(|problem| problem.code != Code::NoExitCode);
    }
    if is_damaged(item) {
        // What seems to be absent may stand in the part that cannot be read.
        problems.retain(|problem| !matches!(problem.code, Code::VacuousClaim | Code::NoExitCode));
    }
    problems
}

/// What is wrong between items and sections. Each item comes with the byte where its node begins; all
/// problems are absolute.
pub fn lint_relations(
    file: SpecFile,
    root: NodeRef<'_>,
    items: &[(usize, &ItemFacts)],
    files: &dyn Files,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let Some(list) = file.case_list() else { return problems };
    let list = Definition::list_at(list);
    let suite = facts::suite_facts(file, root, files);
    names::lint(&list, items, &suite, &mut problems);
    intent::lint(root, &list, items, &suite, &mut problems);
    if file == SpecFile::CliBench {
        files::lint_entries(&Spot::root(root), items, &mut problems);
    }
    problems
}
