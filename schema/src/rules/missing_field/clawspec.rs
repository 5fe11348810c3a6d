//! Contracts that the coverage ledger does not name.

use crate::{
    finding::{Report, Rule, Site, Words},
    problem::{Code, Severity},
    spot::Spot,
};

/// An entry of an orchestrator that lacks a kind of contract.
#[derive(Debug)]
struct NoContract {
    key: &'static str,
    covers: &'static str,
}

/// Looks at an entry of the coverage ledger.
pub(crate) fn check_entry(item: &Spot<'_>, report: &mut Report) {
    let Some(contracts) = item.get("contracts") else { return };
    if item.get("tier").is_none_or(|tier| tier.text() != Some("orchestrator")) {
        return;
    }
    for (key, covers) in [("pipeline_file", "pipeline"), ("handoff_files", "handoffs")] {
        if contracts.get(key).is_none() {
            report.push(item.head_finding(NoContract { key, covers }));
        }
    }
}

impl Rule for NoContract {
    fn code(&self) -> Code {
        Code::MissingField
    }

    fn severity(&self) -> Severity {
        Severity::Hint
    }

    fn is_about_absence(&self) -> bool {
        true
    }

    fn words(&self, _: &Site<'_>) -> Words {
        let NoContract { key, covers } = self;
        Words::new(format!("an orchestrator has no `{key}`"))
            .note(format!("no contract covers its {covers}, and `clawspec coverage` counts no gap for that"))
    }
}
