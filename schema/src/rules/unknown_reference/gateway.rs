//! Agents of a scripted gateway that have no run.

use crate::{finding::Report, spot::Spot, words::nearest};

use super::Unknown;

/// Looks at the agent of a `spawn`. `agents` are those that have a run.
pub(crate) fn check(agent: &Spot<'_>, agents: &[&str], report: &mut Report) {
    let Some(name) = agent.text().filter(|name| !name.is_empty() && !agents.contains(name)) else { return };
    let rule = Unknown::new(format!("the agent `{name}` has no run"), nearest(name, agents.iter().copied()))
        .note("its tasks are never performed")
        .or_help(format!("add a run with `when: {{ agent: {name} }}`"));
    report.push(agent.finding(rule));
}
