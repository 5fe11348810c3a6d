//! The settings of a ClawSpec workspace: `clawspec.yaml`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The settings of a ClawSpec workspace: `clawspec.yaml` at its root.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Config(pub BTreeMap<String, Value>);
