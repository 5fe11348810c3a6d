//! Settings of ClawSpec workspaces that are not in `clawspec.yaml`, because ClawSpec itself reads that file.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::TraceSources;
use crate::words::FilePath;

/// Settings of ClawSpec runs that `clawspec.yaml` does not have.
///
/// ```yaml
/// clawspec:
///   thresholds: warn
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GatewaySettings {
    /// Outcome of an assertion with a score below its threshold.
    ///
    /// `artifact_matches_golden`, `llm_judge` and `agent_identity_consistent` have a threshold. ClawSpec only warns, so
    /// its runs pass with any score.
    pub thresholds: Shortfall,
    /// Sources of traces in addition to Opik in `clawspec.yaml`.
    pub traces: TraceSources,
    /// Scripted gateway that replaces the real one.
    ///
    /// The path of a file `NAME.gateway.yaml`, relative to this file. A run starts the gateway on a free port and stops
    /// it afterwards. It replaces `gateway_base_url` and `gateway_log_pattern` of `clawspec.yaml`, and the `openclaw`
    /// program. The spans that it sends are the trace of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-file" = "gateway", "examples" = ["demo.gateway.yaml"]))]
    pub gateway: Option<FilePath>,
    /// Whether runs in an editor write reports in ClawSpec's format.
    ///
    /// The reports go to the same directory as those of `speclens run`: `report_dir` of `clawspec.yaml`,
    /// `CLAWSPEC_REPORT_DIR`, or `reports`. By default, editors write none, because every run of a single scenario
    /// would add a report.
    pub editor_reports: bool,
}

impl GatewaySettings {
    /// Whether there is a source of traces besides those in `clawspec.yaml`.
    pub(crate) fn has_traces(&self) -> bool {
        self.traces != TraceSources::default() || self.gateway.is_some()
    }
}

/// Outcome of an assertion with a score below its threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Shortfall {
    /// The assertion fails.
    #[default]
    Fail,
    /// The assertion warns, as in ClawSpec: the exit status stays 0.
    Warn,
}
