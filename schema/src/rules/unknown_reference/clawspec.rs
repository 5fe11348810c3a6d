//! Names of agents and of scenarios in ClawSpec's files.

use std::collections::HashSet;

use crate::{
    dialect::clawspec::{
        agents::{Standing, standing},
        baselines,
        ledger_contracts::{Contract, Contracts},
    },
    files::Files,
    finding::{Report, Rule, Site, Words},
    problem::{Code, Fix, Severity},
    shape::scalar,
    spot::Spot,
    words::Search,
};

/// A name that is nearly that of an agent.
#[derive(Debug)]
struct UnknownAgent {
    name: String,
    near: String,
}

/// A baseline of no scenario.
#[derive(Debug)]
struct UnknownScenario {
    name: String,
    near: Option<String>,
}

/// An approved scenario that the contract does not have.
#[derive(Debug)]
struct NotInContract {
    name: String,
    near: Option<String>,
}

/// Looks at a name of an agent.
pub(crate) fn check_agent(name: &Spot<'_>, files: &dyn Files, report: &mut Report) {
    let Some(text) = name.text() else { return };
    let Standing::Misspelt(near) = standing(text, files) else { return };
    report.push(name.finding(UnknownAgent { name: text.to_owned(), near }));
}

/// Looks at the names of agents in an assertion.
pub(crate) fn check_assertion(assertion: &Spot<'_>, files: &dyn Files, report: &mut Report) {
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

/// Looks at the scenarios that baselines belong to.
pub(crate) fn check_baselines(found: &[(String, Spot<'_>)], files: &dyn Files, report: &mut Report) {
    let Some(names) = baselines::scenarios_beside(files) else { return };
    let known: HashSet<&str> = names.iter().map(String::as_str).collect();
    let mut search = Search::default();
    for (name, baseline) in found.iter().filter(|(name, _)| !known.contains(name.as_str())) {
        let near = search.nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
        report.push(baseline.head_finding(UnknownScenario { name: name.clone(), near }));
    }
}

/// Looks at an entry of the coverage ledger: the approved scenario is one of the contract.
pub(crate) fn check_entry(item: &Spot<'_>, contracts: &mut Contracts<'_>, report: &mut Report) {
    let Some(smoke) = item.find(&["verification", "approved_smoke_scenario"]) else { return };
    let Some(name) = smoke.text() else { return };
    let Some(Contract { names, search, .. }) = contracts.of(item.get("contracts").as_ref()) else { return };
    if !names.iter().any(|known| known == name) {
        let near = search.nearest(name, names.iter().map(String::as_str)).map(str::to_owned);
        report.push(smoke.finding(NotInContract { name: name.to_owned(), near }));
    }
}

impl Rule for UnknownAgent {
    const CODE: Code = Code::UnknownReference;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, site: &Site<'_>) -> Words {
        Words::new(format!("unknown agent `{}`", self.name))
            .note("no directory with a `SOUL.md` in this workspace has this name")
            .remedy(format!("change it to `{}`", self.near), Fix::guess, site.replaced(scalar(&self.near)))
    }
}

impl Rule for UnknownScenario {
    const CODE: Code = Code::UnknownReference;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, _: &Site<'_>) -> Words {
        let words = Words::new(format!("unknown scenario `{}`", self.name))
            .note("the contract next to this file has no scenario with this name");
        match &self.near {
            Some(near) => words.help(format!("rename it to `{near}`")),
            None => words,
        }
    }
}

impl Rule for NotInContract {
    const CODE: Code = Code::UnknownReference;

    fn words(&self, _: &Site<'_>) -> Words {
        let words = Words::new(format!("the contract has no scenario `{}`", self.name));
        match &self.near {
            Some(near) => words.help(format!("change it to `{near}`")),
            None => words,
        }
    }
}
