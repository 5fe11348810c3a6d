//! Reads the client's messages and decodes each once: a message may be a document of many megabytes.

use std::io::{BufRead, BufReader, Read};

use serde_json::Value;
use tower_lsp_server::jsonrpc::{Error, ErrorCode, Id, Request, Response};

/// The messages that arrive.
pub(super) struct Inbox<R>(BufReader<R>);

/// A message of the client.
#[derive(Debug)]
pub(super) enum Message {
    /// A request or a notification.
    Request(Request),
    /// The response to a request of the server.
    Response(Response),
    /// Something else: the answer to it.
    Malformed(Response),
}

/// Maximum length of a header line in bytes.
const MAX_HEADER_BYTES: u64 = 64 * 1024;

/// Maximum length of a message in bytes. A document that is read cannot be larger.
const MAX_MESSAGE_BYTES: usize = 512 * 1024 * 1024;

impl<R: Read> Inbox<R> {
    /// Returns a reader of the messages in an input.
    pub(super) fn new(input: R) -> Inbox<R> {
        Inbox(BufReader::with_capacity(64 * 1024, input))
    }

    /// Waits for the next message; `None` at the end of the input.
    pub(super) fn next(&mut self) -> Option<Message> {
        let length = self.length()?;
        if length > MAX_MESSAGE_BYTES {
            tracing::error!("a message of {length} bytes is too large, so the connection is closed");
            return None;
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).ok()?;
        Some(read(body).unwrap_or_else(|error| Message::Malformed(Response::from_error(Id::Null, error))))
    }

    /// Reads a header. Returns the length of the message that follows.
    fn length(&mut self) -> Option<usize> {
        let mut header = Vec::new();
        let mut length = None;
        loop {
            header.clear();
            let read = (&mut self.0).take(MAX_HEADER_BYTES).read_until(b'\n', &mut header).ok()?;
            if read == 0 {
                return None;
            }
            let line = String::from_utf8_lossy(&header);
            let line = line.trim();
            // Blank lines between messages are harmless.
            if line.is_empty() && length.is_some() {
                return length;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().ok();
            }
        }
    }
}

/// Decodes a message.
fn read(body: Vec<u8>) -> Result<Message, Error> {
    let error = |code, reason: &str| Error { code, message: reason.to_owned().into(), data: None };
    let not_json = |reason: &str| error(ErrorCode::ParseError, &format!("not valid JSON: {reason}"));
    let malformed =
        |reason: &str| error(ErrorCode::InvalidRequest, &format!("not a message of JSON-RPC 2.0: {reason}"));
    let text = String::from_utf8(body).map_err(|_| not_json("not UTF-8"))?;
    let message: Value = serde_json::from_str(&text).map_err(|error| not_json(&error.to_string()))?;
    drop(text);
    let is_request = message.get("method").and_then(Value::as_str).is_some_and(|method| !method.is_empty());
    // An error response to it would look like the response to a client's request with the same id.
    let is_response = !is_request && ["result", "error"].iter().any(|member| message.get(member).is_some());
    let decoded = match (is_request, is_response) {
        (true, _) => serde_json::from_value(message).map(Message::Request),
        (false, true) => serde_json::from_value(message).map(Message::Response),
        (false, false) => {
            let reason = "expected a method, a result or an error, and an id that is an integer or a string";
            return Err(malformed(reason));
        }
    };
    decoded.map_err(|_| malformed("expected `jsonrpc`, and an id that is an integer or a string"))
}
