//! Tasks of a script that are not in the suite.

use crate::{finding::Report, lint_node::LintNode, problem::Severity, script::suite::Suite, words::Search};

use super::Unknown;

/// Checks the ids in a script's `tasks`.
pub(crate) fn check(tasks: &[(String, LintNode<'_>)], suite: &Suite, report: &mut Report) {
    let mut search = Search::default();
    for (id, turns) in tasks.iter().filter(|(id, _)| !suite.ids.contains(id)) {
        let free = suite.ids.iter().map(String::as_str).filter(|known| !tasks.iter().any(|(id, _)| id == known));
        let mut free: Vec<&str> = free.collect();
        free.sort_unstable();
        let rule = Unknown::new(format!("unknown task `{id}`"), search.nearest(id, free))
            .key()
            // If the suite names the script, it cannot belong to another one.
            .severity(if suite.is_named { Severity::Warning } else { Severity::Hint })
            .note(format!("`{}` has no task with this id", suite.path))
            .or_help("rename it to the id of a task, or remove it".to_owned());
        report.push(rule.at(turns, turns.head()));
    }
}
