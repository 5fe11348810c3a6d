//! Receives OpenTelemetry's protocol over HTTP: protobuf or JSON, compressed or not.

use std::{
    collections::HashMap,
    fmt, io,
    io::Read,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::Duration,
};

use flate2::read::MultiGzDecoder;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use hyper::{
    Method, Request, StatusCode,
    body::{Bytes, Incoming},
    header::{ALLOW, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderValue},
};
use prost::Message;
use serde::de::DeserializeOwned;
use serde_json::json;
use speclens_schema::{
    settings::GatewaySettings,
    trace::{Signals, otlp},
};
use tokio::{net::TcpListener, sync::Semaphore, task::AbortHandle};

use super::store::Store;
use crate::http;

/// Maximum number of bytes of one request, both as sent and decompressed. OpenTelemetry's collector has the same limit.
pub const MAX_REQUEST_BYTES: usize = 20 * 1024 * 1024;

const ARRIVAL_TIMEOUT: Duration = Duration::from_secs(30);

const MAX_CONNECTIONS: usize = 64;

/// Maximum number of requests that are decompressed at the same time: each takes a multiple of its size.
const MAX_CONCURRENT_UNPACKS: usize = 2;

/// Receives exports of programs until it is dropped.
pub(super) struct Receiver {
    address: SocketAddr,
    store: Arc<Store>,
    task: AbortHandle,
}

impl fmt::Debug for Receiver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Receiver").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Receiver {
    /// Listens at an address, or shares the receiver in this program that already listens there: a port has only one
    /// owner.
    pub(super) fn open(address: SocketAddr) -> Result<Arc<Receiver>, String> {
        static OPEN: Mutex<Option<HashMap<SocketAddr, Weak<Receiver>>>> = Mutex::new(None);
        let known = || {
            let open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
            open.as_ref()?.get(&address)?.upgrade()
        };
        if let Some(receiver) = known() {
            return Ok(receiver);
        }
        let listen = |address| {
            let listener = std::net::TcpListener::bind(address)?;
            listener.set_nonblocking(true)?;
            TcpListener::from_std(listener)
        };
        let listener = listen(address).map_err(|error: io::Error| refused(address, &error))?;
        let address = listener.local_addr().map_err(|error| refused(address, &error))?;
        let store = Arc::new(Store::default());
        let task = tokio::spawn(accept(listener, Arc::clone(&store))).abort_handle();
        let receiver = Arc::new(Receiver { address, store, task });
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let open = open.get_or_insert_default();
        open.retain(|_, receiver| receiver.strong_count() > 0);
        open.insert(address, Arc::downgrade(&receiver));
        Ok(receiver)
    }

    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    pub(super) fn store(&self) -> &Arc<Store> {
        &self.store
    }
}

fn refused(address: SocketAddr, error: &io::Error) -> String {
    let more = match error.kind() {
        io::ErrorKind::AddrInUse => format!(
            "; another program is listening there, perhaps a collector or another run of speclens, so choose another \
             port with `{}.traces` in `speclens.yaml`, or with `speclens trace --port`",
            GatewaySettings::KEY
        ),
        _ => String::new(),
    };
    format!("cannot listen for traces at {address}: {error}{more}")
}

async fn accept(listener: TcpListener, store: Arc<Store>) {
    let unpacking = Arc::new(Semaphore::new(MAX_CONCURRENT_UNPACKS));
    let respond = move |request| answer(request, Arc::clone(&store), Arc::clone(&unpacking));
    http::serve(listener, MAX_CONNECTIONS, respond).await;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    Traces,
    Logs,
    Metrics,
}

impl Signal {
    fn at(path: &str) -> Option<Signal> {
        match path {
            "/v1/traces" => Some(Signal::Traces),
            "/v1/logs" => Some(Signal::Logs),
            "/v1/metrics" => Some(Signal::Metrics),
            _ => None,
        }
    }

    fn rejected(self) -> &'static str {
        match self {
            Signal::Traces => "rejectedSpans",
            Signal::Logs => "rejectedLogRecords",
            Signal::Metrics => "rejectedDataPoints",
        }
    }

    fn read(self, encoding: Encoding, body: &[u8]) -> Result<Signals, String> {
        Ok(match self {
            Signal::Traces => encoding.read::<otlp::TracesRequest>(body)?.into(),
            Signal::Logs => encoding.read::<otlp::LogsRequest>(body)?.into(),
            Signal::Metrics => encoding.read::<otlp::MetricsRequest>(body)?.into(),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Encoding {
    Protobuf,
    Json,
}

impl Encoding {
    fn of(headers: &HeaderMap) -> Option<Encoding> {
        let kind = headers.get(CONTENT_TYPE)?.to_str().ok()?;
        match kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase().as_str() {
            "application/x-protobuf" => Some(Encoding::Protobuf),
            "application/json" => Some(Encoding::Json),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Encoding::Protobuf => "application/x-protobuf",
            Encoding::Json => "application/json",
        }
    }

    fn read<T: Message + Default + DeserializeOwned>(self, body: &[u8]) -> Result<T, String> {
        match self {
            Encoding::Protobuf => T::decode(body).map_err(|error| error.to_string()),
            Encoding::Json => serde_json::from_slice(body).map_err(|error| error.to_string()),
        }
    }
}

/// Returns whether a request is compressed with gzip; `None` if it is compressed in another way.
fn is_gzip(headers: &HeaderMap) -> Option<bool> {
    let Some(value) = headers.get(CONTENT_ENCODING) else { return Some(false) };
    match value.to_str().ok()?.trim().to_ascii_lowercase().as_str() {
        "" | "identity" => Some(false),
        "gzip" | "x-gzip" => Some(true),
        _ => None,
    }
}

fn unpack(body: &[u8]) -> Result<Bytes, Refusal> {
    let mut unpacked = Vec::new();
    let limit = MAX_REQUEST_BYTES as u64 + 1;
    let read = MultiGzDecoder::new(body).take(limit).read_to_end(&mut unpacked);
    read.map_err(|error| Refusal::malformed(&format!("the body is not valid gzip: {error}")))?;
    if unpacked.len() > MAX_REQUEST_BYTES { Err(Refusal::too_large()) } else { Ok(unpacked.into()) }
}

struct Refusal {
    status: StatusCode,
    /// The code of gRPC.
    code: i32,
    message: String,
}

impl Refusal {
    fn malformed(message: &str) -> Refusal {
        Refusal { status: StatusCode::BAD_REQUEST, code: 3, message: message.to_owned() }
    }

    fn too_large() -> Refusal {
        let message =
            format!("the request is larger than {} MiB; export smaller batches", MAX_REQUEST_BYTES / 1024 / 1024);
        Refusal { status: StatusCode::PAYLOAD_TOO_LARGE, code: 8, message }
    }

    fn response(self, encoding: Option<Encoding>) -> http::Answer {
        let Refusal { status, code, message } = self;
        let (kind, body) = match encoding {
            Some(Encoding::Protobuf) => (Encoding::Protobuf.name(), otlp::Refusal { code, message }.encode_to_vec()),
            Some(Encoding::Json) => {
                (Encoding::Json.name(), json!({ "code": code, "message": message }).to_string().into_bytes())
            }
            None => ("text/plain", message.into_bytes()),
        };
        http::answer(status, kind, body)
    }
}

async fn answer(request: Request<Incoming>, store: Arc<Store>, unpacking: Arc<Semaphore>) -> http::Answer {
    let is_of_spans = !matches!(Signal::at(request.uri().path()), Some(Signal::Logs | Signal::Metrics));
    let may_hold_spans = is_of_spans && request.method() == Method::POST;
    let answer = received(request, Arc::clone(&store), unpacking).await;
    // Exporters do not send again what was refused.
    if may_hold_spans && !answer.status().is_success() {
        store.lose();
    }
    answer
}

async fn received(request: Request<Incoming>, store: Arc<Store>, unpacking: Arc<Semaphore>) -> http::Answer {
    let encoding = Encoding::of(request.headers());
    let refuse = |status, message: &str| Refusal { status, code: 3, message: message.to_owned() }.response(encoding);
    let Some(signal) = Signal::at(request.uri().path()) else {
        return refuse(StatusCode::NOT_FOUND, "send to /v1/traces, /v1/logs or /v1/metrics");
    };
    if request.method() != Method::POST {
        let mut response = refuse(StatusCode::METHOD_NOT_ALLOWED, "send with POST");
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        return response;
    }
    let Some(known) = encoding else {
        let message = "send application/x-protobuf or application/json";
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, message);
    };
    let Some(is_gzip) = is_gzip(request.headers()) else {
        return refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send the body plain or compressed with gzip");
    };
    let arriving = Limited::new(request.into_body(), MAX_REQUEST_BYTES).collect();
    let body = match tokio::time::timeout(ARRIVAL_TIMEOUT, arriving).await {
        Ok(Ok(body)) => body.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return Refusal::too_large().response(encoding),
        Ok(Err(_)) => return Refusal::malformed("the body ended early").response(encoding),
        Err(_) => return refuse(StatusCode::REQUEST_TIMEOUT, "the body took too long to arrive"),
    };
    let work = move || {
        let body = if is_gzip { unpack(&body)? } else { body };
        let signals = signal.read(known, &body).map_err(|error| Refusal::malformed(&error))?;
        Ok(store.take(signals, body.len()))
    };
    let Ok(_place) = unpacking.acquire().await else {
        return refuse(StatusCode::SERVICE_UNAVAILABLE, "the run has ended");
    };
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(rejected)) => taken(signal, known, rejected),
        Ok(Err(refusal)) => Refusal::response(refusal, encoding),
        Err(error) => {
            tracing::error!(%error, "reading an export failed");
            let message = "reading the export failed; this is a bug in speclens".to_owned();
            Refusal { status: StatusCode::INTERNAL_SERVER_ERROR, code: 13, message }.response(encoding)
        }
    }
}

fn taken(signal: Signal, encoding: Encoding, rejected: usize) -> http::Answer {
    let reason = "the run exported more data than can be recorded";
    let body = match (encoding, i64::try_from(rejected).unwrap_or(i64::MAX)) {
        (Encoding::Protobuf, 0) => Vec::new(),
        (Encoding::Json, 0) => b"{}".to_vec(),
        (Encoding::Protobuf, rejected) => {
            let partial = otlp::PartialSuccess { rejected, error_message: reason.to_owned() };
            otlp::Response { partial_success: Some(partial) }.encode_to_vec()
        }
        (Encoding::Json, rejected) => {
            let partial = json!({ signal.rejected(): rejected.to_string(), "errorMessage": reason });
            json!({ "partialSuccess": partial }).to_string().into_bytes()
        }
    };
    http::answer(StatusCode::OK, encoding.name(), body)
}
