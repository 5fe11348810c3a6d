//! Values of a cli-bench suite that are blank, too small or too large.

use crate::{
    dialect::cli_bench::{
        facts::{About, ItemFacts},
        limits::Limits,
        task_files,
    },
    finding::{Location, MessageParts, Report, Rule, Scope},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    relations::Items,
};

use super::as_written;

/// A value that is blank, too small or too large.
#[derive(Debug)]
enum OutOfRange {
    /// An empty or blank string: its key, and what to write.
    Blank { key: &'static str, wanted: &'static str },
    /// A suite without tasks in any file.
    NoTasks,
    /// An impossible exit code, as written.
    ExitCode,
    /// A threshold that is most likely a share from 0 to 1.
    ShareOfOne(f64),
}

/// Checks the sections of a suite.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    check_blank(root, "cli", "name the program that the tasks are about", report);
    let Some(limits) = Limits::of(root) else { return };
    for (value, limit) in limits.all().filter(|(value, _)| *value > 0.0 && *value < 1.0) {
        report.push(limit.finding(OutOfRange::ShareOfOne(value)));
    }
}

/// Checks a task.
pub(crate) fn check_task(task: &LintNode<'_>, report: &mut Report) {
    check_blank(task, "id", "name the task", report);
    check_blank(task, "intent", "describe what the model must achieve", report);
}

fn check_blank(owner: &LintNode<'_>, key: &'static str, wanted: &'static str, report: &mut Report) {
    let is_blank = |lint_node: &LintNode<'_>| lint_node.node.as_str().is_some_and(|text| text.trim().is_empty());
    if let Some(lint_node) = owner.get(key).filter(is_blank) {
        let same = Scope::CodeAt(Code::OutOfRange, lint_node.at.clone());
        report.push(lint_node.finding(OutOfRange::Blank { key, wanted }).instead_of(same));
    }
}

/// Checks the exit code of an assertion, which may be written as a string.
pub(crate) fn check_assertion(assertion: &LintNode<'_>, report: &mut Report) {
    let Some(lint_node) = assertion.get("exit_code") else { return };
    let number = match lint_node.text() {
        Some(text) => text.trim().parse::<i64>().ok().map(|number| number as f64),
        None => lint_node.number(),
    };
    if number.is_some_and(|number| !(0.0..=255.0).contains(&number)) {
        report.push(lint_node.finding(OutOfRange::ExitCode));
    }
}

/// Reports a suite without tasks in any file.
pub(crate) fn check_relations(root: &LintNode<'_>, items: Items<'_>, report: &mut Report) {
    let may_hold_tasks = |(_, facts): (usize, &ItemFacts)| match facts {
        ItemFacts::Task(_) | ItemFacts::Nothing => true,
        ItemFacts::Files(entry, files) => {
            // A pattern without matches has no tasks, which by itself is only a warning.
            files.is_empty() && !task_files::is_pattern(&entry.name)
                || files.iter().any(|file| file.wrong.is_some() || !file.ids.is_empty())
        }
    };
    let are_files = !items.is_empty() && items.about(About::Files).count() == items.len();
    if are_files
        && !items.about(About::Files).any(may_hold_tasks)
        && let Some(tasks) = root.get("tasks")
    {
        report.push(tasks.head_finding(OutOfRange::NoTasks));
    }
}

impl Rule for OutOfRange {
    const CODE: Code = Code::OutOfRange;

    fn severity(&self) -> Severity {
        let is_usable = matches!(self, OutOfRange::ExitCode | OutOfRange::ShareOfOne(_));
        if is_usable { Severity::Warning } else { Self::SEVERITY }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        match self {
            OutOfRange::Blank { key, wanted } => {
                let is_empty = location.node().and_then(|node| node.text()).is_some_and(str::is_empty);
                let state = if is_empty { "empty" } else { "blank" };
                MessageParts::new(format!("`{key}` must not be {state}")).help(*wanted)
            }
            OutOfRange::NoTasks => {
                MessageParts::new("the files under `tasks` contain no tasks").help("add a task to one of them")
            }
            OutOfRange::ExitCode => MessageParts::new(format!(
                "expected an integer from 0 to 255 for `exit_code`, found {}",
                as_written(location)
            )),
            OutOfRange::ShareOfOne(value) => {
                let percent = format!("{}", (value * 1e4).round() / 100.0);
                MessageParts::new(format!("a threshold of {value} is less than one percent"))
                    .note("a threshold is a percentage from 0 to 100")
                    .remedy(format!("write `{percent}`"), Fix::guess, location.replaced(percent))
            }
        }
    }
}
