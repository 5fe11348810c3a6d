//! `{{name}}` in a cli-bench suite: only `{{workdir}}` is replaced, and only in some places.

use crate::{
    document::Scalar,
    finding::{Finding, Report, Rule, Site, Words},
    problem::{Code, Edit, Fix, Severity},
    lint_node::LintNode,
    template::{Placeholder, placeholders},
    words::nearest,
};

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
    Unknown { text: String, is_misspelt: bool },
    /// `{{workdir}}` with spaces.
    Spaced,
}

/// Checks the sections of a suite.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    if let Some(prompt) = root.get("system_prompt") {
        check_idle(&prompt, report);
    }
    check_environment(root, report);
}

/// Checks a task.
pub(crate) fn check_task(task: &LintNode<'_>, report: &mut Report) {
    if let Some(intent) = task.get("intent") {
        check_idle(&intent, report);
    }
    for command in task.get("setup").into_iter().chain(task.get("teardown")).flat_map(|list| list.items()) {
        check_command(&command, report);
    }
    check_environment(task, report);
    for item in task.get("assert").map(|list| list.items()).unwrap_or_default() {
        let texts = ["output_contains", "output_equals", "error_contains", "ran", "not_ran"].map(|key| item.get(key));
        let below = [
            ["file_contains", "text"],
            ["run_count", "pattern"],
            ["verify", "output_contains"],
            ["verify", "output_equals"],
        ]
        .map(|keys| item.find(&keys));
        texts.iter().chain(&below).flatten().for_each(|text| check_idle(text, report));
        if let Some(run) = item.find(&["verify", "run"]) {
            check_command(&run, report);
        }
        let paths = [item.get("file_exists"), item.find(&["file_contains", "path"])];
        paths.iter().flatten().for_each(|path| check_template(path, report));
    }
}

/// Checks the `env` of a suite or a task.
fn check_environment(owner: &LintNode<'_>, report: &mut Report) {
    for (_, value) in owner.get("env").map(|env| env.entries()).unwrap_or_default() {
        if matches!(value.node.scalar(), Some(Scalar::Text | Scalar::Timestamp)) {
            check_template(&value, report);
        }
    }
}

/// Checks a string without replacement.
fn check_idle(lint_node: &LintNode<'_>, report: &mut Report) {
    let Some(text) = lint_node.text() else { return };
    if let Some(found) = placeholders(text).iter().find(|found| found.name == WORKDIR) {
        let rule = MissingVariable::Idle(found.text.to_owned());
        report.push(Finding::new(rule, lint_node.at.clone(), lint_node.part(found.text, 0)));
    }
}

/// Checks a shell command. Many programs use braces, such as `docker ps --format '{{.Names}}'`, so only
/// likely placeholders of a suite are reported.
pub(crate) fn check_command(lint_node: &LintNode<'_>, report: &mut Report) {
    let Some(text) = lint_node.text() else { return };
    for found in placeholders(text) {
        if found.name != WORKDIR && (is_misspelt(found.name) || BROUGHT.contains(&found.name)) {
            report.push(unknown(lint_node, &found));
        }
    }
}

/// Checks a string in which `{{workdir}}` is replaced.
fn check_template(lint_node: &LintNode<'_>, report: &mut Report) {
    let Some(text) = lint_node.text() else { return };
    // Names that begin with a dot belong to other programs, such as `{{.Names}}`.
    let is_ours = |name: &str| name != WORKDIR && !name.starts_with('.');
    for found in placeholders(text).iter().filter(|found| is_ours(found.name)) {
        report.push(unknown(lint_node, found));
    }
    if text.contains(SPACED) {
        report.push(Finding::new(MissingVariable::Spaced, lint_node.at.clone(), lint_node.part(SPACED, 0)));
    }
}

fn unknown(lint_node: &LintNode<'_>, found: &Placeholder<'_>) -> Finding {
    let rule = MissingVariable::Unknown { text: found.text.to_owned(), is_misspelt: is_misspelt(found.name) };
    Finding::new(rule, lint_node.at.clone(), lint_node.part(found.text, 0))
}

fn is_misspelt(name: &str) -> bool {
    nearest(name, [WORKDIR]).is_some()
}

/// Returns the edits that replace the underlined text, if it is written without escapes.
fn replaced(site: &Site<'_>, written: &str) -> Option<Vec<Edit>> {
    site.lint_node()?.with_part(site.range, written, "{{workdir}}")
}

impl Rule for MissingVariable {
    const CODE: Code = Code::MissingVariable;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, site: &Site<'_>) -> Words {
        match self {
            MissingVariable::Idle(text) => Words::new(format!("`{text}` is not expanded here"))
                .note(format!("it has a value only in {PLACES}")),
            MissingVariable::Unknown { text, is_misspelt } => {
                let words = Words::new(format!("`{text}` is not expanded"))
                    .note("`{{workdir}}` is the only template variable of cli-bench");
                if !is_misspelt {
                    return words;
                }
                let help = "change it to `{{workdir}}`";
                words.remedy(help, Fix::guess, replaced(site, text))
            }
            MissingVariable::Spaced => {
                let help = "write it without spaces, `{{workdir}}`";
                Words::new("`{{ workdir }}` is not expanded")
                    .remedy(help, Fix::safe, replaced(site, SPACED))
            }
        }
    }
}
