//! Missing keys with an implied value: those of the target, the number of stages, the file that a judge scores.

use super::{
    Better,
    assertions::{artifact_paths, comment},
};
use crate::{
    dialect::clawspec::{
        assertions::LlmJudge,
        claim::AssertionType,
        kinds::ContractFile,
        likely::{kind_of, trigger_of},
        paths::is_placed,
    },
    document::{NodeRef, Pointer},
    edit,
    json_schema::SpecFile,
    kind::target_of,
    lint_node::LintNode,
    problem::{Code, Fix, Problem},
    rules::missing_field::insertion,
    shape::scalar,
    validate::{Context, insert_known},
    words::listed,
};

/// Returns what is known about a missing key.
pub(super) fn better(context: &Context<'_>, at: &Pointer) -> Option<Better> {
    match implied(context, at) {
        Some(fix) => Some(Better { fixes: Some(vec![fix]), ..Better::default() }),
        None => file_to_score(context, at),
    }
}

/// Returns the fix that adds the implied value of a key.
fn implied(context: &Context<'_>, at: &Pointer) -> Option<Fix> {
    if !context.base.is_root() {
        return None;
    }
    let (root, files) = (LintNode::root(context.node), context.files);
    let here = target_of(files.place()).filter(|_| is_placed(files));
    let text = |keys: &[&str]| root.find(keys)?.text().filter(|text| !text.is_empty());
    let known = |key: &str, value: String| {
        let parent = at.parent()?;
        insertion(context.node.find(&parent)?, &context.shape(&parent)?, key, &[(key, value)])
    };
    match (ContractFile::of(context.file), at.as_str()) {
        (ContractFile::Scenarios, "/target") => {
            let path = here.filter(|_| !root.is_empty())?;
            let kind = kind_of(path, files);
            let trigger = text(&["meta", "trigger"]).map_or_else(|| trigger_of(path, kind == "agent"), str::to_owned);
            let (path, trigger) = (scalar(path), scalar(&trigger));
            let text = format!("target:\n  type: {kind}\n  path: {path}\n  trigger: {trigger}");
            let edits = edit::entry_at_front(root.node, &text)?;
            Some(Fix::guess("add a `target` for the directory that contains this file", edits))
        }
        (ContractFile::Scenarios, "/target/path") => known("path", scalar(here?)),
        (ContractFile::Scenarios, "/target/type") => known("type", kind_of(here?, files).to_owned()),
        (ContractFile::Scenarios, "/target/trigger") => {
            let trigger = trigger_of(text(&["target", "path"])?, text(&["target", "type"]) == Some("agent"));
            let edits = root.get("target")?.with_behind("path", &[("trigger", scalar(&trigger))])?;
            Some(Fix::guess(format!("add `trigger: {trigger}`"), edits))
        }
        (ContractFile::Pipeline, "/pipeline/skill_path") => known("skill_path", scalar(here?)),
        (ContractFile::Pipeline, "/pipeline/stages") => {
            let count = root.get("stages").filter(LintNode::is_list)?.items().len().to_string();
            let edits = root.get("pipeline")?.with_behind("skill_path", &[("stages", count.clone())])?;
            Some(Fix::safe(format!("add `stages: {count}`"), edits))
        }
        (_, _) => None,
    }
}

/// Maximum number of files to suggest to a judge.
const MAX_OFFERED: usize = 8;

/// Returns the files that a judge could score, if the assertion does not name one.
fn file_to_score(context: &Context<'_>, at: &Pointer) -> Option<Better> {
    let parent = at.parent().filter(|_| at.last().as_deref() == Some("path"))?;
    if context.variant(&parent)?.tag?.1 != LlmJudge::NAME {
        return None;
    }
    let assertion = LintNode::root(context.node).at(&parent)?;
    let paths = artifact_paths(context.node);
    let help = match paths.as_slice() {
        [] => "have the target write a file, and set `path` to it".to_owned(),
        [only] => format!("add `path: {}`", scalar(only)),
        paths => format!("set `path` to a file of this scenario: {}", listed(paths.iter().map(String::as_str))),
    };
    let fixes = paths.iter().take(MAX_OFFERED).enumerate().filter_map(|(index, path)| {
        let edits = assertion.with_behind("type", &[("path", scalar(path))])?;
        let fix = if index == 0 { Fix::guess } else { Fix::suggestion };
        Some(fix(format!("add `path: {}`", scalar(path)), edits))
    });
    let fixes = fixes.chain(comment(context.node, &parent)).collect();
    Some(Better { help: Some(help), fixes: Some(fixes), ..Better::default() })
}

/// Adds the trigger of the contract's target to the fixes of scenarios without `invoke`.
pub(crate) fn fix_across(root: NodeRef<'_>, problems: &mut [Problem]) {
    let trigger = LintNode::root(root).find(&["target", "trigger"]);
    let Some(trigger) = trigger.as_ref().and_then(LintNode::text).filter(|text| !text.is_empty()) else { return };
    for problem in problems.iter_mut().filter(|problem| problem.code == Code::MissingField) {
        if matches!(problem.at.last().as_deref(), Some("when" | "invoke")) {
            insert_known(root, SpecFile::CLAWSPEC_SCENARIOS, problem, &[("invoke", scalar(trigger))]);
        }
    }
}
