//! Baselines: what earlier runs of each scenario measured.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The baselines of a ClawSpec target: `tests/baselines.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Baselines {
    /// The version of the format: the text `"1.0"`.
    pub version: String,
    /// What was measured, by scenario.
    pub baselines: Map<String, Value>,
}
