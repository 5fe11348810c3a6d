//! `speclens.yaml`, the settings of a workspace: editor and command line read the same file, so both say
//! the same.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::{
    dialect::Dialect,
    json_schema::generate,
    problem::{Code, Severity},
    spec_file::{Counts, Empty, Family, Kind, Names, SpecFile},
    words::{Name, Url},
};

mod clawspec;
mod traces;

pub use clawspec::{ClawSpecSettings, Shortfall};
pub use traces::TraceSources;

/// The settings of a workspace, in `speclens.yaml` at its root.
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
    /// How bad each kind of problem is. A code that is not named keeps its own severity.
    pub severity: BTreeMap<String, Level>,
    /// The programs that have to understand the files, beside speclens.
    ///
    /// What one of them rejects or reads differently (`upstream-differs`) is an error in files of its format, whatever
    /// `severity` says.
    pub compat: Vec<Dialect>,
    /// Files, directories and patterns whose content decides what commands and tasks do.
    ///
    /// They are relative to this file. When one of these files changes, recordings are stale, as they are when a file
    /// changes that the command names or that is in the `scaffold` of the task. What a program reads by itself (a module, a
    /// configuration, a prompt) is not known otherwise. A directory means all files below it that version control does not
    /// ignore. `.git` and `.speclens` never count, and no symbolic link leads out of the directory of this file.
    #[schemars(extend("items" = { "type": "string", "minLength": 1, "x-file": "any", "x-glob": true }))]
    pub inputs: Vec<String>,
    /// Limits that decide when the suite's own file says nothing.
    pub thresholds: Thresholds,
    /// What is kept of a run, and what is masked in it.
    pub recordings: Recordings,
    /// Bounds on what a run may use.
    pub limits: Limits,
    /// Where models are reached, by the part of their id before the `/`.
    ///
    /// An entry takes the place of the built-in provider of that name, and adds a provider where there is none.
    ///
    /// ```yaml
    /// providers:
    ///   local: { base_url: "http://localhost:8000/v1" }
    ///   proxy: { api: anthropic, base_url: "https://proxy.example/v1", key_env: PROXY_KEY }
    /// ```
    ///
    /// `local/qwen3` is then the model `qwen3` of the server on this machine.
    pub providers: BTreeMap<String, Provider>,
    /// The id of the model that judges, instead of the one that a suite names.
    ///
    /// In ClawSpec suites it gives the scores of `llm_judge` and `agent_identity_consistent`, instead of the gateway's judge.
    ///
    /// ```yaml
    /// judge: anthropic/claude-haiku-4-5
    /// ```
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("pattern" = "^[^/]+/.+$", "examples" = ["anthropic/claude-haiku-4-5"]))]
    pub judge: Option<String>,
    /// What models cost, by their id: a price here takes the place of the built-in one.
    ///
    /// A model without a price has an unknown cost.
    ///
    /// ```yaml
    /// prices:
    ///   local/qwen3: { input: 0, output: 0 }
    /// ```
    pub prices: BTreeMap<String, Price>,
    /// How ClawSpec suites run, beyond what `clawspec.yaml` says.
    pub clawspec: ClawSpecSettings,
    /// The directory of the file that they come from.
    #[serde(skip)]
    pub directory: Option<PathBuf>,
}

/// Where the models of a provider are reached.
///
/// A key is sent only to the provider's own address, or to the `base_url` of the entry that names its variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Provider {
    /// The protocol that it speaks.
    ///
    /// When absent, that of the built-in provider of this name, or else `openai`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<Api>,
    /// The address, up to and including the version.
    ///
    /// When absent, that of the built-in provider of this name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["http://localhost:8000/v1"]))]
    pub base_url: Option<Url>,
    /// The *name* of the environment variable that holds the key, never the key itself.
    ///
    /// With `base_url` and without `key_env`, no key is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["PROXY_KEY"]))]
    pub key_env: Option<Name>,
}

/// The protocol that a provider speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Api {
    /// Chat completions, as OpenAI and most gateways, proxies and local servers speak it.
    OpenAi,
    /// Messages, as Anthropic speaks it.
    Anthropic,
    /// `generateContent`, as Google Gemini speaks it.
    Gemini,
    /// Ollama's own chat protocol.
    Ollama,
}

/// What a model costs, in US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens that are sent.
    #[schemars(range(min = 0.0))]
    pub input: f64,
    /// Tokens that come back.
    #[schemars(range(min = 0.0))]
    pub output: f64,
}

/// How a kind of problem is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// Not reported.
    Off,
    /// Reported in the editor only where the author looks closely.
    Hint,
    /// Worth knowing.
    Information,
    /// Very likely a mistake.
    Warning,
    /// The suite is refused by `speclens run`.
    Error,
}

/// Limits that decide when the suite's own file says nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Thresholds {
    /// The least share of runs that must pass, 0 to 1, for a run to count as passed. It takes the place of
    /// a format's default; what a suite writes itself wins.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub pass_rate: Option<f64>,
}

/// What is kept of a run, and what is masked in it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Recordings {
    /// Whether runs are recorded in `.speclens/` beside the suite. Without recordings an edited assertion
    /// cannot be judged again.
    pub enabled: bool,
    /// Environment variables whose values are masked, beside those whose names look secret.
    pub redact_env: Vec<String>,
    /// Regular expressions whose matches are masked.
    pub redact_patterns: Vec<String>,
    /// Maximum age of a recording in days. Older ones are removed after a run.
    ///
    /// The limits hold for each `.speclens/` directory. The recordings of the run that has just ended always stay.
    /// `speclens recordings prune` applies the limits without a run.
    #[schemars(range(min = 1, max = 36500))]
    pub max_age_days: u32,
    /// Maximum number of recordings. Where there are more after a run, some are removed.
    ///
    /// Those of tests that no longer exist go first, then the oldest.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_count: u32,
    /// Maximum size of all recordings together in mebibytes. More are removed after a run.
    ///
    /// Those of tests that no longer exist go first, then the oldest.
    #[schemars(range(min = 1, max = 1_048_576))]
    pub max_mib: u32,
}

impl Default for Recordings {
    fn default() -> Recordings {
        Recordings {
            enabled: true,
            redact_env: Vec::new(),
            redact_patterns: Vec::new(),
            max_age_days: 90,
            max_count: 10_000,
            max_mib: 1024,
        }
    }
}

/// Bounds on what a run may use.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// As many mebibytes of each output stream are kept; the rest is cut off with a note.
    #[schemars(range(min = 1, max = 1024))]
    pub output_mib: u32,
    /// Maximum size of one recording in mebibytes, its outputs included.
    ///
    /// A larger recording is not read. An output that would make it larger is cut in the recording.
    #[schemars(range(min = 1, max = 1024))]
    pub recording_mib: u32,
    /// The largest number of tests that run at once, whatever the suite says.
    #[schemars(range(min = 1, max = 64))]
    pub concurrency: Option<u32>,
    /// Maximum number of seconds that a model may take for one answer.
    #[schemars(range(min = 1, max = 3600))]
    pub request_seconds: u32,
    /// Whether tasks of cli-bench are repeated no more once the threshold of their model is decided.
    ///
    /// The threshold is met, or missed, whatever comes of the attempts that are left out; reports say how many. Each task
    /// has at least one attempt. A run of some tests of a suite leaves none out, nor do thresholds that are
    /// `informational`.
    pub stop_repeats: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { output_mib: 64, recording_mib: 64, concurrency: None, request_seconds: 120, stop_repeats: true }
    }
}

impl Limits {
    /// As many bytes of each output stream are kept.
    pub fn output_bytes(&self) -> usize {
        // A limit of nothing would cut every output: the least that the schema allows holds then.
        self.output_mib.max(1) as usize * 1024 * 1024
    }

    /// Returns how long a model may take for one answer.
    pub fn request_deadline(&self) -> Duration {
        Duration::from_secs(u64::from(self.request_seconds.max(1)))
    }

    /// Maximum size of a recording in bytes.
    pub fn recording_bytes(&self) -> u64 {
        u64::from(self.recording_mib.max(1)) * 1024 * 1024
    }
}

impl Settings {
    /// Whether the severity of any problem may be another one than its own.
    pub fn adjusts_severity(&self) -> bool {
        !self.severity.is_empty() || !self.compat.is_empty()
    }

    /// Whether the program that a format comes from has to understand the files.
    pub fn has_to_be_read(&self, dialect: Option<Dialect>) -> bool {
        dialect.is_some_and(|dialect| self.compat.contains(&dialect))
    }

    /// Returns the severity of a problem in a file of a format. `None` when it is switched off.
    pub fn severity_in(&self, dialect: Option<Dialect>, code: Code, own: Severity) -> Option<Severity> {
        match code {
            Code::UpstreamDiffers if self.has_to_be_read(dialect) => Some(Severity::Error),
            code => self.severity_of(code, own),
        }
    }

    /// The severity of a problem with this code; nothing when it is switched off.
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
        heading: Some("speclens.yaml"),
        names: Names::Surely(&["**/speclens.yaml"]),
        family: Family::Settings,
        counts: Counts::Never,
        empty: Empty::Defaults(Code::InvalidSetting),
        schema,
        ..Kind::PLAIN
    });
}

/// The schema, in which severities are set by code.
fn schema(file: SpecFile) -> Value {
    let mut schema = generate::<Settings>(file);
    let codes: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
    schema["properties"]["severity"]["propertyNames"] = json!({ "enum": codes });
    schema
}
