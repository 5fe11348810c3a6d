//! Paths that assertions look at: below the working directory, and as they are written.

use crate::{
    problem::{Code, Problem, Severity},
    spot::Spot,
};

use super::environment;

/// The paths of `file_exists` and `file_contains`.
pub(super) fn lint(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    let paths = [assertion.get("file_exists"), assertion.find(&["file_contains", "path"])];
    for path in paths.iter().flatten() {
        lint_path(path, problems);
        environment::lint_template(path, problems);
    }
}

fn lint_path(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(path) = spot.text() else { return };
    if path.starts_with("~/") || path == "~" || path.starts_with('$') {
        let sign = if path.starts_with('~') { "`~`" } else { "a variable" };
        let message = format!("{sign} is not expanded here: the name is looked for as it stands; use `verify` instead");
        problems.push(spot.problem(Code::InvalidPath, message).with_severity(Severity::Warning));
        return;
    }
    if path.contains(['*', '?']) && !path.contains("{{") {
        let message = format!(
            "`{path}` is no pattern: a file of this very name is looked for; use `verify` with `run: ls {path}` instead"
        );
        problems.push(spot.problem(Code::SuspiciousPattern, message));
    }
    let mut depth = 0_i32;
    for step in path.split('/') {
        match step {
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
        if depth < 0 && !path.starts_with('/') {
            let message = format!(
                "`{path}` leaves the working directory of the task: what is found there may be older than the task"
            );
            problems.push(spot.problem(Code::InvalidPath, message).with_severity(Severity::Hint));
            return;
        }
    }
}
