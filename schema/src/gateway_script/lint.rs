//! The rules of scripted gateways.

use crate::{
    document::NodeRef,
    finding::Report,
    rules::{collision, invalid_value, no_effect, unknown_reference},
    spot::Spot,
    validate::is_damaged,
};

/// Reports what a schema cannot say about a scripted gateway. Pointers and ranges are absolute.
pub(crate) fn report(root: NodeRef<'_>, report: &mut Report) {
    let root = Spot::root(root);
    if !root.is_mapping() {
        return;
    }
    let runs: Vec<Spot<'_>> = items(root.get("runs"));
    collision::played::check_runs(&runs, report);
    let agents: Vec<&str> = runs.iter().filter_map(|run| run.find(&["when", "agent"])?.node.as_str()).collect();
    for run in &runs {
        if let Some(skill) = run.find(&["when", "skill"]) {
            invalid_value::gateway::check(&skill, report);
        }
        let steps: Vec<Spot<'_>> = items(run.get("steps"));
        no_effect::gateway::check(&steps, report);
        for step in &steps {
            if let Some(agent) = step.find(&["spawn", "agent"]) {
                unknown_reference::gateway::check(&agent, &agents, report);
            }
        }
    }
    if let Some(scores) = root.get("scores").filter(Spot::is_list) {
        collision::played::check_scores(&scores, report);
    }
}

/// Returns the items of a list that can be read.
fn items(list: Option<Spot<'_>>) -> Vec<Spot<'_>> {
    let items = list.filter(Spot::is_list).map(|list| list.items()).unwrap_or_default();
    items.into_iter().filter(|item| item.is_mapping() && !is_damaged(item.node)).collect()
}
