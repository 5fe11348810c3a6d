//! What a contract lacks about its target follows from the place where it lies.

use crate::{
    document::Pointer,
    edit,
    files::{FileKind, Files},
    json_schema::SpecFile,
    kind::target_of,
    problem::{Code, Edit, Fix, Problem},
    shape::scalar,
    spot::Spot,
    validate::insert_known,
};

use crate::dialect::clawspec::paths::is_placed;

/// The cures of a missing `target`, or of what is missing in it.
pub(super) fn lint(root: &Spot<'_>, files: &dyn Files, problems: &mut [Problem]) {
    let lacks = |key: &str| {
        let at = root.at.key(key);
        move |problem: &&mut Problem| problem.code == Code::MissingField && problem.at == at
    };
    if let Some(problem) = problems.iter_mut().find(lacks("target"))
        && let Some(edits) = whole(root, files)
    {
        problem.fixes = vec![Fix::guess("add the `target` whose directory holds this file", edits)];
    }
    let Some(target) = root.get("target") else { return };
    if let Some(trigger) = target.get("trigger").and_then(|trigger| trigger.text()).filter(|text| !text.is_empty()) {
        // What is sent to the target is known.
        for problem in problems.iter_mut().filter(|problem| problem.code == Code::MissingField) {
            if matches!(problem.at.last().as_deref(), Some("when" | "invoke")) {
                insert_known(root.node, SpecFile::CLAWSPEC_SCENARIOS, problem, &[("invoke", scalar(trigger))]);
            }
        }
    }
    if let Some(path) = target_of(files.place()).filter(|_| is_placed(files)) {
        for problem in problems.iter_mut().filter(|it| it.at.parent().as_ref() == Some(&target.at)) {
            let (key, value) = match problem.at.last().as_deref() {
                Some("path") if target.get("path").is_none() => ("path", scalar(path)),
                Some("type") if target.get("type").is_none() => ("type", kind_of(path, files).to_owned()),
                Some(_) | None => continue,
            };
            insert_known(root.node, SpecFile::CLAWSPEC_SCENARIOS, problem, &[(key, value)]);
        }
    }
    let at = target.at.key("trigger");
    let Some(problem) = problems.iter_mut().find(|problem| problem.code == Code::MissingField && problem.at == at)
    else {
        return;
    };
    let text = |key: &str| target.get(key).and_then(|it| it.text().map(str::to_owned));
    let Some(path) = text("path").filter(|path| !path.is_empty()) else { return };
    let trigger = trigger(&path, text("type").as_deref() == Some("agent"));
    if let Some(edits) = target.with_behind("path", &[("trigger", scalar(&trigger))]) {
        problem.fixes = vec![Fix::guess(format!("add `trigger: {trigger}`"), edits)];
    }
}

/// The fixes of a missing path of a pipeline's skill.
pub(super) fn lint_pipeline(root: &Spot<'_>, files: &dyn Files, problems: &mut [Problem]) {
    let Some(path) = target_of(files.place()).filter(|_| is_placed(files)) else { return };
    let at = Pointer::root().key("pipeline").key("skill_path");
    for problem in problems.iter_mut().filter(|problem| problem.at == at && problem.code == Code::MissingField) {
        insert_known(root.node, SpecFile::CLAWSPEC_PIPELINE, problem, &[("skill_path", scalar(path))]);
    }
}

/// What starts a target, as nearly everyone calls it: its directory.
fn trigger(path: &str, is_agent: bool) -> String {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    if is_agent { name.to_owned() } else { format!("/{name}") }
}

/// What lies in a directory.
fn kind_of(path: &str, files: &dyn Files) -> &'static str {
    let holds = |name: &str| files.kind(&format!("{path}/{name}")) == Some(FileKind::File);
    let is_agent = holds("SOUL.md") || !holds("SKILL.md") && path.split('/').any(|step| step == "agents");
    if is_agent { "agent" } else { "skill" }
}

/// A target before the first key.
fn whole(root: &Spot<'_>, files: &dyn Files) -> Option<Vec<Edit>> {
    if !is_placed(files) || root.is_empty() {
        return None;
    }
    let path = target_of(files.place())?;
    let kind = kind_of(path, files);
    let is_agent = kind == "agent";
    let meta = root.get("meta").and_then(|meta| Some(meta.get("trigger")?.text()?.to_owned()));
    let trigger = meta.unwrap_or_else(|| trigger(path, is_agent));
    let text = format!("target:\n  type: {kind}\n  path: {}\n  trigger: {}", scalar(path), scalar(&trigger));
    edit::entry_at_front(root.node, &text)
}
