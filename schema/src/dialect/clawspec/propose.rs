//! Assertions that hold in recorded runs: the tools in the log and in the trace, the models, the files.

use serde_json::{Value, json};

use crate::{
    evidence::{
        Answer, Content, Evidence, FilesNeed, LogAnswer, Need, ObservationTime, Span, SpanKind, Trace, TraceAnswer,
    },
    gateway::log::{Call, GatewayLog},
    proposal::Proposal,
    write::{common_lines, is_stable, limit_of},
};

const THEN: &[&str] = &["then"];

/// Maximum number of headings of a file to propose.
const MAX_HEADINGS: usize = 5;

pub(super) fn propose(attempts: &[&Evidence]) -> Vec<Proposal> {
    let mut found: Vec<Value> = Vec::new();
    of_log(attempts, &mut found);
    of_trace(attempts, &mut found);
    of_files(attempts, &mut found);
    Proposal::items(THEN, found)
}

fn log(evidence: &Evidence) -> Option<&LogAnswer> {
    evidence.observations.iter().find_map(|it| {
        let Answer::Log(answer) = &it.answer else { return None };
        (it.need.moment() == ObservationTime::After).then_some(answer)
    })
}

fn of_log(attempts: &[&Evidence], found: &mut Vec<Value>) {
    let Some(answer) = attempts.first().and_then(|attempt| log(attempt)) else { return };
    let calls: Vec<Call> = GatewayLog::of(answer, &attempts[0].context.run_id).calls;
    for call in &calls {
        let path = "{{gateway_log_path}}";
        found.push(json!({ "type": "tool_was_called", "tool": call.tool, "log_path": path, "run_id": "{{run_id}}" }));
        if let Some(agent) = &call.to_agent {
            let to =
                json!({ "type": "delegation_occurred", "to_agent": agent, "log_path": path, "run_id": "{{run_id}}" });
            found.push(to);
        }
    }
}

fn trace(evidence: &Evidence) -> Option<&Trace> {
    let TraceAnswer::Found(trace) = evidence.trace()? else { return None };
    Some(trace)
}

fn of_trace(attempts: &[&Evidence], found: &mut Vec<Value>) {
    let Some(trace) = attempts.first().and_then(|attempt| trace(attempt)) else { return };
    let mut steps: Vec<&Span> = trace.spans.iter().filter(|span| span.kind == SpanKind::Tool).collect();
    steps.sort_by_key(|span| span.started_us);
    let names: Vec<&str> = steps.iter().map(|span| &*span.name).collect();
    if !names.is_empty() {
        found.push(json!({ "type": "tool_sequence", "expected": names, "mode": "strict" }));
    }
    found.push(json!({ "type": "no_span_errors" }));
    let models = trace.spans.iter().filter(|span| span.kind == SpanKind::Llm).filter_map(|span| span.model.as_ref());
    found.extend(models.map(|model| json!({ "type": "model_used", "expected": model })));
    let costs = attempts.iter().map(|attempt| self::trace(attempt)?.cost_usd);
    found.extend(limit_of(costs).map(|most| json!({ "type": "trace_cost", "max_usd": most })));
}

fn of_files(attempts: &[&Evidence], found: &mut Vec<Value>) {
    for observation in &attempts[0].observations {
        let (Need::Files(need), Answer::Files(_)) = (&observation.need, &observation.answer) else { continue };
        if need.moment != ObservationTime::After || !is_stable(&need.pattern) {
            continue;
        }
        let Some(texts) = attempts.iter().map(|attempt| text_of(attempt, need)).collect::<Option<Vec<&str>>>() else {
            continue;
        };
        found.push(json!({ "type": "artifact_exists", "path": need.pattern }));
        let is_heading = |line: &&str| line.starts_with('#');
        let headings = common_lines(&texts, usize::MAX).into_iter().filter(is_heading);
        let headings: Vec<&str> = headings.map(|line| line.trim_start_matches('#').trim()).take(MAX_HEADINGS).collect();
        if !headings.is_empty() {
            found.push(json!({ "type": "artifact_contains", "path": need.pattern, "sections": headings }));
        }
    }
}

fn text_of<'e>(evidence: &'e Evidence, need: &FilesNeed) -> Option<&'e str> {
    let Answer::Files(answer) = evidence.answer_to(&Need::Files(need.clone()))? else { return None };
    let Some(Content::Text(text)) = &answer.files.first()?.content else { return None };
    Some(&text.text)
}
