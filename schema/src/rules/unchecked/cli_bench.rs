//! Thresholds of a cli-bench suite that apply to no model.

use crate::{
    dialect::cli_bench::limits::Limits,
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::Code,
};

/// Thresholds without any value.
#[derive(Debug)]
struct NoThreshold;

/// Checks `thresholds`.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    let Some(limits) = Limits::of(root) else { return };
    let models_are_wrong = limits.thresholds.get("models").is_some_and(|models| !models.is_mapping());
    if limits.default.is_none() && limits.models.is_empty() && !models_are_wrong {
        report.push(limits.thresholds.head_finding(NoThreshold));
    }
}

impl Rule for NoThreshold {
    const CODE: Code = Code::Unchecked;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new("`thresholds` does not set a threshold").help("add `default`, or list models under `models`")
    }
}
