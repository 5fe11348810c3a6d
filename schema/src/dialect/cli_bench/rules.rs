//! Checks of cli-bench files that a schema cannot express: calls the rules for each part of a file.
//!
//! As in every dialect, the results of [`report_item`] and [`item_facts`](super::facts::item_facts) depend only on the
//! item's node and on files, so that they can be cached; [`report_relations`] runs again after every edit.

pub(crate) mod absent_value;
pub(crate) mod assertion_form;
pub(crate) mod collision;
pub(crate) mod contradiction;
pub(crate) mod duplicate_name;
pub(crate) mod invalid_path;
pub(crate) mod invalid_value;
pub(crate) mod last_command_only;
pub(crate) mod missing_field;
pub(crate) mod missing_file;
pub(crate) mod missing_variable;
pub(crate) mod no_exit_code;
pub(crate) mod out_of_range;
pub(crate) mod revealing_intent;
pub(crate) mod shared_workdir;
pub(crate) mod suspicious_pattern;
pub(crate) mod task_item;
pub(crate) mod too_few_turns;
pub(crate) mod too_large;
pub(crate) mod unknown_key;
pub(crate) mod upstream_differs;
pub(crate) mod vacuous_claim;
pub(crate) mod vague_intent;
pub(crate) mod wrong_type;

use crate::{
    document::NodeRef,
    files::Files,
    finding::{Finding, Report},
    json_schema::SpecFile,
    lint_node::LintNode,
    relations::Items,
    validate::{Context, Definition},
};

use super::{asserted::Asserted, facts::suite_facts, named_tasks::NamedTasks};

/// Adds the format's knowledge to a violation of the schema.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    let finding = unknown_key::explain(context, finding);
    let finding = assertion_form::explain(context, finding);
    let finding = absent_value::explain(context, finding);
    let finding = wrong_type::explain(context, finding);
    let finding = task_item::explain(context, finding);
    invalid_value::explain(context, finding)
}

/// Reports problems outside of the items, for each section alone. Pointers and ranges are absolute.
pub(crate) fn report_root(file: SpecFile, root: NodeRef<'_>, report: &mut Report) {
    let root = LintNode::root(root);
    if file == SpecFile::CLI_BENCH_TASKS {
        wrong_type::check_task_file(&root, report);
    }
    if file != SpecFile::CLI_BENCH || !root.is_mapping() {
        return;
    }
    report_owner(&root, report);
    missing_field::check_root(&root, report);
    vacuous_claim::check_root(&root, report);
    collision::check_root(&root, report);
    wrong_type::check_merges(&root, Definition::lists(file), report);
    shared_workdir::check(&root, report);
}

/// Reports problems in one item of a top-level list alone. Pointers are relative to it, ranges as the nodes
/// return them.
pub(crate) fn report_item(
    file: SpecFile,
    list: &'static str,
    item: NodeRef<'_>,
    files: &dyn Files,
    report: &mut Report,
) {
    let item = LintNode::root(item);
    match list {
        "providers" => {
            upstream_differs::check_model(&item, report);
            invalid_path::check_script(&item, files, report);
            missing_file::check_script(&item, files, report);
        }
        list if file.case_list() == Some(list) => {
            if file == SpecFile::CLI_BENCH {
                task_item::check(&item, report);
                NamedTasks::of(&item, files).iter().for_each(|entry| report_entry(entry, report));
            }
            report_task(&item, report);
        }
        _ => {}
    }
}

/// Reports problems of an item of `tasks` that names files.
fn report_entry(entry: &NamedTasks<'_, '_>, report: &mut Report) {
    invalid_path::check_entry(entry, report);
    missing_file::check_entry(entry, report);
    too_large::check_entry(entry, report);
    invalid_value::check_entry(entry, report);
}

fn report_task(task: &LintNode<'_>, report: &mut Report) {
    report_owner(task, report);
    upstream_differs::check_task(task, report);
    invalid_value::check_task(task, report);
    too_few_turns::check_task(task, report);
    wrong_type::check_merges(task, &[], report);
    let Some(asserted) = Asserted::of(task) else { return };
    for assertion in &asserted.items {
        wrong_type::check_indentation(assertion, report);
        unknown_key::check_assertion(assertion, report);
        invalid_path::check_assertion(assertion, report);
        suspicious_pattern::check_assertion(assertion, report);
    }
    contradiction::check_assertions(&asserted, report);
    collision::check_assertions(&asserted, report);
    vacuous_claim::check_assertions(&asserted, report);
    last_command_only::check_assertions(&asserted, report);
    no_exit_code::check_task(task, &asserted, report);
}

/// Reports problems of keys that suites and tasks share.
fn report_owner(owner: &LintNode<'_>, report: &mut Report) {
    wrong_type::check_environment(owner, report);
    invalid_value::check_environment(owner, report);
}

/// Reports problems between items and sections. Each item comes with the start of its node; all locations are
/// absolute.
pub(crate) fn report_relations(
    file: SpecFile,
    root: NodeRef<'_>,
    items: Items<'_>,
    files: &dyn Files,
    report: &mut Report,
) {
    if file.case_list().is_none() {
        return;
    }
    let suite = suite_facts(file, root, files);
    duplicate_name::check_relations(items, &suite, report);
    vague_intent::check_relations(items, &suite, report);
    revealing_intent::check_relations(root, items, &suite, report);
    too_few_turns::check_relations(items, &suite, report);
    if file == SpecFile::CLI_BENCH {
        collision::check_relations(items, report);
        out_of_range::check_relations(&LintNode::root(root), items, report);
    }
}
