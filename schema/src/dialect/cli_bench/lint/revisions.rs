//! What the revisions of the documentation say differently.

use crate::{
    json_schema::SpecFile,
    problem::{Code, Problem, Severity},
    shape::Shape,
    spot::Spot,
};

/// Fields of the main file.
pub(super) fn lint_root(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    if let Some(modes) = root.get("help_modes") {
        let message = "later versions of cli-bench have no key `help_modes`";
        let problem = Problem::new(Code::UpstreamDiffers, modes.at.clone(), modes.head(), message);
        problems.push(problem.with_note("they give a model the name of the program and the intent"));
    }
    let providers = root.get("providers");
    // Under another name, which is reported, they are there.
    let is_misspelt = |(key, _): &(String, Spot<'_>)| {
        crate::words::nearest(key, ["providers"]).is_some()
            || Shape::of(SpecFile::CliBench).field_called(key, None).is_some_and(|(field, _)| field.name == "providers")
    };
    if providers.is_none() && root.entries().iter().any(is_misspelt) {
        return;
    }
    if providers.as_ref().is_none_or(|providers| providers.is_list() && providers.is_empty()) {
        let spot = providers.as_ref().unwrap_or(root);
        let problem = spot.head_problem(Code::MissingField, "the suite names no model").with_severity(Severity::Hint);
        problems.push(problem.with_help("add `providers`, or name the models on the command line"));
    }
}

/// Fields of a task.
pub(super) fn lint_task(task: &Spot<'_>, problems: &mut Vec<Problem>) {
    for key in ["teardown", "timeout", "scaffold"] {
        if let Some(field) = task.get(key) {
            let before = "the documentation of cli-bench has no such key for a task:";
            let problem = Problem::naming(Code::UpstreamDiffers, field.at.clone(), field.head(), before, key);
            problems.push(problem.with_note("cli-bench may ignore it"));
        }
    }
}
