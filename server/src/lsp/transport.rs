//! The layer between the framework and the pipes. It prevents a slow or silent client from blocking the server.

use std::{
    future::poll_fn,
    io::{self, BufRead, BufReader, Read, Write},
    sync::mpsc::{self, Sender},
};

use futures_util::{SinkExt as _, StreamExt as _, stream::FuturesUnordered};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::{
    mpsc::{Receiver, channel},
    oneshot,
};
use tower::Service;
use tower_lsp_server::{
    ClientSocket, ExitedError,
    jsonrpc::{Error, ErrorCode, Id, Request, Response},
};

use crate::threads;

/// Reads messages on a thread of its own, which ends at the end of the input.
pub(super) fn read(input: impl Read + Send + 'static) -> anyhow::Result<Receiver<Message>> {
    /// Maximum number of messages that wait until they are handled.
    const WAITING: usize = 100;
    let (queue, messages) = channel(WAITING);
    let mut inbox = Inbox::new(input);
    threads::start("reader", move || {
        while let Some(message) = inbox.next() {
            if queue.blocking_send(message).is_err() {
                return;
            }
        }
    })?;
    Ok(messages)
}

/// Passes the messages of a client to a service until the client sends `exit` or its input ends. Requests are begun in
/// the order of the messages, and handled concurrently.
///
/// The framework's own transport ends at the first message that is not JSON, waits for a client that does not read, and
/// leaves some requests unanswered.
pub(super) async fn serve<S>(mut messages: Receiver<Message>, mut service: S, socket: ClientSocket, outbox: Outbox)
where
    S: Service<Request, Response = Option<Response>, Error = ExitedError>,
{
    let (mut asked, mut answers) = socket.split();
    let mut underway = FuturesUnordered::new();
    let mut is_initialized = false;
    // Until `initialize` is answered, no other message is read.
    let (mut is_initializing, mut is_open) = (false, true);
    while is_open || !underway.is_empty() {
        tokio::select! {
            message = messages.recv(), if is_open && !is_initializing => match message {
                Some(Message::Request(request)) => {
                    // One that has exited answers nothing.
                    let _ = poll_fn(|context| service.poll_ready(context)).await;
                    let (method, id) = (request.method().to_owned(), request.id().cloned());
                    is_initializing = method == "initialize";
                    // Some clients do not close the pipe after it.
                    is_open = method != "exit";
                    let call = service.call(without_odd_parameters(request));
                    underway.push(async { (call.await.unwrap_or_default(), method, id) });
                }
                Some(Message::Response(response)) => drop(answers.send(response).await),
                Some(Message::Malformed(answer)) => {
                    tracing::warn!("a message was ignored: {:?}", answer.error());
                    outbox.send(&answer);
                }
                None => is_open = false,
            },
            Some((response, method, id)) = underway.next() => {
                if method == "initialize" {
                    is_initializing = false;
                    is_initialized |= response.as_ref().is_some_and(Response::is_ok);
                }
                let answer = answer(response, &method, id, is_initialized);
                answer.iter().for_each(|response| outbox.send(response));
            }
            Some(request) = asked.next() => outbox.send(&request),
        }
    }
}

/// Returns the response to a message, also to a request that the framework does not answer as specified.
fn answer(response: Option<Response>, method: &str, id: Option<Id>, is_initialized: bool) -> Option<Response> {
    let is_unknown =
        |response: &Response| response.error().is_some_and(|error| error.code == ErrorCode::MethodNotFound);
    match (response, id) {
        // The framework drops these, which is allowed only for notifications.
        (None, Some(id)) if method.starts_with("$/") => Some(unknown_method(id, is_initialized)),
        (Some(response), Some(id)) if is_unknown(&response) => Some(unknown_method(id, is_initialized)),
        (response, _) => response,
    }
}

/// `shutdown` and `exit` have no parameters; some clients send an empty object.
fn without_odd_parameters(request: Request) -> Request {
    if !matches!(request.method(), "shutdown" | "exit") || request.params().is_none() {
        return request;
    }
    let (method, id, _) = request.into_parts();
    let bare = Request::build(method);
    match id {
        Some(id) => bare.id(id).finish(),
        None => bare.finish(),
    }
}

/// Returns the error for a request with an unknown method. Before `initialize`, every request gets the same error.
fn unknown_method(id: Id, is_initialized: bool) -> Response {
    /// LSP's code for a request before `initialize`.
    const NOT_INITIALIZED: i64 = -32002;
    let error = match is_initialized {
        true => Error::method_not_found(),
        false => Error {
            code: ErrorCode::ServerError(NOT_INITIALIZED),
            message: "the server is not initialized".into(),
            data: None,
        },
    };
    Response::from_error(id, error)
}

/// Takes messages at once and hands them to a thread that writes them: a client that does not read stops only that thread.
/// What we send is coalesced and capped elsewhere, so the queue stays small.
#[derive(Clone, Debug)]
pub(super) struct Outbox {
    /// Messages; `None` ends the thread.
    queue: Sender<Option<Vec<u8>>>,
}

impl Outbox {
    /// Returns a queue in front of `output`, and a receiver that ends when the last message was written: after the end of
    /// the queue, or because the output is closed.
    pub(super) fn new(output: impl Write + Send + 'static) -> anyhow::Result<(Outbox, oneshot::Receiver<()>)> {
        let (queue, waiting) = mpsc::channel();
        let (end, ended) = oneshot::channel();
        threads::start("writer", move || {
            // A client that has disconnected needs no message.
            let _ = write(&waiting, output);
            drop(end);
        })?;
        Ok((Outbox { queue }, ended))
    }

    /// Ends the queue: later messages are not written.
    pub(super) fn end(&self) {
        let _ = self.queue.send(None);
    }

    pub(super) fn send(&self, message: &impl Serialize) {
        // Serializing a message cannot fail.
        let body = serde_json::to_string(message).unwrap_or_default();
        // A client that has disconnected needs no message.
        let _ = self.queue.send(Some(format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()));
    }
}

fn write(waiting: &mpsc::Receiver<Option<Vec<u8>>>, mut output: impl Write) -> io::Result<()> {
    while let Ok(Some(message)) = waiting.recv() {
        output.write_all(&message)?;
        output.flush()?;
    }
    Ok(())
}

pub(super) struct Inbox<R>(BufReader<R>);

#[derive(Debug)]
pub(super) enum Message {
    Request(Request),
    /// The response to a request of the server.
    Response(Response),
    /// Something else: the answer to it.
    Malformed(Response),
}

const MAX_HEADER_BYTES: u64 = 64 * 1024;

/// Maximum length of a message in bytes. A document that is read cannot be larger.
const MAX_MESSAGE_BYTES: usize = 512 * 1024 * 1024;

impl<R: Read> Inbox<R> {
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
        Some(decoded(body).unwrap_or_else(|error| Message::Malformed(Response::from_error(Id::Null, error))))
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

fn decoded(body: Vec<u8>) -> Result<Message, Error> {
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

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::Outbox;

    #[test]
    fn a_client_that_does_not_read_blocks_nothing() {
        let (mut theirs, ours) = std::io::pipe().unwrap();
        let (outbox, written) = Outbox::new(ours).unwrap();
        for _ in 0..4000 {
            outbox.send(&"x".repeat(998));
        }
        outbox.end();
        outbox.send(&"too late");
        let mut all = Vec::new();
        theirs.read_to_end(&mut all).unwrap();
        assert_eq!(all.len(), 4000 * (1000 + "Content-Length: 1000\r\n\r\n".len()));
        assert!(written.blocking_recv().is_err());
    }
}
