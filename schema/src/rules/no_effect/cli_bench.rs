//! An empty list of help modes.

use crate::{
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::Code,
};

/// An empty `help_modes`.
#[derive(Debug)]
struct NoHelpModes;

/// Checks `help_modes`.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    if let Some(modes) = root.get("help_modes").filter(|modes| modes.is_list() && modes.is_empty()) {
        report.push(modes.finding(NoHelpModes));
    }
}

impl Rule for NoHelpModes {
    const CODE: Code = Code::NoEffect;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new("an empty `help_modes` list has no effect")
            .note("a model gets only the name of the program and the intent")
            .help("remove the key")
    }
}
