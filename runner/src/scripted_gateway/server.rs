//! The gateway's side of HTTP: the webhook, the health and the judge.

use std::{convert::Infallible, io, sync::Arc};

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::CONTENT_TYPE,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Map, Value, json};
use speclens_schema::{
    gateway::config::Config,
    gateway_script::{Reply, Started},
};
use tokio::{net::TcpListener, sync::oneshot};

use super::{
    run::{Answer, Caller, ScriptedRun, StartRequest},
    state::GatewayState,
};

/// Maximum size of a request in bytes.
const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

/// The path of the judge.
const JUDGE: &str = "/qa/judge";

/// The path of the health check.
const HEALTH: &str = "/health";

/// Listens on a free port until the state is cancelled. Returns the address.
pub(super) async fn listen(state: Arc<GatewayState>) -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let cancel = state.cancel.clone();
    tokio::spawn(cancel.clone().run_until_cancelled_owned(async move {
        loop {
            // A failed connection ends no other.
            let Ok((stream, _)) = listener.accept().await else { continue };
            let state = Arc::clone(&state);
            let connection = http1::Builder::new().serve_connection(
                TokioIo::new(stream),
                service_fn(move |request| {
                    let state = Arc::clone(&state);
                    async move { Ok::<_, Infallible>(response(respond(&state, request).await)) }
                }),
            );
            tokio::spawn(cancel.clone().run_until_cancelled_owned(connection));
        }
    }));
    Ok(format!("http://{address}"))
}

fn response(answer: Answer) -> Response<Full<Bytes>> {
    let is_json = answer.body.starts_with(['{', '[']);
    let mut response = Response::new(Full::new(Bytes::from(answer.body)));
    *response.status_mut() = StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK);
    let kind = if is_json { "application/json" } else { "text/plain; charset=utf-8" };
    response.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static(kind));
    response
}

fn failure(status: u16, message: impl Into<String>) -> Answer {
    let message: String = message.into();
    Answer { status, body: json!({ "ok": false, "error": message }).to_string() }
}

async fn respond(state: &Arc<GatewayState>, request: Request<Incoming>) -> Answer {
    let (method, path) = (request.method().clone(), request.uri().path().to_owned());
    let is_webhook = [state.webhook.as_str(), Config::WEBHOOK].contains(&path.as_str());
    match (method, path.as_str()) {
        (Method::GET | Method::HEAD, HEALTH) => {
            let health = &state.lines.health;
            let body = health.body.clone().unwrap_or_else(|| json!({ "ok": true, "status": "live" }).to_string());
            Answer { status: health.status.unwrap_or(200), body }
        }
        (Method::POST, JUDGE) => match body(request).await {
            Ok(question) => judge(state, &question),
            Err(answer) => answer,
        },
        (Method::POST, _) if is_webhook => match body(request).await {
            Ok(asked) => webhook(state, &asked).await,
            Err(answer) => answer,
        },
        (_, HEALTH | JUDGE) => failure(405, "method not allowed"),
        _ if is_webhook => failure(405, "method not allowed"),
        _ => failure(404, format!("the scripted gateway {} does not serve {path}", state.name)),
    }
}

async fn body(request: Request<Incoming>) -> Result<Map<String, Value>, Answer> {
    let body = Limited::new(request.into_body(), MAX_BODY_BYTES).collect().await;
    let body = body.map_err(|_| failure(413, "the body is too large, or cut off"))?.to_bytes();
    match serde_json::from_slice(&body) {
        Ok(Value::Object(body)) => Ok(body),
        Ok(_) => Err(failure(400, "the body is not a mapping")),
        Err(error) => Err(failure(400, format!("the body is not JSON: {error}"))),
    }
}

async fn webhook(state: &Arc<GatewayState>, asked: &Map<String, Value>) -> Answer {
    let Some(command) = asked.get("skill_command").and_then(Value::as_str) else {
        return failure(400, "missing `skill_command`");
    };
    let payload = asked.get("payload").and_then(Value::as_str).unwrap_or_default();
    let (message, params) = match serde_json::from_str(payload) {
        Ok(Value::Object(mut payload)) => match payload.remove("invoke") {
            // A message that is not a command comes with its parameters next to it.
            Some(Value::String(message)) => match payload.remove("params") {
                Some(Value::Object(params)) => (message, params),
                Some(_) | None => (message, Map::new()),
            },
            other => {
                payload.extend(other.map(|other| ("invoke".to_owned(), other)));
                (command.to_owned(), payload)
            }
        },
        Ok(_) | Err(_) => (format!("{command} {payload}"), Map::new()),
    };
    let start_request = StartRequest { started: Started::Skill { command }, message: &message, params: &params };
    let index = match ScriptedRun::find(state, &start_request) {
        Ok(index) => index,
        Err(message) => return failure(422, message),
    };
    let session_key = asked.get("session_key").and_then(Value::as_str);
    let mut scripted_run = ScriptedRun::begin(state, index, Caller::Webhook, session_key);
    let (answer, sender) = match scripted_run.answers_itself() {
        false => (Ok(scripted_run.answer(&Reply::default())), None),
        true => {
            let (sender, receiver) = oneshot::channel();
            (Err(receiver), Some(sender))
        }
    };
    let cancel = state.cancel.clone();
    // The run continues after the webhook is answered.
    tokio::spawn(cancel.run_until_cancelled_owned(async move { scripted_run.play(sender).await }));
    match answer {
        Ok(answer) => answer,
        Err(receiver) => receiver.await.unwrap_or_else(|_| failure(500, "the run has no answer")),
    }
}

fn judge(state: &GatewayState, question: &Map<String, Value>) -> Answer {
    let texts: Vec<&str> = question.values().filter_map(Value::as_str).collect();
    let fits = |asked: &str| texts.iter().any(|text| text.contains(asked));
    let score = state.lines.scores.iter().find(|score| score.asked.as_ref().is_none_or(|asked| fits(asked)));
    match score {
        Some(score) => {
            let mut body = json!({ "score": score.score });
            if let Some(reasoning) = &score.reasoning {
                body["reasoning"] = reasoning.as_str().into();
            }
            Answer { status: 200, body: body.to_string() }
        }
        None => {
            let message = format!("the scripted gateway {} has no score for this question", state.name);
            failure(404, message)
        }
    }
}
