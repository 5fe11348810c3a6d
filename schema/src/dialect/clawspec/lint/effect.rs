//! Keys that do nothing, or that the original refuses.

use crate::{
    edit,
    problem::{Code, Fix, Problem, Severity},
    spot::Spot,
};

use super::{ItemFacts, types::rejected};

/// `defaults`: ClawSpec checks and never uses it.
pub(super) fn lint_defaults(root: &Spot<'_>, scenarios: &[(usize, &ItemFacts)], problems: &mut Vec<Problem>) {
    let Some(defaults) = root.get("defaults").filter(|defaults| defaults.is_mapping() && !defaults.is_empty()) else {
        return;
    };
    if ["timeout", "test_mode", "poll_interval"].iter().all(|key| defaults.get(key).is_none()) {
        return;
    }
    let message = "ClawSpec ignores `defaults`";
    let counts_here = ["timeout", "poll_interval"].iter().any(|key| defaults.get(key).is_some());
    let mut problem = match counts_here {
        true => defaults.head_problem(Code::UpstreamDiffers, message).with_note(
            "speclens waits up to `timeout` seconds for the end of a run, and looks every `poll_interval` seconds",
        ),
        false => {
            let mut problem = defaults.head_problem(Code::NoEffect, message);
            problem.fixes.extend(edit::comment_out(root.node, &defaults.at).map(Fix::comment));
            problem
        }
    };
    problem.help = left_to_do(root, &defaults, scenarios);
    problems.push(problem);
}

/// What `defaults` asks for and the scenarios do not say themselves. Agents get no parameters.
fn left_to_do(root: &Spot<'_>, defaults: &Spot<'_>, scenarios: &[(usize, &ItemFacts)]) -> Option<String> {
    let is_agent = root.find(&["target", "type"]).is_some_and(|kind| kind.text() == Some("agent"));
    let wait = defaults.get("timeout").is_some() && !scenarios.iter().any(|(_, facts)| facts.has_timeout);
    let mode =
        defaults.get("test_mode").is_some() && !is_agent && !scenarios.iter().all(|(_, facts)| facts.has_test_mode);
    let wait = wait.then_some("set `timeout` on each assertion that has to wait for a file");
    let mode = mode.then_some("set `test_mode` under `when.params` of each scenario");
    let parts: Vec<&str> = wait.into_iter().chain(mode).collect();
    (!parts.is_empty()).then(|| parts.join(", and "))
}

/// Blocks that the schema of ClawSpec does not know.
pub(super) fn lint_scenario(scenario: &Spot<'_>, problems: &mut Vec<Problem>) {
    for member in ["regression", "consistency"].into_iter().filter_map(|key| scenario.get(key)) {
        problems.push(rejected(member.at.clone(), member.head(), &member.at.last().unwrap_or_default()));
    }
    if let Some(regression) = scenario.get("regression").filter(Spot::is_mapping) {
        let limits = ["max_duration_drift", "max_cost_drift", "max_token_drift", "max_step_drift"];
        if limits.iter().all(|key| regression.get(key).is_none()) {
            let problem = regression.head_problem(Code::VacuousClaim, "`regression` has no limit to compare with");
            problems.push(problem.with_help("add `max_duration_drift`, or another limit"));
        }
    }
    if let Some(mode) = scenario.find(&["when", "params", "test_mode"]).filter(|mode| mode.text().is_some()) {
        let problem =
            mode.problem(Code::AmbiguousScalar, "any string counts as true here").with_severity(Severity::Warning);
        problems.push(problem.with_help("write `true` or `false` without quotes"));
    }
    let invoke = scenario.get("when").and_then(|when| when.get("invoke"));
    if let Some(invoke) = invoke.filter(|invoke| invoke.text() == Some("sessions_spawn")) {
        let task = scenario.find(&["when", "params", "task"]);
        if task.is_none() {
            let message = "missing `params.task`, the text that `sessions_spawn` sends";
            problems.push(invoke.problem(Code::MissingField, message).with_severity(Severity::Warning));
        }
    }
}
