//! Questions to a model about the output of an act.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::output::{Capture, EntryPlace, MASK_CHARACTER, MaskingLoss, Output, Usage};

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct QuestionNeed {
    pub peer: AskedModel,
    pub system: String,
    pub parts: Vec<QuestionPart>,
    /// Maximum number of tokens of an answer. The temperature is 0.
    pub max_tokens: u32,
    pub times: u32,
    #[serde(default, skip_serializing_if = "QuestionKind::is_answer")]
    pub kind: QuestionKind,
}

/// What is wanted of the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionKind {
    #[default]
    Answer,
    /// The cosine similarity of its embeddings of the texts and of the output, as the text of the reply.
    Similarity,
}

impl QuestionKind {
    fn is_answer(&self) -> bool {
        *self == QuestionKind::Answer
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AskedModel {
    pub provider: String,
    pub model: String,
    /// Another address than the provider's own. Not a part of the question.
    #[serde(skip)]
    pub base_url: Option<String>,
    /// The environment variable that holds the key. Not a part of the question either.
    #[serde(skip)]
    pub key_env: Option<String>,
    /// The organization that pays for requests, in a header.
    #[serde(skip)]
    pub organization: Option<String>,
    /// How a service with a protocol of its own is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Box<Service>>,
}

/// A service with a protocol of its own. Its address and headers are not a part of what it is asked.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Service {
    Http(HttpService),
    Mcp(McpService),
}

/// An HTTP service, described by its request and by paths such as `data[0].text` into its response.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct HttpService {
    #[serde(skip)]
    pub url: String,
    pub method: Option<String>,
    /// A value `env:NAME` is replaced by the environment variable.
    #[serde(skip)]
    pub headers: BTreeMap<String, String>,
    /// A template; without it, a chat completion.
    pub body: Option<String>,
    pub response_path: Option<String>,
    pub tool_calls_path: Option<String>,
    pub usage_paths: UsagePaths,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct UsagePaths {
    pub input_tokens: Option<String>,
    pub output_tokens: Option<String>,
}

/// A tool of an MCP server that answers conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct McpService {
    #[serde(skip)]
    pub url: String,
    pub tool: String,
    #[serde(skip)]
    pub headers: BTreeMap<String, String>,
}

impl Service {
    /// Returns the named values of its address and its headers, of which some may be secrets.
    pub fn values(&self) -> impl Iterator<Item = (&str, &str)> {
        let url = match self {
            Service::Http(service) => &service.url,
            Service::Mcp(service) => &service.url,
        };
        let query = url.split_once('?').map_or("", |(_, query)| query);
        let of_url = query.split(['&', '#']).filter_map(|pair| pair.split_once('='));
        of_url.chain(self.headers().iter().map(|(name, value)| (name.as_str(), value.as_str())))
    }

    pub fn headers(&self) -> &BTreeMap<String, String> {
        match self {
            Service::Http(service) => &service.headers,
            Service::Mcp(service) => &service.headers,
        }
    }
}

impl AskedModel {
    /// Returns the environment variables with its key or with values of its headers.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let headers = self.service.iter().flat_map(|service| service.headers().values());
        self.key_env.as_deref().into_iter().chain(headers.filter_map(|value| value.strip_prefix("env:")))
    }

    /// Returns its id, such as `openai/gpt-4o`.
    pub fn id(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }

    /// Returns the model with an id such as `openai/gpt-4o`; `None` if it is not a valid id.
    pub fn of_id(id: &str) -> Option<AskedModel> {
        let (provider, model) =
            id.split_once('/').filter(|(provider, model)| !provider.is_empty() && !model.is_empty())?;
        Some(AskedModel { provider: provider.to_owned(), model: model.to_owned(), ..AskedModel::default() })
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionPart {
    Text(String),
    Output,
    /// The reply that an entry of a conversation is about.
    Entry(EntryPlace),
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QuestionAnswer {
    pub replies: Vec<ModelReply>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// The raw text, with secrets masked; empty without an answer.
    pub text: Capture,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Tokens and cost; `None` if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Duration of the answer; `None` if not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

const MAX_OUTPUT_BYTES: usize = 400_000;

impl QuestionNeed {
    /// Returns the texts of the question without the output.
    pub fn own_text(&self) -> String {
        let own = self.parts.iter().filter_map(|part| match part {
            QuestionPart::Text(text) => Some(text.as_str()),
            QuestionPart::Output | QuestionPart::Entry(_) => None,
        });
        own.collect()
    }

    /// Returns the question about an output, or the reason why it cannot be asked: a model that does not see a part of it
    /// cannot judge it.
    pub fn text(&self, output: Option<&Output>) -> Result<String, String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                QuestionPart::Text(part) => text.push_str(part),
                QuestionPart::Output | QuestionPart::Entry(_) => {
                    let whole = output.ok_or("the output was not recorded")?;
                    let output = match part {
                        QuestionPart::Entry(place) => {
                            &place.reply(&whole.replies).ok_or("the conversation ended before this turn")?.output
                        }
                        QuestionPart::Output | QuestionPart::Text(_) => whole,
                    };
                    if output.cut {
                        return Err("the output was cut off, so no model was asked".to_owned());
                    }
                    if !whole.replies.is_empty() && output.text.trim().is_empty() {
                        return Err("the model's reply is empty, so no model was asked about it".to_owned());
                    }
                    if output.concealed == MaskingLoss::Everything || output.text.contains(MASK_CHARACTER) {
                        return Err("a secret in the output is masked, so no model was asked about it".to_owned());
                    }
                    if output.text.len() > MAX_OUTPUT_BYTES {
                        return Err(format!(
                            "the output has more than {MAX_OUTPUT_BYTES} bytes, so no model was asked"
                        ));
                    }
                    text.push_str(&output.text);
                }
            }
        }
        Ok(text)
    }

    pub(super) fn is_of_the_same(&self, other: &QuestionNeed) -> bool {
        let peer = |need: &QuestionNeed| (need.peer.provider.clone(), need.peer.model.clone());
        (peer(self), &self.system, &self.parts, self.max_tokens, self.kind)
            == (peer(other), &other.system, &other.parts, other.max_tokens, other.kind)
    }
}

#[cfg(test)]
mod tests;
