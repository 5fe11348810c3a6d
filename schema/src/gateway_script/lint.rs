//! Checks of scripted gateways.

use crate::{
    document::NodeRef,
    finding::{MessageParts, Relation, Report},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
    quoting::scalar,
    rules::{collision, unknown_reference::Unknown},
    validate::is_damaged,
    words::nearest,
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
            check_skill(&skill, report);
        }
        let steps: Vec<LintNode<'_>> = items(run.get("steps"));
        check_answers(&steps, report);
        for step in &steps {
            if let Some(agent) = step.find(&["spawn", "agent"]) {
                check_agent(&agent, &agents, report);
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

/// Reports a skill that is not given as a command.
fn check_skill(skill: &LintNode<'_>, report: &mut Report) {
    if let Some(text) = skill.text().filter(|text| !text.is_empty() && !text.starts_with('/')) {
        let command = format!("/{text}");
        let edits = skill.replaced(scalar(&command)).filter(|_| !text.contains(char::is_whitespace));
        let words = MessageParts::new(format!("`{text}` is not a slash command"))
            .note("the webhook expects a command such as `/daily-brief`")
            .remedy(format!("change it to `{command}`"), Fix::guess, edits);
        report.push(skill.problem(Code::InvalidValue, words));
    }
}

/// Reports answers that are never used.
fn check_answers(steps: &[LintNode<'_>], report: &mut Report) {
    let mut answers = steps.iter().filter_map(|step| step.get("answer"));
    let Some(first) = answers.next() else { return };
    for answer in answers {
        let place = Relation::Labelled("the earlier answer");
        let words = MessageParts::new("this answer is never used")
            .note("a run has only one answer")
            .help("remove one of the two");
        let finding = answer.head_problem(Code::NoEffect, words).with_severity(Severity::Warning);
        report.push(finding.related(place, first.at.clone(), first.head()));
    }
}

/// Reports an agent without a run.
fn check_agent(agent: &LintNode<'_>, agents: &[&str], report: &mut Report) {
    let Some(name) = agent.text().filter(|name| !name.is_empty() && !agents.contains(name)) else { return };
    let message = format!("no run in this file has `when: {{ agent: {name} }}`");
    let rule = Unknown::new(message, nearest(name, agents.iter().copied()))
        .note("the `spawn` step cannot start it")
        .or_help(format!("add a run with `when: {{ agent: {name} }}`"));
    report.push(rule.at(agent, agent.range()));
}
