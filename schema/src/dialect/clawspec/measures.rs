//! Metrics of a run of a scenario, which baselines store and `regression` limits.

use std::sync::Arc;

use super::{
    assertions::{LogFigures, cost_of, own_log_needs},
    baselines::{Distribution, Metrics},
    claim::{Scope, ScopedEvidence},
};
use crate::{
    act::Act,
    evidence::{Context, Need, SpanKind, Tokens, Trace},
    seen::{Observed, Seen, Why},
    verdict::{Check, Verdict},
};

/// A metric of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Duration in milliseconds.
    DurationMs,
    /// Input and output tokens.
    TotalTokens,
    /// Input tokens.
    InputTokens,
    /// Output tokens.
    OutputTokens,
    /// US dollars.
    CostUsd,
    /// Model calls.
    LlmCallCount,
    /// Tool calls.
    ToolInvocationCount,
    /// Delegations to other agents.
    SubagentDelegationCount,
}

impl Metric {
    /// All metrics, in the order of the file.
    pub const ALL: [Metric; 8] = [
        Metric::DurationMs,
        Metric::TotalTokens,
        Metric::InputTokens,
        Metric::OutputTokens,
        Metric::CostUsd,
        Metric::LlmCallCount,
        Metric::ToolInvocationCount,
        Metric::SubagentDelegationCount,
    ];

    /// Returns the key in a baseline file.
    pub fn as_str(self) -> &'static str {
        match self {
            Metric::DurationMs => "duration_ms",
            Metric::TotalTokens => "total_tokens",
            Metric::InputTokens => "input_tokens",
            Metric::OutputTokens => "output_tokens",
            Metric::CostUsd => "cost_usd",
            Metric::LlmCallCount => "llm_call_count",
            Metric::ToolInvocationCount => "tool_invocation_count",
            Metric::SubagentDelegationCount => "subagent_delegation_count",
        }
    }

    /// Returns the distribution over the runs of a baseline.
    pub fn of(self, metrics: &Metrics) -> Option<Distribution> {
        match self {
            Metric::DurationMs => metrics.duration_ms,
            Metric::TotalTokens => metrics.total_tokens,
            Metric::InputTokens => metrics.input_tokens,
            Metric::OutputTokens => metrics.output_tokens,
            Metric::CostUsd => metrics.cost_usd,
            Metric::LlmCallCount => metrics.llm_call_count,
            Metric::ToolInvocationCount => metrics.tool_invocation_count,
            Metric::SubagentDelegationCount => metrics.subagent_delegation_count,
        }
    }

    /// Sets the distribution over the runs of a baseline.
    pub fn put(self, metrics: &mut Metrics, distribution: Distribution) {
        let place = match self {
            Metric::DurationMs => &mut metrics.duration_ms,
            Metric::TotalTokens => &mut metrics.total_tokens,
            Metric::InputTokens => &mut metrics.input_tokens,
            Metric::OutputTokens => &mut metrics.output_tokens,
            Metric::CostUsd => &mut metrics.cost_usd,
            Metric::LlmCallCount => &mut metrics.llm_call_count,
            Metric::ToolInvocationCount => &mut metrics.tool_invocation_count,
            Metric::SubagentDelegationCount => &mut metrics.subagent_delegation_count,
        };
        *place = Some(distribution);
    }

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
            let recorded: Vec<u64> = spans.iter().filter_map(|span| span.tokens).map(part).collect();
            // A gateway may report the tokens of several calls in a separate span.
            let is_summed = spans.iter().any(|span| span.kind == SpanKind::Other && span.tokens.is_some());
            let lacks_tokens =
                !is_summed && spans.iter().any(|span| span.kind == SpanKind::Llm && span.tokens.is_none());
            let sum = recorded.iter().fold(0_u64, |sum, tokens| sum.saturating_add(*tokens));
            measured(count(sum), recorded.is_empty().then_some(NO_TOKENS).or(lacks_tokens.then_some(SOME_TOKENS)))
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
        let figures = LogFigures::of(seen)?;
        let LogFigures { tokens, calls, delegations } = figures.so_far();
        let value = match self {
            Metric::DurationMs | Metric::CostUsd | Metric::LlmCallCount => return None,
            Metric::TotalTokens => (*tokens)?.total,
            Metric::InputTokens => (*tokens)?.input,
            Metric::OutputTokens => (*tokens)?.output,
            Metric::ToolInvocationCount => (*calls)?,
            Metric::SubagentDelegationCount => (*delegations)?,
        };
        Some(figures.as_ref().map(|_| count(value)))
    }
}

const NO_DURATION: &str = "the duration of the run was not observed; run the test again";
const NO_TOKENS: &str = "the trace has no token counts";
const SOME_TOKENS: &str = "the trace has no token counts for some model calls";
const NO_PRICE: &str = "the cost of part of the run is unknown; set `model_pricing` in `clawspec.yaml`";

/// Converts a count, which is small enough to be exact.
fn count(number: u64) -> f64 {
    number as f64
}

/// Requires all evidence for a baseline and returns no verdicts: the claim of runs that are measured.
#[derive(Clone, Debug)]
pub struct Measuring {
    /// Scope of the scenario.
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
        crate::evidence::merged(Metric::ALL.into_iter().flat_map(|metric| metric.needs(&self.scope, context)))
    }

    fn check(&self, _: Act<'_>) -> Vec<Verdict> {
        Vec::new()
    }

    fn texts(&self) -> Vec<String> {
        Vec::new()
    }
}
