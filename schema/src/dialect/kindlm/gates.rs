//! `gates`: conditions on the whole run.
//!
//! Names, order, values and messages are KindLM's. There are two differences: gates in the file may allow failed
//! tests, as intended; and a gate is unknown if runs without a result could change it.

use serde_json::Value;

use crate::{
    check::amount,
    dialect::{CaseOutcome, Count, Gate, GateOutcome, GateReport, GateSource, Limit, RunOutcome, count::share},
    document::{NodeRef, Pointer},
    verdict::{FailureCode, Status, Verdict},
    words::plural,
};

/// Limits of one suite.
#[derive(Clone, Debug, PartialEq)]
pub struct Gates {
    pass_rate_min: Limit,
    schema_failures_max: Limit,
    judge_avg_min: Option<Limit>,
    drift_score_max: Option<Limit>,
    pii_failures_max: Limit,
    keyword_failures_max: Limit,
    cost_max_usd: Option<Limit>,
    latency_max_ms: Option<Limit>,
    deterministic_pass_rate: Option<Limit>,
    probabilistic_pass_rate: Option<Limit>,
}

const PASS_RATE: f64 = 0.95;
const SCHEMA_CODES: [FailureCode; 2] = [FailureCode::SchemaInvalid, FailureCode::SchemaParseError];
const PII_CODES: [FailureCode; 1] = [FailureCode::PiiDetected];
const KEYWORD_CODES: [FailureCode; 2] = [FailureCode::KeywordDenied, FailureCode::KeywordMissing];
const PROBABILISTIC: [&str; 2] = ["judge", "drift"];

impl Default for Gates {
    fn default() -> Gates {
        Gates::lower(None, None)
    }
}

impl Gates {
    /// Reads every valid limit. `pass_rate` is the value of the settings for `passRateMin`.
    pub fn lower(gates: Option<NodeRef<'_>>, pass_rate: Option<f64>) -> Gates {
        let written = |name: &str| {
            let value = gates?.get(name)?.to_checked_value(1).ok().as_ref().and_then(Value::as_f64)?;
            Some(Limit { value, source: GateSource::Suite(Pointer::root().key("gates").key(name)) })
        };
        let or = |name: &str, value: f64| written(name).unwrap_or(Limit { value, source: GateSource::Default });
        let of_settings = pass_rate.map(|value| Limit { value, source: GateSource::Settings });
        Gates {
            pass_rate_min: written("passRateMin").or(of_settings).unwrap_or_else(|| or("passRateMin", PASS_RATE)),
            schema_failures_max: or("schemaFailuresMax", 0.0),
            judge_avg_min: written("judgeAvgMin"),
            drift_score_max: written("driftScoreMax"),
            pii_failures_max: or("piiFailuresMax", 0.0),
            keyword_failures_max: or("keywordFailuresMax", 0.0),
            cost_max_usd: written("costMaxUsd"),
            latency_max_ms: written("latencyMaxMs"),
            deterministic_pass_rate: written("deterministicPassRate"),
            probabilistic_pass_rate: written("probabilisticPassRate"),
        }
    }

    /// Whether a gate that the author set covers this failure.
    fn measures(&self, failure: &Verdict) -> bool {
        let covers = |limit: &Limit, codes: &[FailureCode]| {
            limit.source.is_set() && failure.code.is_some_and(|code| codes.contains(&code))
        };
        let category =
            if is_probabilistic(failure) { &self.probabilistic_pass_rate } else { &self.deterministic_pass_rate };
        self.pass_rate_min.source.is_set()
            || category.is_some()
            || covers(&self.schema_failures_max, &SCHEMA_CODES)
            || covers(&self.pii_failures_max, &PII_CODES)
            || covers(&self.keyword_failures_max, &KEYWORD_CODES)
    }
}

fn is_probabilistic(verdict: &Verdict) -> bool {
    PROBABILISTIC.contains(&verdict.kind)
}

/// Returns whether the share of passed results reaches a limit, whatever the open ones turn out to be.
fn reaches(count: Count, limit: f64) -> Status {
    if share(count.passed, count.all()) >= limit {
        Status::Pass
    } else if share(count.passed + count.open, count.all()) >= limit {
        Status::Unknown
    } else {
        Status::Fail
    }
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

    fn pass_rate(&self, limit: &Limit) -> GateOutcome {
        let mut count = Count::default();
        self.runs().for_each(|run| count.add(run.status));
        rate("passRateMin", "Pass rate", count, limit)
    }

    fn failures(&self, name: &'static str, title: &str, codes: &[FailureCode], limit: &Limit) -> GateOutcome {
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
        let shown = crate::check::json::number_text(limit.value);
        if status == Status::Pass && (failed + open) as f64 > limit.value {
            let unknown = plural(open, "unknown result");
            let message = format!("{title} {failed} within limit {shown}, but {unknown} could change this");
            return outcome(name, limit, Status::Unknown, failed as f64, message);
        }
        outcome(name, limit, status, failed as f64, format!("{title} {failed} {word} limit {shown}"))
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

    fn judge_average(&self, limit: &Limit) -> GateOutcome {
        let (means, open) = self.scores("judge");
        if open {
            return unknown("judgeAvgMin", "Judge average", limit, 0.0);
        }
        if means.is_empty() {
            let message = format!("Judge average N/A meets minimum {} {}", percent(limit.value), trivial("judge"));
            return outcome("judgeAvgMin", limit, Status::Pass, 1.0, message);
        }
        let average = means.iter().sum::<f64>() / means.len() as f64;
        at_least("judgeAvgMin", "Judge average", average, limit)
    }

    fn drift(&self, limit: &Limit) -> GateOutcome {
        let (means, open) = self.scores("drift");
        if open {
            return unknown("driftScoreMax", "Drift score", limit, 0.0);
        }
        if means.is_empty() {
            let message = format!("Drift score N/A within limit {} {}", percent(limit.value), trivial("drift"));
            return outcome("driftScoreMax", limit, Status::Pass, 0.0, message);
        }
        let worst = means.iter().map(|mean| 1.0 - mean).fold(f64::MIN, f64::max);
        at_most("driftScoreMax", "Drift score", worst, limit, 1, percentage)
    }

    fn cost(&self, limit: &Limit) -> GateOutcome {
        let total: f64 = self.runs().filter_map(|run| run.cost_usd).sum();
        if !amount::exceeds(total, limit.value) && self.runs().any(|run| run.cost_usd.is_none()) {
            return unknown("costMaxUsd", "Total cost", limit, total);
        }
        at_most("costMaxUsd", "Total cost", total, limit, 4, |value, decimals| format!("${}", fixed(value, decimals)))
    }

    fn latency(&self, limit: &Limit) -> GateOutcome {
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
        if known.len() < means.len() {
            return unknown("latencyMaxMs", "Average latency", limit, average);
        }
        let status = if amount::exceeds(average, limit.value) { Status::Fail } else { Status::Pass };
        if status == Status::Pass && self.runs().any(|run| run.duration_is_open) {
            return unknown("latencyMaxMs", "Average latency", limit, average);
        }
        let word = if status == Status::Pass { "within" } else { "exceeds" };
        let shown = crate::check::json::number_text(limit.value);
        let (average_text, _) = shown_beside(average, limit, status, 0, fixed);
        let message = format!("Average latency {average_text}ms {word} limit {shown}ms");
        outcome("latencyMaxMs", limit, status, average, message)
    }

    /// Returns the gate on the share of passed results of a category. A broken run counts as one open result.
    fn category(&self, name: &'static str, title: &str, word: &str, probabilistic: bool, limit: &Limit) -> GateOutcome {
        let mut count = Count::default();
        for run in self.runs() {
            let rows = run.verdicts.iter().filter(|verdict| is_probabilistic(verdict) == probabilistic);
            rows.for_each(|verdict| count.add(verdict.outcome.status()));
            if run.status == Status::Error && run.verdicts.is_empty() && !probabilistic {
                count.add(Status::Error);
            }
        }
        if count.all() == 0 {
            let message = format!("{title} N/A meets minimum {} {}", percent(limit.value), trivial(word));
            return outcome(name, limit, Status::Pass, 1.0, message);
        }
        rate(name, title, count, limit)
    }
}

fn outcome(name: &'static str, limit: &Limit, status: Status, actual: f64, message: String) -> GateOutcome {
    GateOutcome { name, source: limit.source.clone(), status, expected: limit.value, actual, message }
}

fn rate(name: &'static str, title: &str, count: Count, limit: &Limit) -> GateOutcome {
    let (status, passed) = (reaches(count, limit.value), share(count.passed, count.all()));
    if status == Status::Unknown {
        let message = format!(
            "{title} {} below minimum {}, but {} could change this",
            percent(passed),
            percent(limit.value),
            count.open_attempts()
        );
        return outcome(name, limit, status, passed, message);
    }
    at_least(name, title, passed, limit)
}

fn at_least(name: &'static str, title: &str, actual: f64, limit: &Limit) -> GateOutcome {
    let passes = !amount::is_below(actual, limit.value);
    let (status, word) = if passes { (Status::Pass, "meets") } else { (Status::Fail, "below") };
    let (shown, minimum) = shown_beside(actual, limit, status, 1, percentage);
    let message = format!("{title} {shown} {word} minimum {minimum}");
    outcome(name, limit, status, actual, message)
}

fn at_most(
    name: &'static str,
    title: &str,
    actual: f64,
    limit: &Limit,
    decimals: usize,
    show: impl Fn(f64, usize) -> String,
) -> GateOutcome {
    let passes = !amount::exceeds(actual, limit.value);
    let (status, word) = if passes { (Status::Pass, "within") } else { (Status::Fail, "exceeds") };
    let (shown, most) = shown_beside(actual, limit, status, decimals, show);
    let message = format!("{title} {shown} {word} limit {most}");
    outcome(name, limit, status, actual, message)
}

/// Returns a number and its limit as text. If the number violates the limit, they look different.
fn shown_beside(
    actual: f64,
    limit: &Limit,
    status: Status,
    decimals: usize,
    show: impl Fn(f64, usize) -> String,
) -> (String, String) {
    match status {
        Status::Pass => (show(actual, decimals), show(limit.value, decimals)),
        _ => amount::shown_apart(actual, limit.value, decimals, show),
    }
}

fn unknown(name: &'static str, title: &str, limit: &Limit, actual: f64) -> GateOutcome {
    let message = format!("{title} is unknown: not every run has a result");
    outcome(name, limit, Status::Unknown, actual, message)
}

fn trivial(word: &str) -> String {
    format!("(no {word} assertions found — gate trivially passed)")
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
        let mut gates = vec![
            facts.pass_rate(&self.pass_rate_min),
            facts.failures("schemaFailuresMax", "Schema failures", &SCHEMA_CODES, &self.schema_failures_max),
        ];
        gates.extend(self.judge_avg_min.as_ref().map(|limit| facts.judge_average(limit)));
        gates.extend(self.drift_score_max.as_ref().map(|limit| facts.drift(limit)));
        gates.push(facts.failures("piiFailuresMax", "PII failures", &PII_CODES, &self.pii_failures_max));
        gates
            .push(facts.failures("keywordFailuresMax", "Keyword failures", &KEYWORD_CODES, &self.keyword_failures_max));
        gates.extend(self.cost_max_usd.as_ref().map(|limit| facts.cost(limit)));
        gates.extend(self.latency_max_ms.as_ref().map(|limit| facts.latency(limit)));
        gates.extend(self.deterministic_pass_rate.as_ref().map(|limit| {
            facts.category("deterministicPassRate", "Deterministic pass rate", "deterministic", false, limit)
        }));
        gates.extend(self.probabilistic_pass_rate.as_ref().map(|limit| {
            facts.category("probabilisticPassRate", "Probabilistic pass rate", "probabilistic", true, limit)
        }));
        let rescued = cases.iter().any(|case| case.status == Status::Fail)
            && gates.iter().all(|gate| gate.status == Status::Pass)
            && facts.verdicts().filter(|verdict| verdict.outcome.status() == Status::Fail).all(|it| self.measures(it));
        GateReport { gates, rescued }
    }
}

#[cfg(test)]
mod tests;
