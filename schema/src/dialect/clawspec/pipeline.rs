//! Pipeline contracts: the stages of an orchestrating skill.

use schemars::JsonSchema;
use serde::Deserialize;

use super::assertion::Assertion;
use crate::words::{Name, StageName};

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
    #[schemars(extend("examples" = ["newsletter"]))]
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
