//! Unknown keys of contracts, because of which ClawSpec rejects the file: keys of older guides, data next to `params`,
//! a second kind of contract.

use super::{Better, REJECTED, scenario::fields};
use crate::{
    dialect::clawspec::{
        assertions::{ArtifactExists, FilePresent},
        claim::AssertionType,
        kinds::ContractFile,
    },
    document::Pointer,
    edit,
    finding::{Finding, Scope},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    validate::{Context, rename_title},
    words::all_of,
};

/// Explains an unknown key.
pub(super) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    let (Some(parent), Some(key)) = (finding.at().parent(), finding.at().last()) else { return finding };
    let in_root = parent.is_root() && context.base.is_root();
    if in_root && ["target", "handoff", "pipeline"].contains(&key.as_str()) {
        let message = "a contract must have exactly one of `target`, `handoff` and `pipeline`";
        let better = Better {
            message: Some(message.to_owned()),
            help: Some(format!("move `{key}` to a separate file")),
            fixes: Some(Vec::new()),
            ..Better::default()
        };
        return finding.explained(better).with_severity(Severity::Error);
    }
    let is_scenarios = context.file == SpecFile::CLAWSPEC_SCENARIOS;
    let in_scenario = is_scenarios && !context.base.is_root();
    let is_of_scenario = in_scenario && parent.is_root();
    let is_refused = is_of_scenario || finding.severity() == Severity::Warning;
    let finding = if is_refused {
        let better = Better { note: Some(REJECTED.to_owned()), ..Better::default() };
        finding.explained(better).with_severity(Severity::Error)
    } else {
        finding
    };
    let node = LintNode::root(context.node);
    let is_of_pipeline =
        ContractFile::of(context.file) == ContractFile::Pipeline && parent == Pointer::root().key("pipeline");
    // Each with the missing key that has the same cause.
    let known = if is_of_scenario {
        old_key(&node, &key).map(|(better, real)| (better, Some(real)))
    } else if in_scenario && parent == Pointer::root().key("when") {
        sent(&node, &key).map(|better| (better, None))
    } else if is_scenarios && in_root && key == "meta" {
        meta(&node).map(|better| (better, None))
    } else if is_of_pipeline && key == "orchestrator" {
        node.get("pipeline").and_then(|pipeline| orchestrator(&pipeline)).map(|better| (better, Some("name")))
    } else {
        None
    };
    let Some((better, missing)) = known else { return finding };
    let same = missing.map(|key| Scope::CodeAt(Code::MissingField, parent.key(key)));
    same.into_iter().fold(finding.explained(better), Finding::instead_of)
}

/// A target under another name.
fn meta(root: &LintNode<'_>) -> Option<Better> {
    let meta = root.get("meta").filter(|meta| meta.get("path").is_some() && root.get("target").is_none())?;
    let known: Vec<&str> = ["path", "trigger"].into_iter().filter(|key| meta.get(key).is_some()).collect();
    let help = rename_title("target");
    let fix = meta.renamed("target").map(|edits| Fix::guess(&help, edits));
    Some(Better {
        message: Some("unknown key `meta`".to_owned()),
        help: Some(format!("{help}: it has {}", all_of(known))),
        fixes: Some(fix.into_iter().collect()),
        ..Better::default()
    })
}

/// `orchestrator` instead of `name`, as in the guide.
fn orchestrator(pipeline: &LintNode<'_>) -> Option<Better> {
    let old = pipeline.get("orchestrator")?;
    let rename = rename_title("name");
    // The name of an agent becomes the name of the pipeline and of its reports.
    let (help, fix) = match pipeline.get("name") {
        Some(_) => ("remove it".to_owned(), None),
        None => (rename.clone(), old.renamed("name").map(|edits| Fix::guess(rename, edits))),
    };
    Some(Better {
        message: Some("unknown key `orchestrator`".to_owned()),
        note: Some("ClawSpec's guide uses it, but its schema requires `name`".to_owned()),
        help: Some(help),
        fixes: Some(fix.into_iter().collect()),
        ..Better::default()
    })
}

/// A key of an action that may be data to send.
fn sent(scenario: &LintNode<'_>, key: &str) -> Option<Better> {
    // Keys of a scenario, which are not sent.
    const OTHERS: [&str; 9] = ["name", "description", "tags", "given", "then", "type", "path", "trigger", "timeout"];
    const MOVE: &str = "move it under `params`";
    let when = scenario.get("when").filter(|when| when.get("invoke").is_some() && !OTHERS.contains(&key))?;
    let fix = if key == "test_mode" { Fix::safe } else { Fix::guess };
    Some(Better {
        message: Some(format!("unknown key `{key}` in `when`")),
        note: Some(REJECTED.to_owned()),
        help: Some(format!("if it is data for the target, {MOVE}")),
        fixes: Some(edit::below(when.node, key, "params").map(|edits| fix(MOVE, edits)).into_iter().collect()),
        // A misspelling has its own fix.
        yields: true,
    })
}

/// A key of a scenario as in older guides, which differs in more than the name, and the current key.
fn old_key(scenario: &LintNode<'_>, key: &str) -> Option<(Better, &'static str)> {
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
            ("when", MOVE.to_owned(), edits.map(|edits| Fix::safe(MOVE, edits)))
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
    let fixes = fix.or_else(comment).into_iter().collect();
    Some((Better { help: Some(help), fixes: Some(fixes), ..Better::default() }, real))
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
    Some(Fix::safe("rewrite it as `when`", edits))
}

/// Returns the fix for a second list of assertions directly after the first one: removing its key joins the lists.
fn joined(scenario: &LintNode<'_>, member: &LintNode<'_>, title: &str) -> Option<Fix> {
    let then = scenario.get("then").filter(LintNode::is_list)?;
    let edits = edit::joined(scenario.node, then.entry()?, member.entry()?)?;
    // An anchored list is used elsewhere, where it would change too.
    let is_named = [then.node, member.node].iter().any(|list| list.anchor().is_some());
    Some(if is_named { Fix::suggestion(title, edits) } else { Fix::safe(title, edits) })
}

/// Returns the fix for an `id` next to an equal name.
fn second_name(scenario: &LintNode<'_>, id: &LintNode<'_>) -> Option<Fix> {
    let name = scenario.get("name")?;
    let same = id.node.text().is_some() && name.text() == id.node.text() && id.node.anchor().is_none();
    let edits = scenario.without(id).filter(|_| same)?;
    // Another program may read it.
    Some(Fix::suggestion("remove it", edits))
}
