//! Questions to judges: how well the output of the act, or a file, meets a criterion.

use std::time::{Duration, Instant};

use reqwest::{
    Client, Url,
    header::{AUTHORIZATION, CONTENT_TYPE},
};
use serde_json::{Value, json};
use speclens_schema::{
    evidence::{
        ANSWER_TOKENS, Address, Answer, AskedModel, Capture, Judge, ModelReply, QuestionAnswer, QuestionKind,
        QuestionNeed, QuestionPart, ScoreNeed, Scored, Usage,
    },
    suite::Sampling,
};

use super::view::View;
use crate::{
    clock::SuspendAwareTimer,
    http::{self, client_for, received},
    model::{self, Message, Request},
};

const TIMEOUT: Duration = Duration::from_secs(30);

pub(super) async fn observe(need: &QuestionNeed, view: &View) -> Answer {
    let text = match need.text(view.output.as_deref()) {
        Ok(text) => text,
        Err(reason) => return Answer::Nothing(reason),
    };
    if need.kind == QuestionKind::Similarity {
        let output =
            QuestionNeed { parts: need.parts.iter().filter(|it| !is_text(it)).cloned().collect(), ..need.clone() };
        return match output.text(view.output.as_deref()) {
            Ok(output) => compare(need, &output, view).await,
            Err(reason) => Answer::Nothing(reason),
        };
    }
    let request = Request {
        test: view.test.clone(),
        system: need.system.clone(),
        messages: vec![Message::User(text)],
        tools: Vec::new(),
        sampling: Sampling { temperature: Some(0.0), max_tokens: Some(need.max_tokens), ..Sampling::default() },
    };
    ask(&need.peer, &request, need.times, view).await
}

fn is_text(part: &QuestionPart) -> bool {
    matches!(part, QuestionPart::Text(_))
}

/// Compares the output with the texts of the question by their embeddings.
async fn compare(need: &QuestionNeed, output: &str, view: &View) -> Answer {
    let model = match view.models.open_peer(&need.peer) {
        Ok(model) => model,
        Err(error) => return Answer::Nothing(format!("the texts were not compared: {}", error.message)),
    };
    let began = Instant::now();
    let compared = model::similarity(&*model, &need.own_text(), output, &view.secrets).await;
    let duration_ms = Some(began.elapsed().as_secs_f64() * 1000.0);
    match compared {
        Ok(similarity) => {
            // Tokens of embeddings are not counted.
            let usage = view.models.is_free(&need.peer).then_some(Usage { cost_usd: Some(0.0), ..Usage::default() });
            let text = Capture::whole(similarity.to_string());
            Answer::Question(QuestionAnswer {
                replies: vec![ModelReply { text, usage, duration_ms, ..ModelReply::default() }],
            })
        }
        Err(error) => Answer::Nothing(format!("the texts were not compared: {}", error.message)),
    }
}

async fn ask(peer: &AskedModel, request: &Request, times: u32, view: &View) -> Answer {
    let model = match view.models.open_peer(peer) {
        Ok(model) => model,
        Err(error) => return Answer::Nothing(format!("the judge was not asked: {}", error.message)),
    };
    let mut replies = Vec::new();
    for _ in 0..times {
        let began = Instant::now();
        let replied = model::ask(&*model, request, &view.secrets).await;
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

pub(super) async fn scores(need: &ScoreNeed, view: &View) -> Answer {
    let scored = match need.scored(&view.seen) {
        Ok(scored) => scored,
        Err(reason) => return Answer::Nothing(reason),
    };
    match &need.judge {
        Judge::Model(peer) => ask_model(peer, need, &scored, view).await,
        Judge::Endpoint(address) => match target(address, view) {
            Ok(target) => ask_endpoint(&target, need, &scored, view).await,
            Err(reason) => Answer::Nothing(format!("the judge was not asked: {reason}")),
        },
    }
}

async fn ask_model(peer: &AskedModel, need: &ScoreNeed, scored: &Scored, view: &View) -> Answer {
    let (system, text) = need.prompt(scored);
    let request = Request {
        test: view.test.clone(),
        system,
        messages: vec![Message::User(text)],
        tools: Vec::new(),
        sampling: Sampling { temperature: Some(0.0), max_tokens: Some(ANSWER_TOKENS), ..Sampling::default() },
    };
    ask(peer, &request, need.times, view).await
}

struct Target {
    client: Client,
    url: Url,
    /// The token, which only the gateway of the workspace gets.
    token: Option<String>,
}

fn target(address: &Address, view: &View) -> Result<Target, String> {
    let parse = |text: &str| Url::parse(text).map_err(|error| format!("`{text}` is not a valid URL: {error}"));
    let gateway = view.gateway.as_deref();
    let url = match address {
        Address::Url(text) => match gateway {
            Some(gateway) => parse(&gateway.reached(text))?,
            None => parse(text)?,
        },
        Address::Gateway(path) => parse(&gateway.ok_or("no gateway is configured")?.url(path))?,
    };
    let is_gateway = gateway.is_some_and(|gateway| {
        Url::parse(&gateway.base_url).is_ok_and(|base| base.origin().is_tuple() && base.origin() == url.origin())
    });
    let token = gateway.filter(|_| is_gateway).and_then(|gateway| gateway.token()).map(str::to_owned);
    if token.is_some() && !http::may_carry_secret(&url) {
        return Err(format!("{}; use `https://` in `gateway_base_url`", http::OPEN_TOKEN));
    }
    Ok(Target { client: client_for(&url)?, url, token })
}

async fn ask_endpoint(target: &Target, need: &ScoreNeed, scored: &Scored, view: &View) -> Answer {
    let body = body_of(need, scored, |text| view.secrets.mask(text));
    let mut replies = Vec::new();
    for _ in 0..need.times {
        replies.push(ask_once(target, &body, view).await);
    }
    Answer::Question(QuestionAnswer { replies })
}

/// Returns the question in the protocol of the gateway. A section is sent alone, with its name, as if it were the file.
fn body_of(need: &ScoreNeed, scored: &Scored, mask: impl Fn(&str) -> String) -> Value {
    match &scored.identity {
        Some(identity) => {
            json!({ "rubric": mask(&need.rubric), "output": mask(&scored.text), "identity": mask(identity) })
        }
        None => {
            json!({ "rubric": mask(&need.rubric), "text": mask(&scored.text), "section": need.section.as_deref().map(mask) })
        }
    }
}

async fn ask_once(target: &Target, body: &Value, view: &View) -> ModelReply {
    let began = Instant::now();
    let mut request =
        target.client.post(target.url.clone()).header(CONTENT_TYPE, "application/json").body(body.to_string());
    if let Some(token) = &target.token {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    let (mut status, mut bytes) = (None, Vec::new());
    let receiving = received(request, view.limit, &mut status, &mut bytes);
    let outcome = SuspendAwareTimer::begin(view.suspended).within(TIMEOUT, receiving).await;
    let (is_whole, error) = match (status, outcome) {
        (_, None) => (false, Some(format!("no response within {} s", TIMEOUT.as_secs()))),
        (_, Some(Err(reason))) => (false, Some(reason)),
        (Some(200..=299), Some(Ok(is_whole))) => (is_whole, None),
        (Some(status), Some(Ok(is_whole))) => {
            (is_whole, Some(format!("{} responded with status {status}", target.url)))
        }
        (None, Some(Ok(_))) => (false, Some("the response has no status".to_owned())),
    };
    let text = Capture::of_bytes(bytes, !is_whole);
    let duration_ms = Some(began.elapsed().as_secs_f64() * 1000.0);
    ModelReply { text, error, usage: None, duration_ms }
}
