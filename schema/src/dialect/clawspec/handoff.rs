//! Handoff contracts: what one agent gives to another, and what it gets back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::assertion::Assertion;
use crate::words::Name;

/// A ClawSpec handoff contract: `tests/handoffs/*.yaml`, reached from a stage of a pipeline.
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
///       reason: The callee writes, it never sends.
/// ```
///
/// Without `assertions` they are made from the rest: the delegation happened, every required artifact exists with its
/// sections, no prohibited tool was called. Any `assertions` replace all of these.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct HandoffContract {
    /// The version of the format: the text `"1.0"`, in quotes.
    #[schemars(extend("const" = "1.0"), with = "String")]
    pub version: String,
    /// Who hands over to whom.
    pub handoff: Handoff,
    /// What the caller hands over. May be empty: `{}`.
    pub caller_provides: CallerProvides,
    /// What the callee gives back.
    pub callee_produces: CalleeProduces,
    /// Assertions that replace those that follow from the rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assertions: Option<HandoffAssertions>,
}

/// Who hands over to whom.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Handoff {
    /// The id of the agent that hands over. `{{handoff.from}}` stands for it.
    #[schemars(extend("x-shares" = "agents", "examples" = ["agents-lead"]))]
    pub from: Name,
    /// The id of the agent that takes over. `{{handoff.to}}` stands for it.
    #[schemars(extend("x-shares" = "agents", "examples" = ["agents-copy"]))]
    pub to: Name,
    /// How it is handed over.
    pub mechanism: Mechanism,
}

/// How it is handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mechanism {
    /// The caller starts a session of the callee.
    SessionsSpawn,
}

/// What the caller hands over.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct CallerProvides {
    /// Facts that the caller passes on. Only told, never checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_context: Vec<ContextItem>,
    /// Files that the caller leaves. Only told, never checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_artifacts: Vec<Artifact>,
}

/// A fact that the caller passes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ContextItem {
    /// Its name, unique in the list.
    #[schemars(extend("examples" = ["topic"]))]
    pub name: Name,
    /// What it says.
    pub description: Name,
}

/// A file that is handed over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Artifact {
    /// Its path. Wildcards and templates are allowed.
    #[schemars(extend("x-file" = "any", "x-glob" = true, "x-template" = "clawspec", "examples" = ["memory/drafts/{{today}}-copy.md"]))]
    pub path_pattern: Name,
    /// What it is.
    pub description: Name,
    /// Headings that it must have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = [["Hook", "Body"]]))]
    pub required_sections: Option<Vec<Name>>,
}

/// What the callee gives back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct CalleeProduces {
    /// Files that must be there afterwards.
    #[schemars(length(min = 1))]
    pub required_artifacts: Vec<Artifact>,
    /// What changes in the state. Only told, never checked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub state_updates: Vec<StateUpdate>,
    /// Tools that the callee must not call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prohibited_actions: Vec<ProhibitedAction>,
}

/// A change of the state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct StateUpdate {
    /// What changes.
    pub description: Name,
}

/// A tool that must not be called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ProhibitedAction {
    /// The tool's exact name: no wildcard, no template.
    #[schemars(extend("x-shares" = "tools", "examples" = ["resend.send"]))]
    pub tool: Name,
    /// Why.
    pub reason: Name,
}

/// Assertions about a handoff.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct HandoffAssertions {
    /// What must hold of handing over.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pre_delegation: Vec<Assertion>,
    /// What must hold of what came back. `{{callee_run_id}}` is the run of the callee.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub post_delegation: Vec<Assertion>,
}
