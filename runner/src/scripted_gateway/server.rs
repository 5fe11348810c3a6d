//! The outside of a gateway: the webhook, the health and the judge over HTTP, and the program `openclaw`, as far as tests
//! of agents call it.

use std::{io, sync::Arc};

use http_body_util::{BodyExt as _, Limited};
use hyper::{Method, Request, StatusCode, body::Incoming};
use serde_json::{Map, Value, json};
use speclens_schema::{
    gateway::config::Config,
    gateway_script::{Reply, Started},
};
use tokio::{net::TcpListener, sync::oneshot};

use super::{
    run::{Answer, Caller, End, ScriptedRun, StartRequest},
    state::GatewayState,
};
use crate::http;

/// Maximum number of connections: runs may wait for one another, each on its own.
const MAX_CONNECTIONS: usize = 1_024;

const MAX_BODY_BYTES: usize = 16 * 1024 * 1024;

const JUDGE: &str = "/qa/judge";

const HEALTH: &str = "/health";

/// Listens on a free port until the state is cancelled. Returns the address.
pub(super) async fn listen(state: Arc<GatewayState>) -> io::Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let cancel = state.cancel.clone();
    let respond = move |request| {
        let state = Arc::clone(&state);
        async move { response(respond(&state, request).await) }
    };
    tokio::spawn(cancel.run_until_cancelled_owned(http::serve(listener, MAX_CONNECTIONS, respond)));
    Ok(format!("http://{address}"))
}

fn response(answer: Answer) -> http::Answer {
    let is_json = answer.body.starts_with(['{', '[']);
    let kind = if is_json { "application/json" } else { "text/plain; charset=utf-8" };
    http::answer(StatusCode::from_u16(answer.status).unwrap_or(StatusCode::OK), kind, answer.body)
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

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Printed {
    pub(crate) exit_code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Printed {
    fn failure(message: impl Into<String>) -> Printed {
        Printed { exit_code: 1, stdout: String::new(), stderr: message.into() }
    }

    fn of(answer: Answer) -> Printed {
        match answer.status {
            200..300 => Printed { exit_code: 0, stdout: answer.body, stderr: String::new() },
            _ => Printed::failure(answer.body),
        }
    }
}

pub(super) async fn play_program(state: &Arc<GatewayState>, arguments: &[&str]) -> Printed {
    match arguments {
        // Agents are known by the ids that contracts name.
        ["agents", "list", ..] => Printed { stdout: "[]".to_owned(), ..Printed::default() },
        ["agent", options @ ..] => {
            let option = |name: &str| options.windows(2).find(|pair| pair[0] == name).map(|pair| pair[1]);
            match (option("--agent"), option("--message")) {
                (Some(id), Some(message)) => agent(state, id, message).await,
                (None, _) => Printed::failure("missing `--agent`"),
                (Some(_), None) => Printed::failure("missing `--message`"),
            }
        }
        _ => Printed::failure("a scripted gateway supports only `openclaw agent` and `openclaw agents list`"),
    }
}

async fn agent(state: &Arc<GatewayState>, id: &str, message: &str) -> Printed {
    let params = Map::new();
    let start_request = StartRequest { started: Started::Agent { id }, message, params: &params };
    let index = match ScriptedRun::find(state, &start_request) {
        Ok(index) => index,
        Err(message) => return Printed::failure(message),
    };
    let mut scripted_run = ScriptedRun::begin(state, index, Caller::Program, None);
    let usual = scripted_run.answer(&Reply::default());
    let (sender, receiver) = oneshot::channel();
    let cancel = state.cancel.clone();
    // The answer of a step is printed when the run has ended, as the program does.
    tokio::select! {
        () = cancel.cancelled() => Printed::failure("the run was cancelled"),
        end = scripted_run.play(Some(sender)) => match end {
            End::Open => {
                cancel.cancelled().await;
                Printed::failure("the run was cancelled")
            }
            End::Done => Printed::of(receiver.await.unwrap_or(usual)),
        },
    }
}
