//! Agents of a scripted gateway without a run.

use crate::{finding::Report, lint_node::LintNode, words::nearest};

use super::Unknown;

pub(crate) fn check(agent: &LintNode<'_>, agents: &[&str], report: &mut Report) {
    let Some(name) = agent.text().filter(|name| !name.is_empty() && !agents.contains(name)) else { return };
    let message = format!("no run in this file has `when: {{ agent: {name} }}`");
    let rule = Unknown::new(message, nearest(name, agents.iter().copied()))
        .note("the `spawn` step cannot start it")
        .or_help(format!("add a run with `when: {{ agent: {name} }}`"));
    report.push(rule.at(agent, agent.range()));
}
