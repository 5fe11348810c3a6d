//! A handoff contract: `{{callee_run_id}}` where it has no value, and what its `assertions` leave unchecked. ClawSpec
//! derives checks from the rest of the contract only if the block is missing or empty.

use crate::{
    dialect::clawspec::{
        assertion::TypeInfo,
        assertions::{
            artifacts::{ArtifactContains, ArtifactExists},
            behavioral::DecisionRoutedTo,
            log::{DelegationOccurred, ToolNotCalled, ToolNotPermitted},
            trace::{DelegationPath, ToolNotInvoked},
        },
        claim::AssertionType,
        template::CALLEE_RUN_ID,
    },
    edit,
    files::Files,
    finding::{Finding, MessageParts, Relation, Report},
    gateway::workspace::settings,
    lint_node::LintNode,
    problem::{Code, Edit, Fix, Severity},
    quoting::scalar,
    template::trimmed_placeholders,
    words::all_of,
};

pub(super) fn check(root: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let list = |phase: &str| root.find(&["assertions", phase]).filter(LintNode::is_list);
    let (before, after) = (list("pre_delegation"), list("post_delegation"));
    let claims: Vec<LintNode<'_>> = before.iter().chain(&after).flat_map(LintNode::items).collect();
    let produces = |key: &str| root.find(&["callee_produces", key]).map(|list| list.items()).unwrap_or_default();
    let artifacts = produces("required_artifacts");
    for (key, member) in claims.iter().flat_map(LintNode::entries) {
        if key != "run_id" || !is_callee_run(&member) {
            check_run_id(&member, report);
        }
    }
    if claims.is_empty() {
        let keys = ["path_pattern", "required_sections"];
        let used = artifacts.iter().flat_map(|artifact| keys.into_iter().filter_map(move |key| artifact.get(key)));
        return used.for_each(|member| check_run_id(&member, report));
    }
    let written = Written { before, after, claims, log_path: settings(files).log_path() };
    let tools: Vec<LintNode<'_>> =
        produces("prohibited_actions").iter().filter_map(|action| action.get("tool")).collect();
    report.extend(check_delegation(root, &written));
    report.extend(artifacts.iter().filter_map(|artifact| check_artifact(artifact, &written)));
    report.extend(tools.iter().filter_map(|tool| check_tool(tool, &written)));
}

/// Whether a string is only the placeholder: it selects the run of the callee in the gateway log.
fn is_callee_run(member: &LintNode<'_>) -> bool {
    let Some(text) = member.text() else { return false };
    matches!(trimmed_placeholders(text)[..], [found] if found.name == CALLEE_RUN_ID && found.text == text)
}

fn check_run_id(member: &LintNode<'_>, report: &mut Report) {
    let placeholders = member.text().map(trimmed_placeholders).unwrap_or_default();
    if let Some(found) = placeholders.into_iter().find(|found| found.name == CALLEE_RUN_ID) {
        let written = found.text;
        let edits = member.with_part(&member.part(written, 0), written, "{{run_id}}");
        let message = format!("`{written}` has a value only if it is the entire `run_id` of an assertion");
        let words = MessageParts::new(message)
            .note("the result of the assertion is unknown; ClawSpec uses the run of the caller instead")
            .remedy("use `{{run_id}}` for the run of the caller", Fix::guess, edits);
        let finding = member.part_problem(written, Code::MissingVariable, words);
        // ClawSpec accepts it.
        report.push(finding.with_severity(Severity::Warning));
    }
    if member.node.alias().is_none() {
        member.items().iter().for_each(|item| check_run_id(item, report));
        member.entries().iter().for_each(|(_, member)| check_run_id(member, report));
    }
}

/// The written assertions, and what they should cover.
struct Written<'d> {
    before: Option<LintNode<'d>>,
    after: Option<LintNode<'d>>,
    claims: Vec<LintNode<'d>>,
    log_path: String,
}

impl Written<'_> {
    fn has(&self, types: &[&str]) -> bool {
        self.claims.iter().any(|claim| TypeInfo::of(claim).is_some_and(|info| types.contains(&info.name)))
    }

    /// Returns the edits that add an assertion; one about a run also gets the log.
    fn add(&self, is_before: bool, run: Option<&str>, members: &[(&str, String)]) -> Option<Vec<Edit>> {
        let list = if is_before { self.before.as_ref().or(self.after.as_ref()) } else { self.after.as_ref() };
        let log = run.map(|run| [("log_path", scalar(&self.log_path)), ("run_id", scalar(run))]);
        let members = members.iter().chain(log.iter().flatten()).enumerate();
        let line = |(index, (name, value)): (usize, &(&str, String))| {
            let margin = if index == 0 { "- " } else { "  " };
            format!("{margin}{name}: {value}")
        };
        let lines: Vec<String> = members.map(line).collect();
        edit::lines_at_end(list.filter(|list| !list.is_empty())?.node, &lines)
    }
}

/// Returns the text of a key, unless it is empty.
fn text<'d>(lint_node: &LintNode<'d>, key: &str) -> Option<&'d str> {
    lint_node.text_at(key).filter(|text| !text.is_empty())
}

/// Returns the finding about a part of the contract that is not checked. `edits` add the check.
fn underived(node: &LintNode<'_>, message: String, help: String, edits: Option<Vec<Edit>>) -> Finding {
    let words = MessageParts::new(message)
        .note("ClawSpec derives no checks from a contract that has `assertions`")
        .remedy(help, Fix::guess, edits);
    node.problem(Code::Unchecked, words)
}

fn check_delegation(root: &LintNode<'_>, written: &Written<'_>) -> Option<Finding> {
    let (from, to) = root.find(&["handoff", "from"]).zip(root.find(&["handoff", "to"]))?;
    let (caller, callee) = from.text().zip(to.text())?;
    if written.has(&[DelegationOccurred::NAME, DelegationPath::NAME, DecisionRoutedTo::NAME]) {
        return None;
    }
    let kind = DelegationOccurred::NAME;
    let members = [("type", kind.to_owned()), ("from_agent", scalar(caller)), ("to_agent", scalar(callee))];
    let edits = written.add(true, Some("{{run_id}}"), &members);
    let message = format!("nothing checks that `{caller}` delegates to `{callee}`");
    Some(underived(&to, message, format!("add a `{kind}` assertion"), edits))
}

fn check_artifact(artifact: &LintNode<'_>, written: &Written<'_>) -> Option<Finding> {
    let pattern = artifact.get("path_pattern")?;
    let path = pattern.text().filter(|path| !path.trim().is_empty())?;
    let is_about = |claim: &&LintNode<'_>| {
        ["path", "output_path", "state_path"].iter().any(|key| text(claim, key).is_some_and(|it| is_same(it, path)))
    };
    let looks: Vec<&LintNode<'_>> = written.claims.iter().filter(is_about).collect();
    let is_covered = |section: &str| {
        looks.iter().any(|claim| {
            let listed = claim.get("sections").map(|list| list.texts()).unwrap_or_default();
            listed.iter().any(|(name, _)| *name == section)
                || text(claim, "pattern").is_some_and(|pattern| pattern.contains(section))
        })
    };
    let mut missing = artifact.get("required_sections").map(|list| list.texts()).unwrap_or_default();
    // A heading with its `#` marks is reported separately.
    missing.retain(|(name, _)| !name.starts_with('#') && !is_covered(name));
    let Some((_, first)) = missing.first() else {
        if !looks.is_empty() {
            return None;
        }
        let kind = ArtifactExists::NAME;
        let edits = written.add(false, None, &[("type", kind.to_owned()), ("path", scalar(path))]);
        let message = format!("nothing checks that `{path}` is produced");
        return Some(underived(&pattern, message, format!("add an `{kind}` assertion"), edits));
    };
    let names: Vec<String> = missing.iter().map(|(name, _)| scalar(name)).collect();
    let list = looks.iter().find_map(|claim| claim.get("sections").filter(|list| !list.is_empty()));
    let (help, edits) = match (list, names.as_slice()) {
        (Some(list), [only]) => ("add it to `sections`".to_owned(), edit::item_at_end(list.node, only)),
        // One at a time, because each is appended to the list.
        (Some(_), _) => ("add them to `sections`".to_owned(), None),
        (None, _) => {
            let kind = ArtifactContains::NAME;
            let sections = format!("[{}]", names.join(", "));
            let members = [("type", kind.to_owned()), ("path", scalar(path)), ("sections", sections)];
            (format!("add an `{kind}` assertion"), written.add(false, None, &members))
        }
    };
    let message = match missing.as_slice() {
        [(name, _)] => format!("nothing checks the section `{name}`"),
        _ => format!("nothing checks the sections {}", all_of(missing.iter().map(|(name, _)| *name))),
    };
    let nor = |finding: Finding, (name, section): &(&str, LintNode<'_>)| {
        finding.related(Relation::KeyHere((*name).to_owned()), section.at.clone(), section.range())
    };
    Some(missing.iter().skip(1).fold(underived(first, message, help, edits), nor))
}

/// Whether a path is the one in the contract, ignoring its variables and wildcards.
fn is_same(path: &str, named: &str) -> bool {
    let bare = |path: &str| {
        let filled = trimmed_placeholders(path).iter().fold(path.to_owned(), |path, it| path.replace(it.text, "*"));
        filled.trim_start_matches("*/").trim_start_matches("./").to_owned()
    };
    path == named || bare(path) == bare(named)
}

fn check_tool(tool: &LintNode<'_>, written: &Written<'_>) -> Option<Finding> {
    let name = tool.text().filter(|name| !name.is_empty() && !name.contains(['*', '{']))?;
    let is_denied = |claim: &LintNode<'_>| {
        TypeInfo::of(claim).is_some_and(|info| match info.name {
            ToolNotCalled::NAME | ToolNotInvoked::NAME => text(claim, "tool") == Some(name),
            kind => kind == ToolNotPermitted::NAME,
        })
    };
    if written.after.iter().flat_map(LintNode::items).any(|claim| is_denied(&claim)) {
        return None;
    }
    let kind = ToolNotCalled::NAME;
    let members = [("type", kind.to_owned()), ("tool", scalar(name))];
    let edits = written.add(false, Some("{{callee_run_id}}"), &members);
    let help = format!("add a `{kind}` assertion to `post_delegation`");
    Some(underived(tool, format!("nothing checks that `{name}` is not called"), help, edits))
}
