//! Texts that consist of spaces.

use crate::{
    problem::{Code, Problem},
    spot::Spot,
};

/// The name of the program.
pub(super) fn lint_root(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    if let Some(cli) = root.get("cli").filter(is_blank) {
        let problem = cli.problem(Code::OutOfRange, "`cli` must not be blank");
        problems.push(problem.with_help("name the program that the tasks are about"));
    }
}

/// What a task is called, and asks for.
pub(super) fn lint_task(task: &Spot<'_>, problems: &mut Vec<Problem>) {
    for (key, wanted) in [("id", "name the task"), ("intent", "say what the model must achieve")] {
        if let Some(spot) = task.get(key).filter(is_blank) {
            problems.push(spot.problem(Code::OutOfRange, format!("`{key}` must not be blank")).with_help(wanted));
        }
    }
}

fn is_blank(spot: &Spot<'_>) -> bool {
    spot.text().is_some_and(|text| !text.is_empty() && text.trim().is_empty())
}
