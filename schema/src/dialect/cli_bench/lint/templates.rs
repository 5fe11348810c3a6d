//! `{{name}}`: only `{{workdir}}` is filled in, and only in some places.

use crate::{
    problem::{Code, Problem, Severity},
    spot::Spot,
    template::placeholders,
    words::nearest,
};

use super::environment::unknown_placeholder;

/// Where `{{workdir}}` is filled in.
const PLACES: &str = "`env`, in the paths of `file_exists` and `file_contains`, and in `verify`";

/// Names of placeholders that people bring along from other formats, or from the names of fields.
const BROUGHT: [&str; 14] = [
    "workdir", "today", "now", "run_id", "id", "cli", "intent", "model", "provider", "env", "tmpdir", "cwd", "home",
    "date",
];

/// The sections of the suite.
pub(super) fn lint_root(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    if let Some(prompt) = root.get("system_prompt") {
        lint_idle(&prompt, problems);
    }
}

/// A task.
pub(super) fn lint_task(task: &Spot<'_>, problems: &mut Vec<Problem>) {
    if let Some(intent) = task.get("intent") {
        lint_idle(&intent, problems);
    }
    for command in task.get("setup").into_iter().chain(task.get("teardown")).flat_map(|list| list.items()) {
        lint_command(&command, problems);
    }
    for item in task.get("assert").map(|list| list.items()).unwrap_or_default() {
        let texts = ["output_contains", "output_equals", "error_contains", "ran", "not_ran"].map(|key| item.get(key));
        let below = [
            ["file_contains", "text"],
            ["run_count", "pattern"],
            ["verify", "output_contains"],
            ["verify", "output_equals"],
        ]
        .map(|keys| item.find(&keys));
        texts.iter().chain(&below).flatten().for_each(|text| lint_idle(text, problems));
        if let Some(run) = item.find(&["verify", "run"]) {
            lint_command(&run, problems);
        }
    }
}

/// A text in which nothing is filled in.
fn lint_idle(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(text) = spot.text() else { return };
    if let Some(found) = placeholders(text).iter().find(|found| found.name == "workdir") {
        let message = format!("`{}` is not filled in here", found.text);
        let range = spot.part(found.text, 0);
        let problem = Problem::new(Code::MissingVariable, spot.at.clone(), range, message);
        problems.push(problem.with_severity(Severity::Warning).with_note(format!("it has a value only in {PLACES}")));
    }
}

/// A shell command. Braces mean something to many programs there, such as `docker ps --format '{{.Names}}'`: only what
/// looks like a placeholder of a suite is reported.
pub(super) fn lint_command(spot: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(text) = spot.text() else { return };
    for found in placeholders(text) {
        let near = nearest(found.name, ["workdir"]).is_some();
        if found.name == "workdir" || !(near || BROUGHT.contains(&found.name)) {
            continue;
        }
        problems.push(unknown_placeholder(spot, &found));
    }
}
