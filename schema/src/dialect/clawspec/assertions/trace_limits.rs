//! Assertions about limits of the trace: tokens, duration, cost.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::trace_notes::{by_duration, by_model, by_tokens, shown};
use crate::{
    acceptable::{Amount, Limit},
    check::{amount, json::number_text},
    dialect::clawspec::{claim::AssertionType, scope::Scope, scoped_evidence::ScopedEvidence, words::RunText},
    evidence::{Need, Span, SpanKind, Tokens, Trace},
    gateway::config::Price,
    seen::{Found, Observed, Why},
    verdict::{At, Judged, Mismatch, Row},
};

/// No span of the trace exceeds a number of tokens.
///
/// ```yaml
/// - type: per_span_budget
///   max_tokens: 8000
///   span_type: llm
/// - type: per_span_budget
///   max_tokens: 4000
///   span_name: summarize
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PerSpanBudget {
    /// Maximum number of input and output tokens of one span.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("examples" = [8000]))]
    pub max_tokens: u64,
    /// Kind of spans to check.
    #[serde(default)]
    pub span_type: SpanType,
    /// String that the names of the spans must contain. By default, all spans of the kind are checked.
    #[schemars(extend("x-compared" = "text", "x-seen" = "spans", "examples" = ["summarize"]))]
    pub span_name: Option<RunText>,
}

/// A kind of parts of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum SpanType {
    /// Model calls.
    #[default]
    Llm,
    /// Tool calls.
    Tool,
    /// Sub-agents.
    Subagent,
}

impl SpanType {
    fn kind(self) -> SpanKind {
        match self {
            SpanType::Llm => SpanKind::Llm,
            SpanType::Tool => SpanKind::Tool,
            SpanType::Subagent => SpanKind::Subagent,
        }
    }

    /// Returns the name of such a span.
    fn singular(self) -> &'static str {
        match self {
            SpanType::Llm => "model call",
            SpanType::Tool => "tool call",
            SpanType::Subagent => "sub-agent",
        }
    }
}

/// Returns the reason why tokens cannot be counted: a model call without token counts, or `none_of_them` has any.
fn missing_tokens<'t>(spans: impl Iterator<Item = &'t Span>, none_of_them: &str) -> Option<Why> {
    let mut some = false;
    let mut none = false;
    let mut model = false;
    for span in spans {
        some |= span.tokens.is_some();
        none |= span.tokens.is_none();
        model |= span.tokens.is_none() && span.kind == SpanKind::Llm;
    }
    if model {
        return Some(Why::unknown("a model call has no token counts"));
    }
    (none && !some).then(|| Why::unknown(none_of_them))
}

/// Returns whether a gateway reports the tokens of several calls in a separate span.
fn is_summed(trace: &Trace) -> bool {
    trace.spans.iter().any(|span| span.kind == SpanKind::Other && span.tokens.is_some())
}

pub(crate) fn tokens_of(trace: &Observed<&Trace>, part: fn(Tokens) -> u64) -> Observed<u64> {
    let spans = &trace.so_far().spans;
    let sum = spans.iter().filter_map(|span| span.tokens).fold(0_u64, |sum, tokens| sum.saturating_add(part(tokens)));
    let missing = missing_tokens(spans.iter(), "the trace has no token counts").filter(|_| !is_summed(trace.so_far()));
    trace.as_ref().map(|_| sum).with_gap(missing)
}

impl AssertionType for PerSpanBudget {
    const NAME: &'static str = "per_span_budget";
    const NEEDS: &'static [Need] = &[Need::Trace];

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let trace = seen.act.trace()?;
        let part = self.span_name.as_ref().map(|part| seen.expand("span_name", part)).transpose()?;
        let spans: Vec<&Span> = trace
            .so_far()
            .spans
            .iter()
            .filter(|span| span.kind == self.span_type.kind())
            .filter(|span| part.as_ref().is_none_or(|part| span.name.contains(part.as_str())))
            .collect();
        if spans.is_empty() {
            let kind = self.span_type.singular();
            let reason = match &part {
                Some(part) => format!("the trace has no {kind} with `{part}` in its name, so nothing was checked"),
                None => format!("the trace has no {kind}, so nothing was checked"),
            };
            return Err(Row::unknown(if part.is_some() { "span_name" } else { "span_type" }, reason));
        }
        let most = self.max_tokens;
        let wrong: Vec<(&Span, u64)> = spans
            .iter()
            .filter_map(|span| Some((*span, span.tokens?.total)))
            .filter(|(_, total)| *total > most)
            .collect();
        let missing = missing_tokens(spans.into_iter(), "the spans have no token counts");
        let found = trace.with_gap(missing).search(|_| wrong.first()).at("max_tokens")?;
        Ok(Row::absent("max_tokens", found, |_| {
            let message = format!("{} span(s) exceeded {most} tokens", wrong.len());
            let largest = wrong.iter().copied().max_by_key(|(_, total)| *total);
            let actual = largest.map(|(span, total)| format!("{}: {total} tokens", shown(span))).unwrap_or_default();
            let notes = if wrong.len() > 1 { by_tokens(wrong.clone()) } else { Vec::new() };
            let mismatch = Mismatch::new(message, format!("at most {most}"), actual).notes(notes);
            match largest {
                Some((_, total)) => mismatch.accepting_limit(Limit::Most, total as f64, Amount::Measured),
                None => mismatch,
            }
        }))
    }
}

/// The whole trace stays within a token budget.
///
/// ```yaml
/// - type: trace_token_budget
///   max_input_tokens: 20000
///   max_output_tokens: 8000
/// ```
///
/// Set at least one limit. The sum of both cannot be limited in a trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("x-advice" = [{
    "names": ["max_total_tokens"],
    "help": "set `max_input_tokens` and `max_output_tokens`; no assertion limits their sum in a trace",
}]))]
#[schemars(extend("anyOf" = [{ "required": ["max_input_tokens"] }, { "required": ["max_output_tokens"] }]))]
pub struct TraceTokenBudget {
    /// Maximum number of input tokens.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("examples" = [20000]))]
    pub max_input_tokens: Option<u64>,
    /// Maximum number of output tokens.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("examples" = [8000]))]
    pub max_output_tokens: Option<u64>,
}

impl AssertionType for TraceTokenBudget {
    const NAME: &'static str = "trace_token_budget";
    const NEEDS: &'static [Need] = &[Need::Trace];

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let trace = seen.act.trace()?;
        let limits = [
            ("max_input_tokens", "input", self.max_input_tokens, tokens_of(&trace, |tokens| tokens.input)),
            ("max_output_tokens", "output", self.max_output_tokens, tokens_of(&trace, |tokens| tokens.output)),
        ];
        let limits: Vec<_> =
            limits.into_iter().filter_map(|(key, name, most, used)| Some((key, name, most?, used))).collect();
        let wrong: Vec<_> = limits.iter().filter(|(_, _, most, used)| used.so_far() > most).collect();
        let decides = wrong.first().copied().or(limits.last());
        let nothing = || Row::unknown("", "no limit is set, so nothing is checked");
        let (field, _, most, used) = decides.ok_or_else(nothing)?;
        let found = used.search(|used| (used > most).then_some(*used)).at(*field)?;
        Ok(Row::absent(*field, found, |used| {
            let message =
                wrong.iter().map(|(_, name, most, used)| format!("{name} tokens {} > max {most}", used.so_far()));
            let message = message.collect::<Vec<_>>().join("; ");
            let spans = trace.so_far().spans.iter();
            let notes = by_tokens(spans.filter_map(|span| Some((span, span.tokens?.total))).collect());
            let mismatch = Mismatch::new(message, format!("at most {most}"), used.to_string()).notes(notes);
            mismatch.accepting_limit(Limit::Most, used as f64, Amount::Measured)
        }))
    }
}

/// The run does not exceed a duration.
///
/// ```yaml
/// - type: trace_duration
///   max_ms: 30000
/// ```
///
/// The duration is measured from the start to the end of the trace. If the trace lacks these times, it is measured from
/// the earliest start to the latest end of its spans, or else as the sum of their durations.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceDuration {
    /// Maximum duration in milliseconds.
    #[schemars(range(min = 0.0), extend("examples" = [30000]))]
    #[schemars(extend("x-synonyms" = ["max_duration_ms"]))]
    pub max_ms: f64,
}

/// Returns the duration in milliseconds. What was not seen may have made it longer, unless the backend reports both ends.
fn duration_ms(trace: Observed<&Trace>) -> Option<Observed<f64>> {
    let (started, ended) = (trace.so_far().started_us, trace.so_far().ended_us);
    if let (Some(start), Some(end)) = (started, ended) {
        let took = ((end - start) as f64 / 1000.0).max(0.0);
        let goes_on = trace.so_far().unfinished || trace.so_far().unassigned > 0;
        return Some(if goes_on { trace.map(|_| took) } else { Observed::new(took, None) });
    }
    let spans = &trace.so_far().spans;
    let start = spans.iter().filter_map(|span| span.started_us).min();
    let end_of = |span: &Span| {
        span.ended_us.map(|end| end as f64).or_else(|| {
            let duration = span.duration_ms.filter(|duration| *duration > 0.0)?;
            Some(span.started_us? as f64 + duration * 1000.0)
        })
    };
    let end = spans.iter().filter_map(end_of).reduce(f64::max);
    if let (Some(start), Some(end)) = (start, end) {
        return Some(trace.map(|_| ((end - start as f64) / 1000.0).max(0.0)));
    }
    let durations: Vec<f64> = spans.iter().filter_map(|span| span.duration_ms).collect();
    (!durations.is_empty()).then(|| trace.map(|_| durations.iter().sum::<f64>().max(0.0)))
}

impl AssertionType for TraceDuration {
    const NAME: &'static str = "trace_duration";
    const NEEDS: &'static [Need] = &[Need::Trace];

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let trace = seen.act.trace()?;
        let took = duration_ms(trace.clone()).ok_or_else(|| Row::unknown("max_ms", "the trace has no times"))?;
        let most = self.max_ms;
        let found = took.search(|took| amount::exceeds(*took, most).then_some(*took)).at("max_ms")?;
        Ok(Row::absent("max_ms", found, |took| {
            let (shown, most) = (number_text(took), number_text(most));
            let message = format!("duration {shown}ms > max {most}ms");
            let notes = by_duration(trace.so_far());
            let mismatch = Mismatch::new(message, format!("at most {most} ms"), format!("{shown} ms")).notes(notes);
            mismatch.accepting_limit(Limit::Most, took, Amount::Measured)
        }))
    }
}

/// The run does not exceed a cost.
///
/// ```yaml
/// - type: trace_cost
///   max_usd: 0.05
/// ```
///
/// If a span has no cost, its tokens are priced with `model_pricing` from `clawspec.yaml`. Without a price, the result
/// is a warning.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TraceCost {
    /// Maximum cost in US dollars.
    #[schemars(range(min = 0.0), extend("examples" = [0.05]))]
    #[schemars(extend("x-synonyms" = ["max_cost", "max_cost_usd"]))]
    pub max_usd: f64,
}

impl TraceCost {
    /// Returns the cost of a span, and whether it is an estimate. `Err` if it costs something, but has no price or no
    /// tokens.
    fn cost(span: &Span, scope: &Scope) -> Result<Option<(f64, bool)>, ()> {
        // Backends without a price report a cost of 0.
        if let Some(cost) = span.cost_usd.filter(|cost| *cost > 0.0) {
            return Ok(Some((cost, false)));
        }
        let Some(tokens) = span.tokens.filter(|tokens| tokens.input > 0 || tokens.output > 0) else {
            let is_unpriced = span.kind == SpanKind::Llm && span.tokens.is_none() && span.error.is_none();
            return if is_unpriced { Err(()) } else { Ok(None) };
        };
        let model = span.model.as_deref().unwrap_or(&span.name);
        let price = price_of(model, scope).or_else(|| price_of(&span.name, scope)).ok_or(())?;
        let thousands = |tokens: u64| tokens as f64 / 1000.0;
        let cost = thousands(tokens.input) * price.input_per_1k + thousands(tokens.output) * price.output_per_1k;
        Ok(Some((cost, true)))
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cost {
    /// US dollars, for the spans with a known cost.
    pub sum: f64,
    /// Number of these spans.
    pub known: usize,
    /// Number of spans that cost something unknown.
    pub unknown: usize,
    pub estimated: bool,
}

pub(crate) fn cost_of(trace: &Trace, scope: &Scope) -> Cost {
    let mut total = Cost::default();
    if let Some(sum) = trace.cost_usd {
        return Cost { sum, known: 1, ..total };
    }
    let is_summed = is_summed(trace);
    for span in trace.spans.iter().filter(|span| !is_summed || span.tokens.is_some() || span.cost_usd.is_some()) {
        match TraceCost::cost(span, scope) {
            Ok(Some((cost, guess))) => {
                total.sum += cost;
                total.known += 1;
                total.estimated |= guess;
            }
            Ok(None) => {}
            Err(()) => total.unknown += 1,
        }
    }
    total
}

/// Returns the price of a model: that of its exact name, or else of the first name that ends like it.
fn price_of<'s>(model: &str, scope: &'s Scope) -> Option<&'s Price> {
    let alike = |name: &str| name.ends_with(model) || model.ends_with(name);
    scope
        .prices
        .get(model)
        .or_else(|| scope.prices.iter().find(|(name, _)| !model.is_empty() && alike(name)).map(|(_, price)| price))
}

impl AssertionType for TraceCost {
    const NAME: &'static str = "trace_cost";
    const NEEDS: &'static [Need] = &[Need::Trace];

    fn judge(&self, seen: &ScopedEvidence<'_>) -> Judged {
        let trace = seen.act.trace()?;
        let Cost { sum, known, unknown, estimated } = cost_of(trace.so_far(), seen.scope);
        let about = if estimated { "about " } else { "" };
        let most = self.max_usd;
        let found = trace.search(|_| (known > 0 && amount::exceeds(sum, most)).then_some(sum)).at("max_usd")?;
        let warning = match (known, unknown) {
            (0, _) => {
                Some("the trace has no costs; set `model_pricing` in `clawspec.yaml` to estimate them".to_owned())
            }
            (_, 0) => None,
            (_, unknown) => Some(format!("the cost of {unknown} spans is unknown; the others cost {about}${sum:.4}")),
        };
        if let (Some(message), Found::No(proof)) = (warning, found) {
            return Ok(Row::warn("max_usd", proof, Mismatch { message, ..Mismatch::default() }));
        }
        Ok(Row::absent("max_usd", found, |sum| {
            let dollars = |amount: f64, decimals: usize| format!("${amount:.decimals$}");
            let (shown, most) = amount::shown_apart(sum, most, 4, dollars);
            let message = format!("cost {about}{shown} > max {most}");
            let costs = trace.so_far().spans.iter().filter_map(|span| {
                let (cost, estimated) = TraceCost::cost(span, seen.scope).ok()??;
                Some((span, cost, estimated))
            });
            let notes = by_model(costs);
            let mismatch = Mismatch::new(message, format!("at most {most}"), format!("{about}{shown}")).notes(notes);
            mismatch.accepting_limit(Limit::Most, sum, Amount::Measured)
        }))
    }
}
