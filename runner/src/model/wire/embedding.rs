//! Embeddings of texts, from the providers that have them.

use serde_json::{Value, json};
use speclens_schema::settings::Api;
use url::Url;

use super::values::found;
use crate::model::provider::{Protocol, Target};

/// A request for the embedding of a text.
pub(in crate::model) struct Embedding {
    pub(in crate::model) url: Url,
    pub(in crate::model) body: Value,
    /// The place of the vector in the answer.
    place: &'static str,
}

impl Embedding {
    /// Returns the request; `None` if the provider has no embeddings.
    pub(in crate::model) fn of(target: &Target, text: &str) -> Option<Embedding> {
        let Protocol::Api(api) = &target.protocol else { return None };
        let (path, body, place) = match api {
            Api::OpenAi => {
                let model = if target.is_of("mistral") { "mistral-embed" } else { "text-embedding-3-small" };
                ("embeddings", json!({ "model": model, "input": text }), "/data/0/embedding")
            }
            Api::Gemini => {
                let body = json!({ "content": { "parts": [{ "text": text }] } });
                ("models/gemini-embedding-001:embedContent", body, "/embedding/values")
            }
            Api::Cohere => {
                let body = json!({
                    "model": "embed-v4.0", "texts": [text], "input_type": "clustering", "embedding_types": ["float"],
                });
                ("v2/embed", body, "/embeddings/float/0")
            }
            Api::Ollama => ("api/embed", json!({ "model": target.model, "input": text }), "/embeddings/0"),
            Api::Anthropic => return None,
        };
        let mut url = target.base_url.clone();
        url.path_segments_mut().ok()?.pop_if_empty().extend(path.split('/'));
        Some(Embedding { url, body, place })
    }

    pub(in crate::model) fn vector(&self, body: &Value) -> Result<Vec<f64>, String> {
        let numbers = found(body, self.place).and_then(Value::as_array);
        let numbers = numbers.and_then(|numbers| numbers.iter().map(Value::as_f64).collect::<Option<Vec<f64>>>());
        numbers.filter(|numbers| !numbers.is_empty()).ok_or_else(|| format!("it has no embedding at `{}`", self.place))
    }
}
