//! Settings of ClawSpec workspaces that `clawspec.yaml` has no keys for, because ClawSpec itself reads that file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TraceSources;

/// How ClawSpec suites run, beyond what `clawspec.yaml` says.
///
/// ```yaml
/// clawspec:
///   thresholds: warn
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ClawSpecSettings {
    /// The outcome of an assertion whose score is below its threshold.
    ///
    /// `artifact_matches_golden`, `llm_judge` and `agent_identity_consistent` have a threshold. ClawSpec warns, so its runs
    /// pass with any score.
    pub thresholds: Shortfall,
    /// Where the traces of runs come from, beside the Opik of `clawspec.yaml`.
    pub traces: TraceSources,
}

/// The outcome of an assertion whose score is below its threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Shortfall {
    /// The assertion fails.
    #[default]
    Fail,
    /// The assertion warns, as it does in ClawSpec: the exit status stays 0.
    Warn,
}
