//! Comparison of a run with the stored baseline of its scenario.

use std::sync::Arc;

use super::{
    baselines::Baseline,
    claim::{Scope, ScopedEvidence, broken, mismatch, plain, skipped, unknown},
    measures::Metric,
    scenarios::{Compare, Regression},
};
use crate::{
    act::Act,
    check::amount,
    evidence::{Context, Need, merged},
    seen::Found,
    verdict::{At, Check, Judged, Row, Verdict},
};

/// A scenario's `regression`, with the baseline that it compares with.
#[derive(Clone, Debug)]
pub struct Drift {
    /// Limits of the scenario.
    pub regression: Regression,
    /// Stored baseline, if there is one, or the reason why the file cannot be read.
    pub baseline: Result<Option<Baseline>, String>,
    /// Scope of the claim.
    pub scope: Arc<Scope>,
}

/// A limit: its key, metric and maximum.
struct Limit {
    key: &'static str,
    metric: Metric,
    most: f64,
}

/// Returns the drift of a metric from its stored value: a difference for counts of steps, otherwise a multiple.
pub fn drift_of(metric: Metric, actual: f64, base: f64) -> f64 {
    if is_difference(metric) { actual - base } else { actual / base }
}

/// Whether the drift of a metric is a difference, not a multiple.
pub fn is_difference(metric: Metric) -> bool {
    match metric {
        Metric::LlmCallCount | Metric::ToolInvocationCount | Metric::SubagentDelegationCount => true,
        Metric::DurationMs | Metric::TotalTokens | Metric::InputTokens | Metric::OutputTokens | Metric::CostUsd => {
            false
        }
    }
}

impl Drift {
    /// Returns the limited metrics with their maxima.
    pub fn limits(&self) -> Vec<(Metric, f64)> {
        self.written().into_iter().map(|limit| (limit.metric, limit.most)).collect()
    }

    fn written(&self) -> Vec<Limit> {
        let Regression { max_duration_drift, max_cost_drift, max_token_drift, max_step_drift, compare: _ } =
            &self.regression;
        let limit = |key, metric, most: &Option<f64>| most.map(|most| Limit { key, metric, most });
        [
            limit("max_duration_drift", Metric::DurationMs, max_duration_drift),
            limit("max_cost_drift", Metric::CostUsd, max_cost_drift),
            limit("max_token_drift", Metric::TotalTokens, max_token_drift),
            limit("max_step_drift", Metric::LlmCallCount, max_step_drift),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    fn judge(&self, limit: &Limit, seen: &ScopedEvidence<'_>) -> Judged {
        let baseline = self.baseline.as_ref().map_err(|why| broken(limit.key, why))?;
        let Some(baseline) = baseline else {
            return Err(skipped(limit.key, "no baseline of this scenario is stored"));
        };
        let stored = limit.metric.of(&baseline.metrics);
        let (base, name) = match self.regression.compare {
            Compare::P50 => (stored.map(|stored| stored.p50), "median"),
            Compare::P95 => (stored.map(|stored| stored.p95), "95th percentile"),
        };
        let metric = limit.metric.as_str();
        let Some(base) = base.filter(|base| *base != 0.0) else {
            return Err(skipped(limit.key, format!("the baseline has no `{metric}`")));
        };
        let measured = limit.metric.measure(seen).at(limit.key)?;
        let exceeds = |actual: &f64| amount::exceeds(drift_of(limit.metric, *actual, base), limit.most);
        let (actual, proof) = match measured.search(|actual| Some(*actual).filter(exceeds)).at(limit.key)? {
            Found::Yes(actual, proof) => (actual, proof),
            Found::No(proof) => return Ok(Row::pass(limit.key, proof)),
        };
        let drift = drift_of(limit.metric, actual, base);
        let (shown, base, most) = (plain(actual), plain(base), plain(limit.most));
        let fixed = |number: f64, decimals: usize| format!("{number:.decimals$}");
        let (drift, _) = amount::shown_apart(drift, limit.most, 2, fixed);
        let (message, expected) = if is_difference(limit.metric) {
            (
                format!("{metric} {shown} is {drift} above the baseline's {name} {base}, more than {most}"),
                format!("at most {base} + {most}"),
            )
        } else {
            (
                format!("{metric} {shown} is {drift} times the baseline's {name} {base}, more than {most}"),
                format!("at most {most} x {base}"),
            )
        };
        Ok(Row::fail(limit.key, proof, mismatch(message, expected, shown)))
    }
}

impl Check for Drift {
    fn needs(&self, context: &Context) -> Vec<Need> {
        let Ok(Some(_)) = &self.baseline else { return Vec::new() };
        merged(self.written().into_iter().flat_map(|limit| limit.metric.needs(&self.scope, context)))
    }

    fn check(&self, act: Act<'_>) -> Vec<Verdict> {
        let seen = ScopedEvidence { act, scope: &self.scope };
        let limits = self.written();
        if limits.is_empty() {
            let row = unknown("", "`regression` has no limit, so nothing is compared");
            return vec![row.named("regression", "regression")];
        }
        let judged = limits.iter().map(|limit| {
            let (Ok(row) | Err(row)) = self.judge(limit, &seen);
            row.named(limit.metric.as_str(), format!("regression {}", limit.metric.as_str()))
        });
        judged.collect()
    }

    fn texts(&self) -> Vec<String> {
        Vec::new()
    }
}
