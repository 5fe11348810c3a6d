//! `compliance`: data for a report on the system under test.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::config::unread;

/// Contents of a compliance report.
///
/// KindLM prints the report if it is called with `--compliance`, regardless of `enabled`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Compliance {
    /// Has no effect: the command line decides whether a report is printed.
    #[schemars(extend("x-problems" = unread("enabled", "KindLM prints the report only with its option `--compliance`")))]
    pub enabled: bool,
    /// Rules that the report follows.
    pub framework: Framework,
    /// Has no effect: the report is printed.
    #[schemars(extend("default" = "./compliance-reports"))]
    #[schemars(extend("x-problems" = unread("outputDir", "KindLM prints the report and does not write a file")))]
    pub output_dir: Option<String>,
    /// Information about the system for the report.
    pub metadata: Option<Metadata>,
}

/// The rules that a compliance report follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framework {
    /// The EU AI Act.
    #[default]
    EuAiAct,
    /// Rules of your own.
    Custom,
}

/// Information about the system for a compliance report.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// Name of the system.
    pub system_name: Option<String>,
    /// Version of the system. Not printed.
    #[schemars(extend("examples" = ["1.4.0"]))]
    pub system_version: Option<String>,
    /// Risk level of the system.
    pub risk_level: Option<RiskLevel>,
    /// Operator of the system.
    pub operator: Option<String>,
    /// Purpose of the system.
    pub intended_purpose: Option<String>,
    /// Notes on data governance. Not printed.
    pub data_governance_notes: Option<String>,
}

/// Risk level of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RiskLevel {
    /// High risk.
    High,
    /// Limited risk.
    Limited,
    /// Minimal risk.
    Minimal,
}
