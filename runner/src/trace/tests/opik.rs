//! Opik's REST API, played by a stub.

use std::sync::Arc;

use serde_json::{Value, json};
use speclens_schema::{
    evidence::{SpanKind, Tokens, TraceMatch},
    gateway::config::Opik,
};

use super::{found, identity, no_trace, settings};
use crate::{
    model::tests::loopback::{Answer, Loopback, ReceivedRequest, step},
    trace::Identity,
    trace::{OpikTarget, TraceSettings, TraceWatch, Traces},
};

/// Plays Opik. `answer` decides the status and the lines of each response by path and body.
async fn opik(answer: impl Fn(&str, &Value) -> (u16, Vec<Value>) + Send + 'static) -> Loopback {
    let answering = step(move |asked| {
        let (status, lines) = answer(asked.line.trim_start_matches("POST "), &asked.body);
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        Answer::Bytes(format!("HTTP/1.1 {status} Status\r\ncontent-length: {}\r\n\r\n{text}", text.len()))
    });
    Loopback::start(vec![answering]).await
}

fn watch(host: &str) -> TraceWatch {
    let url = format!("http://{host}/api/");
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
    let (own, mut other) = (trace("t1", &act, "run-0000-0000-0001"), trace("t2", &act, "run-0000-0000-0002"));
    other["thread_id"] = json!("another");
    let started = act.started_us;
    let stub = opik(move |path, body| match path {
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
                    "start_time": moment(started), "end_time": null, "duration": 12.5, "model": "m-large",
                    "usage": { "prompt_tokens": 3, "completion_tokens": 1, "total_tokens": 4 }, "total_estimated_cost": 0.5,
                    "error_info": if number == 1 { json!({ "exception_type": "E", "message": "broke" }) } else { Value::Null },
                })
            });
            (200, spans.collect())
        }
    })
    .await;
    let trace = found(watch(&stub.host).collect(&act, &[]).await);
    assert_eq!((trace.joined, trace.spans.len(), trace.cost_usd), (Some(TraceMatch::RunId), 1_199, Some(0.25)));
    assert_eq!(trace.unassigned, 1);
    let first = &trace.spans[0];
    assert_eq!((first.name.as_str(), first.kind, first.error.as_deref()), ("tool-1", SpanKind::Tool, Some("broke")));
    assert_eq!(trace.spans[1].kind, SpanKind::Subagent);
    let model = &trace.spans[2];
    assert_eq!((model.duration_ms, model.model.as_deref(), model.cost_usd), (Some(12.5), Some("m-large"), Some(0.5)));
    assert_eq!(model.tokens, Some(Tokens { input: 3, output: 1, total: 4 }));
    let asked = stub.seen();
    let ReceivedRequest { line, headers, body } = &asked[0];
    assert_eq!(line, "POST /api/v1/private/traces/search");
    assert_eq!((headers["authorization"].as_str(), headers["comet-workspace"].as_str()), ("k3y-of-opik", "team"));
    assert_eq!((&body["project_name"], &body["filters"][0]["operator"]), (&json!("demo"), &json!(">=")));
    let of_spans: Vec<&Value> =
        asked.iter().filter(|asked| asked.line.contains("spans")).map(|asked| &asked.body).collect();
    assert_eq!((&of_spans[0]["last_retrieved_id"], &of_spans[1]["last_retrieved_id"]), (&Value::Null, &json!("200")));
}

#[tokio::test]
async fn trace_outside_of_the_window_is_found_by_its_tag() {
    let act = with_run();
    let mut tagged = trace("t1", &Identity { started_us: 1_000_000, ..act.clone() }, "x");
    tagged["tags"] = json!(["clawspec:run-0000-0000-0001"]);
    let stub = opik(move |path, body| match (path, body["filters"][0]["field"].as_str()) {
        ("/api/v1/private/traces/search", Some("tags")) => (200, vec![tagged.clone()]),
        _ => (200, Vec::new()),
    })
    .await;
    let trace = found(watch(&stub.host).collect(&act, &[]).await);
    assert_eq!((trace.joined, trace.spans.len()), (Some(TraceMatch::RunId), 0));
}

#[tokio::test]
async fn opik_that_has_no_trace_and_opik_that_fails_are_distinguished() {
    let empty = opik(|_, _| (200, Vec::new())).await;
    assert_eq!(no_trace(watch(&empty.host).collect(&with_run(), &[]).await), "no trace of the run was found");
    for (status, words) in
        [(401, "rejected the key (status 401); correct OPIK_API_KEY"), (500, "responded with status 500")]
    {
        let failing = opik(move |_, _| (status, Vec::new())).await;
        let reason = no_trace(watch(&failing.host).collect(&with_run(), &[]).await);
        assert!(reason.contains(words) && !reason.contains("k3y"), "{reason}");
    }
    let nonsense = opik(|_, _| (200, vec![json!(3)])).await;
    let reason = no_trace(watch(&nonsense.host).collect(&with_run(), &[]).await);
    assert!(reason.contains("line 1 of the response"), "{reason}");
    let gone = Loopback::gone().await;
    let reason = no_trace(watch(&gone.host).collect(&with_run(), &[]).await);
    assert!(reason.starts_with("cannot reach Opik at 127.0.0.1"), "{reason}");
}
