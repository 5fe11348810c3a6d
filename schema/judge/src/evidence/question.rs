//! Questions to a model about the output of an act.

use serde::{Deserialize, Serialize};

use super::{Capture, MaskingLoss, Output, Usage};
use crate::mask::shown;

/// A question to a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct QuestionNeed {
    /// The model.
    pub peer: AskedModel,
    /// The instructions.
    pub system: String,
    /// The question, part by part.
    pub parts: Vec<QuestionPart>,
    /// Maximum number of tokens of an answer. The temperature is 0.
    pub max_tokens: u32,
    /// Number of times to ask.
    pub times: u32,
}

/// A model, as the suite names it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct AskedModel {
    /// The provider, such as `openai`.
    pub provider: String,
    /// The provider's own name of the model.
    pub model: String,
    /// Another address than the provider's own. Not a part of the question.
    #[serde(skip)]
    pub base_url: Option<String>,
    /// The environment variable that holds the key. Not a part of the question either.
    #[serde(skip)]
    pub key_env: Option<String>,
}

impl AskedModel {
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

/// A part of a question.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QuestionPart {
    /// This text.
    Text(String),
    /// The output text of the act.
    Output,
}

/// The answers of a model or a judge.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct QuestionAnswer {
    /// One reply per request, in order.
    pub replies: Vec<ModelReply>,
}

/// An answer of a model or of a judge, or the reason why there is none.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelReply {
    /// The raw text, with secrets masked; empty without an answer.
    pub text: Capture,
    /// The reason why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Tokens and cost; `None` if not reported.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Duration of the answer; `None` if not observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<f64>,
}

/// Maximum size in bytes of an output in a question.
const MAX_OUTPUT_BYTES: usize = 400_000;

impl QuestionNeed {
    /// Returns the question about an output, or the reason why it cannot be asked. Secrets in the output are masked.
    pub fn text(&self, output: Option<&Output>) -> Result<String, String> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                QuestionPart::Text(part) => text.push_str(part),
                QuestionPart::Output => {
                    let output = output.ok_or("the output was not recorded")?;
                    if output.cut {
                        return Err("the output was cut off, so no model was asked".to_owned());
                    }
                    if output.concealed == MaskingLoss::Everything {
                        return Err("the output is unknown, because a secret in it is masked".to_owned());
                    }
                    if output.text.len() > MAX_OUTPUT_BYTES {
                        return Err(format!(
                            "the output has more than {MAX_OUTPUT_BYTES} bytes, so no model was asked"
                        ));
                    }
                    text.push_str(&shown(&output.text));
                }
            }
        }
        Ok(text)
    }

    /// Returns whether both ask the same, any number of times.
    pub(super) fn is_of_the_same(&self, other: &QuestionNeed) -> bool {
        let peer = |need: &QuestionNeed| (need.peer.provider.clone(), need.peer.model.clone());
        (peer(self), &self.system, &self.parts, self.max_tokens)
            == (peer(other), &other.system, &other.parts, other.max_tokens)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{evidence::Output, mask::MASK_CHARACTER};

    fn need(parts: Vec<QuestionPart>) -> QuestionNeed {
        QuestionNeed { peer: AskedModel::default(), system: String::new(), parts, max_tokens: 1, times: 1 }
    }

    #[test]
    fn output_is_in_the_question_with_stars_for_secrets() {
        let output = Output { text: format!("key {MASK_CHARACTER}{MASK_CHARACTER} end"), ..Output::default() };
        let parts = vec![QuestionPart::Text("<".to_owned()), QuestionPart::Output, QuestionPart::Text(">".to_owned())];
        assert_eq!(need(parts.clone()).text(Some(&output)), Ok("<key ** end>".to_owned()));
        assert!(need(parts).text(None).is_err());
    }

    #[test]
    fn nothing_is_asked_about_an_output_that_is_not_known_whole() {
        let need = need(vec![QuestionPart::Output]);
        let cut = Output { text: "x".to_owned(), cut: true, ..Output::default() };
        assert!(need.text(Some(&cut)).is_err_and(|reason| reason.contains("cut off")));
        let concealed = Output { concealed: MaskingLoss::Everything, ..Output::default() };
        assert!(need.text(Some(&concealed)).is_err_and(|reason| reason.contains("masked")));
    }

    #[test]
    fn nothing_is_asked_about_an_output_that_no_model_reads() {
        let output = Output { text: "x".repeat(MAX_OUTPUT_BYTES + 1), ..Output::default() };
        let reason = need(vec![QuestionPart::Output]).text(Some(&output)).unwrap_err();
        assert!(reason.contains("400000 bytes"), "{reason}");
    }
}
