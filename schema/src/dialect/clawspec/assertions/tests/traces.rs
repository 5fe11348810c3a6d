//! Assertions about traces: a trace that is missing, incomplete, or lacks facts proves nothing.

use super::*;

#[test]
fn assertions_about_a_missing_trace_are_skipped() {
    let missing = World { trace: TraceAnswer::Missing("Opik does not answer".to_owned()), ..world() };
    for assertion in
        ["{type: no_span_errors}", "{type: trace_cost, max_usd: 1}", "{type: tool_sequence, expected: [a]}"]
    {
        check(assertion, &missing, Status::Skip, "Opik does not answer");
    }
}

#[test]
fn trace_without_the_facts_proves_nothing() {
    let silent = |kind| Span { tokens: None, started_us: None, ended_us: None, ..span(kind, "m", 0) };
    let world = World { trace: trace(vec![silent(SpanKind::Llm)]), ..world() };
    check("{type: per_span_budget, max_tokens: 1}", &world, Status::Unknown, "token counts");
    check("{type: trace_token_budget, max_input_tokens: 1}", &world, Status::Unknown, "token counts");
    check("{type: trace_duration, max_ms: 1}", &world, Status::Unknown, "no times");
    check("{type: trace_cost, max_usd: 1}", &world, Status::Warn, "model_pricing");
    check("{type: delegation_path, expected: [a]}", &world, Status::Warn, "no routing data");
    check("{type: delegation_path, expected: [a], routing_path: [x, a]}", &world, Status::Pass, "");
    check("{type: delegation_path, expected: [brand], state_path: router.yaml}", &world, Status::Pass, "");
    check("{type: delegation_path, expected: [brand], state_path: none.yaml}", &world, Status::Fail, "position 0");
}

#[test]
fn trace_that_has_not_ended_proves_nothing_of_what_did_not_happen() {
    let TraceAnswer::Found(whole) = world().trace else { unreachable!("the trace is there") };
    let open = World { trace: TraceAnswer::Found(Trace { unfinished: true, ..whole }), ..world() };
    for assertion in
        ["{type: no_span_errors}", "{type: tool_not_invoked, tool: send}", "{type: llm_call_count, max: 3}"]
    {
        check(assertion, &open, Status::Unknown, "has not ended");
    }
}

#[test]
fn tokens_that_a_gateway_reports_in_one_span_count_for_its_questions() {
    let silent = Span { tokens: None, ..span(SpanKind::Llm, "m", 0) };
    let sum = Span {
        tokens: Some(Tokens { input: 90, output: 10, total: 100 }),
        ..span(SpanKind::Other, "openclaw.model.usage", 1)
    };
    let world = World { trace: trace(vec![silent, sum]), ..world() };
    check("{type: trace_token_budget, max_input_tokens: 90}", &world, Status::Pass, "");
    check("{type: trace_token_budget, max_input_tokens: 89}", &world, Status::Fail, "");
    check("{type: per_span_budget, max_tokens: 500}", &world, Status::Unknown, "token counts");
}

#[test]
fn budget_of_spans_that_the_trace_lacks_is_unknown() {
    let silent = Span { tokens: None, ..span(SpanKind::Tool, "write", 0) };
    let world = World { trace: trace(vec![silent, span(SpanKind::Llm, "m", 1)]), ..world() };
    for (assertion, reason) in [
        ("{type: per_span_budget, max_tokens: 0, span_type: tool}", "the spans have no token counts"),
        (
            "{type: per_span_budget, max_tokens: 0, span_name: zzz}",
            "the trace has no model call with `zzz` in its name",
        ),
        ("{type: per_span_budget, max_tokens: 0, span_type: subagent}", "the trace has no sub-agent, so nothing"),
    ] {
        check(assertion, &world, Status::Unknown, reason);
    }
}

#[test]
fn cost_that_equals_its_limit_but_for_rounding_passes() {
    let tenth = |at: i64| Span { cost_usd: Some(0.1), ..span(SpanKind::Llm, "m", at) };
    let world = World { trace: trace(vec![tenth(0), tenth(1), tenth(2)]), ..world() };
    check("{type: trace_cost, max_usd: 0.3}", &world, Status::Pass, "");
    check("{type: trace_cost, max_usd: 0.29999}", &world, Status::Fail, "cost $0.30000 > max $0.29999");
    check("{type: trace_cost, max_usd: 0.2}", &world, Status::Fail, "cost $0.3000 > max $0.2000");
}

#[test]
fn errors_in_the_trace_are_listed() {
    let broken = Span { error: Some("boom".to_owned()), ..span(SpanKind::Tool, "write", 0) };
    check("{type: no_span_errors}", &World { trace: trace(vec![broken]), ..world() }, Status::Fail, "1 span(s)");
}
