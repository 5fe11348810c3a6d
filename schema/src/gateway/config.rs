//! `clawspec.yaml`: addresses, paths and prices of a workspace.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

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
/// The nearest file in a parent directory applies; files are not merged. Environment variables override the file.
/// ClawSpec ignores unknown keys.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Config {
    /// URL of the gateway. `CLAWSPEC_GATEWAY_BASE_URL` overrides it.
    #[schemars(extend("default" = "http://127.0.0.1:18789", "x-problems" = of_address()))]
    pub gateway_base_url: Option<Url>,
    /// Path of the webhook that starts a skill. `CLAWSPEC_GATEWAY_WEBHOOK_ENDPOINT` overrides it.
    #[schemars(extend("default" = "/webhook/mcp-skill-invoke", "x-problems" = [{
        "if": { "pattern": "^[^/]" }, "code": "invalid-value", "help": "begin it with `/`",
        "message": "`gateway_webhook_endpoint` does not begin with `/`",
        "note": "ClawSpec appends it to `gateway_base_url`",
    }]))]
    pub gateway_webhook_endpoint: Option<String>,
    /// Token for the webhook.
    ///
    /// Set it in the environment instead: `CLAWSPEC_GATEWAY_AUTH_TOKEN`, `HOOKS_TOKEN` or `OPENCLAW_HOOKS_TOKEN`, which
    /// override this key.
    #[schemars(extend("x-null" = "absent", "x-problems" = [
        {
            "if": { "pattern": r"^\$" }, "code": "invalid-value",
            "message": "variables are not expanded in `gateway_auth_token`",
            "note": "ClawSpec sends this string as the token",
            "help": "remove `gateway_auth_token`, and set `CLAWSPEC_GATEWAY_AUTH_TOKEN`",
        },
        {
            "if": { "pattern": r"^[^$]" }, "code": "pasted-secret", "underline": "key", "instead": true,
            "message": "`gateway_auth_token` contains a secret", "note": "anyone who can read the file has it",
            "help": "revoke the token, remove `gateway_auth_token`, and set `CLAWSPEC_GATEWAY_AUTH_TOKEN` to a new one",
        },
    ]))]
    pub gateway_auth_token: Option<String>,
    /// Directory for reports. `CLAWSPEC_REPORT_DIR` overrides it.
    ///
    /// `speclens run` writes reports if this key or the variable is set, or with `--report clawspec`.
    #[schemars(extend("default" = "reports", "x-file" = "directory"))]
    pub report_dir: Option<FilePath>,
    /// Path of the gateway log; `{date}` is the day in UTC.
    ///
    /// `CLAWSPEC_GATEWAY_LOG_PATTERN` overrides it. Log assertions without `log_path` read this file.
    #[schemars(extend("default" = "/tmp/openclaw/openclaw-{date}.log", "x-problems" = [
        {
            "if": { "pattern": r"\{\{" }, "code": "invalid-value", "help": "write `{date}`, in single braces",
            "message": "`{{date}}` is not expanded in `gateway_log_pattern`",
        },
        {
            "if": { "pattern": r"\{", "not": { "pattern": r"\{\{|^([^{}]|\{date\})*$" } }, "code": "invalid-value",
            "message": "only `{date}` is expanded in `gateway_log_pattern`", "help": "write `{date}`, or remove the braces",
        },
    ]))]
    pub gateway_log_pattern: Option<String>,
    /// Patterns of scenario contracts, in which `**` matches any number of directories.
    ///
    /// The comma-separated list in `CLAWSPEC_SCENARIO_PATTERNS` overrides it. A file that matches a pattern is a
    /// scenario contract whatever its name, even if git ignores it. If this key is set, `speclens run` and
    /// `speclens list` skip other scenario contracts unless you name them.
    #[schemars(extend("x-null" = "absent", "default" = Config::SCENARIO_PATTERNS, "x-problems" = [{
        "if": { "maxItems": 0 }, "code": "vacuous-claim", "message": "`scenario_patterns` is empty",
        "note": "ClawSpec finds no scenarios", "help": "add a pattern, or remove the key to use the default",
    }]))]
    pub scenario_patterns: Option<Vec<String>>,
    /// Path of the coverage ledger. `CLAWSPEC_LEDGER_PATH` overrides it.
    #[schemars(extend("default" = "coverage-ledger.yaml", "x-file" = "yaml", "x-exists" = ""))]
    pub ledger_path: Option<FilePath>,
    /// Source of traces.
    ///
    /// ClawSpec validates all settings for traces but does not use them.
    #[schemars(extend("x-null" = "absent"))]
    pub observability: Option<Observability>,
    /// Older form of `observability.backend`.
    #[schemars(extend("x-null" = "absent", "x-no-effect-with" = ["observability"]))]
    pub observability_backend: Option<Backend>,
    /// Older form of `observability.trace_poll_delay_ms`.
    #[schemars(range(min = 0), extend("x-null" = "absent", "default" = 3000, "x-no-effect-with" = ["observability"]))]
    pub trace_poll_delay_ms: Option<u64>,
    /// Older form of `observability.time_window_padding_ms`.
    #[schemars(range(min = 0), extend("x-null" = "absent", "default" = 10000, "x-no-effect-with" = ["observability"]))]
    pub time_window_padding_ms: Option<u64>,
    /// Older form of `observability.model_pricing`.
    #[schemars(extend("x-null" = "absent", "x-no-effect-with" = ["observability"]))]
    pub model_pricing: Option<BTreeMap<String, Price>>,
    /// Older form of `observability.opik.project_name`.
    #[schemars(extend("x-null" = "absent", "x-no-effect-with" = ["observability"]))]
    pub opik_project_name: Option<String>,
    /// Older form of `observability.opik.workspace`.
    #[schemars(extend("x-null" = "absent", "x-no-effect-with" = ["observability"]))]
    pub opik_workspace: Option<String>,
}

impl Config {
    /// Default of `gateway_base_url`.
    pub const GATEWAY: &'static str = "http://127.0.0.1:18789";
    /// Default of `gateway_webhook_endpoint`.
    pub const WEBHOOK: &'static str = "/webhook/mcp-skill-invoke";
    /// Default of `gateway_log_pattern`.
    pub const LOG_PATTERN: &'static str = "/tmp/openclaw/openclaw-{date}.log";
    /// Default of `scenario_patterns`.
    pub(crate) const SCENARIO_PATTERNS: [&'static str; 2] =
        ["skills/**/tests/scenarios.yaml", "agents/**/tests/scenarios.yaml"];
    /// Environment variable that overrides `scenario_patterns`.
    pub const PATTERNS_VARIABLE: &'static str = "CLAWSPEC_SCENARIO_PATTERNS";
    /// Name of the file.
    pub const FILE: &'static str = "clawspec.yaml";

    /// Returns the source of traces: the nested block if it is not empty, or else the older keys.
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

    /// Returns the patterns of scenario contracts, unless the environment overrides them.
    pub fn scenario_patterns(&self, of_environment: Option<Vec<String>>) -> Vec<String> {
        let named = of_environment.or_else(|| self.scenario_patterns.clone());
        named.unwrap_or_else(|| Config::SCENARIO_PATTERNS.map(str::to_owned).to_vec())
    }

    /// Returns the patterns in a value of the variable; `None` if it is empty.
    pub fn patterns_in(value: &str) -> Option<Vec<String>> {
        let patterns = value.split(',').map(str::trim).filter(|pattern| !pattern.is_empty());
        let patterns: Vec<String> = patterns.map(str::to_owned).collect();
        (!patterns.is_empty()).then_some(patterns)
    }

    /// Returns the path of the gateway log, as written in a contract.
    pub fn log_path(&self) -> String {
        self.gateway_log_pattern.as_deref().unwrap_or(Config::LOG_PATTERN).replace("{date}", "{{today}}")
    }

    /// Returns the prices of models: from the nested block if it exists, or else from the older key.
    pub fn prices(&self) -> BTreeMap<String, Price> {
        self.traces().model_pricing.unwrap_or_default()
    }
}

/// Source of traces. If this block is not empty, it replaces all older keys.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Observability {
    /// Backend that stores the traces. `CLAWSPEC_OBSERVABILITY_BACKEND` overrides it.
    pub backend: Backend,
    /// Milliseconds to wait for the trace after a run.
    #[schemars(range(min = 0), extend("default" = 3000))]
    pub trace_poll_delay_ms: Option<u64>,
    /// Milliseconds before and after a run in which its trace may begin.
    #[schemars(range(min = 0), extend("default" = 10000))]
    pub time_window_padding_ms: Option<u64>,
    /// Prices of models, for traces without costs.
    ///
    /// If no name equals the model's name, speclens uses a name that ends with the model's name, or one that the
    /// model's name ends with.
    ///
    /// ```yaml
    /// model_pricing:
    ///   claude-sonnet-4-6: { input_per_1k: 0.003, output_per_1k: 0.015 }
    /// ```
    #[schemars(extend("x-null" = "absent"))]
    pub model_pricing: Option<BTreeMap<String, Price>>,
    /// Connection to Opik. Its key comes from `OPIK_API_KEY` in the environment.
    pub opik: Option<Opik>,
}

/// The program that has the traces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Backend {
    /// No traces: assertions about traces are skipped.
    #[default]
    None,
    /// Opik.
    Opik,
}

impl Backend {
    pub fn of(name: &str) -> Option<Backend> {
        match name {
            "none" => Some(Backend::None),
            "opik" => Some(Backend::Opik),
            _ => None,
        }
    }
}

/// Price of a model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Price {
    /// US dollars per 1000 input tokens.
    #[schemars(range(min = 0.0), extend("examples" = [0.003]))]
    pub input_per_1k: f64,
    /// US dollars per 1000 output tokens.
    #[schemars(range(min = 0.0), extend("examples" = [0.015]))]
    pub output_per_1k: f64,
}

/// Connection to Opik.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Opik {
    /// Project with the traces.
    #[schemars(extend("examples" = ["demo"]))]
    pub project_name: Option<String>,
    /// Workspace of the project.
    pub workspace: Option<String>,
}

/// Returns the problems of an address that does not begin with `http://` or `https://`. A path is relative to the gateway.
pub(crate) fn of_address() -> Value {
    let problem = |condition: Value, fix: Option<String>| {
        let help = match &fix {
            Some(whole) => format!("write `{whole}`"),
            None => "begin it with `http://` or `https://`".to_owned(),
        };
        json!({
            "if": condition, "code": "invalid-value", "severity": "warning", "unless-wrong": true,
            "message": "`{value}` is not a valid URL", "help": help, "fix": fix.map(|whole| json!({ "write": whole })),
        })
    };
    let gateway = format!("{}{{value}}", Config::GATEWAY);
    json!([
        problem(json!({ "pattern": "^/" , "not": { "pattern": "://" } }), Some(gateway)),
        problem(
            json!({ "pattern": "^[^/{]|^\\{[^{]", "not": { "pattern": "://" } }),
            Some("http://{value}".to_owned())
        ),
        problem(json!({ "pattern": "://", "not": { "pattern": r"^(https?://|\{\{)" } }), None),
    ])
}
