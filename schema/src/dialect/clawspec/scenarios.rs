//! The scenario contract: `tests/scenarios.yaml`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A ClawSpec scenario contract: `tests/scenarios.yaml` of a skill or an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Scenarios {
    /// The version of the format: the text `"1.0"`.
    pub version: String,
    /// The skill or agent that is tested.
    pub target: Map<String, Value>,
    /// What applies to every scenario that does not say otherwise.
    #[serde(default)]
    pub defaults: Map<String, Value>,
    /// The scenarios, run and reported in this order.
    pub scenarios: Vec<Value>,
}
