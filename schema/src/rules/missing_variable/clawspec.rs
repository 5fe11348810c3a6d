//! `{{callee_run_id}}` in a handoff contract: only the gateway log contains the run of the callee, so it has a value only
//! where an assertion selects a run of that log.

use crate::{
    dialect::clawspec::template::CALLEE_RUN_ID,
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    template::trimmed_placeholders,
};

/// `{{callee_run_id}}` in a string other than `run_id`, or as only part of it.
#[derive(Debug)]
struct NoRun {
    /// Placeholder as written.
    written: String,
}

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
        let rule = NoRun { written: found.text.to_owned() };
        report.push(member.part_finding(found.text, rule));
    }
    if member.node.alias().is_some() {
        return;
    }
    member.items().iter().for_each(|item| check(item, report));
    member.entries().iter().for_each(|(_, member)| check(member, report));
}

impl Rule for NoRun {
    const CODE: Code = Code::MissingVariable;
    /// ClawSpec accepts it.
    const SEVERITY: Severity = Severity::Warning;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let NoRun { written } = self;
        let edits = location.with_part(written, "{{run_id}}");
        MessageParts::new(format!("`{written}` has a value only if it is the entire `run_id` of an assertion"))
            .note("the result of the assertion is unknown; ClawSpec uses the run of the caller instead")
            .remedy("use `{{run_id}}` for the run of the caller", Fix::guess, edits)
    }
}
