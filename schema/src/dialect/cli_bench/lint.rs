//! Checks of cli-bench files that a schema cannot express: calls the rules for each part of a file.
//!
//! As in every dialect, the results of [`report_item`] and [`item_facts`](super::facts::item_facts) depend only on the
//! item's node and on files, so that they can be cached; [`report_relations`] runs again after every edit.

use crate::{
    document::NodeRef,
    files::Files,
    finding::{Finding, Report},
    json_schema::SpecFile,
    lint_node::LintNode,
    relations::Items,
    rules::{
        collision, contradiction, duplicate_name, invalid_path, invalid_value, last_command_only, missing_field,
        missing_file, no_exit_code, out_of_range, revealing_intent, shared_workdir, suspicious_pattern, too_few_turns,
        too_large, unknown_key, upstream_differs, vacuous_claim, vague_intent, wrong_type,
    },
    validate::{Context, Definition},
};

use super::{asserted::Asserted, facts::suite_facts, named_tasks::NamedTasks};

/// Adds the format's knowledge to a violation of the schema.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    let finding = unknown_key::cli_bench::explain(context, finding);
    let finding = wrong_type::assertion_form::explain(context, finding);
    let finding = wrong_type::absent_value::explain(context, finding);
    let finding = wrong_type::cli_bench::explain(context, finding);
    let finding = invalid_value::task_item::explain(context, finding);
    invalid_value::cli_bench::explain(context, finding)
}

/// Reports problems outside of the items, for each section alone. Pointers and ranges are absolute.
pub(crate) fn report_root(file: SpecFile, root: NodeRef<'_>, report: &mut Report) {
    let root = LintNode::root(root);
    if file == SpecFile::CLI_BENCH_TASKS {
        wrong_type::cli_bench::check_task_file(&root, report);
    }
    if file != SpecFile::CLI_BENCH || !root.is_mapping() {
        return;
    }
    report_owner(&root, report);
    missing_field::cli_bench::check_root(&root, report);
    vacuous_claim::cli_bench::check_root(&root, report);
    collision::cli_bench::check_root(&root, report);
    wrong_type::cli_bench::check_merges(&root, Definition::lists(file), report);
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
            upstream_differs::cli_bench::check_model(&item, report);
            invalid_path::cli_bench::check_script(&item, files, report);
            missing_file::cli_bench::check_script(&item, files, report);
        }
        list if file.case_list() == Some(list) => {
            if file == SpecFile::CLI_BENCH {
                invalid_value::task_item::check(&item, report);
                NamedTasks::of(&item, files).iter().for_each(|entry| report_entry(entry, report));
            }
            report_task(&item, report);
        }
        _ => {}
    }
}

/// Reports problems of an item of `tasks` that names files.
fn report_entry(entry: &NamedTasks<'_, '_>, report: &mut Report) {
    invalid_path::cli_bench::check_entry(entry, report);
    missing_file::cli_bench::check_entry(entry, report);
    too_large::cli_bench::check_entry(entry, report);
    invalid_value::cli_bench::check_entry(entry, report);
}

fn report_task(task: &LintNode<'_>, report: &mut Report) {
    report_owner(task, report);
    upstream_differs::cli_bench::check_task(task, report);
    invalid_value::cli_bench::check_task(task, report);
    too_few_turns::check_task(task, report);
    wrong_type::cli_bench::check_merges(task, &[], report);
    let Some(asserted) = Asserted::of(task) else { return };
    for assertion in &asserted.items {
        wrong_type::cli_bench::check_indentation(assertion, report);
        unknown_key::cli_bench::check_assertion(assertion, report);
        invalid_path::cli_bench::check_assertion(assertion, report);
        suspicious_pattern::cli_bench::check_assertion(assertion, report);
    }
    contradiction::cli_bench::check_assertions(&asserted, report);
    collision::cli_bench::check_assertions(&asserted, report);
    vacuous_claim::cli_bench::check_assertions(&asserted, report);
    last_command_only::check_assertions(&asserted, report);
    no_exit_code::check_task(task, &asserted, report);
}

/// Reports problems of keys that suites and tasks share.
fn report_owner(owner: &LintNode<'_>, report: &mut Report) {
    wrong_type::cli_bench::check_environment(owner, report);
    invalid_value::cli_bench::check_environment(owner, report);
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
    duplicate_name::cli_bench::check_relations(items, &suite, report);
    vague_intent::check_relations(items, &suite, report);
    revealing_intent::check_relations(root, items, &suite, report);
    too_few_turns::check_relations(items, &suite, report);
    if file == SpecFile::CLI_BENCH {
        collision::cli_bench::check_relations(items, report);
        out_of_range::cli_bench::check_relations(&LintNode::root(root), items, report);
    }
}
