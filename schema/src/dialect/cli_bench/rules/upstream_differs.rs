//! Features that cli-bench, or a version of its documentation, lacks.

use crate::{
    finding::{MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, SettingsCondition},
    script,
};

/// Checks the keys of a task.
pub(crate) fn check_task(task: &LintNode<'_>, report: &mut Report) {
    for key in ["teardown", "timeout", "scaffold"] {
        if let Some(field) = task.get(key) {
            let words = MessageParts::naming("in tasks, cli-bench does not document", key)
                .note("cli-bench may ignore undocumented keys");
            report.push(field.head_problem(Code::UpstreamDiffers, words));
        }
    }
}

/// Checks an item of `providers`.
pub(crate) fn check_model(model: &LintNode<'_>, report: &mut Report) {
    if let Some(id) = model.text().filter(|id| script::is_model(id)) {
        let words = MessageParts::new(format!("cli-bench does not support scripted models such as `{id}`"))
            .note("cli-bench treats the id as a model on the network");
        report.push(model.problem(Code::UpstreamDiffers, words).only_with(SettingsCondition::Compat));
    }
}
