//! Where the traces of ClawSpec runs come from, beside Opik, which `clawspec.yaml` names.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the traces of runs come from, beside the Opik of `clawspec.yaml`.
///
/// ```yaml
/// clawspec:
///   traces:
///     port: 4318
/// ```
///
/// Without any of them, and without Opik, assertions about traces are skipped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct TraceSources {
    /// The port of this machine where a run receives OpenTelemetry traces, records and metrics over HTTP.
    ///
    /// It is open for the time of a run, at `127.0.0.1` only. Set the exporter of the gateway to `http://127.0.0.1:PORT`; programs
    /// that a run starts are told in `OTEL_EXPORTER_OTLP_ENDPOINT`. With 0 the run takes a free port, which only those programs
    /// learn about.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0, max = 65535), extend("examples" = [4318]))]
    pub port: Option<u16>,
    /// Files of traces, and patterns of such files.
    ///
    /// They hold OTLP/JSON as collectors and exporters write it, or spans of Opik.
    ///
    /// They are relative to this file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(extend("items" = { "type": "string", "minLength": 1, "x-file": "any", "x-glob": true }, "examples" = [["traces/*.jsonl"]]))]
    pub files: Vec<String>,
}
