//! Who acts in an attempt.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::dialect::cli_bench::config::HelpMode;

/// Who acts in an attempt. Evidence of one subject is never taken for that of another.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Subject {
    /// A shell command.
    Command,
    /// A model.
    Model {
        /// Its id in the suite.
        model: String,
        /// How it learns about the program that it is to use, in cli-bench.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mode: Option<HelpMode>,
    },
    /// A skill or an agent behind a gateway.
    Gateway {
        /// The directory of the target, from the root of the workspace.
        target: String,
    },
    /// The test does not say who acts.
    Nobody,
}

impl Subject {
    /// A model, in a help mode where the format has them.
    pub fn model(model: &str, mode: Option<HelpMode>) -> Subject {
        Subject::Model { model: model.to_owned(), mode }
    }

    /// The id of the model; `None` where no model acts.
    pub fn model_id(&self) -> Option<&str> {
        match self {
            Subject::Model { model, .. } => Some(model),
            Subject::Command | Subject::Gateway { .. } | Subject::Nobody => None,
        }
    }
}

/// The name in reports: `command`, `gateway`, `openai:gpt-4o`, `openai:gpt-4o (injected)`.
impl fmt::Display for Subject {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Command => formatter.write_str("command"),
            Subject::Model { model, mode: None } => formatter.write_str(model),
            Subject::Model { model, mode: Some(mode) } => write!(formatter, "{model} ({})", mode.as_str()),
            Subject::Gateway { .. } => formatter.write_str("gateway"),
            Subject::Nobody => formatter.write_str("none"),
        }
    }
}
