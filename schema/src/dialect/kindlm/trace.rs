//! `trace`: how spans of a running system become something that claims can be judged on.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How traces of a running system are received and read.
///
/// ```yaml
/// trace:
///   spanFilter: { namePattern: "^chat " }
///   spanMapping: { outputTextAttr: app.answer }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct Trace {
    /// The port on which `speclens trace --listen` receives traces. KindLM only heeds its command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 65535), extend("default" = 4318))]
    pub port: Option<u32>,
    /// How many milliseconds `speclens trace --listen` waits for the first span.
    ///
    /// KindLM only follows its command line.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1000, max = 9_007_199_254_740_991_u64), extend("default" = 30000))]
    pub timeout_ms: Option<u64>,
    /// Which attributes of a span hold what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span_mapping: Option<SpanMapping>,
    /// Which spans count. All conditions must hold.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub span_filter: Option<SpanFilter>,
}

/// Which attributes of a span hold what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct SpanMapping {
    /// The text of the output. Several spans are joined with line breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "gen_ai.completion.0.content"))]
    pub output_text_attr: Option<String>,
    /// The model that answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "gen_ai.response.model"))]
    pub model_attr: Option<String>,
    /// The provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "gen_ai.system"))]
    pub system_attr: Option<String>,
    /// Tokens that were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "gen_ai.usage.input_tokens"))]
    pub input_tokens_attr: Option<String>,
    /// Tokens that came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "gen_ai.usage.output_tokens"))]
    pub output_tokens_attr: Option<String>,
}

/// Which spans count.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct SpanFilter {
    /// A regular expression that the span's name must match, in ECMAScript syntax.
    ///
    /// KindLM ignores a pattern that is not valid, so every span counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-pattern" = "ecmascript"), extend("examples" = ["^chat "]))]
    pub name_pattern: Option<String>,
    /// Attributes with the values that they must have, compared as texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attribute_match: Option<BTreeMap<String, String>>,
    /// The shortest duration, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub min_duration_ms: Option<f64>,
}
