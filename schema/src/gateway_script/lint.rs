//! Checks of scripted gateways.

use crate::{
    document::NodeRef,
    finding::Report,
    lint_node::LintNode,
    rules::{collision, invalid_value, no_effect, unknown_reference},
    validate::is_damaged,
};

/// Reports problems of a scripted gateway that a schema cannot express. Pointers and ranges are absolute.
pub(crate) fn report(root: NodeRef<'_>, report: &mut Report) {
    let root = LintNode::root(root);
    if !root.is_mapping() {
        return;
    }
    let runs: Vec<LintNode<'_>> = items(root.get("runs"));
    collision::check_runs(&runs, report);
    let agents: Vec<&str> = runs.iter().filter_map(|run| run.find(&["when", "agent"])?.node.as_str()).collect();
    for run in &runs {
        if let Some(skill) = run.find(&["when", "skill"]) {
            invalid_value::gateway::check(&skill, report);
        }
        let steps: Vec<LintNode<'_>> = items(run.get("steps"));
        no_effect::gateway::check(&steps, report);
        for step in &steps {
            if let Some(agent) = step.find(&["spawn", "agent"]) {
                unknown_reference::gateway::check(&agent, &agents, report);
            }
        }
    }
    if let Some(scores) = root.get("scores").filter(LintNode::is_list) {
        collision::check_scores(&scores, report);
    }
}

/// Returns the valid items of a list.
fn items(list: Option<LintNode<'_>>) -> Vec<LintNode<'_>> {
    let items = list.filter(LintNode::is_list).map(|list| list.items()).unwrap_or_default();
    items.into_iter().filter(|item| item.is_mapping() && !is_damaged(item.node)).collect()
}
