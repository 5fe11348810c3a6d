//! Features that cli-bench, or a version of its documentation, lacks.

use crate::{
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, SettingsCondition},
    script,
};

/// A feature that cli-bench lacks.
#[derive(Debug)]
enum UpstreamDiffers {
    /// `help_modes`, which newer documentation does not list.
    HelpModes,
    /// An undocumented key of a task.
    TaskKey(&'static str),
    /// A scripted model, by its id.
    ScriptedModel(String),
}

/// Checks the keys of a suite.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    if let Some(modes) = root.get("help_modes") {
        report.push(modes.head_finding(UpstreamDiffers::HelpModes));
    }
}

/// Checks the keys of a task.
pub(crate) fn check_task(task: &LintNode<'_>, report: &mut Report) {
    for key in ["teardown", "timeout", "scaffold"] {
        if let Some(field) = task.get(key) {
            report.push(field.head_finding(UpstreamDiffers::TaskKey(key)));
        }
    }
}

/// Checks an item of `providers`.
pub(crate) fn check_model(model: &LintNode<'_>, report: &mut Report) {
    if let Some(id) = model.text().filter(|id| script::is_model(id)) {
        report.push(model.finding(UpstreamDiffers::ScriptedModel(id.to_owned())).only_with(SettingsCondition::Compat));
    }
}

impl Rule for UpstreamDiffers {
    const CODE: Code = Code::UpstreamDiffers;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        match self {
            UpstreamDiffers::HelpModes => MessageParts::new("cli-bench no longer documents `help_modes`")
                .note("cli-bench may ignore it, and then gives a model only the name of the program and the intent"),
            UpstreamDiffers::TaskKey(key) => MessageParts::naming("in tasks, cli-bench does not document", *key)
                .note("cli-bench may ignore undocumented keys"),
            UpstreamDiffers::ScriptedModel(id) => {
                MessageParts::new(format!("cli-bench does not support scripted models such as `{id}`"))
                    .note("cli-bench treats the id as a model on the network")
            }
        }
    }
}
