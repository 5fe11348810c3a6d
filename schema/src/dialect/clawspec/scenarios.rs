//! `scenarios.yaml`: what is tested, and its scenarios.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::assertion::Assertion;
use crate::words::{Defines, Name, ScenarioTag, Scenarios};

/// A ClawSpec scenario contract: `tests/scenarios.yaml` beside a skill or an agent.
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
/// Scalars are read by the rules of YAML 1.1: `yes` is true, `1.0` is a number, an unquoted date is a date.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ScenarioContract {
    /// The version of the format: the text `"1.0"`, in quotes.
    #[schemars(extend("const" = "1.0"), with = "String")]
    pub version: String,
    /// The skill or agent that is tested.
    ///
    /// ```yaml
    /// target:
    ///   type: skill
    ///   path: skills/newsletter
    ///   trigger: /newsletter
    /// ```
    pub target: Target,
    /// How long scenarios may take. ClawSpec checks it and never uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defaults: Option<Defaults>,
    /// The scenarios, run and reported in this order.
    ///
    /// At least one scenario of every target must carry the tag `negative`.
    #[schemars(length(min = 1))]
    pub scenarios: Vec<Scenario>,
}

/// The skill or agent that is tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Target {
    /// What it is.
    ///
    /// It decides how it is started: a skill by a call to the gateway, an agent by the `openclaw` program.
    pub r#type: TargetType,
    /// The target's directory, relative to the root of the workspace: the directory of `clawspec.yaml`.
    ///
    /// It must hold `SKILL.md`, or `SOUL.md` for an agent. Scenarios are selected and reports are named by this path.
    #[schemars(extend("x-file" = "directory", "x-shares" = "targets", "examples" = ["skills/newsletter"]))]
    pub path: Name,
    /// The slash command of a skill; for an agent its id, or a text that holds `agentId: …`.
    #[schemars(extend("examples" = ["/newsletter"]))]
    pub trigger: Name,
}

/// What is tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum TargetType {
    /// A skill: a directory with `SKILL.md`.
    Skill,
    /// An agent: a directory with `SOUL.md`.
    Agent,
}

/// How long scenarios may take.
///
/// ClawSpec reads none of it: it waits for no run to end. Scenarios run in test mode unless `when.params.test_mode` says
/// otherwise.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Defaults {
    /// Seconds to wait for the end of a run.
    ///
    /// What may still happen then is unknown. ClawSpec ignores it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("default" = 60, "examples" = [300]))]
    pub timeout: Option<u64>,
    /// Whether targets run without effects on the world. Has no effect: `when.params.test_mode` has.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = [true]))]
    pub test_mode: Option<bool>,
    /// Seconds between two looks at what the run has left so far. Has no effect in ClawSpec.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1), extend("examples" = [5]))]
    pub poll_interval: Option<u64>,
}

/// One scenario: what must hold before, what is done, what must hold then.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Scenario {
    /// The scenario's name, unique in the file. It cannot contain templates.
    #[schemars(extend("examples" = ["newsletter-smoke"]))]
    #[schemars(extend("x-synonyms" = ["id"]))]
    pub name: Defines<Scenarios>,
    /// What the scenario is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Labels to select scenarios by.
    ///
    /// `negative` has a meaning: every target needs one scenario with it, which shows what the target refuses.
    /// Others are free; `smoke`, `regression`, `p0` and `p1` are common.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(with = "Vec<ScenarioTag>", extend("examples" = [["smoke"], ["negative"]]))]
    pub tags: Vec<Name>,
    /// What must hold before the target is started.
    ///
    /// All of them are judged; unless all pass, nothing is started and the scenario fails.
    ///
    /// ```yaml
    /// given:
    ///   - type: file_absent
    ///     path: memory/drafts/{{today}}-newsletter.md
    /// ```
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("x-other-names" = ["preconditions"]))]
    pub given: Vec<Assertion>,
    /// What is done.
    ///
    /// ```yaml
    /// when:
    ///   invoke: /newsletter
    ///   params: { topic: spring }
    /// ```
    #[schemars(extend("x-other-names" = ["steps"]))]
    pub when: When,
    /// What must hold afterwards.
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
    /// How far a run may be from the stored baseline. ClawSpec rejects files that have it.
    ///
    /// ```yaml
    /// regression:
    ///   compare: p50
    ///   max_cost_drift: 1.5
    /// ```
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regression: Option<Regression>,
    /// How many times the scenario runs, and how many of the runs must pass.
    ///
    /// ClawSpec refuses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consistency: Option<ScenarioConsistency>,
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct When {
    /// What is sent to the target: a slash command, or a message.
    ///
    /// For a skill, a text that begins with `/` is sent as the command; any other text is sent as a message to the
    /// target's `trigger`. For an agent it is the message; exactly `sessions_spawn` sends `params.task`.
    #[schemars(extend("x-template" = "clawspec", "examples" = ["/newsletter"]))]
    pub invoke: Name,
    /// Data that goes along. `test_mode` counts as true unless it is set to false.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-template" = "clawspec", "examples" = [{ "test_mode": true }]))]
    pub params: Option<Map<String, Value>>,
}

/// How far a run may be from the stored baseline.
///
/// Without a stored baseline there is no comparison. ClawSpec documents this block, and rejects files that have it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Regression {
    /// Which stored value counts as the base.
    pub compare: Compare,
    /// The greatest duration, as a multiple of the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "examples" = [1.5]))]
    pub max_duration_drift: Option<f64>,
    /// The greatest cost, as a multiple of the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "examples" = [1.5]))]
    pub max_cost_drift: Option<f64>,
    /// The greatest number of tokens, as a multiple of the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0, "examples" = [1.5]))]
    pub max_token_drift: Option<f64>,
    /// How many more questions to a model there may be than in the base.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0), extend("examples" = [2]))]
    pub max_step_drift: Option<f64>,
}

/// Which stored value counts as the base.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Compare {
    /// The median.
    #[default]
    P50,
    /// The value that 95 of 100 runs stay below.
    P95,
}

/// How many times a scenario runs, and how many of the runs must pass.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ScenarioConsistency {
    /// How many times the scenario runs.
    #[schemars(range(min = 1, max = 100), extend("examples" = [3]))]
    pub k: u32,
    /// How many of the runs must pass.
    #[serde(default)]
    pub mode: ConsistencyMode,
}

/// How many of the runs must pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ConsistencyMode {
    /// One run is enough.
    PassAtK,
    /// Every run.
    #[default]
    PassAllK,
}
