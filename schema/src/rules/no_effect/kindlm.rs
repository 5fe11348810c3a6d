//! Keys of KindLM that nothing reads, and responses that are never used.

use std::sync::LazyLock;

use crate::{
    dialect::kindlm::{
        parts::TestParts,
        variables::{self, Command, Reason},
    },
    finding::{Location, MessageParts, Relation, Report, Rule},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Severity},
    validate::Definition,
};

/// Maximum number of responses of a tool to compare with each other.
const MAX_RESPONSES: usize = 256;

/// Help for a key that can be removed without an effect.
const REMOVE: &str = "remove it";

/// Note about the keys of `upload`.
const UPLOAD: &str = "KindLM's `upload` command does not read this section; speclens uploads nothing";

/// Keys that KindLM reads but never uses, with the reason.
const UNREAD: [(&str, &str, &str); 5] = [
    ("suite", "tags", "only the tags of tests select which tests run"),
    ("compliance", "enabled", "KindLM prints the report only with its option `--compliance`"),
    ("compliance", "outputDir", "KindLM prints the report and does not write a file"),
    ("upload", "enabled", UPLOAD),
    ("upload", "apiUrl", UPLOAD),
];

/// Keys of `trace` that only speclens reads, with the option of KindLM that has the same meaning.
const OPTIONS: [(&str, &str); 2] = [("port", "--port"), ("timeoutMs", "--timeout")];

/// Providers that do not send a seed.
const SEEDLESS: [&str; 3] = ["anthropic", "gemini", "mistral"];

/// A key or value without effect.
#[derive(Debug)]
enum NoEffect {
    /// A field of a command test that requires another field.
    OnCommand {
        field: &'static str,
        needs: &'static str,
    },
    /// The user message of a turn.
    UserOfTurn,
    /// A response of a tool after one for the same calls.
    Response {
        /// Whether the two conditions are equal.
        is_equal: bool,
    },
    /// A variable with a reserved name of the environment.
    NameOfEnvironment(String),
    /// A variable whose name is not valid in a placeholder.
    Unnameable(String),
    /// A key that KindLM reads but never uses.
    Unread {
        key: &'static str,
        reason: &'static str,
    },
    /// A key that only speclens reads.
    Option {
        key: &'static str,
        option: &'static str,
    },
    Seed {
        provider: String,
    },
    KeyOfProvider {
        provider: String,
    },
    Organization {
        provider: String,
    },
}

/// Checks fields of a test that require another one, the turns, and the responses of tools.
pub(crate) fn check_test(parts: &TestParts<'_>, report: &mut Report) {
    let test = &parts.test;
    let has = |key: &str| test.get(key).is_some();
    if has("command") && !has("prompt") {
        for (field, needs) in only_with() {
            if let Some(lint_node) = test.get(field).filter(|_| !has(needs)) {
                report.push(lint_node.head_finding(NoEffect::OnCommand { field, needs }));
            }
        }
    }
    for user in parts.turns.iter().filter_map(|turn| turn.get("user")) {
        report.push(user.head_finding(NoEffect::UserOfTurn));
    }
    for (name, var) in variables::vars(test).into_iter().filter(|(name, _)| name.starts_with("env.")) {
        report.push(var.head_finding(NoEffect::NameOfEnvironment(name)));
    }
    parts.tools.tools.iter().for_each(|tool| check_responses(&tool.lint_node, report));
}

/// Returns the fields of a test that require another field, with that field.
fn only_with() -> &'static [(&'static str, &'static str)] {
    static FIELDS: LazyLock<Vec<(&'static str, &'static str)>> = LazyLock::new(|| {
        let test = Definition::Item(SpecFile::KINDLM, "tests").shape();
        test.fields(None).into_iter().filter_map(|field| Some((field.name, field.shape.only_with()?))).collect()
    });
    &FIELDS
}

/// Reports responses to calls that an earlier response already answers.
fn check_responses(tool: &LintNode<'_>, report: &mut Report) {
    let responses = tool.get("responses").map(|list| list.items()).unwrap_or_default();
    let conditions: Vec<_> = responses
        .iter()
        .map(|response| Some(response.get("when")?.node.to_value().ok()?.as_object()?.clone()))
        .collect();
    for (index, response) in responses.iter().enumerate() {
        let Some(own) = &conditions[index] else { continue };
        let covers = |other: &serde_json::Map<String, serde_json::Value>| {
            other.iter().all(|(key, value)| own.get(key) == Some(value))
        };
        let before = &conditions[..index.min(MAX_RESPONSES)];
        let Some(first) = before.iter().position(|other| other.as_ref().is_some_and(covers)) else { continue };
        let is_equal = conditions[first].as_ref() == Some(own);
        let first = &responses[first];
        let finding = response.head_finding(NoEffect::Response { is_equal });
        report.push(finding.related(Relation::Labelled("the earlier one"), first.at.clone(), first.head()));
    }
}

/// Reports variables whose names are not valid in a placeholder of the command.
pub(crate) fn check_command(command: &Command<'_>, report: &mut Report) {
    for (name, var) in command.idle_as(Reason::Unnameable) {
        report.push(var.head_finding(NoEffect::Unnameable(name.to_owned())));
    }
}

/// Checks the sections other than `tests`.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    let is_value = |lint_node: &LintNode<'_>| lint_node.node.scalar().is_some() && !lint_node.node.is_null();
    for (section, key, reason) in UNREAD {
        if let Some(lint_node) = root.find(&[section, key]).filter(|node| key == "tags" || is_value(node)) {
            report.push(lint_node.head_finding(NoEffect::Unread { key, reason }));
        }
    }
    for (key, option) in OPTIONS {
        if let Some(lint_node) = root.find(&["trace", key]).filter(is_value) {
            report.push(lint_node.head_finding(NoEffect::Option { key, option }));
        }
    }
    for model in root.get("models").map(|models| models.items()).unwrap_or_default() {
        let provider = model.text_at("provider").unwrap_or_default();
        if let Some(seed) = model.find(&["params", "seed"]).filter(|_| SEEDLESS.contains(&provider)) {
            report.push(seed.head_finding(NoEffect::Seed { provider: provider.to_owned() }));
        }
    }
    for (provider, lint_node) in root.get("providers").map(|providers| providers.entries()).unwrap_or_default() {
        if let Some(organization) = lint_node.get("organization").filter(|_| provider != "openai") {
            report.push(organization.head_finding(NoEffect::Organization { provider: provider.clone() }));
        }
        if let Some(key) = lint_node.get("apiKeyEnv").filter(|_| ["ollama", "http"].contains(&provider.as_str())) {
            report.push(key.head_finding(NoEffect::KeyOfProvider { provider }));
        }
    }
}

impl Rule for NoEffect {
    const CODE: Code = Code::NoEffect;

    fn severity(&self) -> Severity {
        if matches!(self, NoEffect::UserOfTurn) {
            Severity::Information
        } else if matches!(self, NoEffect::Response { .. }) {
            Severity::Warning
        } else {
            Self::SEVERITY
        }
    }

    fn message(&self, _: &Location<'_>) -> MessageParts {
        match self {
            NoEffect::OnCommand { field, needs } => {
                MessageParts::new(format!("`{field}` has no effect on a command test"))
                    .note(format!("it applies only to tests with `{needs}`"))
                    .help(REMOVE)
            }
            NoEffect::UserOfTurn => MessageParts::new("`user` is never sent").help("add its text to the prompt"),
            NoEffect::Response { is_equal } => MessageParts::new("this response is never used")
                .note("an earlier response matches every call that this one would match")
                .help(if *is_equal { "remove one of the two" } else { "move it before the earlier one" }),
            NoEffect::NameOfEnvironment(name) => MessageParts::new(format!("`{name}` is never used"))
                .note("KindLM does not expand names that begin with `env.`")
                .help(REMOVE),
            NoEffect::Unnameable(name) => MessageParts::new(format!("`{name}` cannot be used as a template variable"))
                .help("use only ASCII letters, digits, `_` and `.`"),
            NoEffect::Unread { key, reason } => {
                MessageParts::new(format!("`{key}` has no effect")).note(reason).help(REMOVE)
            }
            NoEffect::Option { key, option } => MessageParts::new(format!("KindLM ignores `{key}`"))
                .note(format!("it uses its option `{option}` or the default; only `speclens trace` reads this key")),
            NoEffect::Seed { provider } => MessageParts::new(format!("`seed` has no effect on `{provider}`"))
                .note(format!("KindLM sends no seed to `{provider}`"))
                .help(REMOVE),
            NoEffect::KeyOfProvider { provider } => {
                let words = MessageParts::new(format!("`apiKeyEnv` has no effect on `{provider}`"))
                    .note(format!("KindLM sends no key to `{provider}`"));
                words.help(match provider.as_str() {
                    "http" => "name the variable in `headers`, as `env:NAME`",
                    _ => REMOVE,
                })
            }
            NoEffect::Organization { provider } => {
                MessageParts::new(format!("`organization` has no effect on `{provider}`"))
                    .note("KindLM sends it only to `openai`")
                    .help(REMOVE)
            }
        }
    }
}
