//! Pipeline contracts: the stages of an orchestrating skill.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::assertion::Assertion;
use crate::words::{Defines, Name, Stages};

/// A ClawSpec pipeline contract: `tests/pipeline.yaml` beside an orchestrating skill.
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PipelineContract {
    /// The version of the format: the text `"1.0"`, in quotes.
    #[schemars(extend("const" = "1.0"), with = "String")]
    pub version: String,
    /// What is started.
    pub pipeline: Pipeline,
    /// The stages, in their order.
    #[schemars(length(min = 1))]
    pub stages: Vec<Stage>,
    /// What must hold when all stages are through.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub final_assertions: Option<FinalAssertions>,
    /// Conditions on the whole run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pipeline_health: Vec<HealthCheck>,
}

/// What is started.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Pipeline {
    /// The pipeline's name in reports.
    #[schemars(extend("examples" = ["newsletter"]))]
    pub name: Name,
    /// The directory of the skill, relative to the root of the workspace.
    #[schemars(extend("x-file" = "directory", "x-shares" = "targets", "examples" = ["skills/newsletter"]))]
    pub skill_path: Name,
    /// The slash command that starts it.
    #[schemars(extend("examples" = ["/send-newsletter"]))]
    pub trigger: Name,
    /// How many stages there are: the length of the list `stages`.
    #[schemars(range(min = 1), extend("examples" = [1]))]
    pub stages: u64,
    /// How long a run takes, for people. Nothing checks it: write `elapsed <= 30m` under `pipeline_health`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["30m"]))]
    pub estimated_duration: Option<Name>,
}

/// A stage.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Stage {
    /// Its name, unique in the file.
    #[schemars(extend("examples" = ["brief"]))]
    pub name: Defines<Stages>,
    /// The id of the agent that does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-shares" = "agents", "examples" = ["agents-brief"]))]
    pub agent: Option<String>,
    /// The file that it leaves, relative to the root of the workspace. Wildcards and templates are allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-file" = "any", "x-glob" = true, "x-template" = "clawspec", "examples" = ["memory/drafts/{{today}}-brief.md"]))]
    pub produces: Option<String>,
    /// The contract of handing over to this stage, relative to the directory of the skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-file" = "handoff", "examples" = ["tests/handoffs/lead-to-brief.yaml"]))]
    pub handoff_contract: Option<String>,
    /// Whether a person must agree first. Such a stage may be left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requires_approval: Option<bool>,
}

/// What must hold when all stages are through.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct FinalAssertions {
    /// Judged first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deterministic: Vec<Assertion>,
    /// Judged afterwards. Any type may be in either list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub semantic: Vec<Assertion>,
}

/// A condition on the whole run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct HealthCheck {
    /// What it is for.
    pub description: Name,
    /// The condition. Three are known:
    ///
    /// - `count(produced_artifacts) == count(stages_with_produces)`
    /// - `all handoff contracts passed`
    /// - `elapsed <= 30m`, or hours: `elapsed <= 2h`
    #[schemars(extend("examples" = [
        "count(produced_artifacts) == count(stages_with_produces)", "all handoff contracts passed", "elapsed <= 30m"
    ]))]
    pub check: Name,
}

/// The directory from which the handoff contracts of a pipeline count, relative to the root of the workspace: that of the
/// skill, in whose `tests` the pipeline lies.
pub fn handoff_base(place: &str) -> &str {
    let directory = place.rsplit_once('/').map_or("", |(directory, _)| directory);
    match directory {
        "tests" => "",
        directory => directory.strip_suffix("/tests").unwrap_or(directory),
    }
}
