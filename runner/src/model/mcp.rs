//! A tool of an MCP server that answers conversations. KindLM's own protocol is one plain request; a server that speaks
//! the Model Context Protocol (streamable HTTP) gets that instead.

use reqwest::{
    Response,
    header::{ACCEPT, HeaderMap},
};
use serde_json::{Value, json};

use super::failure::{Failure, MAX_BYTES};

const PROTOCOL_VERSION: &str = "2025-06-18";
const SESSION: &str = "mcp-session-id";
const VERSION: &str = "mcp-protocol-version";

/// Returns whether a server that got the plain request speaks the protocol: it answers in it, or refuses the request.
pub(super) fn speaks(answer: &Result<Value, Failure>) -> bool {
    match answer {
        Ok(body) => body.get("jsonrpc").is_some(),
        Err(Failure::Status { status, .. }) => matches!(status, 400 | 404 | 405 | 406 | 415 | 422),
        Err(
            Failure::InBody(_)
            | Failure::Unreachable(_)
            | Failure::Cut(_)
            | Failure::TimedOut
            | Failure::Unreadable(_)
            | Failure::TooLarge,
        ) => false,
    }
}

/// Opens a session, and returns the result of a call of a tool in it. `None` if the server does not speak the protocol.
pub(super) async fn call(
    client: &reqwest::Client,
    url: &url::Url,
    tool: &str,
    arguments: Value,
) -> Result<Option<Value>, Failure> {
    let mut session = Session { client, url, headers: HeaderMap::new() };
    let client_info = json!({ "name": "speclens", "version": env!("CARGO_PKG_VERSION") });
    let opening = json!({ "protocolVersion": PROTOCOL_VERSION, "capabilities": {}, "clientInfo": client_info });
    let Ok(opened) = session.request(1, "initialize", opening).await else { return Ok(None) };
    let version = opened.get("protocolVersion").and_then(Value::as_str).unwrap_or(PROTOCOL_VERSION);
    session.headers.extend(version.parse().ok().map(|version| (Some(VERSION.parse().expect("a header")), version)));
    session.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" })).await?;
    let result = session.request(2, "tools/call", json!({ "name": tool, "arguments": arguments })).await?;
    if result.get("isError") == Some(&Value::Bool(true)) {
        let text = result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or("the tool failed");
        return Err(Failure::InBody(crate::http::in_line(text)));
    }
    Ok(Some(result))
}

struct Session<'c> {
    client: &'c reqwest::Client,
    url: &'c url::Url,
    headers: HeaderMap,
}

impl Session<'_> {
    async fn post(&self, message: &Value) -> Result<Response, Failure> {
        let request = self.client.post(self.url.clone()).headers(self.headers.clone()).body(message.to_string());
        let request = request.header(ACCEPT, "application/json, text/event-stream");
        let response = request.send().await.map_err(Failure::of_connection)?;
        match response.status() {
            status if status.is_success() => Ok(response),
            status => Err(Failure::of_status(status, response.headers(), "")),
        }
    }

    /// Returns the result of a request.
    async fn request(&mut self, id: u64, method: &str, params: Value) -> Result<Value, Failure> {
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let mut response = self.post(&message).await?;
        if let Some(session) = response.headers().get(SESSION) {
            self.headers.insert(SESSION, session.clone());
        }
        let mut bytes = Vec::new();
        // A stream of events may stay open after the answer.
        loop {
            let chunk = response.chunk().await.map_err(Failure::of_connection)?;
            let is_end = chunk.is_none();
            bytes.extend(chunk.into_iter().flatten());
            if let Some(answer) = answer_in(&String::from_utf8_lossy(&bytes), id) {
                return match (answer.get("result"), answer.pointer("/error/message").and_then(Value::as_str)) {
                    (Some(result), _) => Ok(result.clone()),
                    (None, reason) => Err(Failure::InBody(reason.unwrap_or("no reason given").to_owned())),
                };
            }
            if bytes.len() > MAX_BYTES {
                return Err(Failure::TooLarge);
            }
            if is_end {
                return Err(Failure::Unreadable(format!("it does not answer `{method}`")));
            }
        }
    }
}

/// Returns the answer to a request in a body: JSON, or a stream of events.
fn answer_in(text: &str, id: u64) -> Option<Value> {
    let is_answer = |message: &Value| message.get("id").and_then(Value::as_u64) == Some(id);
    let whole = serde_json::from_str(text).ok().filter(is_answer);
    let events = || {
        let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|data| serde_json::from_str(data.trim()).ok()).find(is_answer)
    };
    whole.or_else(events)
}
