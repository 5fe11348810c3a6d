//! The layer between the framework and the pipes. It prevents a slow or silent client from blocking the server.

use std::{
    future::poll_fn,
    io::{self, Read, Write},
    sync::mpsc::{self, Sender},
};

use futures_util::{SinkExt as _, StreamExt as _, stream::FuturesUnordered};
use serde::Serialize;
use tokio::sync::{
    mpsc::{Receiver, channel},
    oneshot,
};
use tower::Service;
use tower_lsp_server::{
    ClientSocket, ExitedError,
    jsonrpc::{Error, ErrorCode, Id, Request, Response},
};

use super::inbox::{Inbox, Message};
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

    /// Sends a message.
    pub(super) fn send(&self, message: &impl Serialize) {
        // Serializing a message cannot fail.
        let body = serde_json::to_string(message).unwrap_or_default();
        // A client that has disconnected needs no message.
        let _ = self.queue.send(Some(format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()));
    }
}

/// Writes the messages of a queue until it ends.
fn write(waiting: &mpsc::Receiver<Option<Vec<u8>>>, mut output: impl Write) -> io::Result<()> {
    while let Ok(Some(message)) = waiting.recv() {
        output.write_all(&message)?;
        output.flush()?;
    }
    Ok(())
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
