//! `gates`: conditions on the whole run.
//!
//! Names, order, values and messages are KindLM's. There are two differences: gates in the file may allow failed
//! tests, as intended; and a gate is unknown if runs without a result could change it.

use crate::{
    check::{amount, json::number_text},
    document::{NodeRef, Pointer},
    gates::{CaseOutcome, Count, Gate, GateOutcome, GateReport, GateSource, Limit, RunOutcome, share},
    verdict::{FailureCode, Status, Verdict},
    words::plural,
};

/// Limits of one suite, in the order of reports.
#[derive(Clone, Debug, PartialEq)]
pub struct Gates(Vec<(&'static Rule, Limit)>);

/// A kind of gate.
#[derive(Debug, PartialEq)]
struct Rule {
    name: &'static str,
    /// What it limits, for messages.
    title: &'static str,
    /// Limit where none is set.
    default: Option<f64>,
    measure: Measure,
}

/// What a gate measures.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Measure {
    /// The share of passed attempts.
    PassRate,
    /// The number of failures with these codes.
    Failures(&'static [FailureCode]),
    JudgeAverage,
    Drift,
    Cost,
    Latency,
    /// The share of passed results that a model does not, or does, influence.
    Results {
        are_probabilistic: bool,
    },
}

const fn rule(name: &'static str, title: &'static str, default: Option<f64>, measure: Measure) -> Rule {
    Rule { name, title, default, measure }
}

static RULES: [Rule; 10] = [
    rule("passRateMin", "Pass rate", Some(0.95), Measure::PassRate),
    rule(
        "schemaFailuresMax",
        "Schema failures",
        Some(0.0),
        Measure::Failures(&[FailureCode::SchemaInvalid, FailureCode::SchemaParseError]),
    ),
    rule("judgeAvgMin", "Judge average", None, Measure::JudgeAverage),
    rule("driftScoreMax", "Drift score", None, Measure::Drift),
    rule("piiFailuresMax", "PII failures", Some(0.0), Measure::Failures(&[FailureCode::PiiDetected])),
    rule(
        "keywordFailuresMax",
        "Keyword failures",
        Some(0.0),
        Measure::Failures(&[FailureCode::KeywordDenied, FailureCode::KeywordMissing]),
    ),
    rule("costMaxUsd", "Total cost", None, Measure::Cost),
    rule("latencyMaxMs", "Average latency", None, Measure::Latency),
    rule("deterministicPassRate", "Deterministic pass rate", None, Measure::Results { are_probabilistic: false }),
    rule("probabilisticPassRate", "Probabilistic pass rate", None, Measure::Results { are_probabilistic: true }),
];

impl Default for Gates {
    fn default() -> Gates {
        Gates::lower(None, None)
    }
}

impl Gates {
    /// Reads every valid limit. `pass_rate` is the value of the settings for `passRateMin`.
    pub fn lower(gates: Option<NodeRef<'_>>, pass_rate: Option<f64>) -> Gates {
        let limit = |rule: &'static Rule| {
            let written = gates.and_then(|gates| gates.get(rule.name)?.to_checked_value(1).ok()?.as_f64());
            let of_settings = pass_rate.filter(|_| rule.measure == Measure::PassRate);
            let (value, source) = match (written, of_settings) {
                (Some(value), _) => (value, GateSource::Suite(Pointer::root().key("gates").key(rule.name))),
                (None, Some(value)) => (value, GateSource::Settings),
                (None, None) => (rule.default?, GateSource::Default),
            };
            Some((rule, Limit { value, source }))
        };
        Gates(RULES.iter().filter_map(limit).collect())
    }

    /// Whether a gate that the author set covers this failure.
    fn measures(&self, failure: &Verdict) -> bool {
        self.0.iter().filter(|(_, limit)| limit.source.is_set()).any(|(rule, _)| match rule.measure {
            Measure::PassRate => true,
            Measure::Failures(codes) => failure.code.is_some_and(|code| codes.contains(&code)),
            Measure::Results { are_probabilistic } => is_probabilistic(failure) == are_probabilistic,
            Measure::JudgeAverage | Measure::Drift | Measure::Cost | Measure::Latency => false,
        })
    }
}

fn is_probabilistic(verdict: &Verdict) -> bool {
    ["judge", "drift"].contains(&verdict.kind)
}

struct Facts<'c> {
    cases: &'c [CaseOutcome<'c>],
}

impl<'c> Facts<'c> {
    fn runs(&self) -> impl Iterator<Item = &'c RunOutcome<'c>> {
        self.cases.iter().flat_map(|case| &case.runs)
    }

    fn verdicts(&self) -> impl Iterator<Item = &'c Verdict> {
        self.runs().flat_map(|run| run.verdicts.iter().copied())
    }

    /// Returns the runs of each pair of a case and a subject.
    fn pairs(&self) -> Vec<Vec<&'c RunOutcome<'c>>> {
        let mut pairs: Vec<Vec<&RunOutcome<'_>>> = Vec::new();
        for case in self.cases {
            let start = pairs.len();
            for run in &case.runs {
                match pairs[start..].iter_mut().find(|pair| pair[0].subject == run.subject) {
                    Some(pair) => pair.push(run),
                    None => pairs.push(vec![run]),
                }
            }
        }
        pairs
    }

    fn gate(&self, rule: &'static Rule, limit: &Limit) -> GateOutcome {
        let gate = Measured { rule, limit };
        match rule.measure {
            Measure::PassRate => {
                let mut count = Count::default();
                self.runs().for_each(|run| count.add(run.status));
                gate.rate(count)
            }
            Measure::Failures(codes) => self.failures(gate, codes),
            Measure::JudgeAverage => self.judge_average(gate),
            Measure::Drift => self.drift(gate),
            Measure::Cost => self.cost(gate),
            Measure::Latency => self.latency(gate),
            Measure::Results { are_probabilistic } => self.results(gate, are_probabilistic),
        }
    }

    fn failures(&self, gate: Measured<'_>, codes: &[FailureCode]) -> GateOutcome {
        let Measured { rule: Rule { title, .. }, limit } = gate;
        let failed = self.verdicts().filter(|verdict| verdict.code.is_some_and(|code| codes.contains(&code))).count();
        // Claims about the text of the output have the same kind as those about its schema, but separate codes.
        let is_about_text = |verdict: &Verdict| {
            verdict
                .at
                .steps()
                .any(|step| step.key().is_some_and(|key| ["contains", "notContains", "maxLength"].contains(&key)))
        };
        let is_open = |verdict: &&Verdict| {
            let could_fail = |code: &FailureCode| {
                let code = code.as_str();
                verdict.kind.starts_with(code.split('_').next().unwrap_or(code).to_ascii_lowercase().as_str())
            };
            verdict.outcome.status() == Status::Unknown && codes.iter().any(could_fail) && !is_about_text(verdict)
        };
        let open = self.verdicts().filter(is_open).count();
        let status = if failed as f64 <= limit.value { Status::Pass } else { Status::Fail };
        let word = if status == Status::Pass { "within" } else { "exceed" };
        let shown = number_text(limit.value);
        if status == Status::Pass && (failed + open) as f64 > limit.value {
            let unknown = plural(open, "unknown result");
            let message = format!("{title} {failed} within limit {shown}, but {unknown} could change this");
            return gate.outcome(Status::Unknown, failed as f64, message);
        }
        gate.outcome(status, failed as f64, format!("{title} {failed} {word} limit {shown}"))
    }

    /// Returns the scores of one kind, as a mean for each label of each pair; and whether a row has no score.
    fn scores(&self, kind: &str) -> (Vec<f64>, bool) {
        let mut means = Vec::new();
        let mut open = false;
        for pair in self.pairs() {
            let mut by_label: Vec<(&str, f64, usize)> = Vec::new();
            for verdict in pair.iter().flat_map(|run| &run.verdicts).filter(|verdict| verdict.kind == kind) {
                let Some(score) = verdict.score else {
                    open = true;
                    continue;
                };
                match by_label.iter_mut().find(|(label, ..)| *label == verdict.label) {
                    Some((_, sum, count)) => {
                        *sum += score;
                        *count += 1;
                    }
                    None => by_label.push((&verdict.label, score, 1)),
                }
            }
            means.extend(by_label.into_iter().map(|(_, sum, count)| sum / count as f64));
        }
        (means, open)
    }

    fn judge_average(&self, gate: Measured<'_>) -> GateOutcome {
        match self.scores("judge") {
            (_, true) => gate.unknown(0.0),
            (means, false) if means.is_empty() => gate.trivial("meets minimum", "judge", 1.0),
            (means, false) => gate.at_least(means.iter().sum::<f64>() / means.len() as f64),
        }
    }

    fn drift(&self, gate: Measured<'_>) -> GateOutcome {
        match self.scores("drift") {
            (_, true) => gate.unknown(0.0),
            (means, false) if means.is_empty() => gate.trivial("within limit", "drift", 0.0),
            (means, false) => gate.at_most(means.iter().map(|mean| 1.0 - mean).fold(f64::MIN, f64::max), 1, percentage),
        }
    }

    fn cost(&self, gate: Measured<'_>) -> GateOutcome {
        let total: f64 = self.runs().filter_map(|run| run.cost_usd).sum();
        if !amount::exceeds(total, gate.limit.value) && self.runs().any(|run| run.cost_usd.is_none()) {
            return gate.unknown(total);
        }
        gate.at_most(total, 4, |value, decimals| format!("${}", fixed(value, decimals)))
    }

    fn latency(&self, gate: Measured<'_>) -> GateOutcome {
        let means: Vec<Option<f64>> = self
            .pairs()
            .iter()
            .map(|runs| {
                let known: Vec<f64> = runs.iter().filter_map(|run| run.duration_ms).collect();
                (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
            })
            .collect();
        let known: Vec<f64> = means.iter().flatten().copied().collect();
        let average = if known.is_empty() { 0.0 } else { known.iter().sum::<f64>() / known.len() as f64 };
        let status = if amount::exceeds(average, gate.limit.value) { Status::Fail } else { Status::Pass };
        let is_open = status == Status::Pass && self.runs().any(|run| run.duration_is_open);
        if known.len() < means.len() || is_open {
            return gate.unknown(average);
        }
        let word = if status == Status::Pass { "within" } else { "exceeds" };
        let shown = number_text(gate.limit.value);
        let (average_text, _) = gate.shown_beside(average, status, 0, fixed);
        let message = format!("Average latency {average_text}ms {word} limit {shown}ms");
        gate.outcome(status, average, message)
    }

    /// Returns the gate on the share of passed results of a category. A broken run counts as one open result.
    fn results(&self, gate: Measured<'_>, are_probabilistic: bool) -> GateOutcome {
        let mut count = Count::default();
        for run in self.runs() {
            let rows = run.verdicts.iter().filter(|verdict| is_probabilistic(verdict) == are_probabilistic);
            rows.for_each(|verdict| count.add(verdict.outcome.status()));
            if run.status == Status::Error && run.verdicts.is_empty() && !are_probabilistic {
                count.add(Status::Error);
            }
        }
        if count.all() == 0 {
            let word = if are_probabilistic { "probabilistic" } else { "deterministic" };
            return gate.trivial("meets minimum", word, 1.0);
        }
        gate.rate(count)
    }
}

/// A gate with its limit.
#[derive(Clone, Copy)]
struct Measured<'l> {
    rule: &'static Rule,
    limit: &'l Limit,
}

impl Measured<'_> {
    fn outcome(self, status: Status, actual: f64, message: String) -> GateOutcome {
        let Measured { rule: Rule { name, .. }, limit } = self;
        GateOutcome { name, source: limit.source.clone(), status, expected: limit.value, actual, message }
    }

    fn unknown(self, actual: f64) -> GateOutcome {
        let message = format!("{} is unknown: not every run has a result", self.rule.title);
        self.outcome(Status::Unknown, actual, message)
    }

    /// Returns the outcome if there is nothing to measure.
    fn trivial(self, relation: &str, word: &str, actual: f64) -> GateOutcome {
        let (title, limit) = (self.rule.title, percent(self.limit.value));
        let message = format!("{title} N/A {relation} {limit} (no {word} assertions found — gate trivially passed)");
        self.outcome(Status::Pass, actual, message)
    }

    /// Returns the outcome for a share of passed results, some of which may be open.
    fn rate(self, count: Count) -> GateOutcome {
        let (limit, passed) = (self.limit.value, share(count.passed, count.all()));
        if passed < limit && share(count.passed + count.open, count.all()) >= limit {
            let (title, open) = (self.rule.title, count.open_attempts());
            let (passed_text, limit) = (percent(passed), percent(limit));
            let message = format!("{title} {passed_text} below minimum {limit}, but {open} could change this");
            return self.outcome(Status::Unknown, passed, message);
        }
        self.at_least(passed)
    }

    fn at_least(self, actual: f64) -> GateOutcome {
        let passes = !amount::is_below(actual, self.limit.value);
        let (status, word) = if passes { (Status::Pass, "meets") } else { (Status::Fail, "below") };
        let (shown, minimum) = self.shown_beside(actual, status, 1, percentage);
        self.outcome(status, actual, format!("{} {shown} {word} minimum {minimum}", self.rule.title))
    }

    fn at_most(self, actual: f64, decimals: usize, show: impl Fn(f64, usize) -> String) -> GateOutcome {
        let passes = !amount::exceeds(actual, self.limit.value);
        let (status, word) = if passes { (Status::Pass, "within") } else { (Status::Fail, "exceeds") };
        let (shown, most) = self.shown_beside(actual, status, decimals, show);
        self.outcome(status, actual, format!("{} {shown} {word} limit {most}", self.rule.title))
    }

    /// Returns a number and the limit as text. If the number violates the limit, they look different.
    fn shown_beside(
        self,
        actual: f64,
        status: Status,
        decimals: usize,
        show: impl Fn(f64, usize) -> String,
    ) -> (String, String) {
        match status == Status::Pass {
            true => (show(actual, decimals), show(self.limit.value, decimals)),
            false => amount::shown_apart(actual, self.limit.value, decimals, show),
        }
    }
}

fn percent(value: f64) -> String {
    percentage(value, 1)
}

fn percentage(value: f64, decimals: usize) -> String {
    format!("{}%", fixed(value * 100.0, decimals))
}

/// Returns a fixed number of decimals, rounded as in JavaScript: halves go up.
fn fixed(value: f64, decimals: usize) -> String {
    let scale = 10_f64.powi(i32::try_from(decimals).unwrap_or(0));
    let scaled = value * scale;
    if scaled.fract() == 0.5 && scaled / scale == value {
        return format!("{:.decimals$}", scaled.ceil() / scale);
    }
    format!("{value:.decimals$}")
}

// Gates measure averages, which every attempt changes, so none is decided before the last attempt.
impl Gate for Gates {
    fn evaluate(&self, cases: &[CaseOutcome<'_>]) -> GateReport {
        let facts = Facts { cases };
        let gates: Vec<GateOutcome> = self.0.iter().map(|(rule, limit)| facts.gate(rule, limit)).collect();
        let rescued = cases.iter().any(|case| case.status == Status::Fail)
            && gates.iter().all(|gate| gate.status == Status::Pass)
            && facts.verdicts().filter(|verdict| verdict.outcome.status() == Status::Fail).all(|it| self.measures(it));
        GateReport { gates, rescued }
    }
}

#[cfg(test)]
mod tests;
