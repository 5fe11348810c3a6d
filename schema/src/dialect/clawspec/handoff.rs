//! The handoff contract: what one agent passes on to another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A ClawSpec handoff contract: `tests/handoffs/*.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Handoff {
    /// The version of the format: the text `"1.0"`.
    pub version: String,
    /// Who hands over to whom, and what must hold then.
    pub handoff: Map<String, Value>,
}
