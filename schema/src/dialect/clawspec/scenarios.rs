//! `scenarios.yaml`: a target and its scenarios.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{assertion::Assertion, words::not_in_schema};
use crate::{
    suite::Needed,
    words::{Name, ScenarioName, ScenarioTag},
};

/// A ClawSpec scenario contract: `tests/scenarios.yaml` in the directory of a skill or an agent.
///
/// ```yaml
/// version: "1.0"
/// target:
///   type: skill
///   path: skills/newsletter
///   trigger: /newsletter
/// scenarios:
///   - name: newsletter-smoke
///     tags: [smoke]
///     when:
///       invoke: /newsletter
///     then:
///       - type: artifact_exists
///         path: memory/drafts/{{today}}-newsletter.md
///   - name: newsletter-refuses-to-send
///     tags: [negative]
///     when:
///       invoke: /newsletter send it now
///     then:
///       - type: tool_not_called
///         tool: resend.send
///         log_path: "/tmp/openclaw/openclaw-{{today}}.log"
///         run_id: "{{run_id}}"
/// ```
///
/// ClawSpec reads YAML 1.1: `yes` is true, `1.0` is a number, and an unquoted date is a date.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("x-template" = "clawspec"))]
pub struct ScenarioContract {
    /// Format version, the string `"1.0"` in quotes.
    #[schemars(extend("const" = "1.0"), with = "String")]
    pub version: String,
    /// Skill or agent to test.
    ///
    /// ```yaml
    /// target:
    ///   type: skill
    ///   path: skills/newsletter
    ///   trigger: /newsletter
    /// ```
    pub target: Target,
    /// Timeouts of scenarios. ClawSpec validates this section but ignores it.
    pub defaults: Option<Defaults>,
    /// Scenarios, run and reported in this order.
    ///
    /// At least one scenario of every target must have the tag `negative`.
    #[schemars(length(min = 1))]
    pub scenarios: Vec<Scenario>,
}

/// Skill or agent to test.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Target {
    /// Type of the target, a skill or an agent.
    ///
    /// A skill is started through the gateway, an agent through the `openclaw` program.
    pub r#type: TargetType,
    /// Directory of the target, relative to the root of the workspace (the directory of `clawspec.yaml`).
    ///
    /// The directory must contain `SKILL.md`, or `SOUL.md` for an agent. This path selects scenarios and names reports.
    #[schemars(extend("x-file" = "directory", "x-shares" = "targets", "examples" = ["skills/newsletter"]))]
    pub path: Name,
    /// Slash command of a skill; for an agent, its id or a string that contains `agentId: …`.
    #[schemars(extend("examples" = ["/newsletter"]))]
    pub trigger: Name,
}

/// Type of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TargetType {
    /// A skill: a directory with `SKILL.md`.
    Skill,
    /// An agent: a directory with `SOUL.md`.
    Agent,
}

/// Timeouts of scenarios.
///
/// ClawSpec ignores this section, because it does not wait for runs to end. Scenarios run in test mode unless
/// `when.params.test_mode` is false.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-problems" = [{
    "if": { "anyOf": [{ "required": ["timeout"] }, { "required": ["poll_interval"] }] },
    "code": "upstream-differs", "underline": "key", "message": "ClawSpec ignores `defaults`",
    "note": "speclens waits up to `timeout` seconds for the end of a run, and checks every `poll_interval` seconds",
    "help": "to wait for a file in ClawSpec, set `timeout` on the assertion",
}]))]
pub struct Defaults {
    /// Seconds to wait for the run to end.
    ///
    /// Assertions about anything that could happen after the timeout are unknown. ClawSpec ignores this key.
    #[schemars(range(min = 1), extend("default" = 60, "x-unit" = "seconds", "examples" = [300]))]
    pub timeout: Option<u64>,
    /// Whether targets run without side effects. Has no effect: use `when.params.test_mode`.
    #[schemars(extend("examples" = [true], "x-problems" = [{
        "if": true, "code": "no-effect", "underline": "key", "message": "`test_mode` has no effect in `defaults`",
        "note": "a scenario sets it in `when.params`", "help": "remove it", "fix": "remove",
    }]))]
    pub test_mode: Option<bool>,
    /// Seconds between checks of the run's results. Has no effect in ClawSpec.
    #[schemars(range(min = 1), extend("x-unit" = "seconds", "examples" = [5]))]
    pub poll_interval: Option<u64>,
}

/// A scenario: preconditions, an action, and assertions.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Scenario {
    /// Name of the scenario, unique in the file. It cannot contain template variables.
    #[schemars(extend("x-name" = { "note": "only one of them can be found by name" }))]
    #[schemars(extend("examples" = ["newsletter-smoke"]))]
    #[schemars(extend("x-synonyms" = ["id"]))]
    pub name: ScenarioName,
    /// Description of the scenario.
    pub description: Option<String>,
    /// Labels to select scenarios by.
    ///
    /// Every target needs a scenario tagged `negative`, which tests what the target must refuse. You can choose other
    /// tags freely; `smoke`, `regression`, `p0` and `p1` are common.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ScenarioTag>", extend("examples" = [["smoke"], ["negative"]]))]
    pub tags: Vec<Name>,
    /// Preconditions to check before the target is started.
    ///
    /// All of them are evaluated. If one fails or ends with an error, nothing is started, and the scenario does not
    /// pass. A warning or an unknown result does not prevent the run.
    ///
    /// ```yaml
    /// given:
    ///   - type: file_absent
    ///     path: memory/drafts/{{today}}-newsletter.md
    /// ```
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-other-names" = ["preconditions"]))]
    pub given: Vec<Assertion>,
    /// Action of the scenario.
    ///
    /// ```yaml
    /// when:
    ///   invoke: /newsletter
    ///   params: { topic: spring }
    /// ```
    #[schemars(extend("x-other-names" = ["steps"]))]
    pub when: When,
    /// Assertions to check afterwards.
    ///
    /// ```yaml
    /// then:
    ///   - type: artifact_contains
    ///     path: memory/drafts/{{today}}-newsletter.md
    ///     sections: [Hook, Body]
    /// ```
    #[schemars(length(min = 1))]
    #[schemars(extend("x-synonyms" = ["assertions"], "x-other-names" = ["expect", "expected"]))]
    pub then: Vec<Assertion>,
    /// Maximum drift from the stored baseline. ClawSpec documents this key, but rejects files with it.
    ///
    /// ```yaml
    /// regression:
    ///   compare: p50
    ///   max_cost_drift: 1.5
    /// ```
    #[schemars(extend("x-problems" = not_in_schema("regression", "key")))]
    pub regression: Option<Regression>,
    /// Number of runs, and how many of them must pass.
    ///
    /// ClawSpec rejects this key.
    #[schemars(extend("x-problems" = not_in_schema("consistency", "key")))]
    pub consistency: Option<ScenarioConsistency>,
}

/// Action of a scenario.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("x-problems" = [
    {
        "if": {
            "required": ["invoke"],
            "properties": { "invoke": { "const": "sessions_spawn" }, "params": { "properties": { "task": false } } },
        },
        "at": "invoke", "code": "missing-field", "severity": "warning", "message": "missing `params.task`",
        "note": "`sessions_spawn` sends this text to the agent", "help": "add `task`",
    },
    {
        "if": {
            "required": ["invoke", "params"],
            "properties": {
                "invoke": { "const": "sessions_spawn" },
                "params": {
                    "required": ["task"],
                    "properties": { "task": { "not": { "anyOf": [{ "type": "string" }, { "const": null }] } } },
                },
            },
        },
        "at": "params.task", "code": "wrong-type", "message": "expected a string for `task`, found {found}",
        "note": "it is the message that the agent receives", "help": "put it in quotes",
    },
    {
        "if": {
            "required": ["params"],
            "properties": { "params": { "required": ["test_mode"], "properties": { "test_mode": { "type": "string" } } } },
        },
        "at": "params.test_mode", "code": "ambiguous-scalar", "severity": "warning",
        "message": "the string `{value}` counts as true for `test_mode`",
        "help": "write `true` or `false` without quotes",
    },
]))]
pub struct When {
    /// Slash command or message to send to the target.
    ///
    /// For a skill, a string that begins with `/` is sent as the command; any other string is sent as a message to the
    /// target's `trigger`. For an agent, it is the message; the value `sessions_spawn` sends `params.task` instead.
    #[schemars(extend("x-template" = "clawspec", "examples" = ["/newsletter"]))]
    pub invoke: Name,
    /// Additional data. `test_mode` is true unless set to false.
    #[schemars(extend("x-template" = "clawspec", "x-compared" = "output", "examples" = [{ "test_mode": true }]))]
    pub params: Option<Map<String, Value>>,
}

/// Maximum drift from the stored baseline.
///
/// Without a stored baseline, nothing is compared.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(extend("x-problems" = [{
    "if": {
        "type": "object",
        "properties": {
            "max_duration_drift": false, "max_cost_drift": false, "max_token_drift": false, "max_step_drift": false,
        },
    },
    "code": "vacuous-claim", "underline": "key", "message": "`regression` has no limit, so nothing is compared",
    "help": "add `max_duration_drift`, or another limit",
}]))]
pub struct Regression {
    /// Stored value to compare with.
    pub compare: Compare,
    /// Maximum duration, as a multiple of the baseline.
    #[schemars(extend("exclusiveMinimum" = 0, "examples" = [1.5]))]
    pub max_duration_drift: Option<f64>,
    /// Maximum cost, as a multiple of the baseline.
    #[schemars(extend("exclusiveMinimum" = 0, "examples" = [1.5]))]
    pub max_cost_drift: Option<f64>,
    /// Maximum number of tokens, as a multiple of the baseline.
    #[schemars(extend("exclusiveMinimum" = 0, "examples" = [1.5]))]
    pub max_token_drift: Option<f64>,
    /// Maximum number of model calls in addition to the baseline.
    #[schemars(range(min = 0), extend("examples" = [2]))]
    pub max_step_drift: Option<f64>,
}

/// Stored value to compare with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Compare {
    /// The median.
    #[default]
    P50,
    /// The 95th percentile.
    P95,
}

/// Number of runs of a scenario, and how many of them must pass.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct ScenarioConsistency {
    /// Number of runs.
    #[schemars(range(min = 1, max = 100), extend("examples" = [3], "x-other-names" = ["runs"]))]
    pub k: u32,
    /// Number of runs that must pass.
    #[serde(default)]
    pub mode: ConsistencyMode,
}

/// Number of runs that must pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConsistencyMode {
    /// At least one run must pass.
    PassAtK,
    /// Every run must pass.
    #[default]
    PassAllK,
}

impl ConsistencyMode {
    /// Returns the number of runs that must pass.
    pub(super) fn needed(self) -> Needed {
        match self {
            ConsistencyMode::PassAtK => Needed::One,
            ConsistencyMode::PassAllK => Needed::All,
        }
    }
}
