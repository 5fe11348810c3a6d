//! Paths that assertions look at: below the working directory, and taken literally.

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
        let problem = spot.problem(Code::InvalidPath, format!("{sign} is not expanded here"));
        let problem = problem.with_severity(Severity::Warning).with_note("the path is taken literally");
        problems.push(problem.with_help("use `verify`, whose command the shell expands"));
        return;
    }
    if path.contains(['*', '?']) && !path.contains("{{") {
        let problem = spot.problem(Code::SuspiciousPattern, format!("wildcards in `{path}` are not expanded"));
        let problem = problem.with_note("the path is taken literally");
        problems.push(problem.with_help(format!("use `verify` with `run: ls {path}`")));
    }
    let mut depth = 0_i32;
    for step in path.split('/') {
        match step {
            ".." => depth -= 1,
            "" | "." => {}
            _ => depth += 1,
        }
        if depth < 0 && !path.starts_with('/') {
            let message = format!("`{path}` is outside of the working directory of the task");
            let problem = spot.problem(Code::InvalidPath, message).with_severity(Severity::Hint);
            problems.push(problem.with_note("a file there may be older than the task"));
            return;
        }
    }
}
