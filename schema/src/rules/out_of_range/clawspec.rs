//! Numbers of baselines and assertions that are out of range.

use crate::{
    dialect::clawspec::{baselines::MIN_RUNS, waiting::waits},
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Severity},
};

use super::as_written;

/// A number that is out of range.
#[derive(Debug)]
enum OutOfRange {
    /// Fewer runs than a baseline requires.
    FewRuns,
    /// A negative standard deviation.
    Deviation,
    /// An infinite timeout.
    Infinite,
}

/// Checks the limit of an assertion that waits.
pub(crate) fn check_assertion(assertion: &LintNode<'_>, report: &mut Report) {
    let timeout = assertion.get("timeout").filter(|_| waits(assertion) == Some(true));
    let infinite = timeout.filter(|timeout| timeout.number().is_some_and(f64::is_infinite));
    report.extend(infinite.map(|timeout| timeout.finding(OutOfRange::Infinite)));
}

/// Checks the runs of a baseline, and what they measured.
pub(crate) fn check_baseline(baseline: &LintNode<'_>, report: &mut Report) {
    if let Some(runs) = baseline.get("runs")
        && runs.number().is_some_and(|count| count >= 1.0 && count < MIN_RUNS as f64)
    {
        report.push(runs.finding(OutOfRange::FewRuns));
    }
    for (_, distribution) in baseline.get("metrics").map(|it| it.entries()).unwrap_or_default() {
        if let Some(deviation) = distribution.get("stddev").filter(|it| it.number().is_some_and(|value| value < 0.0)) {
            report.push(deviation.finding(OutOfRange::Deviation));
        }
    }
}

impl Rule for OutOfRange {
    const CODE: Code = Code::OutOfRange;

    fn severity(&self) -> Severity {
        if matches!(self, OutOfRange::FewRuns) { Severity::Warning } else { Self::SEVERITY }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let expected = |what: String| MessageParts::new(format!("expected {what}, found {}", as_written(location)));
        match self {
            OutOfRange::FewRuns => expected(format!("an integer of at least {MIN_RUNS} for `runs`"))
                .help("capture the baseline again with more runs"),
            OutOfRange::Deviation => expected("a number of at least 0 for `stddev`".to_owned()),
            OutOfRange::Infinite => {
                expected("a finite number for `timeout`".to_owned()).help("write a number of seconds")
            }
        }
    }
}
