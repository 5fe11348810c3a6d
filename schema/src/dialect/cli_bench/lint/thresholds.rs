//! Models: each is named once; thresholds are for models that run, and can be missed.

use std::collections::{HashMap, HashSet};

use crate::{
    edit,
    problem::{Code, Fix, Problem, Severity},
    script::PREFIX,
    spot::Spot,
    validate::rename_title,
    words::{Search, all_of},
};

/// `thresholds`, and the models that it names.
pub(super) fn lint(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(thresholds) = root.get("thresholds").filter(Spot::is_mapping) else { return };
    let models = thresholds.get("models").map(|models| models.entries()).unwrap_or_default();
    let default = thresholds.get("default");
    let models_are_wrong = thresholds.get("models").is_some_and(|models| !models.is_mapping());
    if default.is_none() && models.is_empty() && !models_are_wrong {
        let problem = thresholds.head_problem(Code::Unchecked, "`thresholds` gives no model a threshold");
        problems.push(problem.with_help("add `default`, or name models in `models`"));
    }
    let providers = root.get("providers").map(|providers| providers.texts()).unwrap_or_default();
    let known: Vec<&str> = providers.iter().map(|(name, _)| *name).collect();
    let run: HashSet<&str> = known.iter().copied().collect();
    let mut search = Search::default();
    for (name, spot) in models.iter().filter(|(name, _)| !run.is_empty() && !run.contains(name.as_str())) {
        let near = search.nearest(name, known.iter().copied());
        problems.push(unknown_model(name, spot, &known, near));
    }
    let tolerance = thresholds.get("tolerance");
    // A tolerance that cannot be is reported by itself.
    let taken_off = tolerance.as_ref().and_then(Spot::number).filter(|it| (0.0..=100.0).contains(it)).unwrap_or(0.0);
    let limits = default.iter().chain(models.iter().map(|(_, spot)| spot));
    for limit in limits {
        let Some(value) = limit.number().filter(|value| (0.0..=100.0).contains(value)) else { continue };
        if value > 0.0 && value < 1.0 {
            let percent = format!("{}", (value * 1e4).round() / 100.0);
            let message = format!("a threshold of {value} is less than one percent");
            let help = format!("write `{percent}`");
            let mut problem = limit.problem(Code::OutOfRange, message).with_severity(Severity::Warning);
            problem = problem.with_note("a threshold is a percentage from 0 to 100").with_help(&help);
            problem.fixes.extend(limit.replaced(percent).map(|edits| Fix::guess(help, edits)));
            problems.push(problem);
        }
        if value == 0.0 {
            let problem = limit.problem(Code::VacuousClaim, "every model reaches a threshold of 0");
            problems.push(problem.with_help("raise it, or remove it"));
        } else if let Some(tolerance) = tolerance.as_ref().filter(|_| taken_off >= value) {
            let message = format!("with a tolerance of {taken_off}, every model reaches a threshold of {value}");
            let problem = limit.problem(Code::VacuousClaim, message);
            problems.push(problem.with_related("the tolerance", tolerance.at.clone(), tolerance.range()));
        }
    }
}

/// The id of a model has two parts.
pub(super) fn lint_id(model: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(id) = model.text().filter(|id| id.matches('/').count() > 1 && !id.starts_with(PREFIX)) else { return };
    let problem = model.problem(Code::InvalidValue, format!("model id `{id}` has more than two parts"));
    problems.push(problem.with_severity(Severity::Warning).with_help("write it as `provider/model-id`"));
}

/// Models and modes that are named twice.
pub(super) fn lint_models(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    if let Some(modes) = root.get("help_modes").filter(Spot::is_list) {
        if modes.is_empty() {
            let message = "an empty list of `help_modes` is the same as none";
            let note = "a model gets the name of the program and the intent";
            problems.push(modes.problem(Code::NoEffect, message).with_note(note).with_help("remove the key"));
        }
        let items = modes.items();
        for (index, mode) in items.iter().enumerate() {
            let Some(name) = mode.text() else { continue };
            let Some(first) = items[..index].iter().find(|first| first.text() == Some(name)) else { continue };
            let problem = mode.problem(Code::Collision, format!("duplicate mode `{name}`"));
            let problem = problem.with_note("the whole suite runs once in each mode").with_help("remove it");
            let mut problem = problem.with_related("first here", first.at.clone(), first.range());
            let edits = edit::remove_item(modes.node, index);
            problem.fixes.extend(edits.map(|edits| Fix::guess("remove it", edits)));
            problems.push(problem);
        }
    }
    let Some(providers) = root.get("providers").filter(Spot::is_list) else { return };
    let models = providers.items();
    let mut seen: HashMap<&str, &Spot<'_>> = HashMap::new();
    for (index, model) in models.iter().enumerate() {
        let Some(name) = model.text().filter(|name| !name.is_empty()) else { continue };
        let Some(first) = seen.get(name) else {
            seen.insert(name, model);
            continue;
        };
        let problem = model.problem(Code::Collision, format!("duplicate model `{name}`"));
        let problem = problem.with_note("it runs once").with_help("remove it");
        let mut problem = problem.with_related("first here", first.at.clone(), first.range());
        problem.fixes.extend(super::assertions::remove_repetition(providers.node, index, true));
        problems.push(problem);
    }
}

fn unknown_model(name: &str, spot: &Spot<'_>, known: &[&str], near: Option<&str>) -> Problem {
    let problem = spot.head_problem(Code::UnknownReference, format!("the model `{name}` is not in `providers`"));
    let mut problem = problem.with_severity(Severity::Warning).with_note("its threshold is never checked");
    match near {
        Some(near) => problem = problem.with_help(rename_title(near)),
        None => problem.add_note(format!("`providers` has {}", all_of(known.iter().copied()))),
    }
    let fix = near.and_then(|near| Some(Fix::guess(rename_title(near), spot.renamed(near)?)));
    problem.fixes.extend(fix);
    problem
}
