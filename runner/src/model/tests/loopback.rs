//! A provider on this machine: it records requests, and answers as instructed.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{Notify, mpsc},
};

/// A request as it arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceivedRequest {
    /// The method and the path.
    pub(crate) line: String,
    /// By their names in lower case.
    pub(crate) headers: BTreeMap<String, String>,
    /// The question; null if there is none.
    pub(crate) body: Value,
}

pub(crate) enum Answer {
    Json(u16, Vec<(&'static str, String)>, Value),
    /// With these bytes, and the end of the connection.
    Bytes(String),
    /// None, until the client disconnects.
    Silence,
}

type Step = Box<dyn Fn(&ReceivedRequest) -> Answer + Send>;

/// A provider on this machine.
pub(crate) struct Loopback {
    /// `127.0.0.1:PORT`.
    pub(crate) host: String,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
    /// Notified when a request arrives that is not answered.
    pub(crate) asked: Arc<Notify>,
    /// Receives when the client of such a request disconnects.
    pub(crate) gone: mpsc::UnboundedReceiver<()>,
}

impl Loopback {
    /// Answers each request with its step, and further requests with the last one.
    pub(crate) async fn start(steps: Vec<Step>) -> Loopback {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap().to_string();
        let (seen, asked) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Notify::new()));
        let (sender, gone) = mpsc::unbounded_channel();
        let steps: Arc<Mutex<Vec<Step>>> = Arc::new(Mutex::new(steps));
        let (shared, signal) = (Arc::clone(&seen), Arc::clone(&asked));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, steps) = (Arc::clone(&shared), Arc::clone(&steps));
                tokio::spawn(serve(stream, seen, steps, Arc::clone(&signal), sender.clone()));
            }
        });
        Loopback { host, seen, asked, gone }
    }

    /// Returns an address where no server listens any more.
    pub(crate) async fn gone() -> Loopback {
        let mut server = Loopback::start(Vec::new()).await;
        // The listener is dropped at the end of this statement.
        server.host = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().to_string();
        server
    }

    pub(crate) async fn always(status: u16, body: Value) -> Loopback {
        Loopback::start(vec![step(move |_| Answer::Json(status, Vec::new(), body.clone()))]).await
    }

    /// Answers everything with these bytes, and the end of the connection.
    pub(crate) async fn saying(bytes: impl Into<String>) -> Loopback {
        let bytes = bytes.into();
        Loopback::start(vec![step(move |_| Answer::Bytes(bytes.clone()))]).await
    }

    pub(crate) fn seen(&self) -> Vec<ReceivedRequest> {
        self.seen.lock().unwrap().clone()
    }
}

pub(crate) fn step(answer: impl Fn(&ReceivedRequest) -> Answer + Send + 'static) -> Step {
    Box::new(answer)
}

pub(crate) fn json(status: u16, headers: &[(&'static str, &str)], body: Value) -> Step {
    let headers: Vec<_> = headers.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
    step(move |_| Answer::Json(status, headers.clone(), body.clone()))
}

async fn serve(
    mut stream: TcpStream,
    seen: Arc<Mutex<Vec<ReceivedRequest>>>,
    steps: Arc<Mutex<Vec<Step>>>,
    asked: Arc<Notify>,
    gone: mpsc::UnboundedSender<()>,
) {
    let mut buffer = Vec::new();
    while let Some(request) = read(&mut stream, &mut buffer).await {
        seen.lock().unwrap().push(request.clone());
        let answer = {
            let mut steps = steps.lock().unwrap();
            if steps.len() > 1 { steps.remove(0)(&request) } else { steps[0](&request) }
        };
        match answer {
            Answer::Json(status, headers, body) => {
                let body = body.to_string();
                let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                let head = format!(
                    "HTTP/1.1 {status} Status\r\ncontent-type: application/json\r\n{headers}content-length: {}\r\n\r\n",
                    body.len()
                );
                stream.write_all((head + &body).as_bytes()).await.unwrap();
            }
            Answer::Bytes(bytes) => {
                stream.write_all(bytes.as_bytes()).await.unwrap();
                return;
            }
            Answer::Silence => {
                asked.notify_one();
                // Zero bytes, or an error: the client is gone.
                if matches!(stream.read(&mut [0; 16]).await, Ok(0) | Err(_)) {
                    let _ = gone.send(());
                }
                return;
            }
        }
    }
}

/// Reads one request; `None` if there are no more.
async fn read(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Option<ReceivedRequest> {
    let head_end = loop {
        if let Some(at) = buffer.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(buffer[..head_end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let line = lines.next().unwrap_or_default().trim_end_matches(" HTTP/1.1").to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length: usize = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
    while buffer.len() < head_end + 4 + length {
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
    let rest = buffer.split_off(head_end + 4 + length);
    let body = match &buffer[head_end + 4..] {
        [] => Value::Null,
        bytes => serde_json::from_slice(bytes).unwrap(),
    };
    *buffer = rest;
    Some(ReceivedRequest { line, headers, body })
}
