//! The coverage ledger: which targets have which contracts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A ClawSpec coverage ledger: `coverage-ledger.yaml`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// The waves of work, by name.
    pub waves: Map<String, Value>,
}
