//! Patterns of task files that match in too many directories.

use crate::{
    dialect::cli_bench::{named_tasks::NamedTasks, task_files::Target},
    finding::{Location, MessageParts, Report, Rule},
    problem::Code,
};

/// A pattern whose search was aborted.
#[derive(Debug)]
struct BroadPattern(String);

/// Checks an item of `tasks` that names files.
pub(crate) fn check_entry(entry: &NamedTasks<'_, '_>, report: &mut Report) {
    if entry.target == (Target::NoMatch { cut: true }) {
        report.push(entry.lint_node.finding(BroadPattern(entry.path.to_owned())));
    }
}

impl Rule for BroadPattern {
    const CODE: Code = Code::TooLarge;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("`{}` searches too many directories", self.0)).help("name the directory")
    }
}
