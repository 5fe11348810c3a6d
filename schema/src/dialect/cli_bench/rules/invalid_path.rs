//! Paths in a cli-bench suite: of task files and scripts, and those in assertions.

use crate::{
    dialect::cli_bench::{
        named_tasks::{NamedTasks, NotRead},
        task_files::{self, SCHEME, Target},
    },
    files::{Files, Resolved},
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    script,
    shape::scalar,
};

/// Consequence of an item without valid files.
const MISSING_TASKS: &str = "the suite runs without its tasks";

/// Reason why a path out of the workspace is reported.
const ELSEWHERE: &str = "it may not exist on other machines";

/// Reason why the tasks of a file outside of the workspace are not checked.
const UNREAD: &str = "editors do not read it; `speclens check` and `speclens run` do";

/// A path of task files.
#[derive(Debug)]
enum TaskPath {
    /// A path that is not valid.
    Unusable { path: String, reason: &'static str },
    /// A file outside of the workspace that is not read.
    Unread(String),
    /// A path out of the workspace.
    Outside(String),
    /// An absolute path, and the same relative to the directory of the main file.
    Absolute { path: String, relative: Option<String> },
}

/// The path of a scripted model.
#[derive(Debug)]
enum Script {
    Unusable { path: String, reason: &'static str },
    Outside(String),
}

/// A path that an assertion takes literally.
#[derive(Debug)]
enum Literal {
    /// The path begins with `~`.
    Home,
    /// The path begins with a shell variable.
    Variable,
    /// The path leaves the working directory.
    Outside(String),
}

/// Checks an item of `tasks` that names files.
pub(crate) fn check_entry(entry: &NamedTasks<'_, '_>, report: &mut Report) {
    let path = entry.path.to_owned();
    if let Target::Outside(reason) = entry.target {
        report.push(entry.lint_node.finding(TaskPath::Unusable { path: path.clone(), reason }));
    }
    match &entry.far {
        Some(NotRead::Unread(path)) => report.push(entry.lint_node.finding(TaskPath::Unread(path.clone()))),
        Some(NotRead::Outside) => report.push(entry.lint_node.finding(TaskPath::Outside(path))),
        None if path.starts_with('/') => {
            let is_far = |path: &String| matches!(entry.files.named(path), Resolved::Found { is_far: true, .. });
            let relative = entry.normal.clone().ok().filter(|relative| !is_far(relative));
            report.push(entry.lint_node.finding(TaskPath::Absolute { path, relative }));
        }
        None => {}
    }
}

/// Checks an item of `providers` that names a script.
pub(crate) fn check_script(model: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let Some(path) = model.text().and_then(|id| script::file_beside(id, files)) else { return };
    match task_files::normalize(&path, files) {
        Err(reason) => report.push(model.finding(Script::Unusable { path, reason })),
        Ok(normal) => match files.named(&normal) {
            Resolved::Found { is_far: true, .. } | Resolved::Unread => {
                report.push(model.finding(Script::Outside(normal)))
            }
            Resolved::Found { is_far: false, .. } | Resolved::Nothing => {}
        },
    }
}

/// Checks the paths of `file_exists` and `file_contains`.
pub(crate) fn check_assertion(assertion: &LintNode<'_>, report: &mut Report) {
    let paths = [assertion.get("file_exists"), assertion.find(&["file_contains", "path"])];
    for lint_node in paths.iter().flatten() {
        let Some(path) = lint_node.text() else { continue };
        if path.starts_with("~/") || path == "~" {
            report.push(lint_node.finding(Literal::Home));
        } else if path.starts_with('$') {
            report.push(lint_node.finding(Literal::Variable));
        } else if leads_out(path) {
            report.push(lint_node.finding(Literal::Outside(path.to_owned())));
        }
    }
}

/// Whether a relative path leaves its starting directory at any step.
fn leads_out(path: &str) -> bool {
    let mut depth = 0_i32;
    let mut steps = path.split('/').map(|step| {
        match step {
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
        depth
    });
    !path.starts_with('/') && steps.any(|depth| depth < 0)
}

impl Rule for TaskPath {
    const CODE: Code = Code::InvalidPath;

    fn severity(&self) -> Severity {
        match self {
            TaskPath::Unusable { .. } => Severity::Error,
            TaskPath::Unread(_) | TaskPath::Outside(_) | TaskPath::Absolute { .. } => Severity::Warning,
        }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            TaskPath::Unusable { path, reason } => MessageParts::new(format!("`{path}` {reason}"))
                .note(MISSING_TASKS)
                .help("write it relative to this file"),
            TaskPath::Unread(path) => {
                let how = if path.starts_with("../") { "is" } else { "is a link to a file" };
                MessageParts::new(format!("`{path}` {how} outside the workspace")).note(UNREAD)
            }
            TaskPath::Outside(path) => MessageParts::new(format!("`{path}` is outside the workspace"))
                .note(ELSEWHERE)
                .help("move the file into the directory of this file"),
            TaskPath::Absolute { path, relative } => {
                let words =
                    MessageParts::new(format!("`{path}` is an absolute path")).note("it is valid only on this machine");
                let name = relative.as_ref().map(|relative| format!("{SCHEME}{relative}"));
                match name.and_then(|name| Some((location.replaced(scalar(&name))?, name))) {
                    Some((edits, name)) => {
                        words.fix_with_help(Some(Fix::safe(format!("change it to `{name}`"), edits)))
                    }
                    None => words.help("write it relative to this file"),
                }
            }
        }
    }
}

impl Rule for Script {
    const CODE: Code = Code::InvalidPath;

    fn severity(&self) -> Severity {
        match self {
            Script::Unusable { .. } => Severity::Error,
            Script::Outside(_) => Severity::Warning,
        }
    }

    fn message(&self, _: &Location<'_>) -> MessageParts {
        match self {
            Script::Unusable { path, reason } => MessageParts::new(format!("`{path}` {reason}")),
            Script::Outside(path) => MessageParts::new(format!("`{path}` is outside the workspace"))
                .note(ELSEWHERE)
                .help("move the script to the directory of this file"),
        }
    }
}

impl Rule for Literal {
    const CODE: Code = Code::InvalidPath;

    fn severity(&self) -> Severity {
        match self {
            Literal::Home | Literal::Variable => Severity::Warning,
            Literal::Outside(_) => Severity::Hint,
        }
    }

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let taken_literally = |sign: &str| {
            MessageParts::new(format!("{sign} is not expanded here"))
                .note("the path is taken literally")
                .help("use `verify`, which runs a shell command")
        };
        match self {
            Literal::Home => taken_literally("`~`"),
            Literal::Variable => taken_literally("a variable"),
            Literal::Outside(path) => {
                MessageParts::new(format!("`{path}` is outside the working directory of the task"))
                    .note("a file there may have existed before the task")
            }
        }
    }
}
