//! Sources of traces of ClawSpec runs, in addition to Opik in `clawspec.yaml`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
