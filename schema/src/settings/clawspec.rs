//! Settings of ClawSpec workspaces that `clawspec.yaml` has no keys for, because ClawSpec itself reads that file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TraceSources;
use crate::words::FilePath;

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
    /// The scripted gateway that takes the place of the real one.
    ///
    /// It is the path of a file `NAME.gateway.yaml`, relative to this file.
    /// A run starts it on a free port, and ends it. `gateway_base_url` and `gateway_log_pattern` of `clawspec.yaml` then name
    /// what the script plays, and the spans that it sends are those of the run. It plays the program `openclaw`, too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-file" = "gateway", "examples" = ["demo.gateway.yaml"]))]
    pub gateway: Option<FilePath>,
    /// Whether runs that an editor starts write reports in the form of ClawSpec.
    ///
    /// They go where those of `speclens run` go: to `report_dir` of `clawspec.yaml`, to `CLAWSPEC_REPORT_DIR`, or to `reports`.
    /// Without this, an editor writes none, because each attempt at a single scenario would take a number among the reports.
    pub editor_reports: bool,
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
