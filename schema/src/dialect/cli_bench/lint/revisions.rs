//! What the revisions of the documentation say differently.

use crate::{
    problem::{Code, Problem, Severity},
    spot::Spot,
};

/// Fields of the main file.
pub(super) fn lint_root(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    if let Some(modes) = root.get("help_modes") {
        let message = "only earlier documentation has this key; with later versions of the original a model gets the name of the program and the intent";
        problems.push(modes.head_problem(Code::UpstreamDiffers, message));
    }
    let providers = root.get("providers");
    // Under a name that is told to be another one they are there.
    let is_misspelt = |(key, _): &(String, Spot<'_>)| {
        crate::words::nearest(key, ["providers"]).is_some()
            || crate::dialect::other_names::of("", key) == Some("providers")
    };
    if providers.is_none() && root.entries().iter().any(is_misspelt) {
        return;
    }
    if providers.as_ref().is_none_or(|providers| providers.is_list() && providers.is_empty()) {
        let message = "no model is named: add `providers`, or name models on the command line";
        let spot = providers.as_ref().unwrap_or(root);
        problems.push(spot.head_problem(Code::MissingField, message).with_severity(Severity::Hint));
    }
}

/// Fields of a task.
pub(super) fn lint_task(task: &Spot<'_>, problems: &mut Vec<Problem>) {
    for (key, message) in [
        ("teardown", "the original tool is not known to have this key, and may ignore it"),
        ("timeout", "the original tool is not known to have this key, and may ignore it"),
        ("scaffold", "the documentation of the original describes this key for the whole suite only"),
    ] {
        if let Some(field) = task.get(key) {
            problems.push(field.head_problem(Code::UpstreamDiffers, message));
        }
    }
}
