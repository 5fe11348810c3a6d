//! Opik's REST API, played by a stub.

use std::{
    convert::Infallible,
    net::Ipv4Addr,
    sync::{Arc, Mutex},
};

use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use speclens_schema::{
    dialect::clawspec::config::Opik,
    evidence::{Joined, SpanKind, Tokens},
};
use tokio::net::TcpListener;

use super::{found, identity, missing, no_trace, settings};
use crate::{
    trace::{OpikTarget, TraceSettings, TraceWatch, Traces},
    watch::Identity,
};

/// A response of the stub: a status and lines.
type Answer = (u16, Vec<Value>);

/// Decides the response by path and body.
type Answering = dyn Fn(&str, &Value) -> Answer + Send + Sync;

/// A request: its path, headers as text, and body.
type Asked = (String, String, Value);

#[derive(Clone, Default)]
struct Stub {
    asked: Arc<Mutex<Vec<Asked>>>,
    answer: Option<Arc<Answering>>,
}

impl Stub {
    fn new(answer: impl Fn(&str, &Value) -> Answer + Send + Sync + 'static) -> Stub {
        Stub { answer: Some(Arc::new(answer)), ..Stub::default() }
    }

    async fn start(&self) -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}/api/", listener.local_addr().unwrap());
        let stub = self.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let stub = stub.clone();
                tokio::spawn(async move {
                    let serve = service_fn(move |request| {
                        let stub = stub.clone();
                        async move { Ok::<_, Infallible>(stub.serve(request).await) }
                    });
                    drop(http1::Builder::new().serve_connection(TokioIo::new(stream), serve).await);
                });
            }
        });
        url
    }

    async fn serve(&self, request: Request<Incoming>) -> Response<Full<Bytes>> {
        let path = request.uri().path().to_owned();
        let headers = format!("{:?}", request.headers());
        let body = request.into_body().collect().await.unwrap().to_bytes();
        let body: Value = serde_json::from_slice(&body).unwrap();
        let (status, lines) = self.answer.as_ref().unwrap()(&path, &body);
        self.asked.lock().unwrap().push((path, headers, body));
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        Response::builder().status(status).body(Full::new(text.into())).unwrap()
    }

    fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

async fn watch(stub: &Stub) -> TraceWatch {
    let url = stub.start().await;
    let own = Opik { project_name: Some("demo".to_owned()), workspace: Some("team".to_owned()) };
    let variable = move |name: &str| match name {
        "OPIK_URL_OVERRIDE" => Some(url.clone()),
        "OPIK_API_KEY" => Some("k3y-of-opik".to_owned()),
        _ => None,
    };
    let opik = Some(OpikTarget::of(Some(&own), &variable));
    TraceWatch::begin(Arc::new(Traces::new(TraceSettings { opik, ..settings() })))
}

fn moment(us: i64) -> String {
    jiff::Timestamp::from_microsecond(us).unwrap().to_string()
}

/// Returns a trace as the gateway's plugin writes it.
fn trace(id: &str, act: &Identity, run: &str) -> Value {
    json!({
        "id": id, "name": "m · qa", "start_time": moment(act.started_us + 5), "end_time": moment(act.started_us + 900_000),
        "tags": null, "metadata": { "runId": run, "agentId": "writer" }, "input": null, "thread_id": "s", "total_estimated_cost": 0.25,
    })
}

fn with_run() -> Identity {
    Identity { run_id: Some("run-0000-0000-0001".to_owned()), session_key: Some("s".to_owned()), ..identity() }
}

#[tokio::test]
async fn trace_of_opik_is_found_by_its_metadata_and_read_in_pages() {
    let act = with_run();
    let (own, other) = (trace("t1", &act, "run-0000-0000-0001"), trace("t2", &act, "run-0000-0000-0002"));
    let started = act.started_us;
    let stub = Stub::new(move |path, body| match path {
        "/api/v1/private/traces/search" => (200, vec![other.clone(), own.clone()]),
        _ => {
            // The youngest come first, and a page is full except for the last one.
            let last = body["last_retrieved_id"].as_str().map_or(1_200, |id| id.parse::<i64>().unwrap());
            let page = (1..last).rev().take(usize::try_from(body["limit"].as_u64().unwrap()).unwrap());
            let spans = page.map(|number| {
                let (kind, name) = match number % 3 {
                    0 => ("llm", "m-large".to_owned()),
                    1 => ("tool", format!("tool-{number}")),
                    _ => ("general", "subagent:writer".to_owned()),
                };
                json!({
                    "id": number.to_string(), "trace_id": "t1", "parent_span_id": null, "type": kind, "name": name,
                    "start_time": moment(started + number), "end_time": null, "duration": 12.5, "model": "m-large",
                    "usage": { "prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4 }, "total_estimated_cost": 0.5,
                    "error_info": if number == 1 { json!({ "exception_type": "E", "message": "broke" }) } else { Value::Null },
                })
            });
            (200, spans.collect())
        }
    });
    let trace = found(watch(&stub).await.collect(&act, &[]).await);
    assert_eq!((trace.joined, trace.spans.len(), trace.cost_usd), (Some(Joined::RunId), 1_199, Some(0.25)));
    let first = &trace.spans[0];
    assert_eq!((first.name.as_str(), first.kind, first.error.as_deref()), ("tool-1", SpanKind::Tool, Some("broke")));
    assert_eq!(trace.spans[1].kind, SpanKind::Subagent);
    let model = &trace.spans[2];
    assert_eq!((model.duration_ms, model.model.as_deref(), model.cost_usd), (Some(12.5), Some("m-large"), Some(0.5)));
    assert_eq!(model.tokens, Some(Tokens { input: 3, output: 1, total: 4 }));
    let asked = stub.asked();
    let (path, headers, body) = &asked[0];
    assert_eq!(path, "/api/v1/private/traces/search");
    assert!(
        headers.contains("\"authorization\": \"k3y-of-opik\"") && headers.contains("\"comet-workspace\": \"team\""),
        "{headers}"
    );
    assert_eq!((&body["project_name"], &body["filters"][0]["operator"]), (&json!("demo"), &json!(">=")));
    let of_spans: Vec<&Value> =
        asked.iter().filter(|(path, ..)| path.contains("spans")).map(|(.., body)| body).collect();
    assert_eq!((&of_spans[0]["last_retrieved_id"], &of_spans[1]["last_retrieved_id"]), (&Value::Null, &json!("200")));
}

#[tokio::test]
async fn trace_outside_of_the_window_is_found_by_its_tag() {
    let act = with_run();
    let mut tagged = trace("t1", &Identity { started_us: 1_000_000, ..act.clone() }, "x");
    tagged["tags"] = json!(["clawspec:run-0000-0000-0001"]);
    let stub = Stub::new(move |path, body| match (path, body["filters"][0]["field"].as_str()) {
        ("/api/v1/private/traces/search", Some("tags")) => (200, vec![tagged.clone()]),
        _ => (200, Vec::new()),
    });
    let trace = found(watch(&stub).await.collect(&act, &[]).await);
    assert_eq!((trace.joined, trace.spans.len()), (Some(Joined::RunId), 0));
}

#[tokio::test]
async fn opik_that_has_no_trace_and_opik_that_fails_are_distinguished() {
    let empty = Stub::new(|_, _| (200, Vec::new()));
    assert_eq!(missing(watch(&empty).await.collect(&with_run(), &[]).await), "no trace of the run was found");
    for (status, words) in
        [(401, "rejected the key (status 401); correct OPIK_API_KEY"), (500, "responded with status 500")]
    {
        let failing = Stub::new(move |_, _| (status, Vec::new()));
        let reason = no_trace(watch(&failing).await.collect(&with_run(), &[]).await);
        assert!(reason.contains(words) && !reason.contains("k3y"), "{reason}");
    }
    let nonsense = Stub::new(|_, _| (200, vec![json!(3)]));
    let reason = no_trace(watch(&nonsense).await.collect(&with_run(), &[]).await);
    assert!(reason.contains("line 1 of the response"), "{reason}");
    let gone = {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        listener.local_addr().unwrap()
    };
    let variable = move |name: &str| (name == "OPIK_URL_OVERRIDE").then(|| format!("http://{gone}"));
    let opik = Some(OpikTarget::of(None, &variable));
    let watch = TraceWatch::begin(Arc::new(Traces::new(TraceSettings { opik, ..settings() })));
    let reason = no_trace(watch.collect(&with_run(), &[]).await);
    assert!(reason.starts_with("cannot reach Opik at 127.0.0.1"), "{reason}");
}
