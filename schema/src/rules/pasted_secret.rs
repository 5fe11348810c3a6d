//! Secrets in a spec.

use crate::{
    check::secret::pasted_secret,
    document::NodeRef,
    finding::{MessageParts, Report},
    json_schema::SpecFile,
    problem::Code,
    shape,
    walk::Value,
};

/// Whether a string is a secret or begins like an API key: in place of a name, even a truncated key is reported.
fn is_key(text: &str) -> bool {
    pasted_secret(text).is_some() || text.starts_with("sk-")
}

/// Whether a value is a key instead of the name of its environment variable. Renaming the field would leave the secret
/// in the file.
pub(crate) fn is_instead_of_name(key: &str, value: NodeRef<'_>) -> bool {
    let names_variable = key.ends_with("KeyEnv") || key.ends_with("_key_env") || ["apiKey", "api_key"].contains(&key);
    names_variable && value.as_str().is_some_and(is_key)
}

/// Checks a value. The message does not repeat the secret.
pub(crate) fn check(value: &Value<'_, '_>, file: SpecFile, report: &mut Report) {
    let Some(text) = value.text else { return };
    let lint_node = || value.lint_node();
    if let Some(key) = value.own_key().filter(|key| is_instead_of_name(key, value.node)) {
        let words = MessageParts::new(format!("`{key}` contains a key, not the name of an environment variable"));
        let words = words.note("anyone who can read the file has the key").help(
            "revoke the key, put a new one in an environment variable, and set `apiKeyEnv` to the name of that \
             variable, such as `OPENAI_API_KEY`",
        );
        report.push(lint_node().problem(Code::PastedSecret, words));
    } else if let Some((found, what)) = pasted_secret(text) {
        let words = MessageParts::new(format!("this looks like {what}")).note("anyone who can read the file has it");
        let words = words.help(format!(
            "revoke it, put a new one in an environment variable, and list the variable in {}",
            masked_by(file)
        ));
        report.push(lint_node().part_problem(&text[found], Code::PastedSecret, words));
    }
}

/// Returns the setting that lists the environment variables to mask: that of the format, or else that of the workspace.
fn masked_by(file: SpecFile) -> &'static str {
    let is_of_format = |other: &SpecFile| file.dialect().is_some() && other.dialect() == file.dialect();
    let has_key = |other: &SpecFile| shape::all_keys(*other).into_iter().any(|key| key == "redact_env");
    match SpecFile::ALL.iter().any(|other| is_of_format(other) && has_key(other)) {
        true => "`redact_env`",
        false => "`recordings.redact_env` of `speclens.yaml`",
    }
}
