//! The three contracts: of the scenarios of a skill or an agent, of a handoff between two agents, and of a pipeline.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{
    assertion::Assertion,
    words::{Heading, not_in_schema},
};
use crate::{
    suite::Needed,
    words::{Name, ScenarioName, ScenarioTag, StageName},
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

/// A ClawSpec handoff contract: `tests/handoffs/*.yaml`, named by a stage of a pipeline.
///
/// ```yaml
/// version: "1.0"
/// handoff:
///   from: agents-lead
///   to: agents-copy
///   mechanism: sessions_spawn
/// caller_provides:
///   required_context:
///     - name: topic
///       description: What the text is about.
/// callee_produces:
///   required_artifacts:
///     - path_pattern: memory/drafts/{{today}}-copy.md
///       description: The draft.
///       required_sections: [Hook]
///   prohibited_actions:
///     - tool: resend.send
///       reason: The callee writes; it never sends.
/// ```
///
/// Without `assertions`, they are derived from the other keys: the delegation happened, every required artifact exists
/// with its sections, and the callee called no prohibited tool. If `assertions` is set, it replaces all of these.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("x-template" = "clawspec"))]
pub struct HandoffContract {
    /// Format version, the string `"1.0"` in quotes.
    #[schemars(extend("const" = "1.0"), with = "String")]
    pub version: String,
    /// Caller and callee of the handoff.
    pub handoff: Handoff,
    /// Context and artifacts from the caller. May be empty: `{}`.
    pub caller_provides: CallerProvides,
    /// Artifacts and effects of the callee.
    pub callee_produces: CalleeProduces,
    /// Assertions that replace the derived ones.
    pub assertions: Option<HandoffAssertions>,
}

/// Caller and callee of the handoff.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Handoff {
    /// Id of the agent that delegates, available as `{{handoff.from}}`.
    #[schemars(extend("x-shares" = "agents", "examples" = ["agents-lead"]))]
    pub from: Name,
    /// Id of the agent that takes over, available as `{{handoff.to}}`.
    #[schemars(extend("x-shares" = "agents", "examples" = ["agents-copy"]))]
    pub to: Name,
    /// Mechanism of the handoff.
    pub mechanism: Mechanism,
}

/// Mechanism of the handoff.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// The caller starts a session of the callee.
    SessionsSpawn,
}

/// Context and artifacts from the caller.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CallerProvides {
    /// Facts that the caller passes on. For documentation only; never checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_context: Vec<ContextItem>,
    /// Files that the caller provides. For documentation only; never checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_artifacts: Vec<Artifact>,
}

/// A fact that the caller passes on.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct ContextItem {
    /// Name, unique in the list.
    #[schemars(extend("x-name" = { "what": "fact name" }))]
    #[schemars(extend("examples" = ["topic"]))]
    pub name: Name,
    /// Description of the fact.
    pub description: Name,
}

/// A file that is part of the handoff.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Artifact {
    /// Path of the file. Wildcards and template variables are allowed.
    #[schemars(extend("x-file" = "any", "x-glob" = true, "x-template" = "clawspec", "x-problems" = [{
        "if": { "pattern": r"^\s+$" }, "code": "invalid-value", "message": "`path_pattern` must not be blank",
        "help": "name the file that is handed over",
    }]))]
    #[schemars(extend("examples" = ["memory/drafts/{{today}}-copy.md"]))]
    pub path_pattern: Name,
    /// Description of the file.
    pub description: Name,
    /// Headings that the file must have.
    #[schemars(with = "Option<Vec<Heading>>", extend("x-compared" = "text", "examples" = [["Hook", "Body"]]))]
    pub required_sections: Option<Vec<Name>>,
}

/// Artifacts and effects of the callee.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct CalleeProduces {
    /// Files that must exist afterwards.
    #[schemars(length(min = 1))]
    pub required_artifacts: Vec<Artifact>,
    /// Changes to the state. For documentation only; never checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state_updates: Vec<StateUpdate>,
    /// Tools that the callee must not call.
    ///
    /// If the gateway log does not contain the run of the callee, the result is unknown. ClawSpec looks at the run of
    /// the caller instead.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prohibited_actions: Vec<ProhibitedAction>,
}

/// A change to the state.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct StateUpdate {
    /// Description of the change.
    pub description: Name,
}

/// A tool that must not be called.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct ProhibitedAction {
    /// Exact name of the tool, without wildcards or template variables.
    #[schemars(extend("x-shares" = "tools", "examples" = ["resend.send"], "x-problems" = [{
        "if": { "pattern": r"^\s+$|\*|\{\{" }, "code": "invalid-value",
        "message": "`{value}` is not the exact name of a tool",
        "note": "wildcards and template variables are not expanded", "help": "name each tool in full",
    }]))]
    pub tool: Name,
    /// Reason for the prohibition.
    pub reason: Name,
}

/// Assertions about a handoff.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HandoffAssertions {
    /// Assertions about the delegation itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pre_delegation: Vec<Assertion>,
    /// Assertions about the callee's results.
    ///
    /// `run_id: "{{callee_run_id}}"` selects the run of the callee in the gateway log. If the caller delegated to the
    /// callee several times, it selects all these runs. If the log does not contain the run, the result is unknown;
    /// ClawSpec looks at the run of the caller instead.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub post_delegation: Vec<Assertion>,
}

/// A ClawSpec pipeline contract: `tests/pipeline.yaml` in the directory of an orchestrating skill.
///
/// ```yaml
/// version: "1.0"
/// pipeline:
///   name: newsletter
///   skill_path: skills/newsletter
///   trigger: /send-newsletter
///   stages: 2
/// stages:
///   - name: brief
///     agent: agents-brief
///     produces: memory/drafts/{{today}}-brief.md
///   - name: approval
///     requires_approval: true
/// pipeline_health:
///   - description: Every stage left its file.
///     check: count(produced_artifacts) == count(stages_with_produces)
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[schemars(extend("x-template" = "clawspec"))]
pub struct PipelineContract {
    /// Format version, the string `"1.0"` in quotes.
    #[schemars(extend("const" = "1.0"), with = "String")]
    pub version: String,
    /// Name, skill and trigger of the pipeline.
    pub pipeline: Pipeline,
    /// Stages of the pipeline, in order.
    #[schemars(length(min = 1))]
    pub stages: Vec<Stage>,
    /// Assertions to check after all stages.
    pub final_assertions: Option<FinalAssertions>,
    /// Conditions on the whole run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pipeline_health: Vec<HealthCheck>,
}

/// Name, skill and trigger of a pipeline.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Pipeline {
    /// Name of the pipeline in reports.
    #[schemars(extend("examples" = ["newsletter"], "x-other-names" = ["orchestrator"]))]
    pub name: Name,
    /// Directory of the skill, relative to the root of the workspace.
    #[schemars(extend("x-file" = "directory", "x-shares" = "targets", "examples" = ["skills/newsletter"]))]
    pub skill_path: Name,
    /// Slash command that starts the pipeline.
    #[schemars(extend("examples" = ["/send-newsletter"]))]
    pub trigger: Name,
    /// Number of stages. It must equal the length of the list `stages`.
    #[schemars(range(min = 1), extend("examples" = [1]))]
    pub stages: u64,
    /// Expected duration, for documentation only. To check it, use `pipeline_health`: `elapsed <= 30m`.
    #[schemars(extend("examples" = ["30m"]))]
    pub estimated_duration: Option<Name>,
}

/// A stage.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct Stage {
    /// Name, unique in the file.
    #[schemars(extend("x-name" = { "note": "only one of them can be found by name" }))]
    #[schemars(extend("examples" = ["brief"]))]
    pub name: StageName,
    /// Id of the agent of this stage.
    #[schemars(extend("x-shares" = "agents", "examples" = ["agents-brief"]))]
    pub agent: Option<String>,
    /// File that the stage produces, relative to the root of the workspace.
    /// Wildcards and template variables are allowed.
    #[schemars(extend("x-file" = "any", "x-glob" = true, "x-template" = "clawspec", "examples" = ["memory/drafts/{{today}}-brief.md"]))]
    pub produces: Option<String>,
    /// Contract of the handoff to this stage, relative to the directory of the skill.
    #[schemars(extend("x-file" = "handoff", "x-above" = "tests", "examples" = ["tests/handoffs/lead-to-brief.yaml"]))]
    pub handoff_contract: Option<String>,
    /// Whether a person must approve the stage first. Such a stage may be skipped.
    pub requires_approval: Option<bool>,
}

/// Assertions to check after all stages.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FinalAssertions {
    /// Assertions that are evaluated first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deterministic: Vec<Assertion>,
    /// Assertions that are evaluated afterwards. Both lists accept any type.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub semantic: Vec<Assertion>,
}

/// A condition on the whole run.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub struct HealthCheck {
    /// Purpose of the condition.
    pub description: Name,
    /// The condition, in one of three forms.
    ///
    /// - `count(produced_artifacts) == count(stages_with_produces)`
    /// - `all handoff contracts passed`
    /// - `elapsed <= 30m`, or hours: `elapsed <= 2h`
    #[schemars(extend("examples" = [
        "count(produced_artifacts) == count(stages_with_produces)", "all handoff contracts passed", "elapsed <= 30m"
    ]))]
    pub check: Name,
}
