//! What cli-bench, or one version of its documentation, does not have.

use crate::{
    finding::{Report, Rule, Site, Words},
    problem::Code,
    script,
    spot::Spot,
};

/// Something that cli-bench does not have.
#[derive(Debug)]
enum UpstreamDiffers {
    /// `help_modes`, which later versions do not have.
    HelpModes,
    /// A key of a task that is not documented.
    TaskKey(&'static str),
    /// A model that is a script, by its id.
    ScriptedModel(String),
}

/// Looks at the keys of a suite.
pub(crate) fn check_root(root: &Spot<'_>, report: &mut Report) {
    if let Some(modes) = root.get("help_modes") {
        report.push(modes.head_finding(UpstreamDiffers::HelpModes));
    }
}

/// Looks at the keys of a task.
pub(crate) fn check_task(task: &Spot<'_>, report: &mut Report) {
    for key in ["teardown", "timeout", "scaffold"] {
        if let Some(field) = task.get(key) {
            report.push(field.head_finding(UpstreamDiffers::TaskKey(key)));
        }
    }
}

/// Looks at an item of `providers`.
pub(crate) fn check_model(model: &Spot<'_>, report: &mut Report) {
    if let Some(id) = model.text().filter(|id| script::is_model(id)) {
        report.push(model.finding(UpstreamDiffers::ScriptedModel(id.to_owned())).only_with_compat());
    }
}

impl Rule for UpstreamDiffers {
    const CODE: Code = Code::UpstreamDiffers;

    fn words(&self, _: &Site<'_>) -> Words {
        match self {
            UpstreamDiffers::HelpModes => Words::new("later versions of cli-bench have no key `help_modes`")
                .note("they give a model only the name of the program and the intent"),
            UpstreamDiffers::TaskKey(key) => {
                Words::naming("not documented for tasks of cli-bench:", *key)
                    .note("cli-bench may ignore it")
            }
            UpstreamDiffers::ScriptedModel(id) => Words::new(format!("cli-bench has no scripted models: `{id}`"))
                .note("it treats the id as a model on the network"),
        }
    }
}
