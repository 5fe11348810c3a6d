//! Tasks of a script that the suite does not have.

use crate::{finding::Report, problem::Severity, script::suite::Suite, spot::Spot, words::Search};

use super::Unknown;

/// Looks at the ids of a script's `tasks`.
pub(crate) fn check(tasks: &[(String, Spot<'_>)], suite: &Suite, report: &mut Report) {
    let mut search = Search::default();
    for (id, turns) in tasks.iter().filter(|(id, _)| !suite.ids.contains(id)) {
        let free = suite.ids.iter().map(String::as_str).filter(|known| !tasks.iter().any(|(id, _)| id == known));
        let mut free: Vec<&str> = free.collect();
        free.sort_unstable();
        let rule = Unknown::new(format!("unknown task `{id}`"), search.nearest(id, free))
            .key()
            // Where the suite names the script, it can belong to no other.
            .severity(if suite.is_named { Severity::Warning } else { Severity::Hint })
            .note(format!("`{}` has no task with this id", suite.path));
        report.push(turns.head_finding(rule));
    }
}
