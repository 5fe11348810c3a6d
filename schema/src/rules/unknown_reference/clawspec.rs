//! Names of agents and of scenarios in ClawSpec files.

use std::collections::HashSet;

use crate::{
    dialect::clawspec::{
        agents::{AgentLookup, look_up},
        baselines,
        ledger_contracts::{Contract, Contracts},
    },
    files::Files,
    finding::Report,
    problem::Severity,
    lint_node::LintNode,
    words::Search,
};

use super::Unknown;

/// Checks a name of an agent.
pub(crate) fn check_agent(name: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let Some(text) = name.text() else { return };
    let AgentLookup::Misspelt(near) = look_up(text, files) else { return };
    let rule = Unknown::new(format!("unknown agent `{text}`"), Some(&near));
    report.push(name.finding(rule.note("no directory with a `SOUL.md` in this workspace has this name")));
}

/// Checks the names of agents in an assertion.
pub(crate) fn check_assertion(assertion: &LintNode<'_>, files: &dyn Files, report: &mut Report) {
    let keys: &[&str] = match assertion.get("type").and_then(|kind| kind.text()) {
        Some("delegation_occurred") => &["to_agent", "from_agent"],
        Some("decision_routed_to") => &["expected_agent"],
        Some("delegation_path") => &["expected", "routing_path", "decision_path", "delegation_fallback_path"],
        _ => return,
    };
    for value in keys.iter().filter_map(|key| assertion.get(key)) {
        check_agent(&value, files, report);
        for (_, item) in value.texts() {
            check_agent(&item, files, report);
        }
    }
}

/// Checks the scenarios of baselines.
pub(crate) fn check_baselines(found: &[(String, LintNode<'_>)], files: &dyn Files, report: &mut Report) {
    let Some(names) = baselines::scenarios_beside(files) else { return };
    let known: HashSet<&str> = names.iter().map(String::as_str).collect();
    let mut search = Search::default();
    for (name, baseline) in found.iter().filter(|(name, _)| !known.contains(name.as_str())) {
        let near = search.nearest(name, names.iter().map(String::as_str));
        let rule = Unknown::new(format!("unknown scenario `{name}`"), near).key();
        report.push(baseline.head_finding(rule.note("the contract next to this file has no scenario with this name")));
    }
}

/// Checks that the approved scenario of a ledger entry is in the contract.
pub(crate) fn check_entry(item: &LintNode<'_>, contracts: &mut Contracts<'_>, report: &mut Report) {
    let Some(smoke) = item.find(&["verification", "approved_smoke_scenario"]) else { return };
    let Some(name) = smoke.text() else { return };
    let Some(Contract { names, search, .. }) = contracts.of(item.get("contracts").as_ref()) else { return };
    if !names.iter().any(|known| known == name) {
        let near = search.nearest(name, names.iter().map(String::as_str));
        let rule = Unknown::new(format!("the contract has no scenario `{name}`"), near);
        report.push(smoke.finding(rule.severity(Severity::Error)));
    }
}
