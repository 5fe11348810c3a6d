//! Messages of the client, each decoded once: a message may be a document of many megabytes.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};
use tower_lsp_server::jsonrpc::{Request, Response};

use super::transport::Outbox;

/// The messages that arrive. What is not a message is answered with an error, and the next one is read.
pub(super) struct Inbox<R> {
    input: BufReader<R>,
    outbox: Outbox,
}

/// A message of the client.
#[derive(Debug)]
pub(super) enum Message {
    /// A request or a notification.
    Request(Request),
    /// The answer to a request of the server.
    Response(Response),
}

/// Maximum length of a line of a header, in bytes.
const MAX_HEADER_BYTES: u64 = 64 * 1024;

/// Maximum length of a message in bytes. No document that is read can be larger.
const MAX_MESSAGE_BYTES: usize = 512 * 1024 * 1024;

impl<R: AsyncRead + Unpin> Inbox<R> {
    /// Returns the messages of an input.
    pub(super) fn new(input: R, outbox: Outbox) -> Inbox<R> {
        Inbox { input: BufReader::with_capacity(64 * 1024, input), outbox }
    }

    /// Waits for the next message; `None` at the end of the input.
    pub(super) async fn next(&mut self) -> Option<Message> {
        loop {
            let length = self.length().await?;
            if length > MAX_MESSAGE_BYTES {
                tracing::error!("a message of {length} bytes is too large, so the connection is closed");
                return None;
            }
            let mut body = vec![0; length];
            self.input.read_exact(&mut body).await.ok()?;
            match read(body) {
                Ok(message) => return Some(message),
                Err((code, reason)) => {
                    tracing::warn!("a message was ignored: {reason}");
                    let error = json!({ "code": code, "message": reason });
                    self.outbox.send(&json!({ "jsonrpc": "2.0", "id": null, "error": error }));
                }
            }
        }
    }

    /// Reads a header. Returns the length of the message after it.
    async fn length(&mut self) -> Option<usize> {
        let mut header = Vec::new();
        let mut length = None;
        loop {
            header.clear();
            let read = (&mut self.input).take(MAX_HEADER_BYTES).read_until(b'\n', &mut header).await.ok()?;
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

/// Decodes a message, or returns the code and the text of an error.
fn read(body: Vec<u8>) -> Result<Message, (i32, String)> {
    let malformed = |reason: &str| (INVALID_REQUEST, format!("not a message of JSON-RPC 2.0: {reason}"));
    let text = String::from_utf8(body).map_err(|_| (PARSE_ERROR, "not valid JSON: not UTF-8".to_owned()))?;
    let message: Value =
        serde_json::from_str(&text).map_err(|error| (PARSE_ERROR, format!("not valid JSON: {error}")))?;
    drop(text);
    let is_request = message.get("method").and_then(Value::as_str).is_some_and(|method| !method.is_empty());
    // Answered as a request, it would look like the answer to a request of the client with the same id.
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

/// JSON-RPC's code for a text that cannot be read.
const PARSE_ERROR: i32 = -32700;

/// JSON-RPC's code for a message without the specified form.
const INVALID_REQUEST: i32 = -32600;

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt;

    use super::{Inbox, Message, Outbox};

    #[tokio::test]
    async fn what_is_not_a_message_is_answered_with_an_error() {
        let request = "{\"jsonrpc\":\"2.0\",\"method\":\"a\",\"params\":{\"text\":\"b\\n\"}}";
        let response = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null}";
        let frame = |body: &str| format!("Content-Length: {}\r\n\r\n{body}", body.len());
        let wrong =
            ["{garbage}", "[]", "{\"jsonrpc\":\"1.0\",\"id\":1}", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\"}"];
        let text =
            wrong.map(frame).concat() + "\r\n" + &frame(request) + &frame(response) + "Content-Length: 9\r\n\r\n{";
        let (answers, mut client) = tokio::io::duplex(64 * 1024);
        let (outbox, draining) = Outbox::new(answers);
        let drained = tokio::spawn(draining);
        let mut inbox = Inbox::new(text.as_bytes(), outbox);
        let Some(Message::Request(read)) = inbox.next().await else { panic!("the request is read") };
        assert_eq!(serde_json::to_string(&read).unwrap(), request);
        let Some(Message::Response(read)) = inbox.next().await else { panic!("the response is read") };
        assert_eq!(read.id(), &1.into());
        assert!(inbox.next().await.is_none());
        drop(inbox);
        drained.await.unwrap();
        let mut answers = String::new();
        client.read_to_string(&mut answers).await.unwrap();
        assert_eq!(answers.matches("\"error\"").count(), wrong.len(), "{answers}");
    }
}
