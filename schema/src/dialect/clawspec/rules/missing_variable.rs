//! `{{callee_run_id}}` in a handoff contract: only the gateway log contains the run of the callee, so it has a value only
//! where an assertion selects a run of that log.

use crate::{
    dialect::clawspec::template::CALLEE_RUN_ID,
    finding::{MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    template::trimmed_placeholders,
};

/// Lists of assertions of a handoff contract.
const PHASES: [&str; 2] = ["pre_delegation", "post_delegation"];

/// Checks the strings of a handoff contract that a run uses.
pub(crate) fn check_handoff(root: &LintNode<'_>, report: &mut Report) {
    let items = |path: &[&str]| root.find(path).map(|list| list.items()).unwrap_or_default();
    for phase in PHASES {
        for (key, member) in items(&["assertions", phase]).iter().flat_map(LintNode::entries) {
            if key != "run_id" || !is_whole(&member) {
                check(&member, report);
            }
        }
    }
    // No assertions are derived from a contract that has its own.
    let has_assertions = PHASES.iter().any(|phase| !items(&["assertions", phase]).is_empty());
    let derived = if has_assertions { Vec::new() } else { items(&["callee_produces", "required_artifacts"]) };
    for artifact in derived {
        for member in ["path_pattern", "required_sections"].into_iter().filter_map(|key| artifact.get(key)) {
            check(&member, report);
        }
    }
}

/// Whether a string is only the placeholder.
fn is_whole(member: &LintNode<'_>) -> bool {
    let Some(text) = member.text() else { return false };
    matches!(trimmed_placeholders(text)[..], [found] if found.name == CALLEE_RUN_ID && found.text == text)
}

fn check(member: &LintNode<'_>, report: &mut Report) {
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
    if member.node.alias().is_some() {
        return;
    }
    member.items().iter().for_each(|item| check(item, report));
    member.entries().iter().for_each(|(_, member)| check(member, report));
}
