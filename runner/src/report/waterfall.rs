//! The spans of a trace as a waterfall: calls, times, tokens and costs. Transcripts show it as text, pages as bars.

use std::{cmp::Reverse, collections::HashMap, ops::Range};

use speclens_schema::evidence::{Span, Tokens, Trace, TraceMatch};

use super::{human::duration_ms, timeline::without_breaks};

const MAX_ROWS: usize = 120;

const MAX_INDENT: usize = 10;

const MAX_NAME: usize = 40;

const MAX_ERROR: usize = 80;

/// The number of characters of a bar that spans the whole trace.
const BAR: usize = 30;

/// The spans of a trace that are shown. In a long trace, failed spans take precedence, then the outermost and the longest.
#[derive(Debug)]
pub struct Waterfall<'t> {
    pub rows: Vec<WaterfallRow<'t>>,
    pub hidden: Option<String>,
    pub total: String,
}

#[derive(Debug)]
pub struct WaterfallRow<'t> {
    pub span: &'t Span,
    /// The name, and the model unless the name has it.
    pub name: String,
    pub depth: usize,
    /// Its part of the time of the trace, from 0 to 1; `None` if it is not known.
    pub part: Option<Range<f64>>,
    /// Duration, tokens and cost, as far as they are known.
    pub took: Option<String>,
    pub spent: Vec<String>,
    pub error: Option<String>,
}

impl Waterfall<'_> {
    pub fn of(trace: &Trace) -> Waterfall<'_> {
        let rows = rows(&trace.spans);
        let shown = chosen(&rows);
        let times = Times::of(trace);
        let hidden = rows.len() - shown.len();
        Waterfall {
            rows: shown.into_iter().map(|row| row.shown(&times)).collect(),
            hidden: (hidden > 0)
                .then(|| format!("… {hidden} more spans; only failed, outermost and longest spans are shown")),
            total: sum(trace),
        }
    }

    /// Returns one line per span in the order of the calls, and a last one with the totals.
    pub fn lines(&self) -> Vec<String> {
        let names: Vec<String> = self.rows.iter().map(|row| " ".repeat(2 * row.depth) + &row.name).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or_default();
        let line = |(row, name): (&WaterfallRow<'_>, &String)| {
            let took = format!("{:>8}", row.took.as_deref().unwrap_or_default());
            let error = row.error.as_ref().map(|error| format!("✗ {error}"));
            let parts = [took].into_iter().chain(row.spent.iter().cloned()).chain(error).collect::<Vec<_>>().join("  ");
            format!("{name:<width$} │{}│ {parts}", bar(row.part.as_ref())).trim_end().to_owned()
        };
        let lines = self.rows.iter().zip(&names).map(line);
        lines.chain(self.hidden.clone()).chain([self.total.clone()]).collect()
    }
}

struct SpanRow<'t> {
    span: &'t Span,
    depth: usize,
}

impl<'t> SpanRow<'t> {
    fn shown(&self, times: &Times) -> WaterfallRow<'t> {
        let Span { name, model, tokens, cost_usd, error, .. } = self.span;
        let depth = self.depth.min(MAX_INDENT);
        let model = model.as_ref().filter(|model| !name.contains(model.as_str()));
        let model = model.map_or_else(String::new, |model| format!(" ({model})"));
        let tokens = tokens.map(|tokens| format!("{} tokens", total(tokens)));
        WaterfallRow {
            span: self.span,
            name: cut(&format!("{name}{model}"), MAX_NAME - 2 * depth),
            depth,
            part: times.part(self.span),
            took: millis(self.span).map(duration_ms),
            spent: tokens.into_iter().chain(cost_usd.map(|cost| format!("${cost:.4}"))).collect(),
            error: error.as_deref().map(|error| cut(error, MAX_ERROR)),
        }
    }
}

fn sum(trace: &Trace) -> String {
    let count = trace.spans.len();
    let mut parts = vec![if count == 1 { "1 span".to_owned() } else { format!("{count} spans") }];
    let (first, last) = (Times::of(trace).first, Times::of(trace).last);
    parts.extend(first.zip(last).map(|(first, last)| duration_ms(last.saturating_sub(first) as f64 / 1000.0)));
    let known = || trace.spans.iter().filter_map(|span| span.tokens);
    let tokens = known().next().map(|_| known().map(total).fold(0, u64::saturating_add));
    parts.extend(tokens.map(|tokens| format!("{tokens} tokens")));
    let costs = || trace.spans.iter().filter_map(|span| span.cost_usd);
    let cost = trace.cost_usd.or_else(|| costs().next().map(|_| costs().sum()));
    parts.extend(cost.map(|cost| format!("${cost:.4}")));
    parts.extend(trace.joined.map(|joined| joined_by(joined).to_owned()));
    parts.extend(trace.cut.then(|| "some spans were not recorded".to_owned()));
    parts.extend(trace.unfinished.then(|| "end not observed".to_owned()));
    parts.join(", ")
}

fn joined_by(joined: TraceMatch) -> &'static str {
    match joined {
        TraceMatch::Mark => "found by the identifier passed to the program",
        TraceMatch::LoggedId => "found by the trace id in the log",
        TraceMatch::RunId => "found by the id of the run",
        TraceMatch::Session => "found by the session key",
        TraceMatch::Window => "found by its start time",
    }
}

/// Returns every span with its depth, callers before callees, sorted by start. A span whose
/// caller is missing is outermost.
fn rows(spans: &[Span]) -> Vec<SpanRow<'_>> {
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    for (index, span) in spans.iter().enumerate().filter(|(_, span)| !span.id.is_empty()) {
        by_id.entry(&span.id).or_insert(index);
    }
    let caller = |span: &Span| by_id.get(span.parent.as_deref()?).copied();
    let mut order: Vec<usize> = (0..spans.len()).collect();
    order.sort_by_key(|index| spans[*index].started_us.unwrap_or(i64::MAX));
    let mut called: Vec<Vec<usize>> = vec![Vec::new(); spans.len()];
    let mut outermost = Vec::new();
    for index in &order {
        match caller(&spans[*index]).filter(|caller| caller != index) {
            Some(caller) => called[caller].push(*index),
            None => outermost.push(*index),
        }
    }
    let mut rows = Vec::with_capacity(spans.len());
    let mut is_placed = vec![false; spans.len()];
    // Spans that call each other in a cycle are not below any outermost span.
    for root in outermost.into_iter().chain(order) {
        let mut open = vec![(root, 0)];
        while let Some((index, depth)) = open.pop() {
            if std::mem::replace(&mut is_placed[index], true) {
                continue;
            }
            rows.push(SpanRow { span: &spans[index], depth });
            open.extend(called[index].iter().rev().map(|below| (*below, depth + 1)));
        }
    }
    rows
}

fn chosen<'r, 't>(rows: &'r [SpanRow<'t>]) -> Vec<&'r SpanRow<'t>> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    if rows.len() > MAX_ROWS {
        let rank = |index: &usize| {
            let SpanRow { span, depth } = &rows[*index];
            (span.error.is_none(), *depth, Reverse((millis(span).unwrap_or_default() * 1000.0) as u64), *index)
        };
        order.select_nth_unstable_by_key(MAX_ROWS, rank);
        order.truncate(MAX_ROWS);
        order.sort_unstable();
    }
    order.into_iter().map(|index| &rows[index]).collect()
}

fn cut(text: &str, letters: usize) -> String {
    // More than this is not read: a name may be as long as a document.
    let text = without_breaks(&text.chars().take(4 * letters).collect::<String>());
    match text.char_indices().nth(letters) {
        None => text,
        Some(_) => text.chars().take(letters - 1).chain(['…']).collect(),
    }
}

fn millis(span: &Span) -> Option<f64> {
    let by_times = || Some(span.ended_us?.saturating_sub(span.started_us?).max(0) as f64 / 1000.0);
    span.duration_ms.or_else(by_times)
}

fn total(tokens: Tokens) -> u64 {
    if tokens.total > 0 { tokens.total } else { tokens.input.saturating_add(tokens.output) }
}

/// Start and end of the trace, in microseconds of the Unix epoch.
struct Times {
    first: Option<i64>,
    last: Option<i64>,
}

impl Times {
    fn of(trace: &Trace) -> Times {
        let began = trace.spans.iter().filter_map(|span| span.started_us);
        let ended = trace.spans.iter().filter_map(end);
        Times { first: began.chain(trace.started_us).min(), last: ended.chain(trace.ended_us).max() }
    }

    fn part(&self, span: &Span) -> Option<Range<f64>> {
        let (first, last, began) = (self.first?, self.last?, span.started_us?);
        let whole = last.saturating_sub(first).max(1) as f64;
        let part = |time: i64| (time.saturating_sub(first) as f64 / whole).clamp(0.0, 1.0);
        let from = part(began);
        Some(from..end(span).map_or(from, |ended| part(ended).max(from)))
    }
}

/// Returns a bar for a part of the time. Blank if it is unknown.
fn bar(part: Option<&Range<f64>>) -> String {
    let Some(part) = part else { return " ".repeat(BAR) };
    let from = ((part.start * BAR as f64).floor() as usize).min(BAR - 1);
    // Even the shortest span is visible.
    let to = ((part.end * BAR as f64).round() as usize).max(from + 1);
    format!("{}{}{}", " ".repeat(from), "█".repeat(to - from), " ".repeat(BAR - to))
}

fn end(span: &Span) -> Option<i64> {
    let by_duration = || Some(span.started_us?.saturating_add((span.duration_ms? * 1000.0) as i64));
    span.ended_us.or_else(by_duration)
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use speclens_schema::evidence::SpanKind;

    use super::*;

    fn span(id: &str, parent: &str, name: &str, (from, to): (i64, i64)) -> Span {
        let parent = (!parent.is_empty()).then(|| parent.to_owned());
        Span {
            id: id.to_owned(),
            parent,
            name: name.to_owned(),
            started_us: Some(from * 1000),
            ended_us: Some(to * 1000),
            ..Span::default()
        }
    }

    #[test]
    fn spans_are_below_their_callers_with_their_times_tokens_and_costs() {
        let asked = Span {
            kind: SpanKind::Llm,
            model: Some("sonnet".to_owned()),
            tokens: Some(Tokens { input: 900, output: 120, total: 1020 }),
            cost_usd: Some(0.005),
            ..span("b", "a", "chat", (100, 1300))
        };
        let failed = Span { error: Some("no such\nfile".to_owned()), ..span("c", "a", "read", (1300, 1301)) };
        let trace = Trace {
            spans: vec![failed, asked, span("a", "gone", "agent", (0, 2000)), span("d", "b", "think", (100, 400))],
            joined: Some(TraceMatch::LoggedId),
            ..Trace::default()
        };
        expect![[r#"
            agent           │██████████████████████████████│    2.0 s
              chat (sonnet) │ ███████████████████          │    1.2 s  1020 tokens  $0.0050
                think       │ █████                        │   300 ms
              read          │                   █          │     1 ms  ✗ no such file
            4 spans, 2.0 s, 1020 tokens, $0.0050, found by the trace id in the log"#]]
        .assert_eq(&Waterfall::of(&trace).lines().join("\n"));
    }

    #[test]
    fn spans_in_a_circle_without_times_and_with_odd_times_are_shown() {
        let circle = [("a", "b"), ("b", "a"), ("c", "c")];
        let mut spans: Vec<Span> = circle.map(|(id, parent)| span(id, parent, id, (5, 3))).to_vec();
        spans.push(Span { name: "never".to_owned(), ..Span::default() });
        spans.push(Span { started_us: Some(i64::MIN), ended_us: Some(i64::MAX), ..Span::default() });
        spans.push(Span { duration_ms: Some(f64::MAX), started_us: Some(0), ..Span::default() });
        let trace = Trace { spans, ..Trace::default() };
        assert_eq!(Waterfall::of(&trace).lines().len(), 7);
        assert_eq!(Waterfall::of(&Trace::default()).lines(), ["0 spans"]);
    }

    #[test]
    fn waterfall_of_100_000_spans_is_bounded_and_has_what_failed() {
        let mut spans = vec![span("0", "", "agent", (0, 200_000))];
        // Each span calls the next.
        spans.extend((1..100_000).map(|at| span(&at.to_string(), &(at - 1).to_string(), "deeper", (at, 200_000 - at))));
        spans[99_000].error = Some("x".repeat(100_000));
        spans[500].name = "n".repeat(100_000);
        let trace = Trace { spans, ..Trace::default() };
        let lines = Waterfall::of(&trace).lines();
        assert_eq!(lines.len(), MAX_ROWS + 2);
        assert!(lines.iter().all(|line| line.chars().count() < 200));
        assert!(lines[0].starts_with("agent ") && lines[MAX_ROWS - 1].contains("✗ xxx"), "{}", lines[MAX_ROWS - 1]);
        assert!(lines[MAX_ROWS].starts_with("… 99880 more"), "{}", lines[MAX_ROWS]);
    }
}
