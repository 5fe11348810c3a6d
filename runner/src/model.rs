//! Models: a provider on the network, a script, a person or another program.

mod failure;
pub mod manual;
mod mcp;
mod network;
mod price;
mod provider;
mod registry;
pub(crate) mod script;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod wire;

use std::{fmt, future::Future, pin::Pin};

use serde_json::Value;
use speclens_schema::{
    evidence::{CallsGap, RunError, RunErrorKind, ToolCall, Unfinished, Usage},
    mask::Secrets,
    suite::Sampling,
};

pub use price::{PriceSource, Quote};
pub use provider::EntryFault;
pub use registry::{Description, KeyState, Models};

/// A pending embedding.
pub type Embedded<'a> = Pin<Box<dyn Future<Output = Result<Vec<f64>, RunError>> + Send + 'a>>;

/// A pending answer. Dropping it ends the request.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Reply, RunError>> + Send + 'a>>;

pub trait Model: Send + Sync + fmt::Debug {
    /// Answers a conversation. The implementation handles retries, deadlines and the cap on requests in flight;
    /// dropping the future ends the request. Use [`ask`], which masks the request first.
    ///
    /// The error's kind names the cause: the provider, its key, its rate limit, or the script.
    fn reply<'a>(&'a self, request: &'a Request) -> Answering<'a>;

    /// Returns the embedding of a text.
    fn embed<'a>(&'a self, _text: &'a str) -> Embedded<'a> {
        let message = "this model has no embeddings; use another `method`";
        Box::pin(std::future::ready(Err(RunError::new(RunErrorKind::Unsupported, message))))
    }
}

/// Returns the cosine similarity of the embeddings of two texts; 0 if they cannot be compared.
pub async fn similarity(model: &dyn Model, one: &str, other: &str, secrets: &Secrets) -> Result<f64, RunError> {
    let (one, other) = (secrets.mask(one), secrets.mask(other));
    let (one, other) = tokio::try_join!(model.embed(&one), model.embed(&other))?;
    let product = |one: &[f64], other: &[f64]| one.iter().zip(other).map(|(one, other)| one * other).sum::<f64>();
    let length = (product(&one, &one) * product(&other, &other)).sqrt();
    let similarity = if one.len() == other.len() && length > 0.0 { product(&one, &other) / length } else { 0.0 };
    if similarity.is_finite() {
        Ok(similarity)
    } else {
        Err(RunError::new(RunErrorKind::Provider, "the embeddings are too large to be compared"))
    }
}

pub async fn ask(model: &dyn Model, request: &Request, secrets: &Secrets) -> Result<Reply, RunError> {
    let mut request = request.clone();
    let mask = |text: &mut String| *text = secrets.mask(text);
    mask(&mut request.system);
    for message in &mut request.messages {
        match message {
            Message::User(text) | Message::Prefill(text) | Message::Result { text, .. } => mask(text),
            Message::Model(reply) => {
                reply.text = secrets.mask(&reply.text);
                reply.calls.iter_mut().for_each(|call| secrets.mask_value(&mut call.arguments));
            }
        }
    }
    model.reply(&request).await
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The test that asks, by its id or name. Only used by scripts.
    pub test: String,
    /// The instructions; empty without any.
    pub system: String,
    /// The messages so far, oldest first.
    pub messages: Vec<Message>,
    pub tools: Vec<Tool>,
    pub sampling: Sampling,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    User(String),
    Model(Reply),
    /// The beginning of the answer, which the model continues.
    Prefill(String),
    Result {
        call: String,
        tool: String,
        text: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    pub name: String,
    pub description: Option<String>,
    /// JSON Schema of the arguments; `None` if nothing is known of them.
    pub parameters: Option<Value>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// The text; empty if it only calls tools.
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub calls_gap: Option<CallsGap>,
    /// Tokens and cost; `None` if not reported.
    pub usage: Option<Usage>,
    /// Data that the provider expects back with the next message, such as the signature of a thought. Opaque.
    pub carried: Option<Value>,
    /// The reason why the answer is incomplete; `None` if it is complete, or the provider does not say.
    pub unfinished: Option<Unfinished>,
}
