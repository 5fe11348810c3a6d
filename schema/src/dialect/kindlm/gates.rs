//! `gates`: conditions on the whole run.
//!
//! Names, order, values and messages are KindLM's. There are two differences: gates in the file may allow failed
//! tests, as intended; and a gate is unknown if what is missing could change it: results, scores, durations or costs.

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

#[derive(Debug, PartialEq)]
struct Rule {
    name: &'static str,
    /// What it limits, for messages.
    title: &'static str,
    /// Limit where none is set.
    default: Option<f64>,
    measure: Measure,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Measure {
    /// The share of passed attempts.
    PassRate,
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

/// A gate with its limit, and the cases to measure.
#[derive(Clone, Copy)]
struct Measured<'c> {
    rule: &'static Rule,
    limit: &'c Limit,
    cases: &'c [CaseOutcome<'c>],
}

fn runs<'c>(cases: &'c [CaseOutcome<'c>]) -> impl Iterator<Item = &'c RunOutcome<'c>> {
    cases.iter().flat_map(|case| &case.runs)
}

fn verdicts<'c>(cases: &'c [CaseOutcome<'c>]) -> impl Iterator<Item = &'c Verdict> {
    cases.iter().flat_map(|case| case.runs.iter().flat_map(|run| case.verdicts(run)))
}

/// The attempts of one subject at one case.
type Pair<'c> = (&'c CaseOutcome<'c>, Vec<&'c RunOutcome<'c>>);

/// Returns the verdicts of a kind.
fn rows<'p>((case, runs): &'p Pair<'_>, kind: &'static str) -> impl Iterator<Item = &'p Verdict> {
    runs.iter().flat_map(|run| case.verdicts(run)).filter(move |verdict| verdict.kind == kind)
}

fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

impl<'c> Measured<'c> {
    fn pairs(self) -> Vec<Pair<'c>> {
        let mut pairs: Vec<Pair<'_>> = Vec::new();
        for case in self.cases {
            let start = pairs.len();
            for run in &case.runs {
                match pairs[start..].iter_mut().find(|(_, runs)| runs[0].subject == run.subject) {
                    Some((_, runs)) => runs.push(run),
                    None => pairs.push((case, vec![run])),
                }
            }
        }
        pairs
    }

    fn gate(self) -> GateOutcome {
        match self.rule.measure {
            Measure::PassRate => {
                let mut count = Count::default();
                runs(self.cases).for_each(|run| count.add(run.status));
                self.rate(count, &count.open_attempts())
            }
            Measure::Failures(codes) => self.failures(codes),
            Measure::JudgeAverage => self.judge_average(),
            Measure::Drift => self.drift(),
            Measure::Cost => self.cost(),
            Measure::Latency => self.latency(),
            Measure::Results { are_probabilistic } => self.results(are_probabilistic),
        }
    }

    fn failures(self, codes: &[FailureCode]) -> GateOutcome {
        let Measured { rule: Rule { title, .. }, limit, cases } = self;
        let failed = verdicts(cases).filter(|verdict| verdict.code.is_some_and(|code| codes.contains(&code))).count();
        // Claims about the text of the output have the same kind as those about its schema, but separate codes.
        let is_about_text = |verdict: &Verdict| {
            let is_text = |key: &str| ["contains", "notContains", "maxLength"].contains(&key);
            verdict.at.steps().any(|step| step.key().is_some_and(is_text))
        };
        let is_open = |verdict: &&Verdict| {
            let could_fail = |code: &FailureCode| {
                let code = code.as_str();
                verdict.kind.starts_with(code.split('_').next().unwrap_or(code).to_ascii_lowercase().as_str())
            };
            verdict.outcome.status() == Status::Unknown && codes.iter().any(could_fail) && !is_about_text(verdict)
        };
        let open = verdicts(cases).filter(is_open).count();
        let (actual, shown) = (failed as f64, number_text(limit.value));
        if actual > limit.value {
            return self.outcome(Status::Fail, actual, format!("{title} {failed} exceed limit {shown}"));
        }
        if (failed + open) as f64 > limit.value {
            let unknown = plural(open, "unknown result");
            let message = format!("{title} {failed} within limit {shown}, but {unknown} could change this");
            return self.outcome(Status::Unknown, actual, message);
        }
        self.outcome(Status::Pass, actual, format!("{title} {failed} within limit {shown}"))
    }

    /// Measures the scores, as a mean for each label of each pair.
    fn judge_average(self) -> GateOutcome {
        let mut means = Vec::new();
        for pair in self.pairs() {
            let mut by_label: Vec<(&str, Vec<f64>)> = Vec::new();
            for verdict in rows(&pair, "judge") {
                let Some(score) = verdict.score else { return self.unscored("judge", 0.0) };
                match by_label.iter_mut().find(|(label, _)| *label == verdict.label) {
                    Some((_, scores)) => scores.push(score),
                    None => by_label.push((&verdict.label, vec![score])),
                }
            }
            means.extend(by_label.iter().map(|(_, scores)| mean(scores)));
        }
        if means.is_empty() { self.trivial("meets minimum", "judge", 1.0) } else { self.at_least(mean(&means)) }
    }

    /// Measures the largest drift: for each pair, that of the mean score of its attempts.
    fn drift(self) -> GateOutcome {
        let mut drifts = Vec::new();
        let mut is_open = false;
        for pair in self.pairs() {
            let scores = rows(&pair, "drift").map(|verdict| verdict.score);
            let (known, open): (Vec<_>, Vec<_>) = scores.partition(Option::is_some);
            is_open |= !open.is_empty();
            let scores: Vec<f64> = known.into_iter().flatten().collect();
            drifts.extend((!scores.is_empty()).then(|| 1.0 - mean(&scores)));
        }
        if drifts.is_empty() && !is_open {
            return self.trivial("within limit", "drift", 0.0);
        }
        let most = drifts.into_iter().fold(0.0, f64::max);
        let exceeds = amount::exceeds(most, self.limit.value);
        if !exceeds && is_open {
            return self.unscored("drift", most);
        }
        let (status, word) = if exceeds { (Status::Fail, "exceeds") } else { (Status::Pass, "within") };
        let (shown, limit) = self.shown_beside(most, status, 1, percentage);
        self.outcome(status, most, format!("{} {shown} {word} limit {limit}", self.rule.title))
    }

    fn cost(self) -> GateOutcome {
        let total: f64 = runs(self.cases).filter_map(|run| run.cost_usd).sum();
        let exceeds = amount::exceeds(total, self.limit.value);
        let open = runs(self.cases).filter(|run| run.cost_usd.is_none()).count();
        if !exceeds && open > 0 {
            return self.unmeasured("cost", open, total);
        }
        let (status, word) = if exceeds { (Status::Fail, "exceeds") } else { (Status::Pass, "within") };
        let dollars = |value, decimals| format!("${}", fixed(value, decimals));
        let (shown, most) = self.shown_beside(total, status, 4, dollars);
        self.outcome(status, total, format!("{} {shown} {word} limit {most}", self.rule.title))
    }

    fn latency(self) -> GateOutcome {
        let durations = |(_, runs): &Pair<'_>| runs.iter().filter_map(|run| run.duration_ms).collect::<Vec<_>>();
        let known: Vec<Vec<f64>> = self.pairs().iter().map(durations).filter(|known| !known.is_empty()).collect();
        let average = mean(&known.iter().map(|known| mean(known)).collect::<Vec<_>>());
        let exceeds = amount::exceeds(average, self.limit.value);
        // A broken attempt would have taken longer, and so may an open one. Without a duration, anything is possible.
        let is_missing = |run: &RunOutcome<'_>| run.duration_ms.is_none();
        let is_open = |run: &RunOutcome<'_>| is_missing(run) || run.duration_is_open || run.is_broken();
        let open = runs(self.cases).filter(|run| is_open(run)).count();
        if open > 0 && (!exceeds || runs(self.cases).any(is_missing)) {
            return self.unmeasured("duration", open, average);
        }
        let (status, word) = if exceeds { (Status::Fail, "exceeds") } else { (Status::Pass, "within") };
        let (shown, _) = self.shown_beside(average, status, 0, fixed);
        let most = number_text(self.limit.value);
        self.outcome(status, average, format!("Average latency {shown}ms {word} limit {most}ms"))
    }

    /// Returns the gate on the share of passed results of a category. A broken run counts as at least one open
    /// result.
    fn results(self, are_probabilistic: bool) -> GateOutcome {
        let mut count = Count::default();
        for (case, run) in self.cases.iter().flat_map(|case| case.runs.iter().map(move |run| (case, run))) {
            let before = count.all();
            let rows = case.verdicts(run).filter(|verdict| is_probabilistic(verdict) == are_probabilistic);
            rows.for_each(|verdict| count.add(verdict.outcome.status()));
            if run.is_broken() && !are_probabilistic && count.all() == before {
                count.add(Status::Error);
            }
        }
        if count.all() == 0 {
            let word = if are_probabilistic { "probabilistic" } else { "deterministic" };
            return self.trivial("meets minimum", word, 1.0);
        }
        self.rate(count, &plural(count.open, "unknown result"))
    }

    fn outcome(self, status: Status, actual: f64, message: String) -> GateOutcome {
        let Measured { rule: Rule { name, .. }, limit, .. } = self;
        GateOutcome { name, source: limit.source.clone(), status, expected: limit.value, actual, message }
    }

    fn unknown(self, actual: f64, reason: &str) -> GateOutcome {
        self.outcome(Status::Unknown, actual, format!("{} is unknown: {reason}", self.rule.title))
    }

    /// Returns the outcome if results of a kind have no score.
    fn unscored(self, kind: &'static str, actual: f64) -> GateOutcome {
        let scores: Vec<_> =
            verdicts(self.cases).filter(|verdict| verdict.kind == kind).map(|verdict| verdict.score).collect();
        let open = scores.iter().filter(|score| score.is_none()).count();
        let word = if open == 1 { "has" } else { "have" };
        let all = plural(scores.len(), &format!("{kind} result"));
        self.unknown(actual, &format!("{open} of {all} {word} no score"))
    }

    /// Returns the outcome if an amount is not known of some attempts.
    fn unmeasured(self, amount: &str, open: usize, actual: f64) -> GateOutcome {
        let all = plural(runs(self.cases).count(), "attempt");
        self.unknown(actual, &format!("the {amount} of {open} of {all} is not known"))
    }

    fn trivial(self, relation: &str, word: &str, actual: f64) -> GateOutcome {
        let (title, limit) = (self.rule.title, percent(self.limit.value));
        let message = format!("{title} N/A {relation} {limit} (no {word} assertions found — gate trivially passed)");
        self.outcome(Status::Pass, actual, message)
    }

    /// Returns the outcome for a share of passed results, some of which may be open.
    fn rate(self, count: Count, open: &str) -> GateOutcome {
        let (limit, passed) = (self.limit.value, share(count.passed, count.all()));
        if passed < limit && share(count.passed + count.open, count.all()) >= limit {
            let title = self.rule.title;
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
    fn budget_usd(&self) -> Option<f64> {
        self.0.iter().find(|(rule, _)| rule.measure == Measure::Cost).map(|(_, limit)| limit.value)
    }

    fn evaluate(&self, cases: &[CaseOutcome<'_>]) -> GateReport {
        let gates: Vec<GateOutcome> =
            self.0.iter().map(|(rule, limit)| Measured { rule, limit, cases }.gate()).collect();
        let rescued = cases.iter().any(|case| case.status == Status::Fail)
            && gates.iter().all(|gate| gate.status == Status::Pass)
            && verdicts(cases).filter(|verdict| verdict.outcome.status() == Status::Fail).all(|it| self.measures(it));
        GateReport { gates, rescued }
    }
}

#[cfg(test)]
mod tests;
