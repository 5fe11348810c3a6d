//! How far a run is from the stored baseline of its scenario.

use std::sync::Arc;

use super::{
    assertions::cost_of,
    baselines::{Baseline, Distribution, Metrics},
    claim::{Row, Scope, Seen, mismatch, plain},
    scenarios::{Compare, Regression},
};
use crate::{
    evidence::{Context, Evidence, Need, SpanKind},
    verdict::{Check, Verdict},
};

/// A scenario's `regression`, with the baseline that it compares with.
#[derive(Clone, Debug)]
pub struct Drift {
    /// The limits.
    pub regression: Regression,
    /// What is stored, if anything.
    pub baseline: Option<Baseline>,
    /// Where it is claimed.
    pub scope: Arc<Scope>,
}

/// A limit: its key, the measure, what is allowed, what is stored, and whether a difference is limited, not a multiple.
struct Limit {
    key: &'static str,
    metric: &'static str,
    most: f64,
    stored: fn(&Metrics) -> Option<Distribution>,
    is_difference: bool,
}

impl Drift {
    fn limits(&self) -> Vec<Limit> {
        let Regression { max_duration_drift, max_cost_drift, max_token_drift, max_step_drift, compare: _ } =
            &self.regression;
        let limit = |key, metric, most: &Option<f64>, stored, is_difference| {
            most.map(|most| Limit { key, metric, most, stored, is_difference })
        };
        [
            limit("max_duration_drift", "duration_ms", max_duration_drift, |all| all.duration_ms, false),
            limit("max_cost_drift", "cost_usd", max_cost_drift, |all| all.cost_usd, false),
            limit("max_token_drift", "total_tokens", max_token_drift, |all| all.total_tokens, false),
            limit("max_step_drift", "llm_call_count", max_step_drift, |all| all.llm_call_count, true),
        ]
        .into_iter()
        .flatten()
        .collect()
    }

    /// What the run took, and why it may have been more.
    fn measured(&self, metric: &str, seen: &Seen<'_>) -> Result<(f64, Option<&'static str>), Row> {
        let evidence = seen.evidence;
        if metric == "duration_ms" {
            let unknown = || Row::unknown("", "how long the run took was not observed: run again");
            return evidence.duration_ms.map(|took| (took, None)).ok_or_else(unknown);
        }
        match (metric, evidence.usage) {
            ("total_tokens", Some(usage)) => {
                return Ok(((usage.input_tokens.saturating_add(usage.output_tokens)) as f64, None));
            }
            ("cost_usd", Some(usage)) if usage.cost_usd.is_some() => {
                return Ok((usage.cost_usd.unwrap_or_default(), None));
            }
            _ => {}
        }
        let trace = seen.trace()?;
        let cut = trace.cut.then_some("the trace has more spans than were kept, and the others could decide");
        match metric {
            "cost_usd" => {
                let cost = cost_of(trace, seen.scope);
                let open = "what some of the run costs is not known: give `model_pricing` in `clawspec.yaml`";
                Ok((cost.sum, cut.or((cost.known == 0 || cost.unknown > 0).then_some(open))))
            }
            "total_tokens" => {
                let told: Vec<u64> = trace.spans.iter().filter_map(|span| Some(span.tokens?.total)).collect();
                let untold = trace.spans.iter().any(|span| span.kind == SpanKind::Llm && span.tokens.is_none());
                let open = "the trace does not tell the tokens of every question to a model";
                let sum = told.iter().fold(0_u64, |sum, tokens| sum.saturating_add(*tokens));
                Ok((sum as f64, cut.or((untold || told.is_empty()).then_some(open))))
            }
            _ => {
                let calls = trace.spans.iter().filter(|span| span.kind == SpanKind::Llm).count();
                Ok((calls as f64, cut))
            }
        }
    }

    fn judge(&self, limit: &Limit, seen: &Seen<'_>) -> Result<Row, Row> {
        let Some(baseline) = &self.baseline else {
            return Ok(Row::skip(limit.key, "no baseline of this scenario is stored"));
        };
        let stored = (limit.stored)(&baseline.metrics);
        let (base, name) = match self.regression.compare {
            Compare::P50 => (stored.map(|stored| stored.p50), "median"),
            Compare::P95 => (stored.map(|stored| stored.p95), "95th percentile"),
        };
        let Some(base) = base.filter(|base| *base != 0.0) else {
            let reason = format!("the baseline has no `{}`", limit.metric);
            return Ok(Row::skip(limit.key, reason));
        };
        let (actual, doubt) = self.measured(limit.metric, seen).map_err(|row| row.moved_to(limit.key))?;
        let drift = if limit.is_difference { actual - base } else { actual / base };
        if drift <= limit.most {
            return Ok(Row::pass(limit.key).unless(doubt));
        }
        let (shown, base, most) = (plain(actual), plain(base), plain(limit.most));
        let metric = limit.metric;
        let (message, expected) = if limit.is_difference {
            (
                format!("{metric} {shown} is {drift:.2} above the baseline's {name} {base}, more than {most}"),
                format!("at most {base} + {most}"),
            )
        } else {
            (
                format!("{metric} {shown} is {drift:.2} times the baseline's {name} {base}, more than {most}"),
                format!("at most {most} x {base}"),
            )
        };
        Ok(Row::fail(limit.key, mismatch(message, expected, shown)))
    }
}

impl Check for Drift {
    fn needs(&self, _context: &Context) -> Vec<Need> {
        let traced = self.limits().iter().any(|limit| limit.metric != "duration_ms");
        if traced && self.baseline.is_some() { vec![Need::Trace] } else { Vec::new() }
    }

    fn check(&self, evidence: &Evidence) -> Vec<Verdict> {
        let seen = Seen { evidence, scope: &self.scope };
        let limits = self.limits();
        if limits.is_empty() {
            let row = Row::unknown("", "`regression` has no limit to compare with");
            return vec![row.verdict("regression", "regression".to_owned())];
        }
        let judged = limits.iter().map(|limit| {
            let (Ok(row) | Err(row)) = self.judge(limit, &seen);
            row.verdict(limit.metric, format!("regression {}", limit.metric))
        });
        judged.collect()
    }

    fn texts(&self) -> Vec<String> {
        Vec::new()
    }
}
