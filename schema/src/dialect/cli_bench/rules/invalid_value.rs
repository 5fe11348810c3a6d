//! Names and ids in a suite of cli-bench.

use crate::{
    dialect::cli_bench::{facts::NoTasks, named_tasks::NamedTasks},
    document::Pointer,
    finding::{Explanation, Finding, Location, MessageParts, Report, Rule},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    shape::scalar,
    validate::Context,
};

/// A name or an id that is not valid.
#[derive(Debug)]
enum Invalid {
    /// The name of an environment variable.
    VariableName(String),
    /// A task id that is not a valid file name.
    TaskId(String),
    /// A task file without tasks, by its path.
    TaskFile { path: String, reason: NoTasks },
}

/// A string that is not a model id.
#[derive(Debug)]
struct NoModelId {
    text: String,
}

/// Explains an item of `providers` that the schema does not allow.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    let is_model = context.file == SpecFile::CLI_BENCH && context.base == Pointer::root().key("providers").index(0);
    match context.node.as_str().filter(|_| is_model && finding.at().is_root()) {
        Some(text) => finding.explained(NoModelId { text: text.to_owned() }),
        None => finding,
    }
}

/// Checks the names in the `env` of a suite or a task.
pub(crate) fn check_environment(owner: &LintNode<'_>, report: &mut Report) {
    for (name, value) in owner.get("env").map(|env| env.entries()).unwrap_or_default() {
        if name.is_empty() || name.contains(['=', '\0']) {
            report.push(value.head_finding(Invalid::VariableName(name)));
        }
    }
}

/// Checks that the id of a task is a valid file name and can be written on a command line.
pub(crate) fn check_task(task: &LintNode<'_>, report: &mut Report) {
    let Some(id) = task.get("id") else { return };
    let Some(text) = id.text().filter(|text| !text.is_empty()) else { return };
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    if !(text.starts_with(|first: char| first.is_ascii_alphanumeric()) && text.chars().all(plain)) {
        report.push(id.finding(Invalid::TaskId(text.to_owned())));
    }
}

/// Converts a string to an id: words with dashes between them.
fn slug(text: &str) -> String {
    let words = text.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// Checks the files of an entry.
pub(crate) fn check_entry(entry: &NamedTasks<'_, '_>, report: &mut Report) {
    for facts in entry.readable() {
        // A file that is checked separately reports this itself.
        if let Some(reason) = facts.wrong.clone().filter(|_| facts.is_other || !entry.files.parts_are_checked()) {
            report.push(entry.lint_node.finding(Invalid::TaskFile { path: facts.path.clone(), reason }));
        }
    }
}

impl Rule for Invalid {
    const CODE: Code = Code::InvalidValue;

    fn severity(&self) -> Severity {
        match self {
            Invalid::VariableName(_) | Invalid::TaskFile { .. } => Self::SEVERITY,
            Invalid::TaskId(_) => Severity::Hint,
        }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            Invalid::VariableName(name) => {
                MessageParts::new(format!("`{name}` is not a valid environment variable name"))
            }
            Invalid::TaskId(id) => {
                let slug = slug(id);
                let edits = location.replaced(scalar(&slug)).filter(|_| !slug.is_empty());
                MessageParts::new(format!("`{id}` contains characters that are not safe in a file name"))
                    .note("the id becomes a file name, and selects the task on the command line")
                    .help("use letters, digits, `.`, `_` and `-`")
                    .fix(edits.map(|edits| Fix::guess(format!("change it to `{slug}`"), edits)))
            }
            Invalid::TaskFile { path, reason } => {
                let words = |reason: &str| MessageParts::new(format!("the task file `{path}` {reason}"));
                let begin = "begin each task with `- id: …`";
                match reason {
                    NoTasks::Unreadable(reason) => words(&format!("cannot be read: {reason}")),
                    NoTasks::NotUtf8 => words("is not UTF-8").help("save it as UTF-8"),
                    NoTasks::Empty => words("is empty").help(begin),
                    NoTasks::NotAList => words("is not a list of tasks").help(begin),
                }
            }
        }
    }
}

impl Explanation for NoModelId {
    fn message(&self, said: MessageParts, _: &Location<'_>) -> MessageParts {
        MessageParts { message: format!("`{}` is not a valid model id", self.text), ..said }
            .help("write it as `provider/model-id`, such as `openai/gpt-4o`")
    }
}

#[cfg(test)]
mod tests {
    use super::slug;

    #[test]
    fn an_id_is_words_with_dashes() {
        assert_eq!(slug("Show help (all)"), "show-help-all");
        assert_eq!(slug("größe"), "gr-e");
        assert_eq!(slug("…"), "");
    }
}
