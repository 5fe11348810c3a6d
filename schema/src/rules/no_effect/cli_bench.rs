//! An empty list of ways in which models learn about the program.

use crate::{
    finding::{Report, Rule, Site, Words},
    problem::Code,
    spot::Spot,
};

/// An empty `help_modes`.
#[derive(Debug)]
struct NoHelpModes;

/// Looks at `help_modes`.
pub(crate) fn check_root(root: &Spot<'_>, report: &mut Report) {
    if let Some(modes) = root.get("help_modes").filter(|modes| modes.is_list() && modes.is_empty()) {
        report.push(modes.finding(NoHelpModes));
    }
}

impl Rule for NoHelpModes {
    const CODE: Code = Code::NoEffect;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new("an empty list of `help_modes` has no effect")
            .note("a model gets only the name of the program and the intent")
            .help("remove the key")
    }
}
