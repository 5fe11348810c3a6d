//! `compliance`: data for a report on the system under test.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data for a compliance report.
///
/// KindLM prints a report when it is called with `--compliance`, whatever `enabled` says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct Compliance {
    /// Has no effect: a report is written when the command line asks for it.
    pub enabled: bool,
    /// The rules that the report follows.
    pub framework: Framework,
    /// Has no effect: the report is printed.
    #[schemars(extend("default" = "./compliance-reports"))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_dir: Option<String>,
    /// What the report says about the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<Metadata>,
}

/// The rules that a compliance report follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framework {
    /// The European Union's regulation on artificial intelligence.
    #[default]
    EuAiAct,
    /// Rules of your own.
    Custom,
}

/// What a compliance report says about the system.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct Metadata {
    /// The name of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_name: Option<String>,
    /// The version of the system. Not printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["1.4.0"]))]
    pub system_version: Option<String>,
    /// How much is at stake when the system is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub risk_level: Option<RiskLevel>,
    /// Who operates the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operator: Option<String>,
    /// What the system is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intended_purpose: Option<String>,
    /// How data is governed. Not printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data_governance_notes: Option<String>,
}

/// How much is at stake when a system is wrong.
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
