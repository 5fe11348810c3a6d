//! Metrics of a run of a scenario, which baselines store and `regression` limits.

use std::sync::Arc;

use super::{
    assertions::{LogFigures, cost_of, own_log_needs},
    baselines::{Distribution, Metrics},
    claim::{AssertionRow, Scope, ScopedEvidence},
};
use crate::{
    evidence::{Context, Evidence, Need, SpanKind, Trace},
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

    /// Measures the metric: from the evidence, or else from the trace, or else from the gateway log.
    pub fn measure(self, seen: &ScopedEvidence<'_>) -> Result<Measured, AssertionRow> {
        let usage = seen.evidence.usage;
        let recorded = match self {
            Metric::DurationMs => {
                let took = seen.evidence.duration_ms;
                return took.map(Measured::sure).ok_or_else(|| AssertionRow::unknown("", NO_DURATION));
            }
            Metric::TotalTokens => usage.map(|usage| count(usage.input_tokens.saturating_add(usage.output_tokens))),
            Metric::InputTokens => usage.map(|usage| count(usage.input_tokens)),
            Metric::OutputTokens => usage.map(|usage| count(usage.output_tokens)),
            Metric::CostUsd => usage.and_then(|usage| usage.cost_usd),
            Metric::LlmCallCount | Metric::ToolInvocationCount | Metric::SubagentDelegationCount => None,
        };
        if let Some(recorded) = recorded {
            return Ok(Measured::sure(recorded));
        }
        match seen.trace() {
            Ok(trace) => Ok(self.in_trace(trace, seen.scope)),
            // Without a trace, the log is used; if it lacks the value too, the missing trace is reported.
            Err(missing) => self.in_log(seen).ok_or(missing),
        }
    }

    fn in_trace(self, trace: &Trace, scope: &Scope) -> Measured {
        let cut = trace.cut.then_some(TRUNCATED).or(trace.unfinished.then_some(UNFINISHED));
        let tokens = |of: fn(crate::evidence::Tokens) -> u64| {
            let recorded: Vec<u64> = trace.spans.iter().filter_map(|span| span.tokens.map(of)).collect();
            let lacks_tokens = trace.spans.iter().any(|span| span.kind == SpanKind::Llm && span.tokens.is_none());
            let sum = recorded.iter().fold(0_u64, |sum, tokens| sum.saturating_add(*tokens));
            Measured {
                value: count(sum),
                uncertainty: cut.or(recorded.is_empty().then_some(NO_TOKENS)).or(lacks_tokens.then_some(SOME_TOKENS)),
            }
        };
        let spans = |kind: SpanKind| {
            let spans = trace.spans.iter().filter(|span| span.kind == kind).count();
            Measured { value: count(spans as u64), uncertainty: cut }
        };
        match self {
            Metric::DurationMs => Measured { value: 0.0, uncertainty: Some(NO_DURATION) },
            Metric::TotalTokens => tokens(|tokens| tokens.total),
            Metric::InputTokens => tokens(|tokens| tokens.input),
            Metric::OutputTokens => tokens(|tokens| tokens.output),
            Metric::CostUsd => {
                let cost = cost_of(trace, scope);
                let is_open = cost.known == 0 || cost.unknown > 0;
                match trace.cost_usd {
                    Some(whole) if is_open => Measured { value: whole, uncertainty: cut },
                    Some(_) | None => Measured { value: cost.sum, uncertainty: cut.or(is_open.then_some(NO_PRICE)) },
                }
            }
            Metric::LlmCallCount => spans(SpanKind::Llm),
            Metric::ToolInvocationCount => spans(SpanKind::Tool),
            Metric::SubagentDelegationCount => spans(SpanKind::Subagent),
        }
    }

    fn in_log(self, seen: &ScopedEvidence<'_>) -> Option<Measured> {
        let LogFigures { tokens, calls, delegations, uncertainty } = LogFigures::of(seen)?;
        let value = match self {
            Metric::DurationMs | Metric::CostUsd | Metric::LlmCallCount => return None,
            Metric::TotalTokens => tokens?.total,
            Metric::InputTokens => tokens?.input,
            Metric::OutputTokens => tokens?.output,
            Metric::ToolInvocationCount => calls?,
            Metric::SubagentDelegationCount => delegations?,
        };
        Some(Measured { value: count(value), uncertainty })
    }
}

const NOT_ENDED: &str = "the end of the run was not observed, so it may have taken longer";
const NO_DURATION: &str = "the duration of the run was not observed; run the test again";
const TRUNCATED: &str = "the trace has more spans than were recorded, and the others could change the result";
const UNFINISHED: &str = "the end of the trace was not observed, and the missing spans could change the result";
const NO_TOKENS: &str = "the trace has no token counts";
const SOME_TOKENS: &str = "the trace has no token counts for some model calls";
const NO_PRICE: &str = "the cost of part of the run is unknown; set `model_pricing` in `clawspec.yaml`";

/// Converts a count, which is small enough to be exact.
fn count(number: u64) -> f64 {
    number as f64
}

/// A measured value, and why the actual one may be higher.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// Measured value.
    pub value: f64,
    /// Reason why the value may be incomplete.
    pub uncertainty: Option<&'static str>,
}

impl Measured {
    fn sure(value: f64) -> Measured {
        Measured { value, uncertainty: None }
    }
}

/// Requires all evidence for a baseline and returns no verdicts: the claim of runs that are measured.
#[derive(Clone, Debug)]
pub struct Measuring {
    /// Scope of the scenario.
    pub scope: Arc<Scope>,
}

impl Measuring {
    /// Measures a run: each metric, or the reason why it is unknown.
    pub fn measure(&self, evidence: &Evidence) -> Vec<(Metric, Result<f64, String>)> {
        let seen = ScopedEvidence { evidence, scope: &self.scope };
        let measure = |metric: Metric| match metric.measure(&seen) {
            Ok(_) if !evidence.has_ended() => Err(NOT_ENDED.to_owned()),
            Ok(Measured { value, uncertainty: None }) => Ok(value),
            Ok(Measured { uncertainty: Some(uncertainty), .. }) => Err(uncertainty.to_owned()),
            Err(row) => Err(row.verdict("", String::new()).outcome.message().to_owned()),
        };
        Metric::ALL.into_iter().map(|metric| (metric, measure(metric))).collect()
    }
}

impl Check for Measuring {
    fn needs(&self, context: &Context) -> Vec<Need> {
        crate::evidence::merged(Metric::ALL.into_iter().flat_map(|metric| metric.needs(&self.scope, context)))
    }

    fn check(&self, _: &Evidence) -> Vec<Verdict> {
        Vec::new()
    }

    fn texts(&self) -> Vec<String> {
        Vec::new()
    }
}
