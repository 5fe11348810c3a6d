//! Words that a fix, a snippet or an author left to be filled in, whatever the format: `TODO(the tool)`, and `TODO` alone
//! where nothing searches for it.

use crate::{
    document::NodeRef,
    problem::{Code, Problem},
    spot::Spot,
};

/// Keys whose values name something or address a reader: there `TODO` alone is not a text that is searched for.
const SPEAKING: [&str; 11] =
    ["name", "description", "invoke", "intent", "tool", "trigger", "rubric", "criteria", "command", "path", "to_agent"];

/// A placeholder for something that only the author knows.
pub(crate) fn placeholder(what: &str) -> String {
    format!("TODO({what})")
}

/// Every text below an item of a list. Pointers are relative to it.
pub(crate) fn lint_item(item: NodeRef<'_>, problems: &mut Vec<Problem>) {
    if holds_placeholder(item) {
        lint(&Spot::root(item), "", problems);
    }
}

/// Every text of a document but those in these lists, whose items are looked at one by one.
pub(crate) fn lint_root(root: NodeRef<'_>, lists: &[&str], problems: &mut Vec<Problem>) {
    for (key, section) in Spot::root(root).entries() {
        if !(lists.contains(&key.as_str()) && section.is_list()) && holds_placeholder(section.node) {
            lint(&section, &key, problems);
        }
    }
}

/// Whether there may be anything to say; nearly always there is not.
fn holds_placeholder(node: NodeRef<'_>) -> bool {
    if node.alias().is_some() {
        return false;
    }
    match node.as_str() {
        Some(text) => text.starts_with("TODO"),
        None => node.items().any(holds_placeholder) || node.entries().any(|entry| holds_placeholder(entry.value)),
    }
}

/// What is left to fill in, if a text is a placeholder: empty where it does not say.
fn left_out(text: &str) -> Option<&str> {
    let rest = text.trim_end().strip_prefix("TODO")?;
    if rest.is_empty() {
        return Some("");
    }
    let inside = rest.strip_prefix('(')?.strip_suffix(')')?;
    (!inside.is_empty() && !inside.contains(['(', ')', '\n'])).then_some(inside)
}

/// `key` is the nearest one above.
fn lint(spot: &Spot<'_>, key: &str, problems: &mut Vec<Problem>) {
    if spot.node.alias().is_some() {
        return;
    }
    if let Some(what) = spot.text().and_then(left_out) {
        let help = match what {
            "" if !SPEAKING.contains(&key) => return,
            "" => "fill it in".to_owned(),
            what => format!("write {what}"),
        };
        let message = format!("`{}` is a placeholder", spot.text().unwrap_or_default().trim_end());
        problems.push(spot.problem(Code::Placeholder, message).with_help(help));
        return;
    }
    spot.items().iter().for_each(|item| lint(item, key, problems));
    spot.entries().iter().for_each(|(key, value)| lint(value, key, problems));
}
