//! `redteam`: attacks on a model, which only KindLM runs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::{ModelReference, Name};

/// Attacks on a model, made by plugins and graded by another model.
///
/// ```yaml
/// redteam:
///   purpose: Answers questions about orders
///   target: { model: small }
///   plugins:
///     - { id: prompt-injection, numTests: 10 }
///     - { id: policy, config: { policy: No discounts. } }
/// ```
///
/// speclens checks this section but does not run it, and it has no effect on tests. KindLM runs it with
/// `kindlm redteam run`.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Redteam {
    /// Purpose of the target, which is part of the instructions of the attackers.
    #[schemars(extend("examples" = ["Answers questions about orders"]))]
    pub purpose: Name,
    /// Model to attack.
    pub target: Target,
    /// Model that grades the replies.
    pub judge: Option<Grader>,
    /// Kinds of attacks. One may be listed several times, with different settings.
    #[schemars(length(min = 1))]
    #[schemars(extend("x-other-names" = ["attacks", "vulnerabilities"]))]
    pub plugins: Vec<Plugin>,
    /// How the attacks are run.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    pub strategy: Strategy,
    /// Conditions on all attacks together.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    pub gates: RedteamGates,
}

/// The model to attack.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Target {
    /// Id of the model, from `models`.
    #[schemars(extend("minLength" = 1))]
    pub model: ModelReference,
    /// System prompt of the target, unless an attack brings its own.
    #[schemars(extend("x-other-names" = ["system", "systemPrompt"]))]
    pub prompt: Option<String>,
}

/// The model that grades the replies.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Grader {
    /// Id of the model, from `models`.
    #[schemars(extend("minLength" = 1))]
    pub model: Option<ModelReference>,
    /// Whether to ask three times and to use the median.
    pub beta_judge: Option<bool>,
}

/// A kind of attack.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend(
    "if" = { "type": "object", "properties": { "id": { "const": "policy" } }, "required": ["id"] },
    "then" = { "required": ["config"], "properties": { "config": {
        "x-needed": "`policy` needs the policy to enforce",
        "required": ["policy"],
        "properties": { "policy": { "type": "string", "pattern": "\\S", "x-needed": "`policy` needs the policy to enforce" } },
    } } }
))]
pub struct Plugin {
    /// What the attacks try.
    #[schemars(extend("x-other-names" = ["name", "type", "plugin"]))]
    pub id: PluginId,
    /// Number of attacks.
    #[serde(default)]
    #[schemars(range(min = 1, max = 50), extend("default" = 5, "x-other-names" = ["count", "tests"]))]
    pub num_tests: Option<u32>,
    /// Severity of a successful attack, instead of the plugin's own.
    pub severity: Option<AttackSeverity>,
    /// Settings of the plugin.
    pub config: Option<PluginConfig>,
}

/// Settings of a plugin.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-open" = true))]
pub struct PluginConfig {
    /// Policy that the target must not break. Required by the plugin `policy`.
    #[schemars(extend("examples" = ["Never promise a discount."]))]
    pub policy: Option<String>,
}

/// What attacks try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PluginId {
    /// To replace the instructions of the target.
    PromptInjection,
    /// To obtain personal data.
    PiiDisclosure,
    /// To obtain output that harms the system that uses it.
    ImproperOutputHandling,
    /// To make the target do more than it may.
    ExcessiveAgency,
    /// To obtain the system prompt.
    SystemPromptLeakage,
    /// To obtain false statements.
    Misinformation,
    /// To make the target use excessive resources.
    UnboundedConsumption,
    /// To obtain harmful content.
    HarmfulContent,
    /// To make the target break the policy in `config.policy`.
    Policy,
}

/// Severity of a successful attack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum AttackSeverity {
    /// Critical: counted by `gates.maxCriticalFailures`.
    Critical,
    /// High: counted by `gates.maxHighFailures`.
    High,
    /// Medium.
    Medium,
    /// Low.
    Low,
}

/// How the attacks are run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Strategy {
    /// Maximum number of simultaneous attacks.
    #[schemars(range(min = 1, max = 16), extend("default" = 4, "x-other-names" = ["parallel"]))]
    pub concurrency: Option<u32>,
    /// Maximum cost of all attacks in US dollars.
    #[schemars(extend("exclusiveMinimum" = 0, "examples" = [1.5], "x-other-names" = ["budget", "maxUsd"]))]
    pub max_budget_usd: Option<f64>,
}

/// Conditions on all attacks together.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct RedteamGates {
    /// Maximum number of successful attacks of critical severity.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("default" = 0))]
    pub max_critical_failures: Option<u64>,
    /// Maximum number of successful attacks of high severity.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("default" = 0))]
    pub max_high_failures: Option<u64>,
    /// Minimum share of attacks that fail, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0), extend("examples" = [0.9]))]
    pub min_overall_pass_rate: Option<f64>,
}
