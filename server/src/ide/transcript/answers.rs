//! The answers of models to the questions of claims, as transcripts show them.

use speclens_schema::evidence::{Answer, Evidence, ModelReply, Usage};

/// One question and its answers.
pub(super) struct JudgeAnswers<'e> {
    /// The id of the model, or the address of the judge.
    pub judge: String,
    /// One answer per time that it was asked; or the reason why it was not.
    pub replies: Result<&'e [ModelReply], &'e str>,
}

impl JudgeAnswers<'_> {
    /// Returns the questions of an attempt, in the order in which they were asked.
    pub(super) fn all(evidence: &Evidence) -> Vec<JudgeAnswers<'_>> {
        let asked = evidence.observations.iter().filter_map(|observation| {
            let (judge, _) = observation.need.asked()?;
            let replies = match &observation.answer {
                Answer::Nothing(reason) => Err(reason.as_str()),
                answer => Ok(answer.replies()?),
            };
            Some(JudgeAnswers { judge, replies })
        });
        asked.collect()
    }
}

/// Returns tokens and cost in a few words.
pub(crate) fn spent(usage: Usage) -> String {
    let cost = usage.cost_usd.map_or_else(String::new, |cost| format!(", ${cost:.4}"));
    format!("{} input and {} output tokens{cost}", usage.input_tokens, usage.output_tokens)
}
