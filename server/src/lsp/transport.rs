//! The layer between the framework and the pipes. It prevents a slow or silent client from blocking the server, and a
//! bug in a handler from ending it. Long results bypass the framework, which would parse and serialize them again while
//! everything else waits.

use std::{
    cell::RefCell,
    convert::Infallible,
    future::{Future, poll_fn},
    io::{self, IoSlice, Read, Write},
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
use serde_json::json;
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
    queue: Sender<Option<Pieces>>,
}

/// The bytes of a message, in pieces, because the allocator would keep the memory of a large buffer.
type Pieces = Vec<Piece>;

/// Bytes of a message.
#[derive(Debug)]
pub(super) struct Piece(Bytes);

#[derive(Debug)]
enum Bytes {
    Own(Vec<u8>),
    /// A text from a byte on, shared with another owner.
    Kept(Arc<str>, usize),
}

impl Piece {
    /// Returns a text from a byte on, without copying it.
    pub(super) fn kept(text: Arc<str>, start: usize) -> Piece {
        Piece(Bytes::Kept(text, start))
    }
}

impl From<String> for Piece {
    fn from(text: String) -> Piece {
        Piece(Bytes::Own(text.into_bytes()))
    }
}

impl AsRef<[u8]> for Piece {
    fn as_ref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Own(bytes) => bytes,
            Bytes::Kept(text, start) => &text.as_bytes()[*start..],
        }
    }
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

    /// Sends a notification without the framework. `parts` together are its parameters, as JSON.
    pub(super) fn notify(&self, method: &str, parts: Vec<Piece>) {
        let head = format!("{{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":");
        self.send_parts(head, parts, "}");
    }

    /// Sends a message.
    pub(super) fn send(&self, message: &impl Serialize) {
        // Serializing a message cannot fail.
        self.send_parts(serde_json::to_string(message).unwrap_or_default(), Vec::new(), "");
    }

    /// Sends one message.
    fn send_parts(&self, head: String, parts: Vec<Piece>, end: &str) {
        let length = head.len() + parts.iter().map(|part| part.as_ref().len()).sum::<usize>() + end.len();
        let head = format!("Content-Length: {length}\r\n\r\n{head}");
        let pieces = std::iter::once(head.into()).chain(parts).chain([end.to_owned().into()]);
        // A client that has disconnected needs no message.
        let _ = self.queue.send(Some(pieces.collect()));
    }
}

/// Writes the messages of a queue until it ends. Their pieces are not copied.
fn write(waiting: &mpsc::Receiver<Option<Pieces>>, mut output: impl Write) -> io::Result<()> {
    let mut is_last = false;
    while !is_last && let Ok(first) = waiting.recv() {
        let mut pieces = Pieces::new();
        for message in std::iter::once(first).chain(waiting.try_iter()) {
            is_last = message.is_none();
            pieces.extend(message.into_iter().flatten());
            if is_last {
                break;
            }
        }
        let mut slices: Vec<IoSlice<'_>> = pieces.iter().map(|piece| IoSlice::new(piece.as_ref())).collect();
        let mut rest = slices.as_mut_slice();
        while !rest.is_empty() {
            match output.write_vectored(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => IoSlice::advance_slices(&mut rest, count),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        output.flush()?;
    }
    Ok(())
}

tokio::task_local! {
    /// The result of the current request as JSON, if it bypasses the framework.
    static RESULT: RefCell<Option<Vec<Piece>>>;
}

/// Answers the current request with this result, a JSON text in pieces. The return value of its handler is
/// ignored unless it is an error. Returns the text if there is no current request.
pub(super) fn answer(result: Vec<Piece>) -> Result<(), Vec<Piece>> {
    let mut result = Some(result);
    let _ = RESULT.try_with(|slot| *slot.borrow_mut() = result.take());
    result.map_or(Ok(()), Err)
}

/// Answers with an internal error when a handler panics, instead of ending the server, and answers the requests that
/// the framework does not answer as specified.
#[derive(Debug)]
pub(super) struct Guarded<S> {
    service: S,
    outbox: Outbox,
    /// Whether `initialize` was answered with a result.
    is_initialized: Arc<AtomicBool>,
}

impl<S> Guarded<S> {
    /// Returns a guard around the framework's service.
    pub(super) fn new(service: S, outbox: Outbox) -> Guarded<S> {
        Guarded { service, outbox, is_initialized: Arc::default() }
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
        let outbox = self.outbox.clone();
        let is_initialized = Arc::clone(&self.is_initialized);
        Box::pin(RESULT.scope(RefCell::default(), async move {
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
            let response = match (response, id) {
                // The framework drops these, which is allowed only for notifications.
                (None, Some(id)) if method.starts_with("$/") => Some(unknown_method(id, &is_initialized)),
                (Some(response), Some(id)) if is_unknown_method(&response) => Some(unknown_method(id, &is_initialized)),
                (response, _) => response,
            };
            let ready = RESULT.with(RefCell::take);
            Ok(match (response, ready) {
                (Some(response), Some(result)) if response.is_ok() => {
                    let head = format!("{{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":", json!(response.id()));
                    outbox.send_parts(head, result, "}");
                    None
                }
                (response, _) => response,
            })
        }))
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

    use super::{Guarded, Outbox, Piece};

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
        let mut service = Guarded::new(Panics, Outbox::new(std::io::sink()).unwrap().0);
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

    /// A service whose result bypasses the framework.
    struct Ready;

    impl Service<Request> for Ready {
        type Response = Option<Response>;
        type Error = String;
        type Future = Pin<Box<dyn Future<Output = Result<Option<Response>, String>> + Send>>;

        fn poll_ready(&mut self, _: &mut std::task::Context<'_>) -> Poll<Result<(), String>> {
            Poll::Ready(Ok(()))
        }

        fn call(&mut self, request: Request) -> Self::Future {
            Box::pin(async move {
                let id = request.id().unwrap().clone();
                tokio::task::yield_now().await;
                if request.method() != "short" {
                    super::answer(pieces(["[1,", "2]"])).unwrap();
                }
                let error = tower_lsp_server::jsonrpc::Error::request_cancelled();
                Ok(Some(match request.method() {
                    "cancelled" => Response::from_error(id, error),
                    _ => Response::from_ok(id, serde_json::Value::Null),
                }))
            })
        }
    }

    fn pieces([own, kept]: [&str; 2]) -> Vec<Piece> {
        vec![own.to_owned().into(), Piece::kept(format!(",{kept}").into(), 1)]
    }

    #[tokio::test]
    async fn a_long_answer_goes_past_the_framework() {
        let (mut theirs, ours) = std::io::pipe().unwrap();
        let (outbox, _) = Outbox::new(ours).unwrap();
        let mut service = Guarded::new(Ready, outbox);
        let requests = ["long", "short", "cancelled", "long"].into_iter().zip(1..);
        let calls = requests.map(|(method, id)| service.call(Request::build(method).id(id).finish()));
        let mut through = Vec::new();
        for call in calls.collect::<Vec<_>>() {
            through.push(call.await.unwrap().map(|response| response.is_ok()));
        }
        assert_eq!(through, [None, Some(true), Some(false), None]);
        drop(service);
        let mut past = String::new();
        theirs.read_to_string(&mut past).unwrap();
        let body = |id: u32| format!("Content-Length: 39\r\n\r\n{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":[1,2]}}");
        assert_eq!(past, format!("{}{}", body(1), body(4)));
        assert!(super::answer(pieces(["", "1"])).is_err_and(|given_back| given_back[1].as_ref() == b"1"));
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
