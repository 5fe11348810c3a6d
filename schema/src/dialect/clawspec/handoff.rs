//! Handoff contracts between two agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::assertion::Assertion;
use crate::{dialect::clawspec::words::Heading, words::Name};

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
pub(crate) struct HandoffContract {
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
pub(crate) struct Handoff {
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
pub(crate) enum Mechanism {
    /// The caller starts a session of the callee.
    SessionsSpawn,
}

/// Context and artifacts from the caller.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct CallerProvides {
    /// Facts that the caller passes on. For documentation only; never checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_context: Vec<ContextItem>,
    /// Files that the caller provides. For documentation only; never checked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub required_artifacts: Vec<Artifact>,
}

/// A fact that the caller passes on.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub(crate) struct ContextItem {
    /// Name, unique in the list.
    #[schemars(extend("x-name" = { "what": "fact name" }))]
    #[schemars(extend("examples" = ["topic"]))]
    pub name: Name,
    /// Description of the fact.
    pub description: Name,
}

/// A file that is part of the handoff.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub(crate) struct Artifact {
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
pub(crate) struct CalleeProduces {
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
pub(crate) struct StateUpdate {
    /// Description of the change.
    pub description: Name,
}

/// A tool that must not be called.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
pub(crate) struct ProhibitedAction {
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
pub(crate) struct HandoffAssertions {
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
