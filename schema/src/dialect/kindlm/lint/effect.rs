//! Keys that have no effect where they are.

use crate::{
    json_schema::SpecFile,
    problem::{Code, Problem, Severity},
    spot::Spot,
    validate::Definition,
};

/// Fields of a test that need another one, and an empty list of models.
pub(super) fn lint(test: &Spot<'_>, problems: &mut Vec<Problem>) {
    let has = |key: &str| test.get(key).is_some();
    if has("command") && !has("prompt") {
        for (name, other) in only_with() {
            if let Some(field) = test.get(name).filter(|_| !has(other)) {
                let message = format!("`{name}` has no effect on a test that runs a command");
                problems.push(field.head_problem(Code::NoEffect, message).with_note(format!("it needs `{other}`")));
            }
        }
    }
    if has("prompt")
        && let Some(models) = test.get("models").filter(|models| models.is_list() && models.is_empty())
    {
        let problem = models.problem(Code::Unchecked, "an empty list of `models`, so the test never runs");
        problems.push(problem.with_help("remove `models` to ask all models, or name some"));
    }
    let mut seen: Vec<(&str, Spot<'_>)> = Vec::new();
    for (name, model) in test.get("models").map(|models| models.texts()).unwrap_or_default() {
        match seen.iter().find(|(known, _)| *known == name) {
            Some((_, first)) => {
                let problem = model.problem(Code::Collision, format!("duplicate model `{name}`"));
                let problem = problem.with_help("remove one of the two");
                problems.push(problem.with_related("first here", first.at.clone(), first.range()));
            }
            None => seen.push((name, model)),
        }
    }
    for turn in test.get("conversation").map(|turns| turns.items()).unwrap_or_default() {
        if let Some(user) = turn.get("user") {
            let problem =
                user.head_problem(Code::NoEffect, "`user` is never sent").with_severity(Severity::Information);
            problems.push(problem.with_help("write it into the prompt"));
        }
    }
}

/// The fields of a test that need another field, with that field.
fn only_with() -> &'static [(&'static str, &'static str)] {
    static FIELDS: std::sync::LazyLock<Vec<(&'static str, &'static str)>> = std::sync::LazyLock::new(|| {
        let test = Definition::Item(SpecFile::KindLm, "tests").shape();
        test.fields(None).into_iter().filter_map(|field| Some((field.name, field.shape.only_with()?))).collect()
    });
    &FIELDS
}
