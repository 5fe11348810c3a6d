use crate::{
    document::NodeRef,
    finding::{Report, Rule, Site, Words},
    problem::Code,
    spot::Spot,
};

page! {
    /// A placeholder from a fix or a snippet, such as `TODO`, was not replaced.
    "placeholder", Warning
}

/// A word that a fix, a snippet or an author left to be filled in: `TODO(the tool)`, and `TODO` alone where nothing searches
/// for it.
#[derive(Debug)]
struct Placeholder {
    /// What is left to fill in. Empty where it does not say.
    what: String,
}

/// Keys whose values name something or address a reader: there `TODO` alone is not a text that is searched for.
const SPEAKING: [&str; 11] =
    ["name", "description", "invoke", "intent", "tool", "trigger", "rubric", "criteria", "command", "path", "to_agent"];

/// Returns a placeholder for something that only the author knows.
pub(crate) fn placeholder(what: &str) -> String {
    format!("TODO({what})")
}

/// Every text below an item of a list. Pointers are relative to it.
pub(crate) fn check_item(item: NodeRef<'_>, report: &mut Report) {
    if holds_placeholder(item) {
        check(&Spot::root(item), "", report);
    }
}

/// Every text of a document but those in these lists, whose items are looked at one by one.
pub(crate) fn check_root(root: NodeRef<'_>, lists: &[&str], report: &mut Report) {
    for (key, section) in Spot::root(root).entries() {
        if !(lists.contains(&key.as_str()) && section.is_list()) && holds_placeholder(section.node) {
            check(&section, &key, report);
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

/// Returns what is left to fill in, if a text is a placeholder: empty where it does not say.
fn left_out(text: &str) -> Option<&str> {
    let rest = text.trim_end().strip_prefix("TODO")?;
    if rest.is_empty() {
        return Some("");
    }
    let inside = rest.strip_prefix('(')?.strip_suffix(')')?;
    (!inside.is_empty() && !inside.contains(['(', ')', '\n'])).then_some(inside)
}

/// `key` is the nearest one above.
fn check(spot: &Spot<'_>, key: &str, report: &mut Report) {
    if spot.node.alias().is_some() {
        return;
    }
    if let Some(what) = spot.text().and_then(left_out) {
        if !what.is_empty() || SPEAKING.contains(&key) {
            report.push(spot.finding(Placeholder { what: what.to_owned() }));
        }
        return;
    }
    spot.items().iter().for_each(|item| check(item, key, report));
    spot.entries().iter().for_each(|(key, value)| check(value, key, report));
}

impl Rule for Placeholder {
    const CODE: Code = Code::Placeholder;

    fn words(&self, site: &Site<'_>) -> Words {
        let text = site.node().and_then(|node| node.as_str()).unwrap_or_default();
        Words::new(format!("`{}` is a placeholder", text.trim_end())).help(match self.what.as_str() {
            "" => "replace it".to_owned(),
            what => format!("write {what}"),
        })
    }
}
