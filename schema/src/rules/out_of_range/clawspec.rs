//! Numbers of baselines and assertions that are out of range.

use crate::{
    dialect::clawspec::{baselines::MIN_RUNS, waiting::waits},
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Severity},
};

use super::as_written;

/// Fewer runs than a baseline requires.
#[derive(Debug)]
struct FewRuns;

/// A negative standard deviation.
#[derive(Debug)]
struct Deviation;

/// An infinite timeout.
#[derive(Debug)]
struct Infinite;

/// Checks the limit of an assertion that waits.
pub(crate) fn check_assertion(assertion: &LintNode<'_>, report: &mut Report) {
    let timeout = assertion.get("timeout").filter(|_| waits(assertion) == Some(true));
    let infinite = timeout.filter(|timeout| timeout.number().is_some_and(f64::is_infinite));
    report.extend(infinite.map(|timeout| timeout.finding(Infinite)));
}

/// Checks the runs of a baseline, and what they measured.
pub(crate) fn check_baseline(baseline: &LintNode<'_>, report: &mut Report) {
    if let Some(runs) = baseline.get("runs")
        && runs.number().is_some_and(|count| count >= 1.0 && count < MIN_RUNS as f64)
    {
        report.push(runs.finding(FewRuns));
    }
    for (_, distribution) in baseline.get("metrics").map(|it| it.entries()).unwrap_or_default() {
        if let Some(deviation) = distribution.get("stddev").filter(|it| it.number().is_some_and(|value| value < 0.0)) {
            report.push(deviation.finding(Deviation));
        }
    }
}

impl Rule for FewRuns {
    const CODE: Code = Code::OutOfRange;
    const SEVERITY: Severity = Severity::Warning;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        MessageParts::new(format!(
            "expected an integer of at least {MIN_RUNS} for `runs`, found {}",
            as_written(location)
        ))
        .help("capture the baseline again with more runs")
    }
}

impl Rule for Deviation {
    const CODE: Code = Code::OutOfRange;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("expected a number of at least 0 for `stddev`, found {}", as_written(location)))
    }
}

impl Rule for Infinite {
    const CODE: Code = Code::OutOfRange;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("expected a finite number for `timeout`, found {}", as_written(location)))
            .help("write a number of seconds")
    }
}
