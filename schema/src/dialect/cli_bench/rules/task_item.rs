//! Items of `tasks` in suites of cli-bench that are neither tasks nor the paths of task files.

use crate::{
    dialect::cli_bench::{asserted, task_files::SCHEME},
    document::{NodeRef, Shape},
    edit,
    finding::{Explanation, Finding, Location, MessageParts, Report, Rule, Scope},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Fix},
    validate::Context,
};

/// A scalar instead of a task.
#[derive(Debug)]
struct NotATask {
    file: SpecFile,
}

/// A mapping whose only key contains the path of a task file.
#[derive(Debug)]
struct FileMapping(String);

/// Explains a scalar instead of a task.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    let is_item = asserted::is_task(context) && finding.at().is_root();
    if is_item && context.node.shape() == Shape::Scalar {
        let file = context.file;
        finding.explained(NotATask { file })
    } else {
        finding
    }
}

/// Reports `- file: tasks/a.yaml`, which should be `file://tasks/a.yaml`.
pub(crate) fn check(item: &LintNode<'_>, report: &mut Report) {
    let entries = item.entries();
    let [(key, value)] = entries.as_slice() else { return };
    if !["file", "include", "path", "$ref"].contains(&key.to_lowercase().as_str()) {
        return;
    }
    let Some(text) = value.text().filter(|text| !text.is_empty()) else { return };
    let name = format!("{SCHEME}{}", path_of(text.trim_start_matches('/')));
    let range = value.head().start..value.node.own_range().end;
    let finding = Finding::new(FileMapping(name), item.at.clone(), range);
    report.push(finding.instead_of(Scope::In(item.at.clone())));
}

/// Returns the path without the text before it.
fn path_of(text: &str) -> &str {
    let is_scheme = |start: &str| start.eq_ignore_ascii_case("file:");
    let path = text.get(..5).filter(|start| is_scheme(start)).map_or(text, |start| &text[start.len()..]);
    let path = if path.len() < text.len() { path.trim_start_matches('/').trim_start() } else { path };
    path.trim_start_matches("./")
}

/// Returns the fix that adds the scheme to a path.
fn with_scheme(item: NodeRef<'_>, text: &str) -> Option<Fix> {
    let is_path = text.ends_with(".yaml") || text.ends_with(".yml");
    let path = path_of(text);
    let name = format!("{SCHEME}{path}");
    let edits = edit::replace_text(item, &name).filter(|_| is_path && !path.contains("://"))?;
    // A single slash after the scheme may begin an absolute path.
    let is_open =
        text.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("file:/")) && !text[6..].starts_with('/');
    let fix = if is_open { Fix::guess } else { Fix::safe };
    Some(fix(format!("change it to `{name}`"), edits))
}

impl Explanation for NotATask {
    fn message(&self, said: MessageParts, location: &Location<'_>) -> MessageParts {
        let words = MessageParts { fixes: Vec::new(), ..said };
        let text = location.root.text().unwrap_or_default();
        if location.root.is_null() {
            return words.help("add a task, which begins with `id: …`, or remove the `-`");
        }
        let is_task_file = self.file == SpecFile::CLI_BENCH_TASKS;
        let (message, help) = if is_task_file && text.starts_with(SCHEME) {
            ("a task file cannot include other files".to_owned(), "move the item to `tasks` of the suite".to_owned())
        } else if is_task_file {
            (format!("expected a task, found the string `{text}`"), "begin the task with `id: …`".to_owned())
        } else if text == SCHEME {
            (format!("`{SCHEME}` needs a path"), format!("add a path, such as `{SCHEME}tasks/*.yaml`"))
        } else {
            let message = format!("expected a task or the path of a task file, found the string `{text}`");
            (message, format!("write the path as `{SCHEME}…`"))
        };
        let fix = with_scheme(location.root, text).filter(|_| !is_task_file);
        MessageParts { message, ..words }.help(help).fix_with_help(fix)
    }
}

impl Rule for FileMapping {
    const CODE: Code = Code::InvalidValue;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let help = format!("write `{}`", self.0);
        let edits = location.node().and_then(|item| edit::replace_text(item, &self.0));
        MessageParts::new("expected a task or the path of a task file, found a mapping with one key").remedy(
            help,
            Fix::guess,
            edits,
        )
    }
}
