//! Notes of verdicts about traces: differences between the expected and the actual calls, and the most expensive
//! spans.

use std::collections::BTreeMap;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::{
    check::json::number_text,
    evidence::{Span, SpanKind, Trace},
};

/// Maximum number of lines of a note.
const MAX_LINES: usize = 20;

/// Maximum number of calls to compare individually.
const MAX_COMPARED: usize = 2_000;

/// Returns the expected calls next to the actual ones, one per line: common ones unmarked, missing ones with `-`,
/// unexpected ones with `+`.
pub(super) fn aligned(expected: &[String], actual: &[&str]) -> Vec<String> {
    let expected: Vec<&str> = expected.iter().map(String::as_str).take(MAX_COMPARED).collect();
    let actual = &actual[..actual.len().min(MAX_COMPARED)];
    let mut lines = Vec::new();
    for step in capture_diff_slices(Algorithm::Myers, &expected, actual) {
        let (missing, added) = match step {
            DiffOp::Equal { old_index, len, .. } => {
                lines.extend(folded("  ", &expected[old_index..old_index + len]));
                continue;
            }
            DiffOp::Delete { old_index, old_len, .. } => (&expected[old_index..old_index + old_len], &actual[..0]),
            DiffOp::Insert { new_index, new_len, .. } => (&expected[..0], &actual[new_index..new_index + new_len]),
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                (&expected[old_index..old_index + old_len], &actual[new_index..new_index + new_len])
            }
        };
        lines.extend(folded("- ", missing).into_iter().chain(folded("+ ", added)));
    }
    block("the calls (`-`: expected but missing, `+`: not expected)", lines)
}

/// Merges equal adjacent lines into one.
fn folded(mark: &str, names: &[&str]) -> Vec<String> {
    names
        .chunk_by(|one, other| one == other)
        .map(|same| match same {
            [name] => format!("{mark}{name}"),
            _ => format!("{mark}{} ({} times)", same[0], same.len()),
        })
        .collect()
}

/// Returns lines as one note; empty if there are no lines.
fn block(title: &str, mut lines: Vec<String>) -> Vec<String> {
    if lines.is_empty() {
        return Vec::new();
    }
    if lines.len() > MAX_LINES {
        let more = lines.len() - MAX_LINES;
        lines.truncate(MAX_LINES);
        lines.push(format!("and {more} more"));
    }
    vec![format!("{title}:\n{}", lines.join("\n"))]
}

/// Lists spans with their tokens, in descending order.
pub(super) fn by_tokens(mut spans: Vec<(&Span, u64)>) -> Vec<String> {
    spans.sort_by_key(|(_, total)| std::cmp::Reverse(*total));
    let line = |(span, total): &(&Span, u64)| format!("{}: {total} tokens", shown(span));
    block("the spans with the most tokens", spans.iter().map(line).collect())
}

pub(super) fn shown(span: &Span) -> String {
    let kind = match span.kind {
        SpanKind::Llm => "llm",
        SpanKind::Tool => "tool",
        SpanKind::Subagent => "subagent",
        SpanKind::Other => "other",
    };
    format!("{} ({kind})", span.name)
}

/// Lists the spans with the longest duration.
pub(super) fn by_duration(trace: &Trace) -> Vec<String> {
    let took = |span: &Span| {
        let measured = || Some((span.ended_us? - span.started_us?) as f64 / 1000.0);
        span.duration_ms.or_else(measured).filter(|took| *took > 0.0)
    };
    let mut spans: Vec<(&Span, f64)> = trace.spans.iter().filter_map(|span| Some((span, took(span)?))).collect();
    spans.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let line = |(span, took): &(&Span, f64)| format!("{}: {} ms", shown(span), number_text(*took));
    block("the spans that took longest", spans.iter().take(5).map(line).collect())
}

/// Lists the cost per model, in descending order.
pub(super) fn by_model<'s>(costs: impl Iterator<Item = (&'s Span, f64, bool)>) -> Vec<String> {
    let mut of_models: BTreeMap<&str, (f64, usize, bool)> = BTreeMap::new();
    for (span, cost, estimated) in costs {
        let sum = of_models.entry(span.model.as_deref().unwrap_or(&span.name)).or_default();
        *sum = (sum.0 + cost, sum.1 + 1, sum.2 || estimated);
    }
    let mut of_models: Vec<_> = of_models.into_iter().collect();
    of_models.sort_by(|(_, (one, ..)), (_, (other, ..))| other.total_cmp(one));
    let line = |(model, (cost, spans, estimated)): (&str, (f64, usize, bool))| {
        let about = if estimated { "about " } else { "" };
        let spans = if spans == 1 { "1 span".to_owned() } else { format!("{spans} spans") };
        format!("{model}: {about}${cost:.4} ({spans})")
    };
    block("cost by model", of_models.into_iter().map(line).collect())
}
