//! `{{name}}` in a cli-bench suite: only `{{workdir}}` is replaced, and only in some places.

use crate::{
    finding::{Finding, Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    shape::Shape,
    template::{Placeholder, placeholders},
    walk::Value,
    words::nearest,
};

use crate::rules::missing_variable::WRITE_VALUE;

/// The only placeholder.
const WORKDIR: &str = "workdir";

/// The placeholder as written in other formats.
const SPACED: &str = "{{ workdir }}";

/// Places in which `{{workdir}}` is replaced.
const PLACES: &str = "`env`, in the paths of `file_exists` and `file_contains`, and in `verify`";

/// Placeholder names of other formats, and names of fields.
const BROUGHT: [&str; 14] = [
    "workdir", "today", "now", "run_id", "id", "cli", "intent", "model", "provider", "env", "tmpdir", "cwd", "home",
    "date",
];

/// A placeholder that is not replaced. The text is as written.
#[derive(Debug)]
enum MissingVariable {
    /// `{{workdir}}` in a place without replacement.
    Idle(String),
    /// Another name.
    Unknown { text: String, is_misspelled: bool },
    /// `{{workdir}}` with spaces.
    Spaced,
}

/// Checks a string: the placeholders where they are replaced, and `{{workdir}}` elsewhere.
pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    let Some(text) = value.text.filter(|text| text.contains("{{")) else { return };
    let lint_node = value.lint_node();
    match value.template() {
        _ if value.shape().is_some_and(Shape::is_shell) => check_command(&lint_node, text, report),
        Some(_) => check_template(&lint_node, text, report),
        None => check_idle(&lint_node, text, report),
    }
}

/// Checks a string without replacement.
fn check_idle(lint_node: &LintNode<'_>, text: &str, report: &mut Report) {
    if let Some(found) = placeholders(text).iter().find(|found| found.name == WORKDIR) {
        let rule = MissingVariable::Idle(found.text.to_owned());
        report.push(lint_node.part_finding(found.text, rule));
    }
}

/// Checks a shell command. Many programs use braces, such as `docker ps --format '{{.Names}}'`, so only
/// likely placeholders of a suite are reported.
fn check_command(lint_node: &LintNode<'_>, text: &str, report: &mut Report) {
    for found in placeholders(text) {
        if found.name != WORKDIR && (is_misspelled(found.name) || BROUGHT.contains(&found.name)) {
            report.push(unknown(lint_node, &found));
        }
    }
}

/// Checks a string in which `{{workdir}}` is replaced.
fn check_template(lint_node: &LintNode<'_>, text: &str, report: &mut Report) {
    // Names that begin with a dot belong to other programs, such as `{{.Names}}`.
    let is_ours = |name: &str| name != WORKDIR && !name.starts_with('.');
    for found in placeholders(text).iter().filter(|found| is_ours(found.name)) {
        report.push(unknown(lint_node, found));
    }
    if text.contains(SPACED) {
        report.push(lint_node.part_finding(SPACED, MissingVariable::Spaced));
    }
}

fn unknown(lint_node: &LintNode<'_>, found: &Placeholder<'_>) -> Finding {
    let rule = MissingVariable::Unknown { text: found.text.to_owned(), is_misspelled: is_misspelled(found.name) };
    lint_node.part_finding(found.text, rule)
}

fn is_misspelled(name: &str) -> bool {
    nearest(name, [WORKDIR]).is_some()
}

impl Rule for MissingVariable {
    const CODE: Code = Code::MissingVariable;
    const SEVERITY: Severity = Severity::Warning;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            MissingVariable::Idle(text) => MessageParts::new(format!("`{text}` is not expanded here"))
                .note(format!("it has a value only in {PLACES}"))
                .help("write a path relative to the working directory"),
            MissingVariable::Unknown { text, is_misspelled } => {
                let words = MessageParts::new(format!("`{text}` is not expanded"))
                    .note("`{{workdir}}` is the only template variable of cli-bench");
                if !is_misspelled {
                    return words.help(WRITE_VALUE);
                }
                let help = "change it to `{{workdir}}`";
                words.remedy(help, Fix::guess, location.with_part(text, "{{workdir}}"))
            }
            MissingVariable::Spaced => {
                let edits = location.with_part(SPACED, "{{workdir}}");
                let help = "write it without spaces, `{{workdir}}`";
                MessageParts::new("`{{ workdir }}` is not expanded").remedy(help, Fix::safe, edits)
            }
        }
    }
}
