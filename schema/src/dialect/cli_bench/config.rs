//! The main file as a whole: `cli-bench.yaml`.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A cli-bench suite: `cli-bench.yaml`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Config {
    /// The program that the tasks are about.
    pub cli: String,
    /// The command that prints the program's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version_command: Option<String>,
    /// What the program is called where results are shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// A label to group programs by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Where the program is described.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Where the program is developed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub github_url: Option<String>,
    /// The models, each `provider/model-id`.
    #[serde(default)]
    pub providers: Vec<String>,
    /// How a model learns about the program.
    #[serde(default)]
    pub help_modes: Vec<String>,
    /// How many requests to models may be under way at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub concurrency: Option<i64>,
    /// The directory that every task works in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workdir: Option<String>,
    /// Whether results are uploaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub upload: Option<String>,
    /// How often each task is attempted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub repeat: Option<i64>,
    /// Text that is added to the agent's own instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_prompt: Option<String>,
    /// Names of environment variables whose values are masked.
    #[serde(default)]
    pub redact_env: Vec<String>,
    /// Regular expressions; what they match is masked.
    #[serde(default)]
    pub redact_patterns: Vec<String>,
    /// Environment variables of every task.
    #[serde(default)]
    pub env: BTreeMap<String, Value>,
    /// Shell commands that run before each task's own.
    #[serde(default)]
    pub setup: Vec<String>,
    /// A directory whose content every task begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scaffold: Option<String>,
    /// The least share of passed runs per model.
    #[serde(default)]
    pub thresholds: Map<String, Value>,
    /// The tasks, and files that hold some.
    pub tasks: Vec<Value>,
}
