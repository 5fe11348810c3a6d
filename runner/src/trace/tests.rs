//! Traces that are received, read from files, and requested from a stub of Opik.

mod opik;

use std::{
    io::Write,
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use flate2::{Compression, write::GzEncoder};
use prost::Message;
use reqwest::StatusCode;
use serde_json::{Value, json};
use speclens_schema::{
    evidence::{Answer, Trace, TraceAnswer, TraceMatch},
    trace::otlp,
};

use super::{Identity, MAX_REQUEST_BYTES, TraceSettings, TraceWatch, Traces, now_us};

const PROTOBUF: &str = "application/x-protobuf";
const JSON: &str = "application/json";

fn settings() -> TraceSettings {
    TraceSettings { silence: Duration::from_millis(30), padding: Duration::from_secs(1), ..TraceSettings::default() }
}

fn listening() -> Arc<Traces> {
    let listen = Some(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    Arc::new(Traces::new(TraceSettings { listen, ..settings() }))
}

/// Returns a run that has just begun.
fn identity() -> Identity {
    Identity { started_us: now_us(), ..Identity::default() }
}

/// Returns a request with spans of one trace: each its number, that of its parent (0 for none), and its attributes.
fn request(trace: u8, spans: &[(u64, u64, Value)], program: Value) -> Value {
    let attributes = |value: &Value| -> Vec<Value> {
        let members = value.as_object().into_iter().flatten();
        members.map(|(key, value)| json!({ "key": key, "value": { "stringValue": value } })).collect()
    };
    let now = u64::try_from(now_us()).unwrap() * 1000;
    let spans: Vec<Value> = spans
        .iter()
        .map(|(id, parent, values)| {
            json!({
                "traceId": format!("{trace:032x}"), "spanId": format!("{id:016x}"),
                "parentSpanId": if *parent == 0 { String::new() } else { format!("{parent:016x}") },
                "name": "chat", "startTimeUnixNano": (now + id).to_string(), "endTimeUnixNano": (now + id + 1000).to_string(),
                "attributes": attributes(values),
            })
        })
        .collect();
    json!({ "resourceSpans": [{ "resource": { "attributes": attributes(&program) }, "scopeSpans": [{ "spans": spans }] }] })
}

fn chat() -> Value {
    json!({ "gen_ai.operation.name": "chat" })
}

fn protobuf(request: Value) -> Vec<u8> {
    serde_json::from_value::<otlp::TracesRequest>(request).unwrap().encode_to_vec()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).unwrap();
    packed.finish().unwrap()
}

struct Exporter {
    client: reqwest::Client,
    base: String,
}

impl Exporter {
    fn of(traces: &Traces) -> Exporter {
        let address = traces.open().unwrap().unwrap();
        let client = reqwest::Client::builder()
            .tls_backend_preconfigured(crate::http::encryption("http").unwrap())
            .no_proxy()
            .build()
            .unwrap();
        Exporter { client, base: format!("http://{address}") }
    }

    async fn send(&self, path: &str, headers: &[(&str, &str)], body: Vec<u8>) -> (StatusCode, Vec<u8>) {
        let mut request = self.client.post(format!("{}{path}", self.base)).body(body);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        (response.status(), response.bytes().await.unwrap().to_vec())
    }

    async fn spans(&self, request: Value) {
        let (status, _) = self.send("/v1/traces", &[("content-type", JSON)], request.to_string().into()).await;
        assert_eq!(status, StatusCode::OK);
    }
}

#[track_caller]
fn found(answer: Answer) -> Trace {
    match answer {
        Answer::Trace(TraceAnswer::Found(trace)) => trace,
        other => panic!("{other:?}"),
    }
}

fn no_trace(answer: Answer) -> String {
    match answer {
        Answer::Nothing(reason) => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn each_form_of_a_request_is_taken_and_each_wrong_one_gets_its_status() {
    let traces = listening();
    let exporter = Exporter::of(&traces);
    let plain = request(1, &[(1, 0, chat())], json!({}));
    let text = plain.to_string().into_bytes();
    let huge = vec![b' '; MAX_REQUEST_BYTES + 1];
    let bomb = gzip(&huge);
    let charset = "application/json; charset=utf-8";
    /// A request, with the status of the response: path, content type, headers, body.
    type Sent<'t> = (&'t str, &'t str, Vec<(&'t str, &'t str)>, Vec<u8>, u16);
    let cases: Vec<Sent<'_>> = vec![
        ("json", "/v1/traces", vec![("content-type", charset)], text.clone(), 200),
        ("protobuf", "/v1/traces", vec![("content-type", PROTOBUF)], protobuf(plain.clone()), 200),
        (
            "gzip",
            "/v1/traces",
            vec![("content-type", PROTOBUF), ("content-encoding", "gzip")],
            gzip(&protobuf(plain)),
            200,
        ),
        ("empty protobuf", "/v1/logs", vec![("content-type", PROTOBUF)], Vec::new(), 200),
        ("metrics", "/v1/metrics", vec![("content-type", JSON)], b"{\"resourceMetrics\": []}".to_vec(), 200),
        ("no json", "/v1/traces", vec![("content-type", JSON)], b"{".to_vec(), 400),
        ("no protobuf", "/v1/traces", vec![("content-type", PROTOBUF)], vec![0xff; 20], 400),
        ("no gzip", "/v1/traces", vec![("content-type", JSON), ("content-encoding", "gzip")], text.clone(), 400),
        ("deep", "/v1/traces", vec![("content-type", JSON)], "[".repeat(100_000).into_bytes(), 400),
        ("zstd", "/v1/traces", vec![("content-type", JSON), ("content-encoding", "zstd")], text.clone(), 415),
        ("form", "/v1/traces", vec![("content-type", "text/plain")], text.clone(), 415),
        ("no type", "/v1/traces", vec![], text.clone(), 415),
        ("place", "/v1/profiles", vec![("content-type", JSON)], text.clone(), 404),
        ("bomb", "/v1/traces", vec![("content-type", JSON), ("content-encoding", "gzip")], bomb, 413),
    ];
    for (name, path, headers, body, expected) in cases {
        let (status, answer) = exporter.send(path, &headers, body).await;
        assert_eq!(status.as_u16(), expected, "{name}: {}", String::from_utf8_lossy(&answer));
        if name == "json" {
            assert_eq!(answer, b"{}", "all was taken");
        }
        if name == "no protobuf" {
            let refusal = otlp::Refusal::decode(answer.as_slice()).unwrap();
            assert_eq!(refusal.code, 3, "{refusal:?}");
        }
    }
    let response = exporter.client.get(format!("{}/v1/traces", exporter.base)).send().await.unwrap();
    assert_eq!((response.status().as_u16(), response.headers()["allow"].to_str().unwrap()), (405, "POST"));
    // A larger body is refused before all of it has arrived, so the client may not get to read the response.
    let too_large =
        exporter.client.post(format!("{}/v1/traces", exporter.base)).header("content-type", JSON).body(huge);
    if let Ok(response) = too_large.send().await {
        assert_eq!(response.status(), StatusCode::PAYLOAD_TOO_LARGE);
    }
    assert_eq!(traces.take().spans.len(), 3, "the wrong requests left nothing behind");
}

#[tokio::test]
async fn trace_is_complete_when_its_root_has_ended_and_nothing_follows() {
    let traces = listening();
    let exporter = Exporter::of(&traces);
    let watch = TraceWatch::begin(Arc::clone(&traces));
    let act = identity();
    let variable = |key: &str| watch.environment().into_iter().find(|(name, _)| name == key).unwrap().1;
    assert_eq!(variable("OTEL_EXPORTER_OTLP_ENDPOINT"), exporter.base);
    let (name, mark) = variable("OTEL_RESOURCE_ATTRIBUTES")
        .rsplit(',')
        .next()
        .unwrap()
        .split_once('=')
        .map(|(name, mark)| (name.to_owned(), mark.to_owned()))
        .unwrap();
    exporter.spans(request(1, &[(2, 1, chat())], json!({ name.clone(): mark.clone() }))).await;
    let collecting = tokio::spawn({
        let (watch, act) = (watch.clone(), act.clone());
        async move { watch.collect(&act, &[]).await }
    });
    let ended = tokio::spawn({
        let (watch, act) = (watch.clone(), act.clone());
        async move { watch.root_ended(&act).await }
    });
    exporter
        .spans(request(1, &[(1, 0, json!({ "gen_ai.operation.name": "invoke_agent" }))], json!({ name: mark })))
        .await;
    ended.await.unwrap();
    let trace = found(collecting.await.unwrap());
    assert_eq!((trace.spans.len(), trace.joined, trace.unfinished), (2, Some(TraceMatch::Mark), false));
    let inner = trace.spans.iter().find(|span| span.id == "0000000000000002").unwrap();
    assert_eq!(inner.parent.as_deref(), Some("0000000000000001"));
}

#[tokio::test]
async fn trace_beside_a_span_without_the_id_of_a_trace_is_not_complete() {
    let mut empty = request(2, &[(7, 0, chat())], json!({}));
    let mut missing = empty.clone();
    empty["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["traceId"] = json!("");
    missing["resourceSpans"][0]["scopeSpans"][0]["spans"][0].as_object_mut().unwrap().remove("traceId");
    for (other, is_cut) in [(empty, true), (missing, true), (json!({}), false)] {
        let traces = listening();
        let exporter = Exporter::of(&traces);
        let watch = TraceWatch::begin(Arc::clone(&traces));
        let act = identity();
        exporter.spans(other).await;
        exporter.spans(request(1, &[(1, 0, json!({ "gen_ai.operation.name": "invoke_agent" }))], json!({}))).await;
        assert_eq!(found(watch.collect(&act, &[]).await).cut, is_cut);
    }
}

#[tokio::test]
async fn trace_beside_a_refused_request_is_not_complete() {
    for (path, kind, body, is_cut) in [
        ("/v1/traces", JSON, "{", true),
        ("/v1/traces", "text/plain", "{}", true),
        ("/v1/trace", JSON, "{}", true),
        ("/v1/logs", JSON, "{", false),
    ] {
        let traces = listening();
        let exporter = Exporter::of(&traces);
        let watch = TraceWatch::begin(Arc::clone(&traces));
        let act = identity();
        assert!(!exporter.send(path, &[("content-type", kind)], body.into()).await.0.is_success());
        exporter.spans(request(1, &[(1, 0, json!({ "gen_ai.operation.name": "invoke_agent" }))], json!({}))).await;
        assert_eq!(found(watch.collect(&act, &[]).await).cut, is_cut, "{path} {kind}");
        assert_eq!(traces.take().unassigned, usize::from(is_cut));
    }
}

#[tokio::test]
async fn spans_of_earlier_acts_and_other_runs_are_not_taken_for_those_of_this_one() {
    let traces = listening();
    let exporter = Exporter::of(&traces);
    exporter.spans(request(1, &[(1, 0, chat())], json!({}))).await;
    let watch = TraceWatch::begin(Arc::clone(&traces));
    let act = identity();
    assert_eq!(no_trace(watch.collect(&act, &[]).await), "no trace of the run was found");
    exporter.spans(request(2, &[(2, 0, chat())], json!({}))).await;
    assert_eq!(found(watch.collect(&act, &[]).await).joined, Some(TraceMatch::Window));
    exporter.spans(request(3, &[(3, 0, chat())], json!({}))).await;
    assert!(no_trace(watch.collect(&act, &[]).await).contains("2 traces began during the run"));
    let logged = vec![format!("{:032x}", 3)];
    assert_eq!(found(watch.collect(&act, &logged).await).joined, Some(TraceMatch::LoggedId));
}

#[tokio::test]
async fn trace_without_an_end_is_unfinished() {
    let traces = listening();
    let exporter = Exporter::of(&traces);
    let watch = TraceWatch::begin(Arc::clone(&traces));
    let act = identity();
    exporter.spans(request(1, &[(2, 1, chat())], json!({}))).await;
    assert!(found(watch.collect(&act, &[]).await).unfinished);
}

#[tokio::test]
async fn cost_of_a_metric_is_that_of_the_trace() {
    let traces = listening();
    let exporter = Exporter::of(&traces);
    let watch = TraceWatch::begin(Arc::clone(&traces));
    let act = identity();
    exporter.spans(request(1, &[(1, 0, chat())], json!({}))).await;
    let point = |at_us: i64, dollars: f64| json!({ "startTimeUnixNano": "1000", "timeUnixNano": (at_us * 1000).to_string(), "asDouble": dollars });
    let points = [point(act.started_us - 10, 2.0), point(act.started_us + 10, 2.25)];
    let metrics = json!({ "resourceMetrics": [{ "scopeMetrics": [{ "metrics": [
        { "name": "openclaw.cost.usd", "sum": { "aggregationTemporality": 2, "isMonotonic": true, "dataPoints": points } },
    ] }] }] });
    let (status, _) = exporter.send("/v1/metrics", &[("content-type", JSON)], metrics.to_string().into()).await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(found(watch.collect(&act, &[]).await).cost_usd, Some(0.25));
}

#[tokio::test]
async fn ten_thousand_spans_arrive_in_one_run() {
    let traces = listening();
    let exporter = Exporter::of(&traces);
    let watch = TraceWatch::begin(Arc::clone(&traces));
    let act = identity();
    for batch in 0..20 {
        let spans: Vec<_> = (1..=500).map(|at| (batch * 500 + at, u64::from(batch * 500 + at > 1), chat())).collect();
        let body = gzip(&protobuf(request(1, &spans, json!({}))));
        let headers = [("content-type", PROTOBUF), ("content-encoding", "gzip")];
        assert_eq!(exporter.send("/v1/traces", &headers, body).await.0, StatusCode::OK);
    }
    let trace = found(watch.collect(&act, &[]).await);
    assert_eq!((trace.spans.len(), trace.cut), (10_000, false));
}

#[tokio::test]
async fn port_that_is_taken_is_explained_and_leaves_the_trace_unknown() {
    let taken = std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let listen = Some(taken.local_addr().unwrap());
    let watch = TraceWatch::begin(Arc::new(Traces::new(TraceSettings { listen, ..settings() })));
    assert!(watch.environment().is_empty());
    let reason = no_trace(watch.collect(&identity(), &[]).await);
    assert!(reason.starts_with("cannot listen for traces at 127.0.0.1:"), "{reason}");
    assert!(reason.contains("another program is listening there"), "{reason}");
}

#[tokio::test]
async fn without_a_back_end_there_is_no_trace() {
    let watch = TraceWatch::begin(Arc::default());
    let Answer::Trace(TraceAnswer::Missing(reason)) = watch.collect(&identity(), &[]).await else { panic!() };
    assert!(reason.contains("clawspec.traces"), "{reason}");
}

#[tokio::test]
async fn trace_in_a_file_is_found_by_its_run() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("traces")).unwrap();
    let run = "5f0c2a1e-7b1d-4d58-9c53-000000000001";
    let lines = [
        request(1, &[(1, 0, json!({ "gen_ai.operation.name": "chat", "x.run_id": "another" }))], json!({})),
        request(2, &[(2, 0, json!({ "gen_ai.operation.name": "chat", "x.run_id": run }))], json!({})),
    ];
    let text = lines.map(|line| line.to_string()).join("\n");
    std::fs::write(directory.path().join("traces/a.jsonl"), text).unwrap();
    std::fs::write(directory.path().join("traces/empty.jsonl"), "").unwrap();
    let files = vec!["traces/*.jsonl".to_owned()];
    let of_files = TraceSettings { files, directory: directory.path().to_owned(), ..settings() };
    let watch = TraceWatch::begin(Arc::new(Traces::new(of_files.clone())));
    let act = Identity { run_id: Some(run.to_owned()), ..identity() };
    let trace = found(watch.collect(&act, &[]).await);
    assert_eq!((trace.spans.len(), trace.joined), (1, Some(TraceMatch::RunId)));
    std::fs::write(directory.path().join("traces/b.jsonl"), "\n{]").unwrap();
    let reason = no_trace(watch.collect(&act, &[]).await);
    assert!(reason.contains("b.jsonl, line 2: not valid JSON"), "{reason}");
}
