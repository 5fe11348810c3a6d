//! Assertions and thresholds of a cli-bench suite that cannot fail.

use crate::{
    dialect::cli_bench::{asserted::Asserted, limits::Limits},
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::Code,
};

/// An assertion that cannot fail.
#[derive(Debug)]
enum Vacuous {
    /// An empty string, which every output contains.
    EmptyOutput,
    /// An empty string next to a command that is checked anyway.
    EmptyOutputOfCommand,
    /// An empty string, which every file contains.
    EmptyContent,
    /// A count without bounds.
    NoBounds,
    /// A count of at least 0.
    LeastZero,
    /// A command that always succeeds.
    Succeeding,
    /// A command that succeeds regardless of the commands before it.
    SucceedingAfterwards,
    /// All assertions of a task, if the model does nothing.
    Idle,
}

/// A threshold that every model reaches.
#[derive(Debug)]
enum Reached {
    /// 0 percent.
    Zero,
    /// A threshold that is not greater than the tolerance.
    ByTolerance { threshold: f64, tolerance: f64 },
}

/// Checks one assertion.
pub(crate) fn check_assertion(item: &LintNode<'_>, report: &mut Report) {
    let is_empty = |lint_node: &LintNode<'_>| lint_node.text() == Some("");
    for name in ["output_contains", "error_contains"] {
        if let Some(lint_node) = item.get(name).filter(is_empty) {
            report.push(lint_node.finding(Vacuous::EmptyOutput));
        }
    }
    if let Some(lint_node) = item.find(&["file_contains", "text"]).filter(is_empty) {
        report.push(lint_node.finding(Vacuous::EmptyContent));
    }
    if let Some(count) = item.get("run_count").filter(LintNode::is_mapping) {
        check_count(&count, report);
    }
    let Some(verify) = item.get("verify") else { return };
    if let Some(lint_node) = verify.get("output_contains").filter(is_empty) {
        report.push(lint_node.finding(Vacuous::EmptyOutputOfCommand));
    }
    let Some(run) = verify.get("run") else { return };
    let command = run.text().unwrap_or_default().trim();
    if ["output_contains", "output_equals"].iter().any(|key| verify.get(key).is_some()) {
        return;
    }
    let ends = |end: &str| command.strip_suffix(end).is_some_and(|rest| rest.trim_end().ends_with("||"));
    if ["true", ":"].contains(&command) {
        report.push(run.finding(Vacuous::Succeeding));
    } else if ["true", ":", "exit 0"].iter().any(|end| ends(end)) {
        report.push(run.finding(Vacuous::SucceedingAfterwards));
    }
}

fn check_count(count: &LintNode<'_>, report: &mut Report) {
    let (min, max) = (count.get("min"), count.get("max"));
    // A bound under another name is reported separately.
    let is_known = |(name, _): &(String, LintNode<'_>)| ["pattern", "min", "max"].contains(&name.as_str());
    match (min, max) {
        (None, None) if !count.entries().iter().all(is_known) => {}
        (None, None) => report.push(count.finding(Vacuous::NoBounds)),
        (Some(min), None) if min.number() == Some(0.0) => report.push(min.finding(Vacuous::LeastZero)),
        (Some(_), _) | (None, Some(_)) => {}
    }
}

/// Checks the assertions of a task together.
pub(crate) fn check_assertions(asserted: &Asserted<'_>, report: &mut Report) {
    if asserted.types.is_some() && asserted.are_idle() {
        report.push(asserted.list.head_finding(Vacuous::Idle));
    }
}

/// Checks `thresholds`.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    let Some(limits) = Limits::of(root) else { return };
    let tolerance = limits.thresholds.get("tolerance");
    // An invalid tolerance is reported separately.
    let tolerance = tolerance
        .and_then(|lint_node| Some((lint_node.number().filter(|it| (0.0..=100.0).contains(it))?, lint_node)))
        .filter(|(taken_off, _)| *taken_off > 0.0);
    for (threshold, limit) in limits.all() {
        if threshold == 0.0 {
            report.push(limit.finding(Reached::Zero));
        } else if let Some((tolerance, lint_node)) = tolerance.as_ref().filter(|(tolerance, _)| *tolerance >= threshold)
        {
            let rule = Reached::ByTolerance { threshold, tolerance: *tolerance };
            report.push(limit.finding(rule).with("the tolerance", lint_node));
        }
    }
}

impl Rule for Vacuous {
    const CODE: Code = Code::VacuousClaim;

    fn is_about_absence(&self) -> bool {
        // The part that would make it fail may be in text that cannot be parsed.
        true
    }

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let every_output = "every output contains the empty string, so the output is not checked";
        match self {
            Vacuous::EmptyOutput => MessageParts::new(every_output).help("write what the output must contain"),
            Vacuous::EmptyOutputOfCommand => MessageParts::new(every_output).help("remove it"),
            Vacuous::EmptyContent => {
                MessageParts::new("every file contains the empty string, so only its existence is checked")
                    .help("use `file_exists` to check only that the file exists")
            }
            Vacuous::NoBounds => {
                MessageParts::new("`run_count` without `min` or `max` always passes").help("add `min` or `max`")
            }
            Vacuous::LeastZero => MessageParts::new("a count is never below 0, so this assertion always passes")
                .help("write at least 1, or add `max`"),
            Vacuous::Succeeding => {
                MessageParts::new("this command always succeeds").help("run a command that can fail")
            }
            Vacuous::SucceedingAfterwards => {
                MessageParts::new("the command after `||` always succeeds").help("remove `||` and everything after it")
            }
            Vacuous::Idle => MessageParts::new("a model that does nothing passes all of these assertions")
                .help("add an assertion about what must happen"),
        }
    }
}

impl Rule for Reached {
    const CODE: Code = Code::VacuousClaim;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        match self {
            Reached::Zero => MessageParts::new("every model meets a threshold of 0").help("raise it, or remove it"),
            Reached::ByTolerance { threshold, tolerance } => MessageParts::new(format!(
                "with a tolerance of {tolerance}, every model meets a threshold of {threshold}"
            ))
            .help("raise it, or lower `tolerance`"),
        }
    }
}
