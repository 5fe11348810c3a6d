//! Questions to a model about the output of the act, such as how well it meets a criterion.

use std::{sync::Arc, time::Instant};

use speclens_schema::{
    evidence::{Answer, AskedModel, Capture, ModelReply, Output, QuestionAnswer, QuestionNeed},
    mask::Secrets,
};

use super::View;
use crate::model::{self, Message, Models, Request};

/// The addressees and the subject of questions.
#[derive(Clone, Debug)]
pub struct QuestionContext {
    /// Opens the models.
    pub models: Arc<Models>,
    /// The output of the act, with secrets masked; `None` if not observed.
    pub output: Option<Arc<Output>>,
    /// The secrets, which no model may see.
    pub secrets: Arc<Secrets>,
    /// The test that asks.
    pub test: String,
}

/// Asks as often as the need demands.
pub(super) async fn observe(need: &QuestionNeed, view: &View) -> Answer {
    let QuestionContext { models: _, output, secrets: _, test } = &view.question_context;
    let text = match need.text(output.as_deref()) {
        Ok(text) => text,
        Err(reason) => return Answer::Nothing(reason),
    };
    let request = Request {
        test: test.clone(),
        system: need.system.clone(),
        messages: vec![Message::User(text)],
        tools: Vec::new(),
        temperature: Some(0.0),
        max_tokens: Some(need.max_tokens),
    };
    ask(&need.peer, &request, need.times, view).await
}

/// Asks a model repeatedly, one time after the other. A model that cannot be asked at all is not asked again.
pub(super) async fn ask(peer: &AskedModel, request: &Request, times: u32, view: &View) -> Answer {
    let model = match view.question_context.models.open_peer(peer) {
        Ok(model) => model,
        Err(error) => return Answer::Nothing(format!("the judge was not asked: {}", error.message)),
    };
    let mut replies = Vec::new();
    for _ in 0..times {
        let began = Instant::now();
        let replied = model::ask(&*model, request, &view.question_context.secrets).await;
        let duration_ms = Some(began.elapsed().as_secs_f64() * 1000.0);
        replies.push(match replied {
            Ok(reply) => {
                let mut text = Capture::whole(reply.text);
                text.cut_to(view.limit);
                let error = reply.unfinished.map(|why| why.sentence());
                ModelReply { text, error, usage: reply.usage, duration_ms }
            }
            Err(error) => ModelReply { error: Some(error.message), duration_ms, ..ModelReply::default() },
        });
    }
    Answer::Question(QuestionAnswer { replies })
}
