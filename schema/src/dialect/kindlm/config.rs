//! The file as a whole: its sections, and those that only hold settings.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::{Models, Name, Refers, Url};

use super::{
    compliance::Compliance,
    providers::{Model, Prompt, Providers},
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
/// `providers`, `models` and `prompts` are needed by prompt tests only. KindLM insists on
/// all three, also when every test runs a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
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
    /// The version of the format: the number 1.
    #[schemars(extend("const" = 1), with = "u32")]
    #[schemars(extend("x-other-names" = ["version"]))]
    pub kindlm: u32,
    /// The project that the suite belongs to. Only shown.
    #[schemars(extend("examples" = ["shop"]))]
    pub project: Name,
    /// What the suite is called. A file holds exactly one.
    ///
    /// ```yaml
    /// suite:
    ///   name: support-agent
    ///   description: Refunds and shipping
    /// ```
    #[schemars(extend("x-other-names" = ["suites"]))]
    pub suite: Suite,
    /// Where models are reached. Only prompt tests and expectations that a model judges need it.
    ///
    /// ```yaml
    /// providers:
    ///   openai: { apiKeyEnv: OPENAI_API_KEY }
    /// ```
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    pub providers: Providers,
    /// The models that prompt tests ask.
    ///
    /// ```yaml
    /// models:
    ///   - { id: small, provider: openai, model: gpt-4o-mini }
    /// ```
    #[serde(default)]
    pub models: Vec<Model>,
    /// What models are asked, by name.
    ///
    /// ```yaml
    /// prompts:
    ///   refund: { user: "{{question}}" }
    /// ```
    #[serde(default)]
    #[schemars(extend("x-defines" = "prompts"))]
    pub prompts: BTreeMap<String, Prompt>,
    /// The tests, run and reported in this order.
    #[schemars(length(min = 1))]
    #[schemars(extend("x-other-names" = ["cases", "scenarios"]))]
    pub tests: Vec<Test>,
    /// Conditions on the whole run.
    ///
    /// What is written here decides whether a run with failed tests still counts as passed: with
    /// `passRateMin: 0.8` one failed run of five is tolerated. A default never does that. KindLM
    /// lets gates only add failures.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    pub gates: Gates,
    /// What applies to every test that does not say otherwise.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    pub defaults: Defaults,
    /// Data for a compliance report.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compliance: Option<Compliance>,
    /// How traces of a running system are received and read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trace: Option<Trace>,
    /// Where results are uploaded to. Not read: a run uploads nothing.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    pub upload: Upload,
}

/// What the suite is called.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Suite {
    /// The name of the suite in reports.
    #[schemars(extend("examples" = ["support-agent"]))]
    #[schemars(extend("x-other-names" = ["title"]))]
    pub name: Name,
    /// What the suite is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["desc"]))]
    pub description: Option<String>,
    /// Labels of the suite. Nothing reads them; tests have their own `tags`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tags: Option<Vec<String>>,
}

/// Conditions on the whole run. A field that is absent is not written in the file: its default applies.
///
/// ```yaml
/// gates:
///   passRateMin: 0.9
///   latencyMaxMs: 8000
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct Gates {
    /// The least share of runs that must pass, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0), extend("default" = 0.95))]
    #[schemars(extend("x-other-names" = ["passRate", "minPassRate"]))]
    pub pass_rate_min: Option<f64>,
    /// The most results where the output is not valid JSON or does not match its schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("default" = 0))]
    pub schema_failures_max: Option<u64>,
    /// The least mean of all scores that a model gave, from 0 to 1.
    ///
    /// Passes when a model judges no expectation.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0), extend("examples" = [0.8]))]
    pub judge_avg_min: Option<f64>,
    /// The greatest drift from a baseline, from 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0), extend("examples" = [0.2]))]
    pub drift_score_max: Option<f64>,
    /// The most results that found personal data.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("default" = 0))]
    pub pii_failures_max: Option<u64>,
    /// The most results that found a denied keyword, or missed all of the required ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 9_007_199_254_740_991_u64), extend("default" = 0))]
    pub keyword_failures_max: Option<u64>,
    /// The most US dollars that the whole run may cost.
    ///
    /// KindLM drops this gate unless a feature flag is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0), extend("examples" = [1.5]))]
    pub cost_max_usd: Option<f64>,
    /// The greatest mean duration of a test, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("exclusiveMinimum" = 0), extend("examples" = [8000]))]
    pub latency_max_ms: Option<f64>,
    /// The least share of results that pass, those of judges and baselines left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0), extend("examples" = [1.0]))]
    pub deterministic_pass_rate: Option<f64>,
    /// The least share of results that pass among those of judges and baselines.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0), extend("examples" = [0.8]))]
    pub probabilistic_pass_rate: Option<f64>,
}

/// What applies to every test that does not say otherwise. A field that is absent has its default.
///
/// ```yaml
/// defaults:
///   repeat: 3
///   timeoutMs: 20000
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct Defaults {
    /// How many times each test is run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100), extend("default" = 1))]
    pub repeat: Option<u32>,
    /// How many runs may be under way at once.
    ///
    /// Command tests share the suite's directory: set 1 when they write the same files.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 32), extend("default" = 4))]
    #[schemars(extend("x-other-names" = ["parallel"]))]
    pub concurrency: Option<u32>,
    /// After how many milliseconds a command is ended, or a request given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1000, max = 9_007_199_254_740_991_u64), extend("default" = 60000))]
    #[schemars(extend("x-other-names" = ["timeout"]))]
    pub timeout_ms: Option<u64>,
    /// The id of the model that judges; the first of `models` when the key is absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["small"]))]
    #[schemars(extend("x-other-names" = ["judge"]))]
    pub judge_model: Option<Refers<Models>>,
}

impl Defaults {
    /// `repeat` when the key is absent.
    pub const REPEAT: u32 = 1;
    /// `concurrency` when the key is absent.
    pub const CONCURRENCY: u32 = 4;
    /// `timeoutMs` when the key is absent.
    pub const TIMEOUT_MS: u64 = 60_000;
}

/// Where results are uploaded to. KindLM reads none of it; its `upload` command has options
/// of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct Upload {
    /// Has no effect.
    pub enabled: bool,
    /// The service's address. Has no effect.
    pub api_url: Url,
}

impl Default for Upload {
    fn default() -> Upload {
        Upload { enabled: false, api_url: Url("https://api.kindlm.com/v1".to_owned()) }
    }
}
