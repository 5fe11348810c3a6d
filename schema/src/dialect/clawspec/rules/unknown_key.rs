//! Missing and unknown keys of contracts: implied values, keys of older guides, data next to `params`, a second kind of
//! contract.

use super::{
    assertions::{artifact_paths, comment},
    contract::fields,
    yaml::REJECTED,
};
use crate::{
    dialect::clawspec::{
        assertions::{artifacts::ArtifactExists, preconditions::FilePresent, semantic::LlmJudge},
        claim::AssertionType,
        likely::{kind_of, trigger_of},
    },
    document::{NodeRef, Pointer},
    edit,
    finding::{Finding, MessageParts, Scope},
    gateway::workspace::is_placed,
    json_schema::SpecFile,
    kind::target_of,
    lint_node::LintNode,
    problem::{Code, Fix, Problem, Severity},
    quoting::scalar,
    rules::missing_field::insertion,
    validate::{Context, insert_known, rename_title},
    words::{all_of, listed},
};

/// Adds the format's knowledge to a violation of the schema.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    if finding.code() == Code::UnknownKey && context.file.has_cases() {
        return explain_unknown(context, finding);
    }
    if finding.code() != Code::MissingField {
        return finding;
    }
    if let Some(fix) = implied(context, finding.at()) {
        return finding.reworded(context.node, |said, _| MessageParts { fixes: vec![fix], ..said });
    }
    match file_to_score(context, finding.at()) {
        Some((help, fixes)) => {
            finding.reworded(context.node, |said, _| MessageParts { help: Some(help), fixes, ..said })
        }
        None => finding,
    }
}

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
    match at.as_str() {
        "/target" => {
            let path = here.filter(|_| !root.is_empty())?;
            let kind = kind_of(path, files);
            let trigger = text(&["meta", "trigger"]).map_or_else(|| trigger_of(path, kind == "agent"), str::to_owned);
            let (path, trigger) = (scalar(path), scalar(&trigger));
            let text = format!("target:\n  type: {kind}\n  path: {path}\n  trigger: {trigger}");
            let edits = edit::entry_at_front(root.node, &text)?;
            Some(Fix::guess("add a `target` for the directory that contains this file", edits))
        }
        "/target/path" => known("path", scalar(here?)),
        "/target/type" => known("type", kind_of(here?, files).to_owned()),
        "/target/trigger" => {
            let trigger = trigger_of(text(&["target", "path"])?, text(&["target", "type"]) == Some("agent"));
            let edits = root.get("target")?.with_behind("path", &[("trigger", scalar(&trigger))])?;
            Some(Fix::guess(format!("add `trigger: {trigger}`"), edits))
        }
        "/pipeline/skill_path" => known("skill_path", scalar(here?)),
        "/pipeline/stages" => {
            let count = root.get("stages").filter(LintNode::is_list)?.items().len().to_string();
            let edits = root.get("pipeline")?.with_behind("skill_path", &[("stages", count.clone())])?;
            Some(Fix::safe(format!("add `stages: {count}`"), edits))
        }
        _ => None,
    }
}

/// Maximum number of files to suggest to a judge.
const MAX_OFFERED: usize = 8;

/// Returns the files that a judge could score, if the assertion does not name one.
fn file_to_score(context: &Context<'_>, at: &Pointer) -> Option<(String, Vec<Fix>)> {
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
    Some((help, fixes.chain(comment(context.node, &parent)).collect()))
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

fn explain_unknown(context: &Context<'_>, finding: Finding) -> Finding {
    let (Some(parent), Some(key)) = (finding.at().parent(), finding.at().last()) else { return finding };
    let (node, root) = (context.node, LintNode::root(context.node));
    let in_root = parent.is_root() && context.base.is_root();
    if in_root && ["target", "handoff", "pipeline"].contains(&key.as_str()) {
        let message = "a contract must have exactly one of `target`, `handoff` and `pipeline`".to_owned();
        let help = Some(format!("move `{key}` to a separate file"));
        let finding = finding.with_severity(Severity::Error);
        return finding.reworded(node, |said, _| MessageParts { message, help, fixes: Vec::new(), ..said });
    }
    let is_scenarios = context.file == SpecFile::CLAWSPEC_SCENARIOS;
    let in_scenario = is_scenarios && !context.base.is_root();
    let is_of_scenario = in_scenario && parent.is_root();
    let finding = if is_of_scenario || finding.severity() == Severity::Warning {
        let finding = finding.with_severity(Severity::Error);
        finding.reworded(node, |said, _| MessageParts { note: Some(REJECTED.to_owned()), ..said })
    } else {
        finding
    };
    if is_of_scenario && let Some((real, help, fixes)) = old_key(&root, &key) {
        let finding = finding.reworded(node, |said, _| MessageParts { help: Some(help), fixes, ..said });
        // The missing key has the same cause.
        return finding.instead_of(Scope::CodeAt(Code::MissingField, parent.key(real)));
    }
    let words = if in_scenario && parent == Pointer::root().key("when") {
        sent(&root, &key)
    } else if is_scenarios && in_root && key == "meta" {
        meta(&root)
    } else {
        None
    };
    let Some(words) = words else { return finding };
    finding.reworded(node, |said, _| {
        // A misspelling has its own fix.
        if in_scenario && said.fixes.iter().any(|fix| fix.preferred) { said } else { words.note(REJECTED) }
    })
}

/// A target under another name.
fn meta(root: &LintNode<'_>) -> Option<MessageParts> {
    let meta = root.get("meta").filter(|meta| meta.get("path").is_some() && root.get("target").is_none())?;
    let known: Vec<&str> = ["path", "trigger"].into_iter().filter(|key| meta.get(key).is_some()).collect();
    let help = rename_title("target");
    let fix = meta.renamed("target").map(|edits| Fix::guess(&help, edits));
    Some(MessageParts::new("unknown key `meta`").help(format!("{help}: it has {}", all_of(known))).fix(fix))
}

/// A key of an action that may be data to send.
fn sent(scenario: &LintNode<'_>, key: &str) -> Option<MessageParts> {
    // Keys of a scenario, which are not sent.
    const OTHERS: [&str; 9] = ["name", "description", "tags", "given", "then", "type", "path", "trigger", "timeout"];
    const MOVE: &str = "move it under `params`";
    let when = scenario.get("when").filter(|when| when.get("invoke").is_some() && !OTHERS.contains(&key))?;
    let fix = if key == "test_mode" { Fix::safe } else { Fix::guess };
    let words = MessageParts::new(format!("unknown key `{key}` in `when`"));
    let words = words.help(format!("if it is data for the target, {MOVE}"));
    Some(words.fix(edit::below(when.node, key, "params").map(|edits| fix(MOVE, edits))))
}

/// A key of a scenario as in older guides, which differs in more than the name: the current key, help and fixes.
fn old_key(scenario: &LintNode<'_>, key: &str) -> Option<(&'static str, String, Vec<Fix>)> {
    const MOVE: &str = "move it under `when`";
    let member = &scenario.get(key)?;
    let has = |key: &str| scenario.get(key).is_some();
    let (real, help, fix) = match key {
        "steps" => {
            let fix = only_step(scenario, member).filter(|_| !has("when"));
            ("when", "write the action as `when: { invoke, params }`".to_owned(), fix)
        }
        "invoke" | "params" => {
            // Without `invoke`, `when` would be invalid.
            let edits = edit::below(scenario.node, key, "when").filter(|_| key == "invoke" || has("when"));
            ("when", MOVE.to_owned(), edits.map(|edits| Fix::guess(MOVE, edits)))
        }
        "inputs" => {
            let help = format!("{MOVE}, as `params`");
            let edits = edit::below_as(scenario.node, key, "when", "params").filter(|_| has("when"));
            ("when", help.clone(), edits.map(|edits| Fix::guess(help, edits)))
        }
        "assertions" if has("then") && member.is_list() => {
            ("then", "move its items to `then`".to_owned(), joined(scenario, member, "move its items to `then`"))
        }
        "id" if has("name") => {
            ("name", "remove it; `name` identifies the scenario".to_owned(), second_name(scenario, member))
        }
        _ => {
            let (real, example) = no_list(key).filter(|_| !member.is_list())?;
            (real, format!("write a list of assertions under `{real}`, such as `- type: {example}`"), None)
        }
    };
    // If it is commented out, the scenario lacks the key that it replaces.
    let may_go = real == "given" || has(real);
    let comment = || edit::comment_out(scenario.node, &scenario.at.key(key)).filter(|_| may_go).map(Fix::comment);
    Some((real, help, fix.or_else(comment).into_iter().collect()))
}

/// Returns the list of assertions that a key is another name of, with a type that it could contain.
fn no_list(key: &str) -> Option<(&'static str, &'static str)> {
    let mut fields = fields().iter();
    match fields.find(|field| field.shape.other_names().iter().any(|known| known.name == key))?.name {
        "given" => Some(("given", FilePresent::NAME)),
        "then" => Some(("then", ArtifactExists::NAME)),
        _ => None,
    }
}

/// Returns the fix for a single step that contains only what to invoke: it becomes `when`.
fn only_step(scenario: &LintNode<'_>, steps: &LintNode<'_>) -> Option<Fix> {
    let items = steps.items();
    let [step] = items.as_slice() else { return None };
    let is_plain = |(key, value): &(String, LintNode<'_>)| match key.as_str() {
        "type" => value.text() == Some("invoke"),
        "invoke" => value.node.text().is_some() && value.node.alias().is_none(),
        _ => false,
    };
    let invoke = step.get("invoke")?;
    if !step.is_own() || step.node.anchor().is_some() || !step.entries().iter().all(is_plain) {
        return None;
    }
    let lines = ["when:".to_owned(), format!("  invoke: {}", edit::words(invoke.node)?)];
    let edits = edit::replace_entry(scenario.node, steps.entry()?, &lines, invoke.node)?;
    Some(Fix::guess("rewrite it as `when`", edits))
}

/// Returns the fix for a second list of assertions directly after the first one: removing its key joins the lists.
fn joined(scenario: &LintNode<'_>, member: &LintNode<'_>, title: &str) -> Option<Fix> {
    let then = scenario.get("then").filter(LintNode::is_list)?;
    let edits = edit::joined(scenario.node, then.entry()?, member.entry()?)?;
    // An anchored list is used elsewhere, where it would change too.
    let is_named = [then.node, member.node].iter().any(|list| list.anchor().is_some());
    Some(if is_named { Fix::suggestion(title, edits) } else { Fix::guess(title, edits) })
}

fn second_name(scenario: &LintNode<'_>, id: &LintNode<'_>) -> Option<Fix> {
    let name = scenario.get("name")?;
    let same = id.node.text().is_some() && name.text() == id.node.text() && id.node.anchor().is_none();
    let edits = scenario.without(id).filter(|_| same)?;
    // Another program may read it.
    Some(Fix::suggestion("remove it", edits))
}
