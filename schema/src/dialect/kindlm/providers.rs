//! `providers`, `models`, `prompts`: who is asked, and what. Only prompt tests, and claims that a model
//! judges, need them.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::words::{Defines, Models, Name, Template, Url};

/// Where models are reached.
///
/// ```yaml
/// providers:
///   openai: { apiKeyEnv: OPENAI_API_KEY }
///   ollama: {}
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields, extend("x-defines" = "providers"))]
pub struct Providers {
    /// OpenAI, or a service that speaks its chat protocol.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["gpt"]))]
    pub openai: Option<KeyProvider>,
    /// Anthropic.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["claude"]))]
    pub anthropic: Option<KeyProvider>,
    /// Google Gemini.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-other-names" = ["google"]))]
    pub gemini: Option<KeyProvider>,
    /// Mistral.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mistral: Option<KeyProvider>,
    /// Cohere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cohere: Option<KeyProvider>,
    /// Models on this machine, served by Ollama. Needs no key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ollama: Option<OllamaProvider>,
    /// Any HTTP service, described by a request and by paths into its reply.
    ///
    /// ```yaml
    /// http:
    ///   url: https://agent.example/chat
    ///   headers: { Authorization: "env:AGENT_TOKEN" }
    ///   body: '{"question": "{{user}}"}'
    ///   responsePath: data[0].text
    /// ```
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpProvider>,
    /// A tool behind an HTTP bridge, called with the messages as its arguments.
    ///
    /// Plain HTTP, not the wire protocol of MCP. It never reports tool calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp: Option<McpProvider>,
}

/// A provider that is reached with a key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct KeyProvider {
    /// The *name* of the environment variable that holds the key, never the key itself.
    ///
    /// KindLM refuses to start when the variable is empty, even if only command tests run.
    #[schemars(extend("examples" = ["OPENAI_API_KEY"]))]
    #[schemars(extend("x-other-names" = ["apiKey", "api_key", "key"]))]
    pub api_key_env: Name,
    /// Another address than the provider's own, such as a proxy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["https://proxy.example/v1"]))]
    #[schemars(extend("x-other-names" = ["url"]))]
    pub base_url: Option<Url>,
    /// The organization that requests are billed to. Only `openai` uses it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub organization: Option<String>,
}

/// Models on this machine, served by Ollama.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct OllamaProvider {
    /// The name of an environment variable. It must be set when named here, and is never sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<Name>,
    /// Another address than `http://localhost:11434`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["http://localhost:11434"]))]
    #[schemars(extend("x-other-names" = ["url", "host"]))]
    pub base_url: Option<Url>,
}

/// Any HTTP service.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct HttpProvider {
    /// Where the request goes.
    #[schemars(extend("examples" = ["https://agent.example/chat"]))]
    #[schemars(extend("x-other-names" = ["baseUrl", "endpoint"]))]
    pub url: Url,
    /// The method of the request, sent unchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "POST"))]
    pub method: Option<String>,
    /// Headers of the request. A value `env:NAME` is replaced by that environment variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<BTreeMap<String, String>>,
    /// The body of the request, with placeholders of its own.
    ///
    /// `{{model}}`, `{{system}}`, `{{user}}`, `{{temperature}}`, `{{maxTokens}}`, `{{messages_json}}`,
    /// `{{tools_json}}`; others become empty. Texts are put in without JSON escapes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-template" = "http-body", "examples" = ["{\"question\": \"{{user}}\"}"]))]
    pub body: Option<String>,
    /// Path of the text in the reply: dots and `[n]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "choices.0.message.content"))]
    pub response_path: Option<String>,
    /// Path of the list of tool calls in the reply. Without it there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("examples" = ["choices.0.message.tool_calls"]))]
    pub tool_calls_path: Option<String>,
    /// Path of the name of the model that answered, in the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "model"))]
    pub model_id_path: Option<String>,
    /// Path of the token counts in the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage_paths: Option<UsagePaths>,
    /// The name of an environment variable that must be set. Its value is not used: see `headers`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub api_key_env: Option<Name>,
}

/// Path of the token counts in a reply.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct UsagePaths {
    /// Tokens that were sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "usage.prompt_tokens"))]
    pub input_tokens: Option<String>,
    /// Tokens that came back.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "usage.completion_tokens"))]
    pub output_tokens: Option<String>,
    /// Both together.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("default" = "usage.total_tokens"))]
    pub total_tokens: Option<String>,
}

/// A tool behind an HTTP bridge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct McpProvider {
    /// Where the request goes.
    #[schemars(extend("examples" = ["http://localhost:3000/call"]))]
    #[schemars(extend("x-other-names" = ["url"]))]
    pub server_url: Url,
    /// The tool that is called.
    #[schemars(extend("examples" = ["ask"]))]
    #[schemars(extend("x-other-names" = ["tool"]))]
    pub tool_name: Name,
    /// Headers of the request. A value `env:NAME` is replaced by that environment variable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<BTreeMap<String, String>>,
}

/// A model that prompt tests ask.
///
/// ```yaml
/// - id: small
///   provider: openai
///   model: gpt-4o-mini
///   params: { temperature: 0 }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Model {
    /// The name by which this file refers to the model, unique in the list.
    #[schemars(extend("examples" = ["small"]))]
    #[schemars(extend("x-other-names" = ["name"]))]
    pub id: Defines<Models>,
    /// The provider that serves it; it must be in `providers`.
    #[schemars(extend("x-refers" = "providers"))]
    pub provider: ProviderName,
    /// The name that the provider knows it by.
    #[schemars(extend("examples" = ["gpt-4o-mini"]))]
    pub model: Name,
    /// How it samples.
    #[serde(default)]
    #[schemars(extend("default" = {}))]
    #[schemars(extend("x-other-names" = ["parameters", "config"]))]
    pub params: Params,
}

/// Models by the provider that serves them, as far as their prices are known. Others may be named as well.
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
    /// OpenAI, or a service that speaks its chat protocol.
    OpenAi,
    /// Anthropic.
    Anthropic,
    /// Google Gemini.
    Gemini,
    /// Mistral.
    Mistral,
    /// Cohere.
    Cohere,
    /// Models on this machine, served by Ollama.
    Ollama,
    /// Any HTTP service.
    Http,
    /// A tool behind an HTTP bridge.
    Mcp,
}

/// How a model samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", default)]
#[schemars(deny_unknown_fields)]
pub struct Params {
    /// How freely the model chooses: 0 is the least. Always sent.
    #[schemars(range(min = 0.0, max = 2.0))]
    pub temperature: f64,
    /// The most tokens of one reply.
    #[schemars(range(min = 1, max = 128_000))]
    pub max_tokens: u32,
    /// The share of probability from which tokens are drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub top_p: Option<f64>,
    /// Texts at which the reply ends.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_sequences: Option<Vec<String>>,
    /// A number that makes replies more repeatable, where the provider supports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -9_007_199_254_740_991_i64, max = 9_007_199_254_740_991_i64), extend("examples" = [42]))]
    pub seed: Option<i64>,
}

impl Default for Params {
    fn default() -> Params {
        Params { temperature: 0.2, max_tokens: 1024, top_p: None, stop_sequences: None, seed: None }
    }
}

/// What a model is asked. `{{name}}` is replaced by a value of the test's `vars`.
///
/// ```yaml
/// prompts:
///   refund:
///     system: You are a support agent of {{shop}}.
///     user: "{{question}}"
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Prompt {
    /// The role and the rules that the model is given first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minLength" = 0))]
    pub system: Option<Template>,
    /// What the user says.
    #[schemars(extend("examples" = ["{{question}}"]))]
    #[schemars(extend("x-other-names" = ["prompt", "template", "content", "text", "message"]))]
    pub user: Template,
    /// How the model's answer begins, sent as a last message of the assistant.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(extend("minLength" = 0))]
    pub assistant: Option<Template>,
}
