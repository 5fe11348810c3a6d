//! Prompt tests: what is sent to a model, and what answers its calls of tools.

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    check::json::same,
    document::Pointer,
    evidence::{AskedModel, ToolCall},
};

/// A conversation with a model, whose tools are simulated.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PromptAction {
    /// Node with the name of the prompt.
    #[serde(skip)]
    pub at: Pointer,
    /// Name of the prompt. Not part of the key: its texts are.
    #[serde(skip)]
    pub prompt: String,
    /// Texts to send, with placeholders expanded.
    pub texts: PromptTexts,
    /// Names of the variables without a value: if there are any, nothing is sent.
    #[serde(skip)]
    pub missing: Vec<String>,
    /// Tools that the model may call.
    pub tools: Vec<SimulatedTool>,
    /// Maximum number of replies of the model.
    pub max_turns: u32,
    /// Models to ask. The subject of an attempt is one of them.
    #[serde(skip)]
    pub models: Vec<PromptModel>,
    /// Timeout of each reply. Not part of the key: a longer timeout does not make recordings stale.
    #[serde(skip)]
    pub timeout_ms: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PromptTexts {
    pub system: Option<String>,
    pub user: String,
    /// Beginning of the answer, which the model continues.
    pub assistant: Option<String>,
    /// Texts that the user sends later, each once the model has no more calls to make.
    pub follow_ups: Vec<String>,
}

/// A model of a suite, with the parameters that it is asked with.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PromptModel {
    /// Id in the suite. Not part of the key: the subject is.
    #[serde(skip)]
    pub id: String,
    pub asked: AskedModel,
    pub sampling: Sampling,
    /// Digest of its script, if it is a scripted model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub script: Option<String>,
}

/// Parameters of a request to a model; `None` for the provider's default.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Sampling {
    /// From 0 to 2.
    pub temperature: Option<f64>,
    /// Maximum number of tokens of the answer.
    pub max_tokens: Option<u32>,
    pub top_p: Option<f64>,
    /// Texts that end the answer.
    pub stop: Option<Vec<String>>,
    pub seed: Option<i64>,
}

/// A tool whose results are written in the suite.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SimulatedTool {
    pub name: String,
    pub description: Option<String>,
    /// JSON Schema of the arguments.
    pub parameters: Option<Value>,
    /// Results in the order of the suite, each with the arguments that it is for.
    pub responses: Vec<(Map<String, Value>, Value)>,
    /// Result of all other calls.
    pub default_response: Option<Value>,
}

impl PromptAction {
    /// Returns the model with an id of the suite, or else with an id such as `openai/gpt-4o`, which is asked with the
    /// parameters of the first model.
    pub fn model(&self, id: &str) -> PromptModel {
        let other = || {
            let asked = AskedModel::of_id(id).unwrap_or_default();
            let sampling = self.models.first().map(|model| model.sampling.clone()).unwrap_or_default();
            PromptModel { id: id.to_owned(), asked, sampling, script: None }
        };
        self.models.iter().find(|model| model.id == id).cloned().unwrap_or_else(other)
    }

    /// Returns the result of a call. The first tool with its name answers, and of it the first response whose arguments
    /// are all in the call.
    pub fn result(&self, call: &ToolCall) -> Value {
        let Some(tool) = self.tools.iter().find(|tool| tool.name == call.name) else {
            return json!({ "error": format!("Tool \"{}\" not simulated", call.name) });
        };
        let fits = |when: &Map<String, Value>| {
            when.iter().all(|(name, value)| call.arguments.get(name).is_some_and(|found| same(value, found)))
        };
        let found = tool.responses.iter().find(|(when, _)| fits(when)).map(|(_, then)| then.clone());
        let other = || tool.default_response.clone();
        found.or_else(other).unwrap_or_else(|| json!({ "error": "No matching simulation response" }))
    }
}
