//! Baselines: what runs of a scenario took and cost, kept for comparison.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::Name;

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
/// The file is written by capturing; a scenario's `regression` compares with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Baselines {
    /// The version of the format: the text `"1.0"`, in quotes.
    #[schemars(extend("const" = "1.0"), with = "String")]
    pub version: String,
    /// The baselines, by the name of the scenario.
    #[serde(default)]
    #[schemars(extend("x-refers" = "scenarios"))]
    pub baselines: BTreeMap<String, Baseline>,
}

/// What the runs of one scenario took and cost.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Baseline {
    /// When it was captured, as ISO 8601 text in quotes.
    #[schemars(extend("examples" = ["2026-05-01T00:00:00Z"]))]
    pub captured_at: Name,
    /// From how many runs. Capturing needs at least five.
    #[schemars(range(min = 1), extend("examples" = [20]))]
    pub runs: u64,
    /// What was measured.
    #[serde(default)]
    pub metrics: Metrics,
}

/// What was measured of the runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Metrics {
    /// Milliseconds from start to end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<Distribution>,
    /// Tokens, sent and received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_tokens: Option<Distribution>,
    /// Tokens sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<Distribution>,
    /// Tokens received.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<Distribution>,
    /// US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<Distribution>,
    /// Questions to models.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub llm_call_count: Option<Distribution>,
    /// Calls of tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_invocation_count: Option<Distribution>,
    /// Delegations to other agents.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subagent_delegation_count: Option<Distribution>,
}

/// How a measure is spread over the runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Distribution {
    /// The median.
    pub p50: f64,
    /// The value that 95 of 100 runs stay below.
    pub p95: f64,
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
    /// The standard deviation of the sample; 0 for one run.
    pub stddev: f64,
}
