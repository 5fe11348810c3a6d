//! Baselines: stored durations and costs of runs of a scenario, for comparison.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    document::Document, faults, json_schema::SpecFile, problem::Severity, quoting::scalar, validate::validate,
    words::Name,
};

/// The ClawSpec baselines of a target: `tests/baselines.yaml`.
///
/// ```yaml
/// version: "1.0"
/// baselines:
///   newsletter-smoke:
///     captured_at: "2026-05-01T00:00:00Z"
///     runs: 20
///     metrics:
///       duration_ms: { p50: 1800.5, p95: 3200, min: 1200, max: 4100, stddev: 410.2 }
/// ```
///
/// `speclens baseline capture` writes this file; `regression` of a scenario compares with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Baselines {
    /// Format version, the string `"1.0"` in quotes.
    #[schemars(extend("const" = "1.0"), with = "String")]
    pub version: String,
    /// Baselines by scenario name.
    #[serde(default)]
    #[schemars(extend("x-refers" = "scenarios", "x-name" = { "severity": "warning" }))]
    pub baselines: BTreeMap<String, Baseline>,
}

/// Baseline of one scenario.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Baseline {
    /// Time of capture, as an ISO 8601 string in quotes.
    #[schemars(extend("x-time" = true, "examples" = ["2026-05-01T00:00:00Z"]))]
    pub captured_at: Name,
    /// Number of runs. A baseline needs at least five.
    #[schemars(range(min = 1), extend("examples" = [20], "x-problems" = [{
        "if": { "minimum": 1, "exclusiveMaximum": MIN_RUNS }, "code": "out-of-range", "severity": "warning",
        "message": "expected an integer of at least 5 for `runs`, found `{value}`",
        "help": "capture the baseline again with more runs",
    }]))]
    pub runs: u64,
    /// Measured metrics.
    #[serde(default)]
    pub metrics: Metrics,
}

/// Measured metrics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Metrics {
    /// Duration in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Distribution>,
    /// Input and output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<Distribution>,
    /// Input tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<Distribution>,
    /// Output tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<Distribution>,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Distribution>,
    /// Model calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub llm_call_count: Option<Distribution>,
    /// Tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_invocation_count: Option<Distribution>,
    /// Delegations to other agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent_delegation_count: Option<Distribution>,
}

/// Distribution of a metric over the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Distribution {
    /// The median.
    #[schemars(extend("x-at-most" = "p95"))]
    pub p50: f64,
    /// The 95th percentile.
    #[schemars(extend("x-at-most" = "max"))]
    pub p95: f64,
    /// Smallest value.
    #[schemars(extend("x-at-most" = "p50"))]
    pub min: f64,
    /// Largest value.
    pub max: f64,
    /// Standard deviation of the sample; 0 for a single run.
    #[schemars(range(min = 0.0))]
    pub stddev: f64,
}

/// A metric of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// Duration in milliseconds.
    DurationMs,
    /// Input and output tokens.
    TotalTokens,
    InputTokens,
    OutputTokens,
    /// US dollars.
    CostUsd,
    LlmCallCount,
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
}

/// Minimum number of runs of a baseline.
pub const MIN_RUNS: usize = 5;

/// Minimum number of runs of a baseline that is not approximate.
pub const MIN_EXACT_RUNS: usize = 10;

/// Default number of runs of a baseline.
pub const DEFAULT_RUNS: usize = 20;

impl Distribution {
    /// Computes the distribution of values. Percentiles are interpolated between adjacent values.
    pub fn of(values: &[f64]) -> Option<Distribution> {
        let mut sorted = values.to_vec();
        sorted.sort_by(f64::total_cmp);
        let (min, max) = (*sorted.first()?, *sorted.last()?);
        let percentile = |percent: f64| {
            let rank = (sorted.len() - 1) as f64 * percent / 100.0;
            // Between 0 and the last index.
            let (low, high) = (sorted[rank.floor() as usize], sorted[rank.ceil() as usize]);
            low + (high - low) * rank.fract()
        };
        let count = sorted.len() as f64;
        let mean = sorted.iter().sum::<f64>() / count;
        let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
        let stddev = if sorted.len() > 1 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        Some(Distribution { p50: percentile(50.0), p95: percentile(95.0), min, max, stddev })
    }
}

impl Baselines {
    /// Reads the file. The error is its first mistake, as a clause.
    pub fn read(document: &Document) -> Result<Baselines, String> {
        let mut problems = faults::problems(document);
        problems.extend(validate(document, SpecFile::CLAWSPEC_BASELINES));
        if let Some(error) = problems.into_iter().find(|problem| problem.severity == Severity::Error) {
            return Err(error.message);
        }
        let value = document.root().and_then(|root| root.to_value().ok()).unwrap_or_default();
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    /// Returns the content of the file.
    pub fn to_yaml(&self) -> String {
        let mut text = "version: \"1.0\"\nbaselines:".to_owned();
        text.push_str(if self.baselines.is_empty() { " {}\n" } else { "\n" });
        for (name, baseline) in &self.baselines {
            let Baseline { captured_at, runs, metrics } = baseline;
            let captured_at = serde_json::Value::from(&**captured_at);
            text.push_str(&format!(
                "  {}:\n    captured_at: {captured_at}\n    runs: {runs}\n    metrics:",
                scalar(name)
            ));
            let known: Vec<(Metric, Distribution)> =
                Metric::ALL.into_iter().filter_map(|metric| Some((metric, metric.of(metrics)?))).collect();
            text.push_str(if known.is_empty() { " {}\n" } else { "\n" });
            for (metric, Distribution { p50, p95, min, max, stddev }) in known {
                text.push_str(&format!("      {}:\n", metric.as_str()));
                for (key, value) in [("p50", p50), ("p95", p95), ("min", min), ("max", max), ("stddev", stddev)] {
                    text.push_str(&format!("        {key}: {}\n", decimal(value)));
                }
            }
        }
        text
    }
}

/// Returns a number with at most six decimals, and at least one.
fn decimal(value: f64) -> String {
    let text = format!("{value:.6}");
    let short = text.trim_end_matches('0');
    if short.ends_with('.') { format!("{short}0") } else { short.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Document, ScalarRules};

    #[test]
    fn distribution_of_twenty_runs_is_that_of_the_original() {
        let values: Vec<f64> = (1..=20).map(|run| f64::from(run) * 100.0).collect();
        let found = Distribution::of(&values).unwrap();
        let expected = Distribution { p50: 1050.0, p95: 1905.0, min: 100.0, max: 2000.0, stddev: found.stddev };
        assert_eq!((found, decimal(found.stddev).as_str()), (expected, "591.607978"));
        assert_eq!(Distribution::of(&[3.0]).map(|it| (it.p95, it.stddev)), Some((3.0, 0.0)));
        assert_eq!(Distribution::of(&[]), None);
    }

    #[test]
    fn file_that_is_written_is_read_as_it_was() {
        let mut metrics = Metrics::default();
        Metric::CostUsd.put(&mut metrics, Distribution { p50: 0.105, p95: 2.0, ..Distribution::default() });
        let baseline = Baseline { captured_at: Name("2026-05-14T12:00:00Z".to_owned()), runs: 5, metrics };
        let names = ["smoke", "no", "a: b", "7", "ümlaut"];
        let baselines = names.map(|name| (name.to_owned(), baseline.clone())).into();
        let written = Baselines { version: "1.0".to_owned(), baselines };
        let text = written.to_yaml();
        let document = Document::read(&text, ScalarRules::Yaml11);
        assert!(document.is_intact(), "{text}");
        let read: Baselines = serde_json::from_value(document.root().unwrap().to_value().unwrap()).unwrap();
        assert_eq!(read, written, "{text}");
        assert!(text.contains("  smoke:\n    captured_at: \"2026-05-14T12:00:00Z\"\n    runs: 5\n"), "{text}");
        assert!(text.contains("        p50: 0.105\n        p95: 2.0\n"), "{text}");
        assert_eq!(
            Baselines { version: "1.0".to_owned(), ..Baselines::default() }.to_yaml(),
            "version: \"1.0\"\nbaselines: {}\n"
        );
    }
}
