//! Pipelines: the number of stages, the conditions on a run, the skill.

use crate::{
    dialect::clawspec::stages::Condition,
    document::Pointer,
    edit,
    files::{FileKind, Files},
    json_schema::SpecFile,
    problem::{Code, Fix, Problem, Severity},
    shape::scalar,
    spot::Spot,
    validate::insert_known,
    words::nearest,
};

use super::files as paths;

pub(super) fn lint(root: &Spot<'_>, files: &dyn Files, problems: &mut Vec<Problem>) {
    if let Some(path) = crate::kind::target_of(files.place()).filter(|_| paths::is_placed(files)) {
        let at = Pointer::parse("/pipeline/skill_path");
        for problem in problems.iter_mut().filter(|problem| problem.at == at && problem.code == Code::MissingField) {
            insert_known(root.node, SpecFile::ClawSpecPipeline, problem, &[("skill_path", scalar(path))]);
        }
    }
    lint_count(root, problems);
    lint_orchestrator(root, problems);
    lint_missing_count(root, problems);
    lint_vacuous(root, problems);
    lint_report(root, problems);
    comment_unknown(root, problems);
    if let Some(path) = root.find(&["pipeline", "skill_path"])
        && paths::is_placed(files)
        && let Some(wanted) = path.text().and_then(paths::below_root)
    {
        let target = paths::Target { path: &path, key: "pipeline.skill_path", wanted: &wanted, definition: "SKILL.md" };
        if !paths::lint_definition(&target, files, problems) {
            paths::lint_structure(&target, files, problems);
        }
    }
}

fn lint_count(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    let (Some(count), Some(stages)) = (root.find(&["pipeline", "stages"]), root.get("stages").filter(Spot::is_list))
    else {
        return;
    };
    let actual = stages.items().len();
    // That none are given is told already. A number that cannot be is one that the list corrects.
    let told = actual == 0 || problems.iter().any(|problem| problem.at == count.at && problem.code != Code::OutOfRange);
    if told || count.number().is_none_or(|count| count == actual as f64) || crate::validate::is_damaged(root.node) {
        return;
    }
    problems.retain(|problem| problem.code != Code::OutOfRange || problem.at != count.at);
    let written = count.node.text().unwrap_or_default();
    let message = format!("`pipeline.stages` is {written}, and the list `stages` has {actual}");
    let mut problem =
        count.problem(Code::StageCount, message).with_related("the list", stages.at.clone(), stages.head());
    if let Some(edits) = count.replaced(actual.to_string()) {
        problem = problem.with_fix(Fix::guess(format!("change it to {actual}"), edits));
    }
    problems.push(problem);
}

/// A name that the reports of runs are called by, and not counted by.
fn lint_report(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    let (Some(name), Some(path)) = (root.find(&["pipeline", "name"]), root.find(&["pipeline", "skill_path"])) else {
        return;
    };
    let directory = path.text().and_then(|path| path.trim_end_matches('/').rsplit('/').next());
    let (Some(written), Some(directory)) = (name.text(), directory) else { return };
    if written.trim().is_empty() || directory.is_empty() || directory == "." || slug(written) == slug(directory) {
        return;
    }
    let mut problem = name
        .problem(Code::Collision, format!("`pipeline.name` is `{written}`, and its skill is in `{directory}`"))
        .with_severity(Severity::Hint)
        .with_note("ClawSpec counts the reports of the directory and names them by `name`, so each run overwrites `r1`")
        .with_help(format!("change it to `{directory}`"));
    if let Some(edits) = name.replaced(scalar(directory)) {
        problem = problem.with_fix(Fix::guess(format!("change it to `{directory}`"), edits));
    }
    problems.push(problem);
}

/// A name as it is in the names of reports.
fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_lowercase()
}

/// Conditions about what no stage has.
fn lint_vacuous(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(stages) = root.get("stages").filter(Spot::is_list) else { return };
    if crate::validate::is_damaged(root.node) {
        return;
    }
    let stages = stages.items();
    for check in root.get("pipeline_health").map(|list| list.items()).unwrap_or_default() {
        let Some(check) = check.get("check") else { continue };
        let key = match check.text().and_then(Condition::parse) {
            Some(Condition::Produced) => "produces",
            Some(Condition::HandoffsPassed) => "handoff_contract",
            Some(Condition::Elapsed(_)) | None => continue,
        };
        if stages.iter().all(|stage| stage.get(key).is_none()) {
            let message = format!("no stage has `{key}`, so this condition always holds");
            problems.push(check.problem(Code::VacuousClaim, message).with_help("remove the condition"));
        }
    }
}

/// `orchestrator:` in place of `name:`, as the guide shows it.
fn lint_orchestrator(root: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(pipeline) = root.get("pipeline") else { return };
    let Some(old) = pipeline.get("orchestrator") else { return };
    for problem in problems.iter_mut().filter(|problem| problem.code == Code::UnknownKey && problem.at == old.at) {
        problem.message = "unknown key `orchestrator`".to_owned();
        problem.note = Some("ClawSpec's guide uses it, but its schema requires `name`".to_owned());
        problem.help = None;
        problem.fixes.clear();
        if pipeline.get("name").is_none() {
            // The name of an agent becomes the name of the pipeline, and of its reports.
            let help = "rename it to `name`";
            problem.help = Some(help.to_owned());
            problem.fixes.extend(old.renamed("name").map(|edits| Fix::guess(help, edits)));
        }
    }
    // That `name` is missing is the same mistake.
    let name = pipeline.at.key("name");
    problems.retain(|problem| !(problem.code == Code::MissingField && problem.at == name));
}

/// The number of stages, where it is missing, is that of the list.
fn lint_missing_count(root: &Spot<'_>, problems: &mut [Problem]) {
    let Some(pipeline) = root.get("pipeline") else { return };
    let stages = root.get("stages").filter(Spot::is_list).map(|stages| stages.items().len());
    let at = pipeline.at.key("stages");
    if let Some(count) = stages
        && let Some(problem) =
            problems.iter_mut().find(|problem| problem.code == Code::MissingField && problem.at == at)
    {
        problem.message = "missing `pipeline.stages`, the number of stages".to_owned();
        let help = format!("add `stages: {count}`");
        problem.fixes = pipeline
            .with_behind("skill_path", &[("stages", count.to_string())])
            .map(|edits| Fix::safe(&help, edits))
            .into_iter()
            .collect();
        problem.help = Some(help);
    }
}

/// The fix that turns an unknown condition into a comment, with its description: another one would not check what that says.
fn comment_unknown(root: &Spot<'_>, problems: &mut [Problem]) {
    let unknown = problems.iter_mut().filter(|it| it.code == Code::UnsupportedExpression && it.fixes.is_empty());
    for problem in unknown {
        let edits = problem.at.parent().and_then(|check| edit::comment_out(root.node, &check));
        problem.fixes.extend(edits.map(Fix::comment));
    }
}

/// A condition on the whole run.
pub(super) fn lint_health(health: &Spot<'_>, problems: &mut Vec<Problem>) {
    let Some(check) = health.get("check") else { return };
    let Some(text) = check.text().filter(|text| !text.is_empty()) else { return };
    if Condition::parse(text).is_some() {
        return;
    }
    let known = Condition::WRITTEN;
    let near = nearest(text, known);
    let problem = check.problem(Code::UnsupportedExpression, format!("`{text}` is not a supported health check"));
    let problem = problem.with_note("ClawSpec aborts the run with an error");
    let forms = format!("`{}`, `{}` or `elapsed <= 30m`", known[0], known[1]);
    let problem = match near {
        Some(near) => {
            let fix = check.replaced(near).map(|edits| Fix::guess(format!("change it to `{near}`"), edits));
            let problem = problem.with_help(format!("change it to `{near}`"));
            fix.map_or(problem.clone(), |fix| problem.with_fix(fix))
        }
        None => problem.with_help(format!("write {forms}, or turn it into a comment")),
    };
    problems.push(problem);
}

/// What is at a handoff contract's path.
pub(super) fn handoff_kind(base: &str, path: &str, files: &dyn Files) -> Option<(String, Option<FileKind>)> {
    let joined = if base.is_empty() { path.to_owned() } else { format!("{base}/{path}") };
    let wanted = paths::below_root(&joined)?;
    let kind = files.kind(&wanted);
    Some((wanted, kind))
}
