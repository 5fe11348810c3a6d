//! Baselines: they belong to scenarios, and their numbers can be.

use std::collections::HashSet;

use crate::{
    check::time,
    dialect::{ScalarRules, clawspec::baselines::MIN_RUNS},
    document::Document,
    files::Files,
    problem::{Code, Problem, Severity},
    spot::Spot,
    words::Search,
};

use super::files as paths;

pub(super) fn lint(root: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    let baselines = root.get("baselines").filter(Spot::is_mapping).map(|it| it.entries()).unwrap_or_default();
    let names = if paths::is_placed(files) { scenario_names(files) } else { None };
    let known: Option<HashSet<&str>> = names.as_ref().map(|names| names.iter().map(String::as_str).collect());
    let mut search = Search::default();
    for (name, baseline) in &baselines {
        if let Some(names) = names.as_ref().filter(|_| known.as_ref().is_some_and(|it| !it.contains(name.as_str()))) {
            let near = search.nearest(name, names.iter().map(String::as_str));
            let problem = baseline
                .head_problem(Code::UnknownReference, format!("unknown scenario `{name}`"))
                .with_severity(Severity::Warning)
                .with_note("the contract beside this file has no scenario of this name");
            let help = near.map(|near| format!("rename it to `{near}`"));
            problems.push(Problem { help, ..problem });
        }
        if let Some(when) = baseline.get("captured_at")
            && when.node.scalar() != Some(crate::document::Scalar::Timestamp)
            && when.text().is_some_and(|text| !text.is_empty() && time::parse(text).is_none())
        {
            let problem = when.problem(Code::InvalidValue, "`captured_at` is not a valid time");
            problems.push(problem.with_help("write it as `2026-05-14T12:00:00Z`"));
        }
        if let Some(runs) = baseline.get("runs")
            && runs.number().is_some_and(|count| count >= 1.0 && count < MIN_RUNS as f64)
        {
            let problem = runs.problem(Code::OutOfRange, "a baseline needs at least 5 runs");
            problems.push(problem.with_severity(Severity::Warning));
        }
        for (metric, distribution) in baseline.get("metrics").map(|it| it.entries()).unwrap_or_default() {
            lint_distribution(&metric, &distribution, problems);
        }
    }
}

fn lint_distribution(metric: &str, distribution: &Spot<'_>, problems: &mut Vec<Problem>) {
    let order = ["min", "p50", "p95", "max"];
    let values: Vec<(&str, f64)> =
        order.iter().filter_map(|key| Some((*key, distribution.get(key)?.number()?))).collect();
    for pair in values.windows(2) {
        let [(low, less), (high, more)] = pair else { continue };
        if less > more
            && let Some(place) = distribution.get(low)
        {
            let message =
                format!("`{low}` of `{metric}` is greater than `{high}`: these are no measures of the same runs");
            problems.push(place.problem(Code::Contradiction, message));
        }
    }
    if let Some(deviation) = distribution.get("stddev").filter(|it| it.number().is_some_and(|value| value < 0.0)) {
        problems.push(deviation.problem(Code::OutOfRange, "a deviation is never below 0"));
    }
}

/// The names in the contract that stands beside the baselines.
fn scenario_names(files: &dyn Files) -> Option<Vec<String>> {
    let directory = files.place().rsplit_once('/').map_or("", |(directory, _)| directory);
    let path = if directory.is_empty() { "scenarios.yaml".to_owned() } else { format!("{directory}/scenarios.yaml") };
    let bytes = files.read(&path).ok()?;
    let document = Document::read(std::str::from_utf8(&bytes).ok()?, ScalarRules::Yaml11);
    let list = document.root()?.get("scenarios")?;
    Some(list.items().filter_map(|scenario| Some(scenario.get("name")?.as_str()?.to_owned())).collect())
}
