//! Stages of a ClawSpec pipeline whose handoff contract is for another agent.

use std::sync::Arc;

use crate::{
    dialect::{
        Lookup,
        clawspec::{
            agents,
            stage_contracts::{ContractLookup, NamedContract},
        },
    },
    files::Files,
    finding::{Finding, Location, MessageParts, Relation, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix, OtherFile},
    relations::Items,
    shape::scalar,
};

/// A stage whose contract is for another agent.
#[derive(Debug)]
struct OtherAgent {
    stage: String,
    contract: String,
}

/// Checks the handoff contract of a stage.
pub(crate) fn check_stage(contract: &NamedContract<'_>, stages: Items<'_>, files: &dyn Files, report: &mut Report) {
    let ContractLookup::Found { path, bytes, document } = &contract.lookup else { return };
    let to = document.root().and_then(|root| LintNode::root(root).find(&["handoff", "to"]));
    let (Some(agent), Some((to, other))) = (&contract.stage.agent, to.and_then(|to| Some((to.clone(), to.text()?))))
    else {
        return;
    };
    let own = agent.name.as_str();
    let is_settled = [own, other].iter().all(|name| !name.trim().is_empty() && !name.contains("{{"));
    let is_misspelled = |name: &str| matches!(agents::look_up(name, files), Lookup::Misspelled(_));
    // A misspelling is reported where it occurs.
    if !is_settled || agents::is_same(own, other) || is_misspelled(own) || is_misspelled(other) {
        return;
    }
    let (at, range) = stages.place(contract.index, agent);
    let file = OtherFile { path: path.clone(), bytes: Arc::clone(bytes) };
    let rule = OtherAgent { stage: own.to_owned(), contract: other.to_owned() };
    let finding = Finding::new(rule, at, range);
    report.push(finding.related_in(file, Relation::ContractFor(other.to_owned()), to.at.clone(), to.range()));
}

impl Rule for OtherAgent {
    const CODE: Code = Code::Contradiction;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let OtherAgent { stage, contract } = self;
        MessageParts::new(format!("the agent of this stage is `{stage}`, but the handoff contract is for `{contract}`"))
            .remedy(format!("change it to `{contract}`"), Fix::guess, location.replaced(scalar(contract)))
    }
}
