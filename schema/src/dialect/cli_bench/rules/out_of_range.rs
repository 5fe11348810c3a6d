//! Suites of cli-bench without tasks.

use crate::{
    dialect::cli_bench::{
        facts::{About, ItemFacts},
        task_files,
    },
    finding::{MessageParts, Report},
    lint_node::LintNode,
    problem::Code,
    relations::Items,
};

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
        let words = MessageParts::new("the files under `tasks` contain no tasks").help("add a task to one of them");
        report.push(tasks.head_problem(Code::OutOfRange, words));
    }
}
