//! The coverage ledger: targets, and the contracts that cover them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::words::Name;

/// A ClawSpec coverage ledger: `coverage-ledger.yaml`.
///
/// ```yaml
/// waves:
///   first:
///     status: active
///     items:
///       - id: skills/newsletter
///         tier: boundary-skill
///         status: covered
///         contracts:
///           scenario_file: skills/newsletter/tests/scenarios.yaml
///         coverage: { negative: true }
/// ```
///
/// Paths are relative to the ledger's directory, or to the directory two levels above it if the ledger is in
/// `docs/testing`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("x-open" = true))]
pub(crate) struct CoverageLedger {
    /// Groups of targets, by name.
    pub waves: BTreeMap<String, Wave>,
}

/// A group of targets.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("x-open" = true))]
pub(crate) struct Wave {
    /// Status of the group, for documentation only.
    #[schemars(extend("x-null" = "absent"))]
    pub status: Option<String>,
    /// Targets of the group.
    #[serde(default)]
    #[schemars(extend("default" = []))]
    pub items: Vec<LedgerItem>,
}

/// A target and its coverage.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("x-open" = true))]
pub(crate) struct LedgerItem {
    /// Path of the target, unique in the ledger.
    #[schemars(extend("x-name" = { "what": "target id", "help": "remove one of the two" }))]
    #[schemars(extend("x-shares" = "targets", "examples" = ["skills/newsletter"]))]
    pub id: Name,
    /// Directory of the target, if it is not the `id`.
    #[schemars(extend("x-null" = "absent", "x-file" = "directory", "x-above" = "docs/testing", "x-shares" = "targets"))]
    pub path: Option<String>,
    /// Kind of target. For an `orchestrator`, the pipeline and handoff contracts are checked too.
    #[schemars(extend("x-null" = "absent", "examples" = ["orchestrator", "interior-skill", "interior-agent", "boundary-skill"]))]
    pub tier: Option<String>,
    /// Status of the target, for documentation only.
    #[schemars(extend("x-null" = "absent"))]
    pub status: Option<String>,
    /// Contracts that test the target.
    #[schemars(extend("x-null" = "absent"))]
    pub contracts: Option<Contracts>,
    /// Covered kinds of tests. Only `negative` is read.
    #[schemars(extend("x-null" = "absent"))]
    pub coverage: Option<Coverage>,
    /// Results of manual verification.
    #[schemars(extend("x-null" = "absent"))]
    pub verification: Option<Verification>,
}

/// Contracts that test a target.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-open" = true))]
pub(crate) struct Contracts {
    /// Path of the scenario contract.
    #[schemars(extend("x-null" = "absent", "x-file" = "yaml", "x-above" = "docs/testing", "examples" = ["skills/newsletter/tests/scenarios.yaml"]))]
    pub scenario_file: Option<String>,
    /// Path of the pipeline contract.
    #[schemars(extend("x-null" = "absent", "x-file" = "yaml", "x-above" = "docs/testing", "examples" = ["skills/newsletter/tests/pipeline.yaml"]))]
    pub pipeline_file: Option<String>,
    /// Paths of the handoff contracts.
    #[schemars(extend("x-null" = "absent", "x-file" = "handoff", "x-above" = "docs/testing"))]
    pub handoff_files: Option<Vec<String>>,
}

/// Covered kinds of tests.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-open" = true))]
pub(crate) struct Coverage {
    /// Whether a scenario tests what the target must refuse.
    #[schemars(extend("x-null" = "absent"))]
    pub negative: Option<bool>,
}

/// Results of manual verification.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-open" = true))]
pub(crate) struct Verification {
    /// Name of the scenario that may run without approval, or null.
    #[schemars(extend("x-null" = "absent", "x-refers" = "scenarios"))]
    pub approved_smoke_scenario: Option<String>,
}
