//! Thresholds of a suite of cli-bench that are for no model.

use crate::{
    dialect::cli_bench::limits::Limits,
    finding::{Report, Rule, Site, Words},
    problem::Code,
    spot::Spot,
};

/// Thresholds without one.
#[derive(Debug)]
struct NoThreshold;

/// Looks at `thresholds`.
pub(crate) fn check_root(root: &Spot<'_>, report: &mut Report) {
    let Some(limits) = Limits::of(root) else { return };
    let models_are_wrong = limits.thresholds.get("models").is_some_and(|models| !models.is_mapping());
    if limits.default.is_none() && limits.models.is_empty() && !models_are_wrong {
        report.push(limits.thresholds.head_finding(NoThreshold));
    }
}

impl Rule for NoThreshold {
    const CODE: Code = Code::Unchecked;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new("`thresholds` does not set a threshold").help("add `default`, or list models under `models`")
    }
}
