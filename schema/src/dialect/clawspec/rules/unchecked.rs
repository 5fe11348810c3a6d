//! Checks that the `assertions` of a handoff contract disable: ClawSpec derives checks from the rest of the contract
//! only if the block is missing or empty.

use crate::{
    dialect::clawspec::{lower::settings, type_fields::log_members},
    edit,
    files::Files,
    finding::{Finding, MessageParts, Relation, Report},
    lint_node::LintNode,
    problem::{Code, Edit, Fix},
    shape::scalar,
    template::trimmed_placeholders,
    words::all_of,
};

pub(crate) mod traces;

/// The written assertions, and what they should cover.
struct Written<'d> {
    before: Option<LintNode<'d>>,
    after: Option<LintNode<'d>>,
    log_path: String,
}

impl<'d> Written<'d> {
    fn all(&self) -> impl Iterator<Item = LintNode<'d>> {
        [&self.before, &self.after].into_iter().flatten().flat_map(|list| list.items())
    }

    /// Returns the assertions of these types.
    fn of_type(&self, types: &[&str]) -> Vec<LintNode<'d>> {
        self.all().filter(|claim| text(claim, "type").is_some_and(|kind| types.contains(&kind.as_str()))).collect()
    }

    /// Returns the edits that add an assertion; log assertions also get the log and the run.
    fn add(&self, is_before: bool, members: &[(&str, String)]) -> Option<Vec<Edit>> {
        let list = if is_before { self.before.as_ref().or(self.after.as_ref()) } else { self.after.as_ref() };
        let line = |(index, (name, value)): (usize, &(&str, String))| {
            let margin = if index == 0 { "- " } else { "  " };
            format!("{margin}{name}: {value}")
        };
        let lines: Vec<String> = members.iter().enumerate().map(line).collect();
        edit::lines_at_end(list.filter(|list| !list.is_empty())?.node, &lines)
    }
}

fn text(lint_node: &LintNode<'_>, key: &str) -> Option<String> {
    lint_node.get(key)?.text().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Checks the requirements of a handoff contract besides its `assertions`.
pub(crate) fn check_handoff(root: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let Some(claims) = root.get("assertions") else { return };
    let list = |key: &str| claims.get(key).filter(LintNode::is_list);
    let log_path = settings(files).log_path();
    let written = Written { before: list("pre_delegation"), after: list("post_delegation"), log_path };
    if written.all().next().is_none() {
        return;
    }
    check_delegation(root, &written, report);
    let produces = |key: &str| root.find(&["callee_produces", key]).map(|list| list.items()).unwrap_or_default();
    for artifact in produces("required_artifacts") {
        check_artifact(&artifact, &written, report);
    }
    for tool in produces("prohibited_actions").iter().filter_map(|action| action.get("tool")) {
        check_tool(&tool, &written, report);
    }
}

/// Returns the finding about a part of the contract that is not checked. `edits` add the check.
fn underived(node: &LintNode<'_>, message: String, help: &str, edits: Option<Vec<Edit>>) -> Finding {
    let words = MessageParts::new(message)
        .note("ClawSpec derives no checks from a contract that has `assertions`")
        .remedy(help, Fix::guess, edits);
    node.problem(Code::Unchecked, words)
}

fn check_delegation(root: &LintNode<'_>, written: &Written<'_>, report: &mut Report) {
    let (Some(from), Some(to)) = (root.find(&["handoff", "from"]), root.find(&["handoff", "to"])) else { return };
    let (Some(caller), Some(callee)) = (from.text(), to.text()) else { return };
    if !written.of_type(&["delegation_occurred", "delegation_path", "decision_routed_to"]).is_empty() {
        return;
    }
    let mut members =
        vec![("type", "delegation_occurred".to_owned()), ("from_agent", scalar(caller)), ("to_agent", scalar(callee))];
    members.extend(log_members(&written.log_path, "{{run_id}}"));
    let message = format!("nothing checks that `{caller}` delegates to `{callee}`");
    let edits = written.add(true, &members);
    report.push(underived(&to, message, "add a `delegation_occurred` assertion", edits));
}

fn check_artifact(artifact: &LintNode<'_>, written: &Written<'_>, report: &mut Report) {
    let Some(pattern) = artifact.get("path_pattern") else { return };
    let Some(path) = pattern.text().filter(|path| !path.trim().is_empty()) else { return };
    let looks: Vec<LintNode<'_>> = written
        .all()
        .filter(|claim| ["path", "output_path", "state_path"].iter().any(|key| is_same(&text(claim, key), path)))
        .collect();
    let members = |kind: &str| vec![("type", kind.to_owned()), ("path", scalar(path))];
    let sections = artifact.get("required_sections").map(|list| list.texts()).unwrap_or_default();
    let is_covered = |section: &str| {
        looks.iter().any(|claim| {
            let listed = claim.get("sections").map(|list| list.texts()).unwrap_or_default();
            listed.iter().any(|(name, _)| *name == section)
                || text(claim, "pattern").is_some_and(|pattern| pattern.contains(section))
        })
    };
    // A heading with its `#` marks is reported separately.
    let missing: Vec<&(&str, LintNode<'_>)> =
        sections.iter().filter(|(name, _)| !name.starts_with('#') && !is_covered(name)).collect();
    let Some((_, first)) = missing.first() else {
        if looks.is_empty() {
            let edits = written.add(false, &members("artifact_exists"));
            let message = format!("nothing checks that `{path}` is produced");
            report.push(underived(&pattern, message, "add an `artifact_exists` assertion", edits));
        }
        return;
    };
    let names: Vec<String> = missing.iter().map(|(name, _)| scalar(name)).collect();
    let list = looks.iter().find_map(|claim| claim.get("sections").filter(|list| !list.is_empty()));
    let is_listed = list.is_some();
    let edits = match list {
        // One at a time, because each is appended to the list.
        Some(list) if missing.len() == 1 => edit::item_at_end(list.node, &names[0]),
        Some(_) => None,
        None => {
            let mut members = members("artifact_contains");
            members.push(("sections", format!("[{}]", names.join(", "))));
            written.add(false, &members)
        }
    };
    let message = match missing.as_slice() {
        [(name, _)] => format!("nothing checks the section `{name}`"),
        _ => format!("nothing checks the sections {}", all_of(missing.iter().map(|(name, _)| *name))),
    };
    let help = match (is_listed, missing.len()) {
        (true, 1) => "add it to `sections`",
        (true, _) => "add them to `sections`",
        (false, _) => "add an `artifact_contains` assertion",
    };
    let nor = |finding: Finding, (name, section): &&(&str, LintNode<'_>)| {
        finding.related(Relation::KeyHere((*name).to_owned()), section.at.clone(), section.range())
    };
    report.push(missing.iter().skip(1).fold(underived(first, message, help, edits), nor));
}

/// Whether a path is the one in the contract, ignoring its variables and wildcards.
fn is_same(path: &Option<String>, named: &str) -> bool {
    let bare = |path: &str| {
        let filled = trimmed_placeholders(path).iter().fold(path.to_owned(), |path, it| path.replace(it.text, "*"));
        filled.trim_start_matches("*/").trim_start_matches("./").to_owned()
    };
    path.as_deref().is_some_and(|path| path == named || bare(path) == bare(named))
}

fn check_tool(tool: &LintNode<'_>, written: &Written<'_>, report: &mut Report) {
    let is_exact = |name: &&str| !name.is_empty() && !name.contains(['*', '{']);
    let Some(name) = tool.text().filter(is_exact) else { return };
    let is_denied = |claim: &LintNode<'_>| match text(claim, "type").as_deref() {
        Some("tool_not_called" | "tool_not_invoked") => text(claim, "tool").as_deref() == Some(name),
        Some("tool_not_permitted") => true,
        _ => false,
    };
    if written.after.as_ref().is_some_and(|list| list.items().iter().any(is_denied)) {
        return;
    }
    let mut members = vec![("type", "tool_not_called".to_owned()), ("tool", scalar(name))];
    members.extend(log_members(&written.log_path, "{{callee_run_id}}"));
    let edits = written.add(false, &members);
    let message = format!("nothing checks that `{name}` is not called");
    report.push(underived(tool, message, "add a `tool_not_called` assertion to `post_delegation`", edits));
}
