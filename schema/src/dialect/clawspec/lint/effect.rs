//! Keys that do nothing, or that the original refuses.

use crate::{
    problem::{Code, Fix, Problem, Severity},
    rewrite::{self, COMMENT},
    spot::Spot,
};

/// `defaults`: checked, and never used.
pub(super) fn lint_defaults(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(defaults) = root.get("defaults").filter(|defaults| defaults.is_mapping() && !defaults.is_empty()) else {
        return;
    };
    let known = ["timeout", "test_mode", "poll_interval"];
    let written = defaults.entries().into_iter().filter(|(key, _)| known.contains(&key.as_str()));
    let names: Vec<String> = written.map(|(key, _)| format!("`{key}`")).collect();
    if names.is_empty() {
        return;
    }
    let message = format!(
        "{} here has no effect in the original program: write `timeout` at each artifact that takes time, and `test_mode` under `when.params`",
        names.join(", ")
    );
    let mut problem = defaults.head_problem(Code::NoEffect, message).with_severity(Severity::Information);
    let edits = rewrite::comment(root.node, &defaults.at);
    problem.fixes.extend(edits.map(|edits| Fix::suggestion(COMMENT, edits)));
    problems.push(problem);
}

/// Blocks that the original documents and refuses.
pub(super) fn lint_scenario(scenario: &Spot<'_>, problems: &mut Vec<Problem>) {
    for member in ["regression", "consistency"].into_iter().filter_map(|key| scenario.get(key)) {
        let key = member.at.last().unwrap_or_default();
        let message = format!("the original program refuses a file with `{key}`, though it describes or holds it");
        problems.push(member.head_problem(Code::UpstreamDiffers, message));
    }
    if let Some(regression) = scenario.get("regression").filter(Spot::is_mapping) {
        let limits = ["max_duration_drift", "max_cost_drift", "max_token_drift", "max_step_drift"];
        if limits.iter().all(|key| regression.get(key).is_none()) {
            let message = "`regression` without a limit compares nothing: give `max_duration_drift` or another one";
            problems.push(regression.head_problem(Code::VacuousClaim, message));
        }
    }
    if let Some(mode) = scenario.find(&["when", "params", "test_mode"]).filter(|mode| mode.text().is_some()) {
        let message = "any text counts as true here: write `true` or `false` without quotes";
        problems.push(mode.problem(Code::AmbiguousScalar, message).with_severity(Severity::Warning));
    }
    let invoke = scenario.get("when").and_then(|when| when.get("invoke"));
    if let Some(invoke) = invoke.filter(|invoke| invoke.text() == Some("sessions_spawn")) {
        let task = scenario.find(&["when", "params", "task"]);
        if task.is_none() {
            let message = "`sessions_spawn` sends `params.task` to an agent: it is missing";
            problems.push(invoke.problem(Code::MissingField, message).with_severity(Severity::Warning));
        }
    }
}
