//! The conversation with a model: it is asked, its calls are answered, and the results are sent back, until it calls
//! nothing more or its turns are used up.

use std::{future::Future, time::Instant};

use speclens_schema::{
    evidence::{Capture, Ended, RunError, RunErrorKind, ToolCall, Turn, Unfinished, Usage, reply_text},
    mask::Secrets,
};
use tokio_util::sync::CancellationToken;

use crate::model::{self, Message, Model, Request};

/// The other side of the conversation.
pub(super) trait Partner: Send {
    /// Returns when the time for the whole conversation is over, with the error that ends it.
    fn deadline(&self) -> impl Future<Output = RunError> + Send;

    /// Returns the results of the calls of a reply, in their order. An error ends the conversation.
    fn results(&mut self, calls: &[ToolCall]) -> impl Future<Output = Result<Vec<String>, RunError>> + Send;

    /// Returns the next text of the user after a reply without calls; `None` at the end of the conversation.
    fn follow_up(&mut self) -> Option<String>;

    /// Returns whether a reply that is incomplete is an error.
    fn refuses(&self, unfinished: &Unfinished) -> bool;
}

#[derive(Clone, Copy)]
pub(super) struct Talk<'a> {
    pub(super) model: &'a dyn Model,
    pub(super) secrets: &'a Secrets,
    pub(super) cancel: &'a CancellationToken,
    pub(super) max_turns: u32,
    /// Receives the number of the awaited answer, from 1.
    pub(super) turn: &'a (dyn Fn(u32) + Sync),
}

impl Talk<'_> {
    /// Holds the conversation. Every turn up to its end is kept, whatever ends it.
    pub(super) async fn hold(
        self,
        mut request: Request,
        partner: &mut impl Partner,
        turns: &mut Vec<Turn>,
    ) -> Result<Ended, RunError> {
        let mut user = None;
        for turn in 1..=self.max_turns.max(1) {
            (self.turn)(turn);
            let began = Instant::now();
            let reply = tokio::select! {
                biased;
                () = self.cancel.cancelled() => {
                    return Err(RunError::new(RunErrorKind::Cancelled, "cancelled while the model was asked"));
                }
                error = partner.deadline() => return Err(error),
                reply = model::ask(self.model, &request, self.secrets) => reply?,
            };
            turns.push(Turn {
                user: user.take(),
                text: reply_text(reply.text.clone(), reply.unfinished.as_ref()),
                calls: reply.calls.clone(),
                calls_gap: reply.calls_gap,
                usage: reply.usage,
                duration_ms: Some(began.elapsed().as_secs_f64() * 1000.0),
            });
            if reply.calls.is_empty() {
                if let Some(unfinished) = reply.unfinished.as_ref().filter(|unfinished| partner.refuses(unfinished)) {
                    return Err(RunError::new(RunErrorKind::Provider, unfinished.sentence()));
                }
                let Some(text) = partner.follow_up() else { return Ok(Ended::Done) };
                request.messages.push(Message::Model(reply));
                request.messages.push(Message::User(text.clone()));
                user = Some(Capture::whole(text));
                continue;
            }
            let results = partner.results(&reply.calls).await?;
            let results = reply.calls.iter().zip(results).map(|(call, text)| Message::Result {
                call: call.id.clone(),
                tool: call.name.clone(),
                text,
            });
            let mut results: Vec<Message> = results.collect();
            request.messages.push(Message::Model(reply));
            request.messages.append(&mut results);
        }
        Ok(Ended::TurnLimit)
    }
}

/// Returns the total usage of all answers. The cost is known only if that of each answer is.
pub(super) fn usage(turns: &[Turn]) -> Option<Usage> {
    let known: Vec<Usage> = turns.iter().filter_map(|turn| turn.usage).collect();
    if known.is_empty() {
        return None;
    }
    let all_known = known.len() == turns.len();
    Some(Usage {
        input_tokens: known.iter().map(|usage| usage.input_tokens).sum(),
        output_tokens: known.iter().map(|usage| usage.output_tokens).sum(),
        cost_usd: known.iter().map(|usage| usage.cost_usd).sum::<Option<f64>>().filter(|_| all_known),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn money_is_known_only_where_that_of_each_answer_is() {
        let turn =
            |cost_usd| Turn { usage: Some(Usage { input_tokens: 10, output_tokens: 1, cost_usd }), ..Turn::default() };
        let sum = |cost_usd| Some(Usage { input_tokens: 20, output_tokens: 2, cost_usd });
        assert_eq!(usage(&[turn(Some(0.5)), turn(Some(0.25))]), sum(Some(0.75)));
        assert_eq!(usage(&[turn(Some(0.5)), turn(None)]), sum(None));
        assert_eq!(usage(&[turn(Some(0.5)), turn(Some(0.5)), Turn::default()]), sum(None));
        assert_eq!(usage(&[Turn::default()]), None);
    }
}
