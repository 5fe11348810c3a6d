//! Secrets that somebody pasted into a suite.

use crate::{
    check::secret::pasted_secret,
    document::NodeRef,
    problem::{Code, Problem},
    spot::Spot,
};

/// Every text below a node.
pub(super) fn lint(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    if let Some(text) = spot.text() {
        let Some((found, what)) = pasted_secret(text) else { return };
        let range = spot.part(&text[found], 0);
        let message = format!(
            "this looks like {what}: whoever reads the file has it; keep it in the environment, and name the variable in `redact_env`"
        );
        problems.push(Problem::new(Code::PastedSecret, spot.at.clone(), range, message));
        return;
    }
    if spot.node.alias().is_some() {
        return;
    }
    spot.items().iter().for_each(|item| lint(item, problems));
    spot.entries().iter().for_each(|(_, value)| lint(value, problems));
}

/// The sections of a main file other than the tasks.
pub(super) fn lint_root(root: NodeRef<'_>, problems: &mut Vec<Problem>) {
    for (key, section) in Spot::root(root).entries() {
        // Items of lists are looked at one by one.
        if key != "tasks" && !section.is_list() {
            lint(&section, problems);
        }
    }
}
