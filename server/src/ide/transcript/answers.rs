//! The answers of models to the questions of claims, as transcripts show them.

use speclens_schema::evidence::{Answer, Evidence, ModelReply, Need, QuestionNeed, Usage};

/// One question, and what came of it.
pub(super) struct Asked<'e> {
    /// The id of the model.
    pub judge: String,
    /// One per time that it was asked; or why it was not.
    pub replies: Result<&'e [ModelReply], &'e str>,
}

impl Asked<'_> {
    /// Returns the questions of an attempt, in the order in which they were asked.
    pub(super) fn all(evidence: &Evidence) -> Vec<Asked<'_>> {
        let asked = evidence.observations.iter().filter_map(|observation| {
            let question = question(&observation.need)?;
            let replies = match &observation.answer {
                Answer::Question(answer) => Ok(answer.replies.as_slice()),
                Answer::Nothing(reason) => Err(reason.as_str()),
                Answer::Path(_)
                | Answer::Command(_)
                | Answer::Files(_)
                | Answer::Log(_)
                | Answer::Variables(_)
                | Answer::Response(_)
                | Answer::Trace(_)
                | Answer::Scores(_) => return None,
            };
            Some(Asked { judge: format!("{}/{}", question.peer.provider, question.peer.model), replies })
        });
        asked.collect()
    }
}

fn question(need: &Need) -> Option<&QuestionNeed> {
    match need {
        Need::Question(question) => Some(question),
        Need::Path { .. }
        | Need::Command { .. }
        | Need::Files(_)
        | Need::Log(_)
        | Need::Variables(_)
        | Need::Response(_)
        | Need::Trace
        | Need::Scores(_) => None,
    }
}

/// Returns tokens and cost in a few words.
pub(super) fn spent(usage: Usage) -> String {
    let cost = usage.cost_usd.map_or_else(String::new, |cost| format!(", ${cost:.4}"));
    format!("{} tokens sent, {} received{cost}", usage.input_tokens, usage.output_tokens)
}
