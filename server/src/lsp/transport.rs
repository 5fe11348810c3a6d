//! The layer between the framework and the pipes. It prevents a slow or silent client from blocking the server, and a
//! bug in a handler from ending it.

use std::{
    convert::Infallible,
    future::{Future, poll_fn},
    io::{self, Read, Write},
    panic::AssertUnwindSafe,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{self, Sender},
    },
    task::{Context, Poll},
};

use futures_util::{FutureExt as _, SinkExt as _, StreamExt as _, stream::FuturesUnordered};
use serde::Serialize;
use tokio::sync::{
    mpsc::{Receiver, channel, unbounded_channel},
    oneshot,
};
use tower::Service;
use tower_lsp_server::{
    ClientSocket,
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
pub(super) async fn serve<S>(mut messages: Receiver<Message>, mut service: S, socket: ClientSocket, outbox: Outbox)
where
    S: Service<Request, Response = Option<Response>, Error = Infallible>,
{
    let (mut asked, mut answers) = socket.split();
    let (begin, mut begun) = unbounded_channel();
    let reading = async {
        let begin = begin;
        while let Some(message) = messages.recv().await {
            match message {
                Message::Request(request) => {
                    // Until `initialize` is answered, no other request is begun.
                    let Ok(()) = poll_fn(|context| service.poll_ready(context)).await;
                    // Some clients do not close the pipe after it.
                    let is_last = request.method() == "exit";
                    let _ = begin.send(service.call(request));
                    if is_last {
                        return;
                    }
                }
                Message::Response(response) => {
                    if answers.send(response).await.is_err() {
                        return;
                    }
                }
                Message::Malformed(malformed) => {
                    let answer = malformed.answer();
                    tracing::warn!("a message was ignored: {answer}");
                    outbox.send(&answer);
                }
            }
        }
    };
    let answering = async {
        let mut underway = FuturesUnordered::new();
        let mut is_open = true;
        loop {
            tokio::select! {
                call = begun.recv(), if is_open => match call {
                    Some(call) => underway.push(call),
                    None => is_open = false,
                },
                Some(Ok(answer)) = underway.next() => answer.iter().for_each(|response| outbox.send(response)),
                else => return,
            }
        }
    };
    let asking = async {
        while let Some(request) = asked.next().await {
            outbox.send(&request);
        }
        std::future::pending().await
    };
    tokio::select! {
        _ = async { tokio::join!(reading, answering) } => {}
        () = asking => {}
    }
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

    /// Sends a notification from a thread that is not one of the framework's.
    pub(super) fn notify(&self, method: &str, params: &impl Serialize) {
        #[derive(Serialize)]
        struct Notification<'m, P> {
            jsonrpc: &'static str,
            method: &'m str,
            params: P,
        }
        self.send(&Notification { jsonrpc: "2.0", method, params });
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

/// Answers with an internal error when a handler panics, instead of ending the server, and answers the requests that
/// the framework does not answer as specified.
#[derive(Debug)]
pub(super) struct Guarded<S> {
    service: S,
    /// Whether `initialize` was answered with a result.
    is_initialized: Arc<AtomicBool>,
}

impl<S> Guarded<S> {
    /// Returns a guard around the framework's service.
    pub(super) fn new(service: S) -> Guarded<S> {
        Guarded { service, is_initialized: Arc::default() }
    }
}

impl<S> Service<Request> for Guarded<S>
where
    S: Service<Request, Response = Option<Response>>,
    S::Future: Send + 'static,
    S::Error: std::fmt::Display,
{
    type Response = Option<Response>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Option<Response>, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // A service that has exited returns the same error in `call`.
        match self.service.poll_ready(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(_) => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, request: Request) -> Self::Future {
        let method = request.method().to_owned();
        let id = request.id().cloned();
        let request = without_odd_parameters(request);
        let Ok(answer) = std::panic::catch_unwind(AssertUnwindSafe(|| self.service.call(request))) else {
            return Box::pin(std::future::ready(Ok(internal_error(&method, id))));
        };
        let is_initialized = Arc::clone(&self.is_initialized);
        Box::pin(async move {
            let response = match AssertUnwindSafe(answer).catch_unwind().await {
                Ok(Ok(response)) => response,
                Ok(Err(error)) => {
                    tracing::debug!("{method}: {error}");
                    None
                }
                Err(_panicked) => internal_error(&method, id.clone()),
            };
            if method == "initialize" && response.as_ref().is_some_and(Response::is_ok) {
                is_initialized.store(true, Ordering::Relaxed);
            }
            Ok(match (response, id) {
                // The framework drops these, which is allowed only for notifications.
                (None, Some(id)) if method.starts_with("$/") => Some(unknown_method(id, &is_initialized)),
                (Some(response), Some(id)) if is_unknown_method(&response) => Some(unknown_method(id, &is_initialized)),
                (response, _) => response,
            })
        })
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

fn internal_error(method: &str, id: Option<Id>) -> Option<Response> {
    tracing::error!("the handler of {method} panicked; the server continues");
    let mut error = Error::internal_error();
    error.message = format!("{method} failed inside the server; see its log").into();
    id.map(|id| Response::from_error(id, error))
}

fn is_unknown_method(response: &Response) -> bool {
    response.error().is_some_and(|error| error.code == ErrorCode::MethodNotFound)
}

/// Returns the error for a request with an unknown method. Before `initialize`, every request gets the same
/// error.
fn unknown_method(id: Id, is_initialized: &AtomicBool) -> Response {
    let error = match is_initialized.load(Ordering::Relaxed) {
        true => Error::method_not_found(),
        false => Error {
            code: ErrorCode::ServerError(NOT_INITIALIZED),
            message: "the server is not initialized".into(),
            data: None,
        },
    };
    Response::from_error(id, error)
}

/// LSP's code for a request before `initialize`.
const NOT_INITIALIZED: i64 = -32002;

#[cfg(test)]
mod tests {
    use std::{future::Future, io::Read, pin::Pin, task::Poll};

    use tower::Service;
    use tower_lsp_server::jsonrpc::{Request, Response};

    use super::{Guarded, Outbox};

    /// A service whose handlers panic: at once, or when they are polled.
    struct Panics;

    impl Service<Request> for Panics {
        type Response = Option<Response>;
        type Error = String;
        type Future = Pin<Box<dyn Future<Output = Result<Option<Response>, String>> + Send>>;

        fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> Poll<Result<(), String>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request) -> Self::Future {
            assert_ne!(request.method(), "at once", "as the test wants");
            let answer = Response::from_ok(1.into(), "fine".into());
            Box::pin(async move {
                assert_ne!(request.method(), "later", "as the test wants");
                Ok(Some(answer))
            })
        }
    }

    #[tokio::test]
    async fn a_panicking_handler_is_answered_and_the_next_one_works() {
        let mut service = Guarded::new(Panics);
        for method in ["at once", "later"] {
            let answer = service.call(Request::build(method).id(7).finish()).await.unwrap().unwrap();
            assert_eq!(answer.error().unwrap().code.code(), -32603);
            assert!(answer.error().unwrap().message.contains(method));
        }
        let answer = service.call(Request::build("well").id(1).finish()).await.unwrap().unwrap();
        assert!(answer.is_ok());
        // A notification has no answer.
        assert!(service.call(Request::build("later").finish()).await.unwrap().is_none());
    }

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
