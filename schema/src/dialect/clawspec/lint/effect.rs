//! Keys that do nothing, or that the original refuses.

use crate::{
    problem::{Code, Problem, Severity},
    spot::Spot,
};

use super::types::rejected;

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
