//! `clawspec.yaml`: where the gateway is, where things lie, what models cost.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::{FilePath, Url};

/// The settings of a ClawSpec workspace: `clawspec.yaml`. Its directory is the root of the workspace.
///
/// ```yaml
/// gateway_base_url: http://127.0.0.1:18789
/// report_dir: reports
/// scenario_patterns:
///   - skills/**/tests/scenarios.yaml
///   - agents/**/tests/scenarios.yaml
/// observability:
///   backend: opik
///   opik: { project_name: demo }
/// ```
///
/// The nearest file upwards counts; several are not merged. Variables of the environment win over the file. ClawSpec
/// ignores unknown keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Config {
    /// Where the gateway is. `CLAWSPEC_GATEWAY_BASE_URL` wins over it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "http://127.0.0.1:18789"))]
    pub gateway_base_url: Option<Url>,
    /// The place at the gateway that starts a skill. `CLAWSPEC_GATEWAY_WEBHOOK_ENDPOINT` wins over it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "/webhook/mcp-skill-invoke"))]
    pub gateway_webhook_endpoint: Option<String>,
    /// The token that starting a skill needs.
    ///
    /// It is better left to the environment: `CLAWSPEC_GATEWAY_AUTH_TOKEN`, `HOOKS_TOKEN` or `OPENCLAW_HOOKS_TOKEN`, which win over it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent"))]
    pub gateway_auth_token: Option<String>,
    /// The directory that reports are written to. `CLAWSPEC_REPORT_DIR` wins over it.
    ///
    /// `speclens run` writes them as well where one of the two is set, or with `--report clawspec`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "reports"))]
    pub report_dir: Option<FilePath>,
    /// Where the gateway writes its log; `{date}` is the day in UTC.
    ///
    /// `CLAWSPEC_GATEWAY_LOG_PATTERN` wins over it. Assertions about the log that name no `log_path` read this file.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "/tmp/openclaw/openclaw-{date}.log"))]
    pub gateway_log_pattern: Option<String>,
    /// Which files are scenario contracts; here `**` stands for any number of directories.
    ///
    /// `CLAWSPEC_SCENARIO_PATTERNS`, separated by commas, wins over it. A file that a pattern names is a scenario contract
    /// whatever it is called, and even where version control ignores it. Where patterns are written here, `speclens run` and
    /// `speclens list` leave out other scenario contracts unless they are named.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent", "default" = Config::SCENARIO_PATTERNS))]
    pub scenario_patterns: Option<Vec<String>>,
    /// The coverage ledger. `CLAWSPEC_LEDGER_PATH` wins over it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "coverage-ledger.yaml", "x-file" = "yaml"))]
    pub ledger_path: Option<FilePath>,
    /// Where traces come from.
    ///
    /// ClawSpec reads all that is said about traces and uses none of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent"))]
    pub observability: Option<Observability>,
    /// The older form of `observability.backend`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent"))]
    pub observability_backend: Option<Backend>,
    /// The older form of `observability.trace_poll_delay_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0), extend("x-null" = "absent", "default" = 3000))]
    pub trace_poll_delay_ms: Option<u64>,
    /// The older form of `observability.time_window_padding_ms`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0), extend("x-null" = "absent", "default" = 10000))]
    pub time_window_padding_ms: Option<u64>,
    /// The older form of `observability.model_pricing`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent"))]
    pub model_pricing: Option<BTreeMap<String, Price>>,
    /// The older form of `observability.opik.project_name`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent"))]
    pub opik_project_name: Option<String>,
    /// The older form of `observability.opik.workspace`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent"))]
    pub opik_workspace: Option<String>,
}

impl Config {
    /// `gateway_base_url` when the key is absent.
    pub const GATEWAY: &'static str = "http://127.0.0.1:18789";
    /// `gateway_webhook_endpoint` when the key is absent.
    pub const WEBHOOK: &'static str = "/webhook/mcp-skill-invoke";
    /// `gateway_log_pattern` when the key is absent.
    pub const LOG_PATTERN: &'static str = "/tmp/openclaw/openclaw-{date}.log";
    /// `scenario_patterns` when the key is absent.
    pub const SCENARIO_PATTERNS: [&'static str; 2] =
        ["skills/**/tests/scenarios.yaml", "agents/**/tests/scenarios.yaml"];
    /// The variable that wins over `scenario_patterns`.
    pub const PATTERNS_VARIABLE: &'static str = "CLAWSPEC_SCENARIO_PATTERNS";
    /// The file's name.
    pub const FILE: &'static str = "clawspec.yaml";

    /// Where traces come from: the nested block where there is one with content, else the older keys.
    pub fn traces(&self) -> Observability {
        if let Some(nested) = self.observability.as_ref().filter(|nested| **nested != Observability::default()) {
            return nested.clone();
        }
        let opik = Opik { project_name: self.opik_project_name.clone(), workspace: self.opik_workspace.clone() };
        Observability {
            backend: self.observability_backend.unwrap_or_default(),
            trace_poll_delay_ms: self.trace_poll_delay_ms,
            time_window_padding_ms: self.time_window_padding_ms,
            model_pricing: self.model_pricing.clone(),
            opik: Some(opik).filter(|opik| *opik != Opik::default()),
        }
    }

    /// Which files are scenario contracts, where the environment names none of its own.
    pub fn scenario_patterns(&self, of_environment: Option<Vec<String>>) -> Vec<String> {
        let named = of_environment.or_else(|| self.scenario_patterns.clone());
        named.unwrap_or_else(|| Config::SCENARIO_PATTERNS.map(str::to_owned).to_vec())
    }

    /// The patterns in a value of the variable that names them; `None` for an empty one.
    pub fn patterns_in(value: &str) -> Option<Vec<String>> {
        let patterns = value.split(',').map(str::trim).filter(|pattern| !pattern.is_empty());
        let patterns: Vec<String> = patterns.map(str::to_owned).collect();
        (!patterns.is_empty()).then_some(patterns)
    }

    /// The gateway's log, written as a path in a contract.
    pub fn log_path(&self) -> String {
        self.gateway_log_pattern.as_deref().unwrap_or(Config::LOG_PATTERN).replace("{date}", "{{today}}")
    }

    /// What models cost: of the nested block where there is one, else of the older key.
    pub fn prices(&self) -> BTreeMap<String, Price> {
        self.traces().model_pricing.unwrap_or_default()
    }
}

/// Where traces come from. A block with content replaces all of the older keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Observability {
    /// The program that has the traces. `CLAWSPEC_OBSERVABILITY_BACKEND` wins over it.
    pub backend: Backend,
    /// Milliseconds to wait for the trace after a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0), extend("default" = 3000))]
    pub trace_poll_delay_ms: Option<u64>,
    /// Milliseconds before and after a run in which its trace may begin.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0), extend("default" = 10000))]
    pub time_window_padding_ms: Option<u64>,
    /// What models cost, for traces that do not tell.
    ///
    /// A name that is no exact match counts when it ends in the model's name, or the model's name in it.
    ///
    /// ```yaml
    /// model_pricing:
    ///   claude-sonnet-4-6: { input_per_1k: 0.003, output_per_1k: 0.015 }
    /// ```
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = "absent"))]
    pub model_pricing: Option<BTreeMap<String, Price>>,
    /// How Opik is reached. Its key comes from `OPIK_API_KEY` in the environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opik: Option<Opik>,
}

/// The program that has the traces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// There are no traces: assertions about them are skipped.
    #[default]
    None,
    /// Opik.
    Opik,
}

impl Backend {
    /// The back end by its name in the file.
    pub fn of(name: &str) -> Option<Backend> {
        match name {
            "none" => Some(Backend::None),
            "opik" => Some(Backend::Opik),
            _ => None,
        }
    }
}

/// What a model costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Price {
    /// US dollars for 1000 tokens that are sent.
    #[schemars(range(min = 0.0), extend("examples" = [0.003]))]
    pub input_per_1k: f64,
    /// US dollars for 1000 tokens that are received.
    #[schemars(range(min = 0.0), extend("examples" = [0.015]))]
    pub output_per_1k: f64,
}

/// How Opik is reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(deny_unknown_fields)]
pub struct Opik {
    /// The project that holds the traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["demo"]))]
    pub project_name: Option<String>,
    /// The workspace of the project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workspace: Option<String>,
}
