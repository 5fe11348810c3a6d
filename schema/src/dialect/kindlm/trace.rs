//! `trace`: how spans of a running system are converted to evidence.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// How `speclens trace` receives and reads traces.
///
/// ```yaml
/// trace:
///   spanFilter: { namePattern: "^chat " }
///   spanMapping: { outputTextAttr: app.answer }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Trace {
    /// Port on which `speclens trace --listen` receives traces. KindLM ignores this key.
    #[schemars(range(min = 1, max = 65535), extend("default" = 4318, "x-problems" = of_option("port", "--port")))]
    pub port: Option<u32>,
    /// Milliseconds that `speclens trace --listen` waits for the first span.
    ///
    /// KindLM ignores this key.
    #[schemars(range(min = 1000, max = 9_007_199_254_740_991_u64), extend("default" = 30000))]
    #[schemars(extend("x-problems" = of_option("timeoutMs", "--timeout")))]
    pub timeout_ms: Option<u64>,
    /// Names of the span attributes to read.
    pub span_mapping: Option<SpanMapping>,
    /// Conditions that select spans. All must hold.
    pub span_filter: Option<SpanFilter>,
}

/// Returns the problem of a key that only speclens reads. KindLM has an option with the same meaning.
fn of_option(key: &str, option: &str) -> Value {
    json!([{
        "if": { "not": { "const": null } }, "code": "no-effect", "underline": "key", "unless-wrong": true,
        "message": format!("KindLM ignores `{key}`"),
        "note": format!("it uses its option `{option}` or the default; only `speclens trace` reads this key"),
    }])
}

/// Names of the span attributes to read.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SpanMapping {
    /// Attribute with the output text. The texts of several spans are joined with line breaks.
    #[schemars(extend("default" = "gen_ai.completion.0.content"))]
    pub output_text_attr: Option<String>,
    /// Attribute with the name of the model that answered.
    #[schemars(extend("default" = "gen_ai.response.model"))]
    pub model_attr: Option<String>,
    /// Attribute with the name of the provider.
    #[schemars(extend("default" = "gen_ai.system"))]
    pub system_attr: Option<String>,
    /// Attribute with the number of input tokens.
    #[schemars(extend("default" = "gen_ai.usage.input_tokens"))]
    pub input_tokens_attr: Option<String>,
    /// Attribute with the number of output tokens.
    #[schemars(extend("default" = "gen_ai.usage.output_tokens"))]
    pub output_tokens_attr: Option<String>,
}

/// Conditions that select spans.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct SpanFilter {
    /// Regular expression in ECMAScript syntax that the span's name must match.
    ///
    /// KindLM ignores an invalid pattern, so every span counts.
    #[schemars(extend("x-pattern" = "ecmascript", "x-searches" = "spans", "examples" = ["^chat "]))]
    pub name_pattern: Option<String>,
    /// Required values of attributes, compared as strings.
    #[schemars(extend("x-compared" = "output"))]
    pub attribute_match: Option<BTreeMap<String, String>>,
    /// Minimum duration in milliseconds.
    #[schemars(range(min = 0))]
    pub min_duration_ms: Option<f64>,
}
