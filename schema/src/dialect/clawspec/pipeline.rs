//! The pipeline contract: stages, and the handoffs between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A ClawSpec pipeline contract: `tests/pipeline.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Pipeline {
    /// The version of the format: the text `"1.0"`.
    pub version: String,
    /// The pipeline: its skill, its stages, what must hold at the end.
    pub pipeline: Map<String, Value>,
}
