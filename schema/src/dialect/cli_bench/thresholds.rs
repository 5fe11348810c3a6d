//! `thresholds`: the pass rate that a model must reach.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Pass rate that each model must reach, in percent.
///
/// The pass rate of a model is the share of its attempts that passed; attempts that ended with an error count as not passed. Its
/// threshold is the one in `models`, or else `default`, minus `tolerance`. A lower pass rate is a violation. A model
/// without a threshold cannot violate one.
///
/// ```yaml
/// thresholds:
///   default: 80
///   models: { openai/gpt-4o-mini: 60 }
///   tolerance: 5
///   behavior: error
/// ```
///
/// These thresholds decide whether a run with failed tasks still passes. A failed task of a model without a threshold
/// fails the run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-claims" = true, "x-problems" = [{
    "if": { "type": "object", "properties": { "default": false, "models": { "maxProperties": 0 } } },
    "code": "unchecked", "underline": "key", "message": "`thresholds` does not set a threshold",
    "help": "add `default`, or list models under `models`",
}]))]
pub struct Thresholds {
    /// Minimum pass rate of models that `models` does not list, from 0 to 100.
    #[schemars(range(min = 0.0, max = 100.0), extend("examples" = [80], "x-problems" = too_low()))]
    #[schemars(extend("x-other-names" = ["pass_rate", "min"]))]
    pub default: Option<f64>,
    /// Minimum pass rate of individual models, from 0 to 100, by their id in `providers`.
    ///
    /// ```yaml
    /// models:
    ///   anthropic/claude-sonnet-4.6: 95
    /// ```
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(extend("x-refers" = "models"))]
    #[schemars(extend("x-name" = { "note": "its threshold is never checked", "severity": "warning" }))]
    pub models: BTreeMap<String, Percent>,
    /// Percentage points by which a pass rate may be below its threshold, from 0 to 100.
    ///
    /// With `default: 80` and `tolerance: 5`, 78 passes and 70 does not.
    #[schemars(range(min = 0.0, max = 100.0), extend("default" = 0))]
    pub tolerance: Option<f64>,
    /// Effect of a violation.
    #[schemars(extend("default" = "error"))]
    #[schemars(extend("x-other-names" = ["on_violation"]))]
    pub behavior: Option<Behavior>,
}

/// A pass rate in percent, 0 to 100.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct Percent(#[schemars(range(min = 0.0, max = 100.0), extend("x-problems" = too_low()))] pub f64);

/// Returns the problems of a threshold that every model reaches, and of a share instead of a percentage.
fn too_low() -> Value {
    json!([
        {
            "if": { "const": 0 }, "code": "vacuous-claim", "message": "every model meets a threshold of 0",
            "help": "raise it, or remove it",
        },
        {
            "if": { "exclusiveMinimum": 0, "exclusiveMaximum": 1 }, "code": "out-of-range", "severity": "warning",
            "message": "a threshold of {value} is less than one percent",
            "note": "a threshold is a percentage from 0 to 100", "fix": { "times": 100 },
        },
    ])
}

/// Effect of a violated threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Behavior {
    /// The run fails: exit status 1.
    #[default]
    Error,
    /// The violation is only reported.
    Informational,
}
