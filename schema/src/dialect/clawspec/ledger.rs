//! The coverage ledger: which targets there are, and what covers them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
/// Paths begin in the ledger's directory, or two levels above it when the ledger lies in `docs/testing`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CoverageLedger {
    /// The groups of targets, by name.
    pub waves: BTreeMap<String, Wave>,
}

/// A group of targets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Wave {
    /// How far the group is, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent"))]
    pub status: Option<String>,
    /// The targets.
    #[serde(default)]
    pub items: Vec<LedgerItem>,
}

/// A target, and what covers it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LedgerItem {
    /// The target's path: the name of the item.
    #[schemars(extend("x-shares" = "targets", "examples" = ["skills/newsletter"]))]
    pub id: Name,
    /// Directory of the target, when that is not its `id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent", "x-file" = "directory", "x-shares" = "targets"))]
    pub path: Option<String>,
    /// What kind of target it is.
    ///
    /// Of an `orchestrator` the pipeline and handoff contracts are looked at, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent", "examples" = ["orchestrator", "interior-skill", "interior-agent", "boundary-skill"]))]
    pub tier: Option<String>,
    /// How far the target is, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent"))]
    pub status: Option<String>,
    /// The contracts that test it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent"))]
    pub contracts: Option<Contracts>,
    /// What is covered: a word for each kind of test. Only `negative` is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent"))]
    pub coverage: Option<Coverage>,
    /// What was found out by hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent"))]
    pub verification: Option<Verification>,
}

/// The contracts that test a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Contracts {
    /// Its scenarios.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent", "x-file" = "yaml", "examples" = ["skills/newsletter/tests/scenarios.yaml"]))]
    pub scenario_file: Option<String>,
    /// Its pipeline.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent", "x-file" = "yaml", "examples" = ["skills/newsletter/tests/pipeline.yaml"]))]
    pub pipeline_file: Option<String>,
    /// Its handoffs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent", "x-file" = "handoff"))]
    pub handoff_files: Option<Vec<String>>,
}

/// What is covered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Coverage {
    /// Whether a scenario shows what the target refuses.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent"))]
    pub negative: Option<bool>,
}

/// What was found out by hand.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Verification {
    /// The scenario that may run without asking; null when there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent", "x-refers" = "scenarios"))]
    pub approved_smoke_scenario: Option<String>,
}
