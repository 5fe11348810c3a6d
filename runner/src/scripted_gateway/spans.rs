//! The spans of a run, as an OpenTelemetry exporter sends them.

use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use speclens_schema::{check::text::hexadecimal, gateway_script::ModelCall};

#[derive(Clone, Debug)]
pub(super) struct Span {
    name: String,
    kind: Kind,
    attributes: Map<String, Value>,
    error: Option<String>,
}

/// The kind of a span, by its number in OTLP.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Internal = 1,
    Client = 3,
}

#[derive(Debug)]
pub(super) struct SpanId(String);

#[derive(Debug)]
pub(super) struct Trace {
    id: String,
    seed: String,
    root: String,
    parent: Option<String>,
    made: u32,
    calls: u32,
    ended: Vec<Value>,
}

impl Span {
    /// Returns the span of a run with an outside caller. The session key is never sent, only its digest.
    pub(super) fn run(session_key: &str) -> Span {
        Span::new(
            "openclaw.run",
            Kind::Internal,
            [("session.id", hexadecimal(&Sha256::digest(session_key.as_bytes())).into())],
        )
    }

    pub(super) fn agent(agent: &str) -> Span {
        let attributes = [
            ("gen_ai.operation.name", "invoke_agent".into()),
            ("gen_ai.agent.name", agent.into()),
            // Otherwise the only agent of a trace would not be one that another started.
            ("subagent_id", agent.into()),
        ];
        Span::new(format!("invoke_agent {agent}"), Kind::Internal, attributes)
    }

    pub(super) fn tool(name: &str) -> Span {
        let attributes = [("gen_ai.operation.name", "execute_tool".into()), ("gen_ai.tool.name", name.into())];
        Span::new(format!("execute_tool {name}"), Kind::Internal, attributes)
    }

    pub(super) fn model(call: &ModelCall) -> Span {
        let attributes = [
            ("gen_ai.operation.name", "chat".into()),
            ("gen_ai.request.model", call.name.0.clone().into()),
            ("gen_ai.usage.input_tokens", call.input_tokens.into()),
            ("gen_ai.usage.output_tokens", call.output_tokens.into()),
        ];
        let cost = call.cost_usd.map(|cost| ("gen_ai.usage.cost", cost.into()));
        Span::new(format!("chat {}", &*call.name), Kind::Client, attributes.into_iter().chain(cost))
    }

    pub(super) fn named(name: &str, attributes: Map<String, Value>) -> Span {
        Span { name: name.to_owned(), kind: Kind::Internal, attributes, error: None }
    }

    fn new(name: impl Into<String>, kind: Kind, attributes: impl IntoIterator<Item = (&'static str, Value)>) -> Span {
        let attributes = attributes.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Span { name: name.into(), kind, attributes, error: None }
    }

    pub(super) fn failing(self, error: Option<&str>) -> Span {
        Span { error: error.map(str::to_owned), ..self }
    }
}

impl Trace {
    pub(super) fn begin(run_id: &str) -> Trace {
        let id = hexadecimal(&Sha256::digest(format!("trace {run_id}"))[..16]);
        Trace::with(id, run_id, None)
    }

    pub(super) fn below(&self, run_id: &str, call: &SpanId) -> Trace {
        Trace::with(self.id.clone(), run_id, Some(call.0.clone()))
    }

    pub(super) fn open(&mut self) -> SpanId {
        SpanId(self.next())
    }

    pub(super) fn close(&mut self, id: SpanId, span: Span, began: i128, ended: i128) {
        let parent = Some(self.root.clone());
        self.put(span, id.0, parent, began, ended);
    }

    fn with(id: String, seed: &str, parent: Option<String>) -> Trace {
        let (seed, root) = (seed.to_owned(), String::new());
        let mut trace = Trace { id, seed, root, parent, made: 0, calls: 0, ended: Vec::new() };
        trace.root = trace.next();
        trace
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn root(&self) -> &str {
        &self.root
    }

    pub(super) fn next_call(&mut self) -> u32 {
        self.calls += 1;
        self.calls
    }

    pub(super) fn add(&mut self, span: Span, began: i128, ended: i128) {
        let id = self.open();
        self.close(id, span, began, ended);
    }

    pub(super) fn end(&mut self, span: Span, began: i128, ended: i128) {
        self.put(span, self.root.clone(), self.parent.clone(), began, ended);
    }

    pub(super) fn take_over(&mut self, mut other: Trace) {
        self.ended.append(&mut other.ended);
    }

    pub(super) fn take(&mut self) -> Vec<Value> {
        std::mem::take(&mut self.ended)
    }

    fn next(&mut self) -> String {
        self.made += 1;
        hexadecimal(&Sha256::digest(format!("span {} {}", self.seed, self.made))[..8])
    }

    fn put(&mut self, span: Span, id: String, parent: Option<String>, began: i128, ended: i128) {
        let mut written = json!({
            "traceId": self.id,
            "spanId": id,
            "name": span.name,
            "kind": span.kind as u8,
            "startTimeUnixNano": began.to_string(),
            "endTimeUnixNano": ended.to_string(),
            "attributes": span.attributes.iter().map(|(name, value)| attribute(name, value)).collect::<Vec<_>>(),
        });
        if let Some(parent) = parent {
            written["parentSpanId"] = parent.into();
        }
        if let Some(error) = span.error {
            written["status"] = json!({ "code": 2, "message": error });
        }
        self.ended.push(written);
    }
}

pub(super) fn export(spans: Vec<Value>, resource: &Map<String, Value>) -> Value {
    let mut attributes = vec![attribute("service.name", &"openclaw".into())];
    attributes.extend(resource.iter().map(|(name, value)| attribute(name, value)));
    json!({ "resourceSpans": [{
        "resource": { "attributes": attributes },
        "scopeSpans": [{ "scope": { "name": "speclens.gateway" }, "spans": spans }],
    }] })
}

fn attribute(name: &str, value: &Value) -> Value {
    json!({ "key": name, "value": any(value) })
}

fn any(value: &Value) -> Value {
    match value {
        Value::Null => json!({}),
        Value::Bool(value) => json!({ "boolValue": value }),
        Value::Number(number) => match number.as_i64() {
            Some(number) => json!({ "intValue": number.to_string() }),
            None => json!({ "doubleValue": number }),
        },
        Value::String(text) => json!({ "stringValue": text }),
        Value::Array(items) => json!({ "arrayValue": { "values": items.iter().map(any).collect::<Vec<_>>() } }),
        Value::Object(members) => {
            let members: Vec<Value> = members.iter().map(|(name, value)| attribute(name, value)).collect();
            json!({ "kvlistValue": { "values": members } })
        }
    }
}
