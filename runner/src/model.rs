//! Who answers messages: a provider on the network, a script, a person, another program.

mod cap;
mod convert;
mod failure;
mod key;
pub mod manual;
mod network;
mod price;
mod provider;
mod registry;
mod retry;
pub(crate) mod script;
#[cfg(test)]
pub(crate) mod tests;

use std::{fmt, future::Future, pin::Pin};

use serde_json::Value;
use speclens_schema::evidence::{RunError, ToolCall, Usage};

pub use price::{PriceSource, Quote};
pub use provider::EntryFault;
pub(crate) use provider::is_loopback;
pub use registry::{Description, KeyState, Models};

/// An answer that is awaited. Dropping it ends the request.
pub type Answering<'a> = Pin<Box<dyn Future<Output = Result<Reply, RunError>> + Send + 'a>>;

/// A model, or what answers in its place.
pub trait Model: Send + Sync + fmt::Debug {
    /// Answers a conversation. Retries, deadlines and the cap on requests in flight are this side's; dropping the future
    /// ends the request.
    ///
    /// The error's kind says what is wrong: the provider, its key, its rate limit, the script.
    fn reply<'a>(&'a self, request: &'a Request) -> Answering<'a>;
}

/// A conversation that waits for the next answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// The test that asks, by its id or name. Only scripts look at it.
    pub test: String,
    /// The instructions.
    pub system: String,
    /// What was said so far, oldest first.
    pub messages: Vec<Message>,
    /// What the model may call.
    pub tools: Vec<Tool>,
    /// How freely it answers, 0 to 2; the provider's own default when absent.
    pub temperature: Option<f64>,
    /// Maximum number of tokens of the answer; the provider's own default when absent.
    pub max_tokens: Option<u32>,
}

/// A part of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// The question.
    User(String),
    /// What the model answered, as it came.
    Model(Reply),
    /// What a call of it gave.
    Result {
        /// The id of the call.
        call: String,
        /// The result, as it is sent.
        text: String,
    },
}

/// A tool that a model may call.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// What it does, for the model.
    pub description: &'static str,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

/// What a model answered.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reply {
    /// What it said; empty where it only called.
    pub text: String,
    /// What it called, in order.
    pub calls: Vec<ToolCall>,
    /// Tokens and money. `None`: not reported.
    pub usage: Option<Usage>,
    /// What the provider wants to see again with the next message, such as the signature of a thought. Opaque.
    pub carried: Option<Value>,
    /// Why this is not all that the model would have answered. `None`: it is, or the provider does not say.
    pub unfinished: Option<Unfinished>,
}

/// Why an answer ends before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfinished {
    /// It reached the limit of tokens.
    CutOff,
    /// The model or its provider refused it, for this reason in the provider's words.
    Refused(String),
}

impl Unfinished {
    /// Returns what happened.
    pub fn sentence(&self) -> String {
        match self {
            Unfinished::CutOff => "the model's answer was cut off at the token limit".to_owned(),
            Unfinished::Refused(reason) => format!("the model or its provider refused to answer (`{reason}`)"),
        }
    }
}
