//! Checks of cli-bench files that a schema cannot express: calls the rules for each part of a file.
//!
//! As in every dialect, the results of [`report_item`] and [`item_facts`](super::facts::item_facts) depend only on the
//! item's node and on files, so that they can be cached; [`report_relations`] runs again after every edit.

pub(crate) mod assertions;
mod explain;
pub(crate) mod suite;
pub(crate) mod task_files;
mod tasks;
pub(crate) mod workdir;

use crate::{
    document::NodeRef, files::Files, finding::Report, json_schema::SpecFile, lint_node::LintNode, relations::Items,
    rules::merge_key, walk::Value,
};

use super::facts::suite_facts;

pub(crate) use explain::explain;

/// Reports problems outside of the items, for each section alone. Pointers and ranges are absolute.
pub(crate) fn report_root(file: SpecFile, root: NodeRef<'_>, report: &mut Report) {
    let root = &LintNode::root(root);
    if file == SpecFile::CLI_BENCH_TASKS {
        suite::check_task_file(root, report);
    }
    if file == SpecFile::CLI_BENCH && root.is_mapping() {
        suite::check(root, report);
        tasks::check_environment(root, report);
        merge_key::check(root.node, &|| root.clone(), report);
    }
}

pub(crate) fn report_value(value: &Value<'_, '_>, report: &mut Report) {
    workdir::check(value, report);
    if value.node.document().may_merge() {
        merge_key::check(value.node, &|| value.lint_node(), report);
    }
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
    let item = &LintNode::root(item);
    if list == "providers" {
        suite::check_model(item, files, report);
    } else if file.case_list() == Some(list) {
        if file == SpecFile::CLI_BENCH {
            task_files::check_item(item, files, report);
        }
        tasks::check(item, report);
        assertions::check(item, report);
    }
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
    task_files::check_ids(items, &suite, report);
    tasks::check_items(root, items, &suite, report);
    if file == SpecFile::CLI_BENCH {
        task_files::check_items(&LintNode::root(root), items, report);
    }
}
