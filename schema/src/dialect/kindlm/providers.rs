//! `providers`, `models`, `prompts`: the models to ask, and the prompts to send. Only prompt tests, and expectations
//! with a judge, need them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::words::{ModelName, Name, Template, Url};

/// Providers of models.
///
/// ```yaml
/// providers:
///   openai: { apiKeyEnv: OPENAI_API_KEY }
///   ollama: {}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(extend("x-defines" = "providers"))]
#[schemars(extend("x-problems" = ["anthropic", "gemini", "mistral", "cohere"].map(organization)))]
pub struct Providers {
    /// OpenAI, or a service with a compatible chat API.
    #[schemars(extend("x-other-names" = ["gpt"]))]
    pub openai: Option<KeyProvider>,
    /// Anthropic.
    #[schemars(extend("x-other-names" = ["claude"]))]
    pub anthropic: Option<KeyProvider>,
    /// Google Gemini.
    #[schemars(extend("x-other-names" = ["google"]))]
    pub gemini: Option<KeyProvider>,
    /// Mistral.
    pub mistral: Option<KeyProvider>,
    /// Cohere.
    pub cohere: Option<KeyProvider>,
    /// Local models, served by Ollama. Needs no key.
    pub ollama: Option<OllamaProvider>,
    /// Any HTTP service, described by its request and by paths into its response.
    ///
    /// ```yaml
    /// http:
    ///   url: https://agent.example/chat
    ///   headers: { Authorization: "env:AGENT_TOKEN" }
    ///   body: '{"question": "{{user}}"}'
    ///   responsePath: data[0].text
    /// ```
    pub http: Option<HttpProvider>,
    /// A tool with an HTTP bridge, called with the messages as its arguments.
    ///
    /// Uses plain HTTP, not the MCP protocol. It never reports tool calls.
    pub mcp: Option<McpProvider>,
}

fn organization(provider: &str) -> Value {
    json!({
        "if": { "required": [provider], "properties": { provider: { "required": ["organization"] } } },
        "at": format!("{provider}.organization"), "underline": "key", "code": "no-effect",
        "message": format!("`organization` has no effect on `{provider}`"), "note": "KindLM sends it only to `openai`",
        "help": "remove it",
    })
}

/// Returns the problem of a key in place of the name of its variable.
fn no_variable() -> Value {
    json!({
        "if": { "pattern": r"^\$" }, "code": "invalid-value", "severity": "warning",
        "message": "`{value}` is not a valid environment variable name",
        "fix": { "strip": r"^\$\{?|\}$", "safe-if": r"^\$(\w+|\{\w+\})$" },
    })
}

/// A provider that requires a key.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct KeyProvider {
    /// Name of the environment variable that holds the key, never the key itself.
    ///
    /// KindLM refuses to start if the variable is empty, even if only command tests run.
    #[schemars(extend("examples" = ["OPENAI_API_KEY"]))]
    #[schemars(extend("x-problems" = [no_variable()], "x-other-names" = ["apiKey", "api_key", "key"]))]
    pub api_key_env: Name,
    /// URL to use instead of the provider's own, such as a proxy.
    #[schemars(extend("examples" = ["https://proxy.example/v1"]))]
    #[schemars(extend("x-other-names" = ["url"]))]
    pub base_url: Option<Url>,
    /// Organization to bill for requests. Only `openai` uses it.
    pub organization: Option<String>,
}

/// Local models, served by Ollama.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct OllamaProvider {
    /// Name of an environment variable. KindLM requires it to be set, but never sends it.
    #[schemars(extend("x-problems" = [
        no_variable(),
        {
            "if": true, "underline": "key", "code": "no-effect", "message": "`apiKeyEnv` has no effect on `ollama`",
            "note": "KindLM sends no key to `ollama`", "help": "remove it",
        },
    ]))]
    pub api_key_env: Option<Name>,
    /// URL to use instead of `http://localhost:11434`.
    #[schemars(extend("examples" = ["http://localhost:11434"]))]
    #[schemars(extend("x-other-names" = ["url", "host"]))]
    pub base_url: Option<Url>,
}

/// Any HTTP service.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-advice" = [{
    "names": ["apiKeyEnv"], "note": "KindLM sends no key to `http`",
    "help": "name the variable in `headers`, as `env:NAME`",
}]))]
pub struct HttpProvider {
    /// URL of the request.
    #[schemars(extend("examples" = ["https://agent.example/chat"]))]
    #[schemars(extend("x-other-names" = ["baseUrl", "endpoint"]))]
    pub url: Url,
    /// HTTP method, sent unchanged.
    #[schemars(extend("default" = "POST"))]
    pub method: Option<String>,
    /// Headers of the request. A value `env:NAME` is replaced by the environment variable.
    pub headers: Option<BTreeMap<String, String>>,
    /// Body of the request, with its own template variables.
    ///
    /// `{{model}}`, `{{system}}`, `{{user}}`, `{{temperature}}`, `{{maxTokens}}`, `{{messages_json}}`,
    /// `{{tools_json}}`; any other name becomes an empty string. Values are inserted without JSON escaping.
    #[schemars(extend("x-template" = "http-body", "examples" = ["{\"question\": \"{{user}}\"}"]))]
    pub body: Option<String>,
    /// Path of the text in the response, with dots and `[n]`.
    #[schemars(extend("default" = "choices.0.message.content"))]
    pub response_path: Option<String>,
    /// Path of the list of tool calls in the response. Without it, the calls of the model are unknown.
    #[schemars(extend("examples" = ["choices.0.message.tool_calls"]))]
    pub tool_calls_path: Option<String>,
    /// Path of the name of the model in the response.
    #[schemars(extend("default" = "model"))]
    pub model_id_path: Option<String>,
    /// Paths of the token counts in the response.
    pub usage_paths: Option<UsagePaths>,
    /// Name of an environment variable that must be set. Its value is not used: see `headers`.
    pub api_key_env: Option<Name>,
}

/// Paths of the token counts in a response.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct UsagePaths {
    /// Input tokens.
    #[schemars(extend("default" = "usage.prompt_tokens"))]
    pub input_tokens: Option<String>,
    /// Output tokens.
    #[schemars(extend("default" = "usage.completion_tokens"))]
    pub output_tokens: Option<String>,
    /// Total tokens.
    #[schemars(extend("default" = "usage.total_tokens"))]
    pub total_tokens: Option<String>,
}

/// A tool with an HTTP bridge.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpProvider {
    /// URL of the request.
    #[schemars(extend("examples" = ["http://localhost:3000/call"]))]
    #[schemars(extend("x-other-names" = ["url"]))]
    pub server_url: Url,
    /// Tool to call.
    #[schemars(extend("examples" = ["ask"]))]
    #[schemars(extend("x-other-names" = ["tool"]))]
    pub tool_name: Name,
    /// Headers of the request. A value `env:NAME` is replaced by the environment variable.
    pub headers: Option<BTreeMap<String, String>>,
}

/// A model that prompt tests use.
///
/// ```yaml
/// - id: small
///   provider: openai
///   model: gpt-4o-mini
///   params: { temperature: 0 }
/// ```
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(extend("x-problems" = ["anthropic", "gemini", "mistral"].map(seed)))]
pub struct Model {
    /// Name of the model in this file, unique in the list.
    #[schemars(extend("examples" = ["small"]))]
    #[schemars(extend("x-other-names" = ["name"]))]
    pub id: ModelName,
    /// Provider of the model; it must be in `providers`.
    #[schemars(extend("x-refers" = "providers"))]
    pub provider: ProviderName,
    /// Name of the model at the provider.
    #[schemars(extend("x-model-of" = "provider", "examples" = ["gpt-4o-mini"]))]
    pub model: Name,
    /// Sampling parameters.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    #[schemars(extend("x-other-names" = ["parameters", "config"]))]
    pub params: Params,
}

fn seed(provider: &str) -> Value {
    json!({
        "if": {
            "required": ["provider", "params"],
            "properties": { "provider": { "const": provider }, "params": { "required": ["seed"] } },
        },
        "at": "params.seed", "underline": "key", "code": "no-effect",
        "message": format!("`seed` has no effect on `{provider}`"),
        "note": format!("KindLM sends no seed to `{provider}`"), "help": "remove it",
    })
}

/// Known models by provider, for which prices are known. Other models are allowed too.
pub const MODELS: &[(&str, &[&str])] = &[
    ("openai", &["gpt-4o", "gpt-4o-mini", "gpt-4-turbo", "o3-mini"]),
    ("anthropic", &["claude-opus-4-5-20250929", "claude-sonnet-4-5-20250929", "claude-haiku-4-5-20251001"]),
    (
        "gemini",
        &["gemini-2.0-flash", "gemini-2.0-flash-lite", "gemini-1.5-pro", "gemini-1.5-flash", "gemini-1.5-flash-8b"],
    ),
];

/// The kinds of provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ProviderName {
    /// OpenAI, or a service with a compatible chat API.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google Gemini.
    Gemini,
    /// Mistral.
    Mistral,
    /// Cohere.
    Cohere,
    /// Local models, served by Ollama.
    Ollama,
    /// Any HTTP service.
    Http,
    /// A tool with an HTTP bridge.
    Mcp,
}

/// Sampling parameters of a model.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
pub struct Params {
    /// Sampling temperature: 0 is the least random. Always sent.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: f64,
    /// Maximum number of tokens in one reply.
    #[schemars(range(min = 1, max = 128_000))]
    pub max_tokens: u32,
    /// Cumulative probability of the tokens to sample from (nucleus sampling).
    #[schemars(range(min = 0.0, max = 1.0))]
    pub top_p: Option<f64>,
    /// Strings that end the reply.
    pub stop_sequences: Option<Vec<String>>,
    /// Seed for more reproducible replies, if the provider supports it.
    #[schemars(range(min = -9_007_199_254_740_991_i64, max = 9_007_199_254_740_991_i64), extend("examples" = [42]))]
    pub seed: Option<i64>,
}

impl Default for Params {
    fn default() -> Params {
        Params { temperature: 0.2, max_tokens: 1024, top_p: None, stop_sequences: None, seed: None }
    }
}

/// A prompt for a model. `{{name}}` is replaced by a value from the test's `vars`.
///
/// ```yaml
/// prompts:
///   refund:
///     system: You are a support agent of {{shop}}.
///     user: "{{question}}"
/// ```
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Prompt {
    /// System prompt: the role and rules of the model.
    #[schemars(extend("minLength" = 0))]
    pub system: Option<Template>,
    /// User message.
    #[schemars(extend("examples" = ["{{question}}"]))]
    #[schemars(extend("x-other-names" = ["prompt", "template", "content", "text", "message"]))]
    pub user: Template,
    /// Beginning of the model's reply, sent as the last assistant message.
    #[schemars(extend("minLength" = 0))]
    pub assistant: Option<Template>,
}
