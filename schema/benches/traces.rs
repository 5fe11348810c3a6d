//! What it costs to read, assemble and judge a trace of 100,000 spans. `cargo bench -p speclens-schema --bench traces`.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark prints, and ends when it cannot go on")]

use std::time::Instant;

use prost::Message;
use speclens_schema::{
    analysis::Analyzer,
    document::Document,
    evidence::{Answer, Ended, Evidence, Need, Observation, TraceAnswer},
    files::MemoryFiles,
    json_schema::SpecFile,
    judge::judge,
    mask::Secrets,
    settings::Settings,
    trace::{
        Signals, assemble,
        otlp::{AnyValue, KeyValue, OtelValue, ResourceSpans, ScopeSpans, Span, TracesRequest},
    },
};

const SPANS: u64 = 100_000;

const SCENARIOS: &str = r#"version: "1.0"
target: { type: skill, path: skills/a, trigger: /a }
scenarios:
  - name: all assertions about traces
    tags: [negative]
    when: { invoke: /a }
    then:
      - { type: llm_call_count, min: 1, max: 50000 }
      - { type: tool_sequence, expected: [tool-1, tool-5, tool-9] }
      - { type: tool_sequence, mode: strict, expected: [tool-1] }
      - { type: model_used, expected: m-large }
      - { type: delegation_path, expected: [agent-3] }
      - { type: per_span_budget, max_tokens: 10 }
      - { type: trace_token_budget, max_input_tokens: 10 }
      - { type: trace_duration, max_ms: 1 }
      - { type: trace_cost, max_usd: 0.01 }
      - { type: no_span_errors }
      - { type: tool_not_invoked, tool: send }
"#;

fn attribute(key: &str, held: OtelValue) -> KeyValue {
    KeyValue { key: key.to_owned(), value: Some(AnyValue { held: Some(held) }) }
}

/// Returns an agent that asks a model and calls a tool by turns.
fn span(number: u64) -> Span {
    let text = |text: &str| OtelValue::Text(text.to_owned());
    let attributes = if number == 0 {
        vec![attribute("gen_ai.operation.name", text("invoke_agent"))]
    } else if number.is_multiple_of(2) {
        vec![
            attribute("gen_ai.operation.name", text("chat")),
            attribute("gen_ai.request.model", text("m-large")),
            attribute("gen_ai.usage.input_tokens", OtelValue::Whole(100)),
            attribute("gen_ai.usage.output_tokens", OtelValue::Whole(10)),
            attribute("gen_ai.usage.cost", OtelValue::Fraction(0.001)),
        ]
    } else {
        let tool = format!("tool-{}", number % 20);
        vec![attribute("gen_ai.operation.name", text("execute_tool")), attribute("gen_ai.tool.name", text(&tool))]
    };
    Span {
        trace_id: vec![7; 16],
        span_id: (number + 1).to_be_bytes().to_vec(),
        parent_span_id: if number == 0 { Vec::new() } else { 1_u64.to_be_bytes().to_vec() },
        name: "step".to_owned(),
        start_time_unix_nano: 1_000_000 * (number + 1),
        end_time_unix_nano: 1_000_000 * (number + 2),
        attributes,
        ..Span::default()
    }
}

fn timed<A>(what: &str, work: impl FnOnce() -> A) -> A {
    let began = Instant::now();
    let made = work();
    println!("{what:<50} {:>8.1} ms", began.elapsed().as_secs_f64() * 1000.0);
    made
}

fn main() {
    let scope_spans = vec![ScopeSpans { spans: (0..SPANS).map(span).collect() }];
    let request = TracesRequest { resource_spans: vec![ResourceSpans { scope_spans, ..ResourceSpans::default() }] };
    let bytes = request.encode_to_vec();
    println!("{SPANS} spans, {:.1} MB of protobuf", bytes.len() as f64 / 1e6);
    let read = timed("read protobuf", || Signals::from(TracesRequest::decode(bytes.as_slice()).unwrap()));
    let trace = timed("assemble", || assemble(&read.spans));
    assert_eq!(trace.spans.len() as u64, SPANS);

    let (files, settings) = (MemoryFiles::default(), Settings::default());
    let analyzer = Analyzer::new(SpecFile::CLAWSPEC_SCENARIOS);
    let document = Document::read(SCENARIOS, SpecFile::CLAWSPEC_SCENARIOS.scalar_rules());
    let problems = analyzer.problems(&document, &files, &settings);
    let suite = analyzer.suite(&document, &files, &settings, &problems);
    let evidence = Evidence {
        observations: vec![Observation { need: Need::Trace, answer: Answer::Trace(TraceAnswer::Found(trace)) }],
        ended: Some(Ended::RootSpan),
        ..Evidence::default()
    };
    let text = timed("write the recording", || serde_json::to_string(&evidence).unwrap());
    println!("{:.1} MB of recording", text.len() as f64 / 1e6);
    timed("read the recording", || serde_json::from_str::<Evidence>(&text).unwrap());
    for round in ["judge all 11 assertions", "judge them again"] {
        let judged = timed(round, || judge(&suite.cases[0], &evidence, &Secrets::none()));
        assert_eq!(judged.len(), 11);
    }
}
