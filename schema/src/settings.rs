//! `speclens.yaml`, the settings of a workspace. The editor and the command line read the same file, so their results
//! agree.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    format::Dialect,
    json_schema::generate,
    problem::{Code, Severity},
    spec_file::{DiscoveryRule, Empty, FileOwner, FilePatterns, Kind, SpecFile},
    words::{FilePath, Name, SecretPattern, Url},
};

/// The settings of a workspace: `speclens.yaml` at its root.
///
/// ```yaml
/// severity:
///   unused: off
///   no-claims: error
/// compat: [kindlm]
/// inputs: [src, prompts/*.md]
/// recordings:
///   redact_env: [CUSTOMER_ID]
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Severity of each kind of problem. Codes that are not listed keep their default.
    pub severity: BTreeMap<String, Level>,
    /// Other programs that must be able to read the files.
    ///
    /// If one of them rejects a file or reads it differently, that is reported as an error (`upstream-differs`),
    /// regardless of `severity`.
    pub compat: Vec<Dialect>,
    /// Files, directories and patterns that commands and tasks depend on.
    ///
    /// Paths are relative to this file. A recording becomes stale if one of these files changes. The same applies to
    /// files that the command names, and to files in the task's `scaffold`. List files that a program reads on its own,
    /// such as modules, configuration or prompts. A directory includes all files in it that git does not ignore.
    /// `.git` and `.speclens` are never included, and symbolic links are not followed out of the directory of this
    /// file.
    #[schemars(extend("items" = { "type": "string", "minLength": 1, "x-file": "any", "x-glob": true }))]
    pub inputs: Vec<String>,
    /// Environment variables that commands of cli-bench tasks see although their names look secret.
    ///
    /// The other variables with such names, including the keys of providers, are hidden from `setup`, from the commands
    /// of the agent, from `verify` and from `teardown`, unless `env` of the suite or the task sets them. An agent
    /// program (`exec:`) sees all variables, because it needs a key; the commands that its shells run do not.
    ///
    /// ```yaml
    /// env: [GITHUB_TOKEN]
    /// ```
    pub env: Vec<Name>,
    /// Thresholds for suites that do not set their own.
    pub thresholds: Thresholds,
    /// Limits for `speclens audit`.
    pub audit: AuditSettings,
    /// Recording of runs, and masking of secrets.
    pub recordings: Recordings,
    /// Limits on the resources of a run.
    pub limits: Limits,
    /// Providers of models, by the part of the model id before the `/`.
    ///
    /// An entry replaces the built-in provider with that name, or adds a new provider.
    ///
    /// ```yaml
    /// providers:
    ///   local: { base_url: "http://localhost:8000/v1" }
    ///   proxy: { api: anthropic, base_url: "https://proxy.example/v1", key_env: PROXY_KEY }
    /// ```
    ///
    /// `local/qwen3` is then the model `qwen3` on the local server.
    pub providers: BTreeMap<String, Provider>,
    /// Models that answer instead of those of KindLM suites, by the `id` in `models` of the suite.
    ///
    /// ```yaml
    /// models: { small: scripted/answers }
    /// ```
    ///
    /// The model `small` of a suite is then played from the script `answers.script.yaml` beside it, without a key.
    pub models: BTreeMap<String, String>,
    /// Id of the model that scores.
    ///
    /// It replaces the one in the suite; in ClawSpec suites, it replaces the gateway's judge for `llm_judge` and `agent_identity_consistent`.
    ///
    /// ```yaml
    /// judge: anthropic/claude-haiku-4-5
    /// ```
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = "^[^/]+/.+$", "examples" = ["anthropic/claude-haiku-4-5"]))]
    pub judge: Option<String>,
    /// Prices of models by id. A price here replaces the built-in one.
    ///
    /// The cost of a model without a price is unknown.
    ///
    /// ```yaml
    /// prices:
    ///   local/qwen3: { input: 0, output: 0 }
    /// ```
    pub prices: BTreeMap<String, Price>,
    /// Settings of ClawSpec runs that `clawspec.yaml` does not have.
    #[serde(rename = "clawspec")]
    pub gateway: GatewaySettings,
    /// Directory of the settings file.
    #[serde(skip)]
    pub directory: Option<PathBuf>,
}

/// A provider of models.
///
/// A key is sent only to the provider's own host, or to the `base_url` of the entry that names its variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Provider {
    /// Protocol of the provider.
    ///
    /// Defaults to that of the built-in provider with this name, or else to `openai`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<Api>,
    /// URL, up to and including the version.
    ///
    /// Defaults to that of the built-in provider with this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["http://localhost:8000/v1"]))]
    pub base_url: Option<Url>,
    /// Name of the environment variable that holds the key, never the key itself.
    ///
    /// If `base_url` is set without `key_env`, no key is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["PROXY_KEY"]))]
    pub key_env: Option<Name>,
}

/// The protocol that a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// The chat completions API of OpenAI and most gateways, proxies and local servers.
    OpenAi,
    /// The messages API of Anthropic.
    Anthropic,
    /// The `generateContent` API of Google Gemini.
    Gemini,
    /// The chat API of Cohere, version 2.
    Cohere,
    /// The chat API of Ollama.
    Ollama,
}

/// Price of a model, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Price of input tokens.
    #[schemars(range(min = 0.0))]
    pub input: f64,
    /// Price of output tokens.
    #[schemars(range(min = 0.0))]
    pub output: f64,
}

/// Severity of a kind of problem, or `off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Not reported.
    Off,
    /// Reported as an unobtrusive hint in editors.
    Hint,
    /// Reported as information.
    Information,
    /// Reported as a warning.
    Warning,
    /// Reported as an error: `speclens run` refuses the suite.
    Error,
}

/// Thresholds for suites that do not set their own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// Minimum share of attempts that pass, from 0 to 1, for suites that do not set it.
    ///
    /// It replaces the default of `gates.passRateMin` in KindLM and of `thresholds.default` in cli-bench; ClawSpec has
    /// no such limit. As with a limit in the suite, a run that reaches it passes even if tests failed.
    #[schemars(range(min = 0.0, max = 1.0), extend("examples" = [0.9]))]
    pub pass_rate: Option<f64>,
}

/// Limits for `speclens audit`, which damages recorded runs and counts the faults that the assertions notice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AuditSettings {
    /// Minimum share of the faults that the assertions must notice, from 0 to 1.
    ///
    /// Below it, `speclens audit` ends with exit status 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0), extend("examples" = [0.8]))]
    pub minimum: Option<f64>,
}

/// Recording of runs, and masking of secrets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Recordings {
    /// Whether runs are recorded in `.speclens/` next to the suite.
    ///
    /// Without recordings, an edited assertion cannot be evaluated again.
    pub enabled: bool,
    /// Whether recordings are written for version control.
    ///
    /// Each attempt is then a file `.speclens/recordings/TEST.ID.ATTEMPT.json` with sorted keys, which a run leaves as
    /// it is if it observes the same. Times, ids of runs and durations are left out if no assertion and no gate of the
    /// suite depends on them; recordings of ClawSpec keep all of them. Git ignores the other files in `.speclens/`. The
    /// limits below do not apply to these recordings: `speclens recordings prune --stale` removes those that no test
    /// uses.
    ///
    /// ```yaml
    /// recordings: { commit: true }
    /// ```
    pub commit: bool,
    /// Environment variables whose values are masked, in addition to those with secret-looking names.
    #[schemars(extend("x-compared" = "name"))]
    pub redact_env: Vec<String>,
    /// Regular expressions whose matches are masked.
    #[schemars(with = "Vec<SecretPattern>")]
    pub redact_patterns: Vec<String>,
    /// Maximum age of a recording in days. Older ones are removed after a run.
    ///
    /// The limits apply to each `.speclens/` directory. The recordings of the latest run are always kept.
    /// `speclens recordings prune` applies the limits without a run.
    #[schemars(range(min = 1, max = 36500))]
    pub max_age_days: u32,
    /// Maximum number of recordings. Excess ones are removed after a run.
    ///
    /// Recordings of deleted tests are removed first, then the oldest.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_count: u32,
    /// Maximum total size of all recordings in mebibytes. Excess ones are removed after a run.
    ///
    /// Recordings of deleted tests are removed first, then the oldest.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub max_mib: u32,
}

impl Default for Recordings {
    fn default() -> Recordings {
        Recordings {
            enabled: true,
            commit: false,
            redact_env: Vec::new(),
            redact_patterns: Vec::new(),
            max_age_days: 90,
            max_count: 10_000,
            max_mib: 1024,
        }
    }
}

/// Limits on the resources of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Maximum size of each output stream in mebibytes. The rest is cut off, with a note.
    #[schemars(range(min = 1, max = 1024))]
    pub output_mib: u32,
    /// Maximum size of a recording in mebibytes, including its outputs.
    ///
    /// Larger recordings are not read. An output that exceeds the limit is cut off in the recording.
    #[schemars(range(min = 1, max = 1024))]
    pub recording_mib: u32,
    /// Maximum number of simultaneous tests, regardless of the suite.
    #[schemars(range(min = 1, max = 64))]
    pub concurrency: Option<u32>,
    /// Timeout of a request to a model in seconds.
    #[schemars(range(min = 1, max = 3600))]
    pub request_seconds: u32,
    /// Whether to stop repeating cli-bench tasks once it is certain whether the threshold is met.
    ///
    /// The skipped attempts cannot change whether the threshold is met; reports show how many were skipped. Each task
    /// has at least one attempt. Nothing is skipped if only some tests of a suite run, or if the thresholds are
    /// `informational`.
    pub stop_repeats: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { output_mib: 64, recording_mib: 64, concurrency: None, request_seconds: 120, stop_repeats: true }
    }
}

impl Limits {
    /// Returns the maximum number of bytes of each output stream.
    pub fn output_bytes(&self) -> usize {
        // A limit of 0 would truncate every output, so the minimum of the schema applies.
        self.output_mib.max(1) as usize * 1024 * 1024
    }

    /// Returns the timeout of a model request.
    pub fn request_deadline(&self) -> Duration {
        Duration::from_secs(u64::from(self.request_seconds.max(1)))
    }

    /// Returns the maximum size of a recording in bytes.
    pub fn recording_bytes(&self) -> u64 {
        u64::from(self.recording_mib.max(1)) * 1024 * 1024
    }
}

impl Settings {
    /// Whether the settings change the severity of any problem.
    pub(crate) fn adjusts_severity(&self) -> bool {
        !self.severity.is_empty() || !self.compat.is_empty()
    }

    /// Whether the tool that a format comes from must be able to read the files.
    pub(crate) fn has_to_be_read(&self, dialect: Option<Dialect>) -> bool {
        dialect.is_some_and(|dialect| self.compat.contains(&dialect))
    }

    /// Returns the severity of a problem in a file of a format. `None` if it is off.
    pub(crate) fn severity_in(&self, dialect: Option<Dialect>, code: Code, own: Severity) -> Option<Severity> {
        match code {
            Code::UpstreamDiffers if self.has_to_be_read(dialect) => Some(Severity::Error),
            code => self.severity_of(code, own),
        }
    }

    /// Returns the severity of a problem with this code; `None` if it is off.
    pub fn severity_of(&self, code: Code, own: Severity) -> Option<Severity> {
        if code.is_always_an_error() {
            return Some(own);
        }
        match self.severity.get(code.as_str()) {
            None => Some(own),
            Some(Level::Off) => None,
            Some(Level::Hint) => Some(Severity::Hint),
            Some(Level::Information) => Some(Severity::Information),
            Some(Level::Warning) => Some(Severity::Warning),
            Some(Level::Error) => Some(Severity::Error),
        }
    }
}

impl SpecFile {
    /// The settings of a workspace: `speclens.yaml`.
    pub const SETTINGS: SpecFile = SpecFile::of(&Kind {
        name: "speclens",
        title: "speclens settings",
        singular: "speclens settings file",
        heading: Some("speclens.yaml"),
        names: FilePatterns::Surely(&["**/speclens.yaml"]),
        owner: FileOwner::Settings,
        discovery: DiscoveryRule::Never,
        empty: Empty::Defaults(Code::InvalidSetting),
        schema,
        committed: || Some(include_str!("../json/speclens.schema.json")),
        ..Kind::PLAIN
    });
}

/// Returns the schema, with severities by code.
fn schema(file: SpecFile) -> Value {
    let mut schema = generate::<Settings>(file);
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    schema["properties"]["severity"]["propertyNames"] = json!({ "enum": codes });
    schema
}

/// Sources of traces in addition to Opik in `clawspec.yaml`.
///
/// ```yaml
/// clawspec:
///   traces:
///     port: 4318
/// ```
///
/// Without any of these, and without Opik, assertions about traces are skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TraceSources {
    /// Local port where a run receives OpenTelemetry traces, logs and metrics over HTTP.
    ///
    /// The port is open on `127.0.0.1` during a run. Set the gateway's exporter to `http://127.0.0.1:PORT`; programs
    /// started by a run get the address in `OTEL_EXPORTER_OTLP_ENDPOINT`. With 0, the run uses a free port, which only
    /// those programs know.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 65535), extend("examples" = [4318]))]
    pub port: Option<u16>,
    /// Trace files, and patterns of trace files.
    ///
    /// Files with OTLP/JSON as written by collectors and exporters, or with Opik spans.
    ///
    /// Paths are relative to this file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = { "type": "string", "minLength": 1, "x-file": "any", "x-glob": true }, "examples" = [["traces/*.jsonl"]]))]
    pub files: Vec<String>,
}

/// Settings of ClawSpec runs that `clawspec.yaml` does not have.
///
/// ```yaml
/// clawspec:
///   thresholds: warn
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GatewaySettings {
    /// Outcome of an assertion with a score below its threshold.
    ///
    /// `artifact_matches_golden`, `llm_judge` and `agent_identity_consistent` have a threshold. ClawSpec only warns, so
    /// its runs pass with any score.
    pub thresholds: Shortfall,
    /// Sources of traces in addition to Opik in `clawspec.yaml`.
    pub traces: TraceSources,
    /// Scripted gateway that replaces the real one.
    ///
    /// The path of a file `NAME.gateway.yaml`, relative to this file. A run starts the gateway on a free port and stops
    /// it afterwards. It replaces `gateway_base_url` and `gateway_log_pattern` of `clawspec.yaml`, and the `openclaw`
    /// program. The spans that it sends are the trace of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-file" = "gateway", "examples" = ["demo.gateway.yaml"]))]
    pub gateway: Option<FilePath>,
    /// Whether runs in an editor write reports in ClawSpec's format.
    ///
    /// The reports go to the same directory as those of `speclens run`: `report_dir` of `clawspec.yaml`,
    /// `CLAWSPEC_REPORT_DIR`, or `reports`. By default, editors write none, because every run of a single scenario
    /// would add a report.
    pub editor_reports: bool,
}

impl GatewaySettings {
    /// Key of the settings.
    pub const KEY: &str = "clawspec";

    /// Whether there is a source of traces besides those in `clawspec.yaml`.
    pub(crate) fn has_traces(&self) -> bool {
        self.traces != TraceSources::default() || self.gateway.is_some()
    }
}

/// Outcome of an assertion with a score below its threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Shortfall {
    /// The assertion fails.
    #[default]
    Fail,
    /// The assertion warns, as in ClawSpec: the exit status stays 0.
    Warn,
}
