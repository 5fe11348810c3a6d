//! Assertions and thresholds of a cli-bench suite that cannot fail, because of others.

use crate::{
    dialect::cli_bench::{asserted::Asserted, limits::Limits},
    finding::{MessageParts, Report},
    lint_node::LintNode,
    problem::Code,
};

/// Checks the assertions of a task together.
pub(crate) fn check_assertions(asserted: &Asserted<'_>, report: &mut Report) {
    if asserted.types.is_some() && asserted.are_idle() {
        let words = MessageParts::new("a model that does nothing passes all of these assertions")
            .help("add an assertion about what must happen");
        report.push(asserted.list.head_absence(Code::VacuousClaim, words));
    }
}

/// Checks `thresholds`.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    let Some(limits) = Limits::of(root) else { return };
    // An invalid tolerance is reported separately.
    let tolerance = limits.thresholds.get("tolerance").and_then(|node| Some((node.number()?, node)));
    let Some((tolerance, node)) = tolerance.filter(|(tolerance, _)| *tolerance > 0.0 && *tolerance <= 100.0) else {
        return;
    };
    for (threshold, limit) in limits.all().filter(|(threshold, _)| *threshold > 0.0 && tolerance >= *threshold) {
        let message = format!("with a tolerance of {tolerance}, every model meets a threshold of {threshold}");
        let words = MessageParts::new(message).help("raise it, or lower `tolerance`");
        report.push(limit.problem(Code::VacuousClaim, words).with("the tolerance", &node));
    }
}
