//! Agents of a scripted gateway that have no run.

use crate::{
    finding::{Report, Rule, Site, Words},
    problem::{Code, Fix, Severity},
    shape::scalar,
    spot::Spot,
    validate::rename_title,
    words::nearest,
};

/// A handover to an agent without a run.
#[derive(Debug)]
struct NoRun {
    agent: String,
    /// The agent with a run that is most like it.
    near: Option<String>,
}

/// Looks at the agent of a `spawn`. `agents` are those that have a run.
pub(crate) fn check(agent: &Spot<'_>, agents: &[&str], report: &mut Report) {
    let Some(name) = agent.text().filter(|name| !name.is_empty() && !agents.contains(name)) else { return };
    let near = nearest(name, agents.iter().copied()).map(str::to_owned);
    report.push(agent.finding(NoRun { agent: name.to_owned(), near }));
}

impl Rule for NoRun {
    const CODE: Code = Code::UnknownReference;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, site: &Site<'_>) -> Words {
        let name = &self.agent;
        let words = Words::new(format!("the agent `{name}` has no run")).note("its tasks are never performed");
        let Some(near) = &self.near else { return words.help(format!("add a run with `when: {{ agent: {name} }}`")) };
        let edits = site.spot().and_then(|agent| agent.replaced(scalar(near)));
        words.fix(edits.map(|edits| Fix::guess(rename_title(near), edits))).help(rename_title(near))
    }
}
