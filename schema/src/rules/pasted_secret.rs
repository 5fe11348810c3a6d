pub(crate) mod clawspec;

use crate::{
    check::secret::pasted_secret,
    document::NodeRef,
    finding::{Finding, Report, Rule, Site, Words},
    problem::Code,
    spot::Spot,
};

page! {
    /// A string looks like a key, a token or a password. Anyone who can read the file has the secret. Revoke it, put
    /// the new one into an environment variable, and write the variable's name.
    "pasted-secret", Warning
}

/// A secret in a spec. The words do not repeat it.
#[derive(Debug)]
enum PastedSecret {
    /// A text that has the form of one: "a key of OpenAI".
    Text(&'static str),
    /// A key instead of the name of the variable that holds it.
    InsteadOfName(String),
}

/// Looks at every text below an item of a list.
pub(crate) fn check_item(item: NodeRef<'_>, report: &mut Report) {
    if holds_secret(item) {
        check(&Spot::root(item), report);
    }
}

/// Looks at every text of a document but those in these lists, whose items are looked at one by one.
pub(crate) fn check_root(root: NodeRef<'_>, lists: &[&str], report: &mut Report) {
    for (key, section) in Spot::root(root).entries() {
        if !(lists.contains(&key.as_str()) && section.is_list()) {
            check(&section, report);
        }
    }
}

/// Whether there is anything to say; nearly always there is not.
fn holds_secret(node: NodeRef<'_>) -> bool {
    if node.alias().is_some() {
        return false;
    }
    match node.as_str() {
        Some(text) => is_key(text),
        None => node.items().any(holds_secret) || node.entries().any(|entry| holds_secret(entry.value)),
    }
}

/// Whether a text is a secret, or begins as keys of models do: it need not be one of full length where a name belongs.
fn is_key(text: &str) -> bool {
    pasted_secret(text).is_some() || text.starts_with("sk-")
}

/// Whether a key is there instead of the name of the environment variable that holds it. Under another name of the
/// field it would still be in the file.
pub(crate) fn is_instead_of_name(key: &str, value: NodeRef<'_>) -> bool {
    let names_variable = key.ends_with("KeyEnv") || key.ends_with("_key_env") || ["apiKey", "api_key"].contains(&key);
    names_variable && value.as_str().is_some_and(is_key)
}

fn check(spot: &Spot<'_>, report: &mut Report) {
    if spot.node.alias().is_some() {
        return;
    }
    if let Some(key) = spot.at.last().filter(|key| is_instead_of_name(key, spot.node)) {
        report.push(spot.finding(PastedSecret::InsteadOfName(key)));
        return;
    }
    if let Some(text) = spot.text() {
        if let Some((found, what)) = pasted_secret(text) {
            report.push(Finding::new(PastedSecret::Text(what), spot.at.clone(), spot.part(&text[found], 0)));
        }
        return;
    }
    spot.items().iter().for_each(|item| check(item, report));
    spot.entries().iter().for_each(|(_, value)| check(value, report));
}

impl Rule for PastedSecret {
    const CODE: Code = Code::PastedSecret;

    fn words(&self, _: &Site<'_>) -> Words {
        match self {
            PastedSecret::Text(what) => Words::new(format!("this looks like {what}"))
                .note("anyone who can read the file has it")
                .help("set it in the environment, and list the variable in `redact_env`"),
            PastedSecret::InsteadOfName(key) => {
                Words::new(format!("`{key}` contains a key, not the name of an environment variable"))
                    .note("anyone who can read the file has the key")
                    .help(
                        "replace the key where it was issued, put the new one into the environment, and write the name \
                         of its variable as `apiKeyEnv`, such as `OPENAI_API_KEY`",
                    )
            }
        }
    }
}
