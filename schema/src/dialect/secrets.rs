//! Secrets that somebody pasted into a spec, whatever its format.

use crate::{
    check::secret::pasted_secret,
    document::NodeRef,
    problem::{Code, Problem},
    spot::Spot,
};

/// Every text below an item of a list. Pointers are relative to it.
pub(crate) fn lint_item(item: NodeRef<'_>, problems: &mut Vec<Problem>) {
    if holds_secret(item) {
        lint(&Spot::root(item), problems);
    }
}

/// Every text of a document but those in these lists, whose items are looked at one by one.
pub(crate) fn lint_root(root: NodeRef<'_>, lists: &[&str], problems: &mut Vec<Problem>) {
    for (key, section) in Spot::root(root).entries() {
        if !(lists.contains(&key.as_str()) && section.is_list()) {
            lint(&section, problems);
        }
    }
}

/// Whether there is anything to say; nearly always there is not.
fn holds_secret(node: NodeRef<'_>) -> bool {
    if node.alias().is_some() {
        return false;
    }
    match node.as_str() {
        Some(text) => pasted_secret(text).is_some(),
        None => node.items().any(holds_secret) || node.entries().any(|entry| holds_secret(entry.value)),
    }
}

fn lint(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    if spot.node.alias().is_some() {
        return;
    }
    if let Some(text) = spot.text() {
        let Some((found, what)) = pasted_secret(text) else { return };
        if problems.iter().any(|problem| problem.code == Code::PastedSecret && problem.at == spot.at) {
            return;
        }
        let range = spot.part(&text[found], 0);
        let message = format!(
            "this looks like {what}: whoever reads the file has it; keep it in the environment, and name the variable in `redact_env`"
        );
        problems.push(Problem::new(Code::PastedSecret, spot.at.clone(), range, message));
        return;
    }
    spot.items().iter().for_each(|item| lint(item, problems));
    spot.entries().iter().for_each(|(_, value)| lint(value, problems));
}
