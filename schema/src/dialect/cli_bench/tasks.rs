//! Task files: a list of tasks, and nothing around it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A file of cli-bench tasks: a list that a `file://` entry of `cli-bench.yaml` names.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Tasks(pub Vec<Task>);

/// What a model is asked to do, and what must hold afterwards.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// The name of the task, unique in the whole suite.
    pub id: String,
    /// What the model must achieve.
    pub intent: String,
    /// What must hold afterwards.
    pub assert: Vec<Map<String, Value>>,
}
