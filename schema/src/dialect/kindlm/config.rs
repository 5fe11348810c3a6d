//! The whole file: its sections, including those that contain only settings.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::words::{ModelReference, Name, Url};

use super::{
    expect::{boundless, too_many},
    providers::{Model, Prompt, Providers},
    redteam::Redteam,
    test::Test,
    trace::Trace,
};

/// A KindLM suite: `kindlm.yaml`.
///
/// ```yaml
/// kindlm: 1
/// project: shop
/// suite: { name: support }
/// tests:
///   - name: says-hello
///     command: echo Hello
///     expect:
///       output: { contains: [hello] }
/// ```
///
/// Only prompt tests need `prompts`. Tests with a `judge` also need `providers` and `models`, unless `speclens.yaml` sets
/// a `judge`. KindLM requires all three even if every test runs a command.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend(
    "if" = {
        "type": "object",
        "required": ["tests"],
        "properties": { "tests": { "type": "array", "contains": { "type": "object", "required": ["prompt"] } } }
    },
    "then" = {
        "required": ["providers", "models", "prompts"],
        "properties": {
            "providers": { "type": "object", "minProperties": 1 },
            "models": { "type": "array", "minItems": 1 },
            "prompts": { "type": "object", "minProperties": 1 }
        }
    }
))]
pub struct Config {
    /// Format version, the number 1.
    #[schemars(extend("const" = 1), with = "u32")]
    #[schemars(extend("x-other-names" = ["version"]))]
    pub kindlm: u32,
    /// Project that the suite belongs to, for display only.
    #[schemars(extend("examples" = ["shop"]))]
    pub project: Name,
    /// Name and description of the suite. A file has exactly one.
    ///
    /// ```yaml
    /// suite:
    ///   name: support-agent
    ///   description: Refunds and shipping
    /// ```
    #[schemars(extend("x-other-names" = ["suites"]))]
    pub suite: Suite,
    /// Providers of models. Needed only for prompt tests, and for `judge` unless `speclens.yaml` sets one.
    ///
    /// ```yaml
    /// providers:
    ///   openai: { apiKeyEnv: OPENAI_API_KEY }
    /// ```
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    pub providers: Providers,
    /// Models that prompt tests use.
    ///
    /// ```yaml
    /// models:
    ///   - { id: small, provider: openai, model: gpt-4o-mini }
    /// ```
    #[serde(default)]
    #[schemars(extend("default" = [], "x-problems" = too_many("models", 50)))]
    pub models: Vec<Model>,
    /// Prompts for models, by name.
    ///
    /// ```yaml
    /// prompts:
    ///   refund: { user: "{{question}}" }
    /// ```
    #[serde(default)]
    #[schemars(extend("default" = {}, "x-defines" = "prompts"))]
    pub prompts: BTreeMap<String, Prompt>,
    /// Tests, run and reported in this order.
    #[schemars(length(min = 1))]
    #[schemars(extend("x-other-names" = ["cases", "scenarios"], "x-problems" = too_many("tests", 1000)))]
    pub tests: Vec<Test>,
    /// Conditions on the whole run.
    ///
    /// A gate in the file decides whether a run with failed tests still passes: `passRateMin: 0.8` tolerates one failed
    /// attempt in five. With the default gates, any failed test fails the run. In KindLM, gates can only add failures.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    pub gates: Gates,
    /// Defaults for tests that do not set a value themselves.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    pub defaults: Defaults,
    /// Contents of a compliance report.
    pub compliance: Option<Compliance>,
    /// How `speclens trace` receives and reads traces.
    pub trace: Option<Trace>,
    /// Attacks on a model. speclens checks them but does not run them.
    #[schemars(extend("x-other-names" = ["redTeam"], "x-problems" = [{
        "if": true, "underline": "key", "code": "unchecked", "severity": "hint",
        "message": "speclens does not run `redteam`", "note": "KindLM runs it with `kindlm redteam run`",
    }]))]
    pub redteam: Option<Redteam>,
    /// Upload of results. Has no effect: a run uploads nothing.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    pub upload: Upload,
}

/// Note about the keys of `upload`.
const UPLOAD: &str = "KindLM's `upload` command does not read this section; speclens uploads nothing";

/// Returns the problem of a key that KindLM reads but never uses, for this reason.
pub(super) fn unread(key: &str, reason: &str) -> Value {
    json!([{
        "if": { "not": { "anyOf": [{ "const": null }, { "type": "array" }, { "type": "object" }] } },
        "code": "no-effect", "underline": "key", "unless-wrong": true,
        "message": format!("`{key}` has no effect"), "note": reason, "help": "remove it",
    }])
}

/// Returns the problem of a gate with a limit that every run meets.
fn always_passes(gate: &str, limit: f64, help: &str) -> Value {
    json!([{
        "if": { "const": limit }, "code": "vacuous-claim", "message": format!("every run passes the gate `{gate}: {limit}`"),
        "help": help,
    }])
}

/// Name and description of the suite.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Suite {
    /// Name of the suite in reports.
    #[schemars(extend("examples" = ["support-agent"]))]
    #[schemars(extend("x-other-names" = ["title"]))]
    pub name: Name,
    /// Description of the suite.
    #[schemars(extend("x-other-names" = ["desc"]))]
    pub description: Option<String>,
    /// Labels of the suite. They have no effect; tests have their own `tags`.
    #[schemars(extend("x-problems" = [{
        "if": { "type": "array" }, "code": "no-effect", "underline": "key", "message": "`tags` has no effect",
        "note": "only the tags of tests select which tests run", "help": "remove it",
    }]))]
    pub tags: Option<Vec<String>>,
}

/// Conditions on the whole run. Gates that are not set use their defaults.
///
/// ```yaml
/// gates:
///   passRateMin: 0.9
///   latencyMaxMs: 8000
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-claims" = true))]
pub struct Gates {
    /// Minimum share of attempts that pass, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0), extend("default" = 0.95))]
    #[schemars(extend("x-problems" = always_passes("passRateMin", 0.0, "raise it")))]
    #[schemars(extend("x-other-names" = ["passRate", "minPassRate"]))]
    pub pass_rate_min: Option<f64>,
    /// Maximum number of results with invalid JSON or a schema mismatch.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("default" = 0))]
    pub schema_failures_max: Option<u64>,
    /// Minimum mean of all judge scores, from 0 to 1.
    ///
    /// This gate passes if no expectation uses a judge.
    #[schemars(range(min = 0.0, max = 1.0), extend("examples" = [0.8]))]
    #[schemars(extend("x-problems" = always_passes("judgeAvgMin", 0.0, "raise it, or remove it")))]
    pub judge_avg_min: Option<f64>,
    /// Maximum drift from a baseline, from 0 to 1.
    #[schemars(range(min = 0.0, max = 1.0), extend("examples" = [0.2]))]
    #[schemars(extend("x-problems" = always_passes("driftScoreMax", 1.0, "lower it, or remove it")))]
    pub drift_score_max: Option<f64>,
    /// Maximum number of results with personal data.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("default" = 0))]
    pub pii_failures_max: Option<u64>,
    /// Maximum number of results with a denied keyword or without any required one.
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("default" = 0))]
    pub keyword_failures_max: Option<u64>,
    /// Maximum cost of the whole run in US dollars: that of tested models and of judges.
    ///
    /// Once it is exceeded, no other attempt begins. If the cost of an attempt is not known, the gate is unknown. KindLM
    /// skips this gate unless the `costGating` feature is enabled.
    #[schemars(extend("exclusiveMinimum" = 0, "examples" = [1.5], "x-problems" = [
        boundless("costMaxUsd"),
        {
            "if": true, "code": "upstream-differs", "underline": "key",
            "message": "KindLM skips `costMaxUsd` unless the `costGating` feature is enabled",
        },
    ]))]
    pub cost_max_usd: Option<f64>,
    /// Maximum mean duration of a test in milliseconds.
    #[schemars(extend("exclusiveMinimum" = 0, "examples" = [8000], "x-problems" = [boundless("latencyMaxMs")]))]
    pub latency_max_ms: Option<f64>,
    /// Minimum share of results that pass, excluding judges and baselines.
    #[schemars(range(min = 0.0, max = 1.0), extend("examples" = [1.0]))]
    #[schemars(extend("x-problems" = always_passes("deterministicPassRate", 0.0, "raise it, or remove it")))]
    pub deterministic_pass_rate: Option<f64>,
    /// Minimum share of results of judges and baselines that pass.
    #[schemars(range(min = 0.0, max = 1.0), extend("examples" = [0.8]))]
    #[schemars(extend("x-problems" = always_passes("probabilisticPassRate", 0.0, "raise it, or remove it")))]
    pub probabilistic_pass_rate: Option<f64>,
}

/// Defaults for tests that do not set a value themselves.
///
/// ```yaml
/// defaults:
///   repeat: 3
///   timeoutMs: 20000
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Defaults {
    /// Number of attempts per test.
    #[schemars(range(min = 1, max = 100), extend("default" = 1))]
    pub repeat: Option<u32>,
    /// Maximum number of simultaneous attempts.
    ///
    /// Command tests share the suite's directory: set 1 if they write the same files.
    #[schemars(range(min = 1, max = 32), extend("default" = 4))]
    #[schemars(extend("x-other-names" = ["parallel"]))]
    pub concurrency: Option<u32>,
    /// Timeout of a command or a request in milliseconds.
    #[schemars(range(min = 1000, max = 9_007_199_254_740_991_u64), extend("default" = 60000))]
    #[schemars(extend("x-other-names" = ["timeout"]))]
    pub timeout_ms: Option<u64>,
    /// Id of the model that scores for `judge`. Defaults to the first of `models`.
    ///
    /// A `judge` in `speclens.yaml` replaces it.
    #[schemars(extend("examples" = ["small"]))]
    #[schemars(extend("x-other-names" = ["judge"]))]
    pub judge_model: Option<ModelReference>,
}

impl Defaults {
    /// Default of `repeat`.
    pub const REPEAT: u32 = 1;
    /// Default of `concurrency`.
    pub(crate) const CONCURRENCY: u32 = 4;
    /// Default of `timeoutMs`.
    pub(crate) const TIMEOUT_MS: u64 = 60_000;
}

/// Upload of results. KindLM ignores this section; its `upload` command has its own options.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Upload {
    /// Has no effect.
    #[schemars(extend("x-problems" = unread("enabled", UPLOAD)))]
    pub enabled: bool,
    /// URL of the service. Has no effect.
    #[schemars(extend("x-problems" = unread("apiUrl", UPLOAD)))]
    pub api_url: Url,
}

impl Default for Upload {
    fn default() -> Upload {
        Upload { enabled: false, api_url: Url("https://api.kindlm.com/v1".to_owned()) }
    }
}

/// Contents of a compliance report.
///
/// KindLM prints the report if it is called with `--compliance`, regardless of `enabled`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Compliance {
    /// Has no effect: the command line decides whether a report is printed.
    #[schemars(extend("x-problems" = unread("enabled", "KindLM prints the report only with its option `--compliance`")))]
    pub enabled: bool,
    /// Rules that the report follows.
    pub framework: Framework,
    /// Has no effect: the report is printed.
    #[schemars(extend("default" = "./compliance-reports"))]
    #[schemars(extend("x-problems" = unread("outputDir", "KindLM prints the report and does not write a file")))]
    pub output_dir: Option<String>,
    /// Information about the system for the report.
    pub metadata: Option<Metadata>,
}

/// The rules that a compliance report follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Framework {
    /// The EU AI Act.
    #[default]
    EuAiAct,
    /// Rules of your own.
    Custom,
}

/// Information about the system for a compliance report.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Metadata {
    /// Name of the system.
    pub system_name: Option<String>,
    /// Version of the system. Not printed.
    #[schemars(extend("examples" = ["1.4.0"]))]
    pub system_version: Option<String>,
    /// Risk level of the system.
    pub risk_level: Option<RiskLevel>,
    /// Operator of the system.
    pub operator: Option<String>,
    /// Purpose of the system.
    pub intended_purpose: Option<String>,
    /// Notes on data governance. Not printed.
    pub data_governance_notes: Option<String>,
}

/// Risk level of a system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RiskLevel {
    /// High risk.
    High,
    /// Limited risk.
    Limited,
    /// Minimal risk.
    Minimal,
}
