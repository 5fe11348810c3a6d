//! Secrets that are pasted into a spec, whatever its format.

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
        Some(text) => pasted_secret(text).is_some() || begins_like_key(text),
        None => node.items().any(holds_secret) || node.entries().any(|entry| holds_secret(entry.value)),
    }
}

/// Whether a text begins as keys of models do. It need not be one of full length where a name belongs.
fn begins_like_key(text: &str) -> bool {
    text.starts_with("sk-")
}

/// Whether a field takes the name of an environment variable that holds a key, or is what people call such a field.
fn names_variable(key: &str) -> bool {
    key.ends_with("KeyEnv") || key.ends_with("_key_env") || ["apiKey", "api_key"].contains(&key)
}

/// A key in place of the name of the variable that holds it. The message does not repeat it.
fn lint_name(spot: &Spot<'_>, problems: &mut Vec<Problem>) -> bool {
    let key = spot.at.last().unwrap_or_default();
    let is_key = |text: &str| pasted_secret(text).is_some() || begins_like_key(text);
    if !names_variable(&key) || !spot.text().is_some_and(is_key) {
        return false;
    }
    // Under another key it would still be in the file.
    for problem in problems.iter_mut().filter(|problem| problem.code == Code::UnknownKey && problem.at == spot.at) {
        problem.help = None;
        problem.fixes.clear();
    }
    let message = format!("`{key}` holds a key, not the name of an environment variable");
    let problem = spot.problem(Code::PastedSecret, message).with_note("anyone who reads the file has the key");
    let help = "replace the key where it was issued, put the new one into the environment, and write the name of its \
                variable as `apiKeyEnv`, such as `OPENAI_API_KEY`";
    problems.push(problem.with_help(help));
    true
}

fn lint(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    if spot.node.alias().is_some() {
        return;
    }
    if lint_name(spot, problems) {
        return;
    }
    if let Some(text) = spot.text() {
        let Some((found, what)) = pasted_secret(text) else { return };
        if problems.iter().any(|problem| problem.code == Code::PastedSecret && problem.at == spot.at) {
            return;
        }
        let range = spot.part(&text[found], 0);
        let problem = Problem::new(Code::PastedSecret, spot.at.clone(), range, format!("this looks like {what}"));
        let problem = problem.with_note("anyone who reads the file has it");
        problems.push(problem.with_help("keep it in the environment, and name the variable in `redact_env`"));
        return;
    }
    spot.items().iter().for_each(|item| lint(item, problems));
    spot.entries().iter().for_each(|(_, value)| lint(value, problems));
}
