//! Measures a run of a scenario, and compares it with the stored baseline.

use std::sync::Arc;

use super::{
    assertions::{
        log::run_log::{RunLog, own_log_needs},
        trace_limits::{cost_of, tokens_of},
    },
    baselines::{Baseline, Metric},
    contracts::{Compare, Regression},
    scope::Scope,
    scoped_evidence::ScopedEvidence,
};
use crate::{
    acceptable::{Amount, Limit},
    act::Act,
    check::{amount, json::number_text},
    evidence::{Context, Need, SpanKind, Tokens, Trace, merged},
    gateway::log::RunRelation,
    seen::{Found, Observed, Seen, Why},
    verdict::{At, Check, Judged, Mismatch, Row, Verdict},
};

impl Metric {
    /// Returns the evidence that is needed to measure the metric.
    pub fn needs(self, scope: &Scope, context: &Context) -> Vec<Need> {
        let log = || own_log_needs(scope, context);
        match self {
            Metric::DurationMs => Vec::new(),
            Metric::CostUsd | Metric::LlmCallCount => vec![Need::Trace],
            Metric::TotalTokens
            | Metric::InputTokens
            | Metric::OutputTokens
            | Metric::ToolInvocationCount
            | Metric::SubagentDelegationCount => [Need::Trace].into_iter().chain(log()).collect(),
        }
    }

    /// Measures a run: by its usage, by its trace, or by the gateway log.
    pub fn measure(self, seen: &ScopedEvidence<'_>) -> Seen<Observed<f64>> {
        let usage = seen.act.usage();
        let recorded = match self {
            Metric::DurationMs => return seen.act.duration_ms(),
            Metric::TotalTokens => usage.map(|usage| count(usage.input_tokens.saturating_add(usage.output_tokens))),
            Metric::InputTokens => usage.map(|usage| count(usage.input_tokens)),
            Metric::OutputTokens => usage.map(|usage| count(usage.output_tokens)),
            Metric::CostUsd => usage.and_then(|usage| usage.cost_usd),
            Metric::LlmCallCount | Metric::ToolInvocationCount | Metric::SubagentDelegationCount => None,
        };
        if let Some(recorded) = recorded {
            return Ok(Observed::new(recorded, seen.act.open_end()));
        }
        match seen.act.trace() {
            Ok(trace) => Ok(self.in_trace(&trace, seen.scope)),
            // Without a trace, the log is used; if it lacks the value too, the missing trace is reported.
            Err(missing) => self.in_log(seen).ok_or(missing),
        }
    }

    fn in_trace(self, trace: &Observed<&Trace>, scope: &Scope) -> Observed<f64> {
        let spans = &trace.so_far().spans;
        let measured = |value: f64, gap: Option<&str>| trace.as_ref().map(|_| value).with_gap(gap.map(Why::unknown));
        let tokens = |part: fn(Tokens) -> u64| {
            let none = spans.iter().all(|span| span.tokens.is_none()).then(|| Why::unknown(NO_TOKENS));
            tokens_of(trace, part).map(count).with_gap(none)
        };
        let number =
            |kind: SpanKind| measured(count(spans.iter().filter(|span| span.kind == kind).count() as u64), None);
        match self {
            Metric::DurationMs => measured(0.0, Some(NO_DURATION)),
            Metric::TotalTokens => tokens(|tokens| tokens.total),
            Metric::InputTokens => tokens(|tokens| tokens.input),
            Metric::OutputTokens => tokens(|tokens| tokens.output),
            Metric::CostUsd => {
                let cost = cost_of(trace.so_far(), scope);
                let is_open = cost.known == 0 || cost.unknown > 0;
                match trace.so_far().cost_usd {
                    Some(whole) if is_open => measured(whole, None),
                    Some(_) | None => measured(cost.sum, is_open.then_some(NO_PRICE)),
                }
            }
            Metric::LlmCallCount => number(SpanKind::Llm),
            Metric::ToolInvocationCount => number(SpanKind::Tool),
            Metric::SubagentDelegationCount => number(SpanKind::Subagent),
        }
    }

    fn in_log(self, seen: &ScopedEvidence<'_>) -> Option<Observed<f64>> {
        let run = RunLog::of(seen, None, None).ok().filter(RunLog::is_known)?;
        let has_calls = run.with_readable(|_| true).and_then(|()| run.with_calls()).is_ok();
        let sum = |tokens| Some(run.sum(tokens)).filter(|_| !run.log.usages.is_empty());
        let number = |number: usize| has_calls.then_some(number as u64);
        let value = match self {
            Metric::DurationMs | Metric::CostUsd | Metric::LlmCallCount => None,
            Metric::TotalTokens => sum(|usage| usage.total),
            Metric::InputTokens => sum(|usage| usage.input),
            Metric::OutputTokens => sum(|usage| usage.output),
            Metric::ToolInvocationCount => number(run.log.calls.len()),
            Metric::SubagentDelegationCount => {
                let sessions = run.log.sessions.iter();
                number(sessions.filter(|session| session.relation == RunRelation::Started).count())
            }
        };
        let gap = run.with_run().err().map(|row| Why::unknown(row.message()));
        Some(Observed::new(count(value?), gap))
    }
}

const NO_DURATION: &str = "the duration of the run was not observed; run the test again";
const NO_TOKENS: &str = "the trace has no token counts";
const NO_PRICE: &str = "the cost of part of the run is unknown; set `model_pricing` in `clawspec.yaml`";

/// Converts a count, which is small enough to be exact.
fn count(number: u64) -> f64 {
    number as f64
}

/// Requires all evidence for a baseline and returns no verdicts: the claim of runs that are measured.
#[derive(Clone, Debug)]
pub struct Measuring {
    pub scope: Arc<Scope>,
}

impl Measuring {
    /// Measures a run: each metric, or the reason why it is unknown.
    pub fn measure(&self, act: Act<'_>) -> Vec<(Metric, Result<f64, String>)> {
        let seen = ScopedEvidence { act, scope: &self.scope };
        let measure = |metric: Metric| Ok(*metric.measure(&seen)?.complete()?.0);
        let told = |measured: Seen<f64>| measured.map_err(|why| why.reason().to_owned());
        Metric::ALL.into_iter().map(|metric| (metric, told(measure(metric)))).collect()
    }
}

impl Check for Measuring {
    fn needs(&self, context: &Context) -> Vec<Need> {
        merged(Metric::ALL.into_iter().flat_map(|metric| metric.needs(&self.scope, context)))
    }

    fn check(&self, _: Act<'_>) -> Vec<Verdict> {
        Vec::new()
    }
}

/// A scenario's `regression`, with the baseline that it compares with.
#[derive(Clone, Debug)]
pub struct Drift {
    /// Limits of the scenario.
    pub regression: Regression,
    /// Stored baseline, if there is one, or the reason why the file cannot be read.
    pub baseline: Result<Option<Baseline>, String>,
    pub scope: Arc<Scope>,
}

/// Returns the drift of a metric from its stored value: a difference for counts of steps, otherwise a multiple.
pub fn drift_of(metric: Metric, actual: f64, base: f64) -> f64 {
    if is_difference(metric) { actual - base } else { actual / base }
}

pub fn is_difference(metric: Metric) -> bool {
    match metric {
        Metric::LlmCallCount | Metric::ToolInvocationCount | Metric::SubagentDelegationCount => true,
        Metric::DurationMs | Metric::TotalTokens | Metric::InputTokens | Metric::OutputTokens | Metric::CostUsd => {
            false
        }
    }
}

impl Drift {
    /// Returns the limits: the key, the metric and the maximum of each.
    pub fn limits(&self) -> Vec<(&'static str, Metric, f64)> {
        let Regression { max_duration_drift, max_cost_drift, max_token_drift, max_step_drift, compare: _ } =
            self.regression;
        let limits = [
            ("max_duration_drift", Metric::DurationMs, max_duration_drift),
            ("max_cost_drift", Metric::CostUsd, max_cost_drift),
            ("max_token_drift", Metric::TotalTokens, max_token_drift),
            ("max_step_drift", Metric::LlmCallCount, max_step_drift),
        ];
        limits.into_iter().filter_map(|(key, metric, most)| Some((key, metric, most?))).collect()
    }

    fn judge(&self, (key, metric, most): (&str, Metric, f64), seen: &ScopedEvidence<'_>) -> Judged {
        let baseline = self.baseline.as_ref().map_err(|why| Row::broken(key, why))?;
        let Some(baseline) = baseline else {
            return Err(Row::skipped(key, "no baseline of this scenario is stored"));
        };
        let stored = metric.of(&baseline.metrics);
        let (base, name) = match self.regression.compare {
            Compare::P50 => (stored.map(|stored| stored.p50), "median"),
            Compare::P95 => (stored.map(|stored| stored.p95), "95th percentile"),
        };
        let Some(base) = base.filter(|base| *base != 0.0) else {
            return Err(Row::skipped(key, format!("the baseline has no `{}`", metric.as_str())));
        };
        let measured = metric.measure(seen).at(key)?;
        let exceeds = |actual: &f64| amount::exceeds(drift_of(metric, *actual, base), most);
        let (actual, proof) = match measured.search(|actual| Some(*actual).filter(exceeds)).at(key)? {
            Found::Yes(actual, proof) => (actual, proof),
            Found::No(proof) => return Ok(Row::pass(key, proof)),
        };
        let seen = drift_of(metric, actual, base);
        let fixed = |number: f64, decimals: usize| format!("{number:.decimals$}");
        let (drift, _) = amount::shown_apart(seen, most, 2, fixed);
        let (shown, base, most) = (number_text(actual), number_text(base), number_text(most));
        let (relation, expected) = match is_difference(metric) {
            true => ("above", format!("at most {base} + {most}")),
            false => ("times", format!("at most {most} x {base}")),
        };
        let metric = metric.as_str();
        let message = format!("{metric} {shown} is {drift} {relation} the baseline's {name} {base}, more than {most}");
        let mismatch = Mismatch::new(message, expected, shown);
        Ok(Row::fail(key, proof, mismatch.accepting_limit(Limit::Most, seen, Amount::Measured)))
    }
}

impl Check for Drift {
    fn needs(&self, context: &Context) -> Vec<Need> {
        let Ok(Some(_)) = &self.baseline else { return Vec::new() };
        merged(self.limits().into_iter().flat_map(|(_, metric, _)| metric.needs(&self.scope, context)))
    }

    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let seen = ScopedEvidence { act, scope: &self.scope };
        let limits = self.limits();
        if limits.is_empty() {
            let row = Row::unknown("", "`regression` has no limit, so nothing is compared");
            return vec![row.named("regression", "regression")];
        }
        let judged = limits.into_iter().map(|limit| {
            let (Ok(row) | Err(row)) = self.judge(limit, &seen);
            let metric = limit.1.as_str();
            row.named(metric, format!("regression {metric}"))
        });
        judged.collect()
    }
}
