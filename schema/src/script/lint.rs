//! Checks of scripts.

use crate::{
    document::NodeRef,
    files::Files,
    finding::Report,
    lint_node::LintNode,
    rules::{collision, missing_field, no_effect, unknown_reference},
};

use super::suite;

/// Reports problems of a script that a schema cannot express. Pointers and ranges are absolute.
pub(crate) fn report(root: NodeRef<'_>, files: &dyn Files, report: &mut Report) {
    let root = LintNode::root(root);
    if !root.is_mapping() {
        return;
    }
    let suite = suite::of(files);
    let tasks = root.get("tasks").filter(LintNode::is_mapping).map(|tasks| tasks.entries()).unwrap_or_default();
    if let Some(suite) = &suite {
        unknown_reference::script::check(&tasks, suite, report);
    }
    for (id, turns) in &tasks {
        let is_task = suite.as_ref().is_some_and(|suite| suite.ids.contains(id));
        no_effect::script::check_turns(turns, is_task, report);
    }
    if let Some(turns) = root.get("default") {
        no_effect::script::check_turns(&turns, suite.is_some(), report);
    }
    if let Some(answers) = root.get("answers").filter(LintNode::is_list) {
        collision::check_answers(&answers, report);
        missing_field::script::check_answers(&answers, report);
        no_effect::script::check_answers(&answers, report);
    }
}
