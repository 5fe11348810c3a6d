//! Missing keys about the target that the location of a contract implies.

use crate::{
    dialect::clawspec::{kinds::ContractFile, paths::is_placed},
    document::{NodeRef, Pointer},
    edit,
    files::{FileKind, Files},
    finding::{Explanation, Finding, Location, MessageParts},
    json_schema::SpecFile,
    kind::target_of,
    lint_node::LintNode,
    problem::{Code, Fix, Problem},
    rules::missing_field::insertion,
    shape::{Shape, scalar},
    validate::{Context, insert_known},
};

/// A missing key about the target, with its implied value.
#[derive(Debug)]
enum ImpliedKey {
    /// The whole target.
    Target { kind: &'static str, path: String, trigger: String },
    /// The trigger of the target.
    Trigger(String),
    /// A key of this mapping, with its value.
    Value { shape: Shape, key: &'static str, value: String },
}

/// Explains a missing key with its implied value.
pub(super) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    match ImpliedKey::of(context, finding.at()) {
        Some(known) => finding.explained(known),
        None => finding,
    }
}

impl ImpliedKey {
    fn of(context: &Context<'_>, at: &Pointer) -> Option<ImpliedKey> {
        if !context.base.is_root() {
            return None;
        }
        let (root, files) = (LintNode::root(context.node), context.files);
        let here = target_of(files.place()).filter(|_| is_placed(files));
        let text = |keys: &[&str]| Some(root.find(keys)?.text()?.to_owned()).filter(|text| !text.is_empty());
        let known = |key: &'static str, value: String| {
            Some(ImpliedKey::Value { shape: context.shape(&at.parent()?)?, key, value })
        };
        match (ContractFile::of(context.file), at.to_string().as_str()) {
            (ContractFile::Scenarios, "/target") => {
                let path = here.filter(|_| !root.is_empty())?;
                let kind = kind_of(path, files);
                let trigger = text(&["meta", "trigger"]).unwrap_or_else(|| trigger(path, kind == "agent"));
                Some(ImpliedKey::Target { kind, path: path.to_owned(), trigger })
            }
            (ContractFile::Scenarios, "/target/path") => known("path", scalar(here?)),
            (ContractFile::Scenarios, "/target/type") => known("type", kind_of(here?, files).to_owned()),
            (ContractFile::Scenarios, "/target/trigger") => {
                let is_agent = text(&["target", "type"]).as_deref() == Some("agent");
                Some(ImpliedKey::Trigger(trigger(&text(&["target", "path"])?, is_agent)))
            }
            (ContractFile::Pipeline, "/pipeline/skill_path") => known("skill_path", scalar(here?)),
            (_, _) => None,
        }
    }
}

/// Returns the usual trigger of a target: the name of its directory.
fn trigger(path: &str, is_agent: bool) -> String {
    let name = path.trim_end_matches('/').rsplit('/').next().unwrap_or(path);
    if is_agent { name.to_owned() } else { format!("/{name}") }
}

/// Returns the kind of target in a directory.
fn kind_of(path: &str, files: &dyn Files) -> &'static str {
    let holds = |name: &str| files.kind(&format!("{path}/{name}")) == Some(FileKind::File);
    let is_agent = holds("SOUL.md") || !holds("SKILL.md") && path.split('/').any(|step| step == "agents");
    if is_agent { "agent" } else { "skill" }
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

impl Explanation for ImpliedKey {
    fn message(&self, said: MessageParts, location: &Location<'_>) -> MessageParts {
        let fix = match self {
            ImpliedKey::Target { kind, path, trigger } => {
                let (path, trigger) = (scalar(path), scalar(trigger));
                let text = format!("target:\n  type: {kind}\n  path: {path}\n  trigger: {trigger}");
                let edits = edit::entry_at_front(location.root, &text);
                edits.map(|edits| Fix::guess("add a `target` for the directory that contains this file", edits))
            }
            ImpliedKey::Trigger(trigger) => {
                let edits = location.holder().and_then(|it| it.with_behind("path", &[("trigger", scalar(trigger))]));
                edits.map(|edits| Fix::guess(format!("add `trigger: {trigger}`"), edits))
            }
            ImpliedKey::Value { shape, key, value } => {
                location.parent().and_then(|mapping| insertion(mapping, shape, key, &[(*key, value.clone())]))
            }
        };
        let words = said;
        MessageParts { fixes: fix.map_or(words.fixes, |fix| vec![fix]), ..words }
    }
}
