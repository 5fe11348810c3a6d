//! Values in KindLM suites that another program parses: the shell, a provider, a URL parser.

use crate::{
    check::schema_file::UserSchema,
    dialect::kindlm::{tools::Tools, variables::Command},
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    shape::scalar,
    words::begins_like_url,
};

/// An invalid value.
#[derive(Debug)]
enum InvalidValue {
    /// A NUL character in a command.
    Nul,
    /// `parameters` of a tool.
    Parameters {
        reason: String,
    },
    /// `apiKeyEnv`.
    Variable {
        written: String,
    },
    Address {
        text: String,
        reason: String,
    },
}

/// Checks the command of a test and the values inserted into it.
pub(crate) fn check_command(command: &Command<'_>, report: &mut Report) {
    let is_used = |name: &str| command.placeholders.iter().any(|placeholder| placeholder.name == name);
    let holds_nul = |part: &LintNode<'_>| part.text().is_some_and(|text| text.contains('\0'));
    let vars = command.vars.iter().filter(|(name, var)| holds_nul(var) && is_used(name)).map(|(_, var)| var);
    for part in Some(&command.lint_node).filter(|lint_node| holds_nul(lint_node)).into_iter().chain(vars) {
        report.push(part.part_finding("\\0", InvalidValue::Nul));
    }
}

/// Checks `parameters` of tools, which must be a JSON Schema of an object.
pub(crate) fn check_tools(tools: &Tools<'_>, report: &mut Report) {
    for tool in &tools.tools {
        let parameters = tool.lint_node.get("parameters").filter(|it| it.is_mapping() && !it.is_empty());
        let Some(lint_node) = parameters else { continue };
        let Ok(value) = lint_node.node.to_value() else { continue };
        if let Err(error) = UserSchema::read(value.to_string().as_bytes()) {
            report.push(lint_node.head_finding(InvalidValue::Parameters { reason: error.message }));
        }
    }
}

/// Checks environment variables and addresses, including those that only a URL parser rejects.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    let providers = root.get("providers").map(|providers| providers.entries()).unwrap_or_default();
    for (_, provider) in &providers {
        let Some(key) = provider.get("apiKeyEnv") else { continue };
        if let Some(written) = key.text().filter(|name| name.starts_with('$')) {
            report.push(key.finding(InvalidValue::Variable { written: written.to_owned() }));
        }
    }
    let fields =
        providers.iter().flat_map(|(_, provider)| ["baseUrl", "url", "serverUrl"].map(|key| provider.get(key)));
    for address in fields.chain([root.find(&["upload", "apiUrl"])]).flatten() {
        let Some(text) = address.text().filter(|text| begins_like_url(text)) else { continue };
        if let Err(reason) = url::Url::parse(text) {
            report.push(address.finding(InvalidValue::Address { text: text.to_owned(), reason: reason.to_string() }));
        }
    }
}

impl Rule for InvalidValue {
    const CODE: Code = Code::InvalidValue;

    fn severity(&self) -> Severity {
        match self {
            InvalidValue::Nul | InvalidValue::Address { .. } => Code::InvalidValue.severity(),
            InvalidValue::Parameters { .. } | InvalidValue::Variable { .. } => Severity::Warning,
        }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            InvalidValue::Nul => MessageParts::new("a command cannot contain a NUL character").help("remove it"),
            InvalidValue::Parameters { reason } => MessageParts::new("`parameters` is not a valid JSON Schema")
                .note(reason)
                .note("the provider rejects the request"),
            InvalidValue::Variable { written } => {
                let bare = written.trim_start_matches('$').trim_start_matches('{').trim_end_matches('}');
                let is_plain = !bare.is_empty() && bare.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
                let edits = location.replaced(scalar(bare)).filter(|_| is_plain);
                MessageParts::new(format!("`{written}` is not a valid environment variable name")).remedy(
                    format!("write the name alone, `{bare}`"),
                    Fix::safe,
                    edits,
                )
            }
            InvalidValue::Address { text, reason } => {
                MessageParts::new(format!("`{text}` is not a valid URL: {reason}"))
            }
        }
    }
}
