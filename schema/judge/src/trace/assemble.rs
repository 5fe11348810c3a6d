//! Assembles exported spans into a trace: the kind of each span depends on the others.

use std::collections::{HashMap, HashSet};

use super::{
    content::said,
    conventions::{
        Role, asks_for_tools, cost_of, error_of, is_gateway_run, is_outermost, model_of, name_of, tokens_of,
    },
    exported::Exported,
};
use crate::{
    check::text::hexadecimal,
    evidence::{Span, SpanKind, Trace},
};

pub const MAX_SPANS: usize = 100_000;

const MAX_DEPTH: usize = 1_000;

const MAX_NAME: usize = 1024;
const MAX_ERROR: usize = 4096;

pub fn assemble<'e>(spans: impl IntoIterator<Item = &'e Exported>) -> Trace {
    let spans = distinct(spans);
    let unfinished = !has_ended(spans.iter().copied());
    let tree = Tree::of(&spans);
    let roles = roles(&spans, &tree);
    let reported: Vec<_> = spans.iter().map(|it| tokens_of(it)).collect();
    let reported_below = tree.below(|index| reported[index].is_some());
    let models_report = (0..spans.len()).any(|index| roles[index] == Role::Model && reported[index].is_some());
    let cost_below = tree.below(|index| cost_of(spans[index]).is_some());
    let parts = spans.iter().enumerate().take(MAX_SPANS).map(|(index, exported)| {
        let role = roles[index];
        let is_reported_elsewhere = reported_below[index] || models_report && role == Role::Accounting;
        let tokens = reported[index].filter(|_| !is_reported_elsewhere);
        // Tokens cost as much as the model charges.
        let by_tokens = tokens.and_then(|_| model_of(exported, Role::Model));
        Span {
            id: hexadecimal(&exported.span.span_id),
            parent: (!exported.is_root()).then(|| hexadecimal(&exported.span.parent_span_id)),
            kind: role.kind(),
            name: shortened(name_of(exported, role), MAX_NAME),
            model: model_of(exported, role).or(by_tokens).map(|model| shortened(model, MAX_NAME)),
            started_us: exported.started_us(),
            ended_us: exported.ended_us(),
            duration_ms: None,
            // A span around others reports the sum of theirs.
            tokens,
            cost_usd: cost_of(exported).filter(|_| !cost_below[index]),
            error: error_of(exported).map(|error| shortened(&error, MAX_ERROR)),
        }
    });
    let parts: Vec<Span> = parts.collect();
    let asks = |index: usize| asks_for_tools(spans[index]) || !said(spans[index], &[]).calls.is_empty();
    let unseen_tools =
        !roles.contains(&Role::Tool) && (0..spans.len()).any(|index| roles[index] == Role::Model && asks(index));
    Trace {
        started_us: spans.iter().filter_map(|it| it.started_us()).min(),
        ended_us: spans.iter().filter_map(|it| it.ended_us()).max(),
        cut: spans.len() > MAX_SPANS || lacks_parents(&spans, &tree) || spans.iter().any(|it| it.is_cut()),
        spans: parts,
        unfinished,
        unseen_tools,
        ..Trace::default()
    }
}

/// Returns the spans in the order in which they began, each of them once.
pub fn distinct<'e>(spans: impl IntoIterator<Item = &'e Exported>) -> Vec<&'e Exported> {
    let mut spans: Vec<&Exported> = spans.into_iter().collect();
    // A program that does not receive a response in time sends a span again, and some send one that has not ended.
    spans.sort_by_key(|it| it.span.end_time_unix_nano == 0);
    let mut seen = HashSet::new();
    spans.retain(|Exported { span, .. }| {
        span.span_id.is_empty() || seen.insert((&span.trace_id, &span.span_id, &span.name, span.start_time_unix_nano))
    });
    spans.sort_by_key(|it| it.span.start_time_unix_nano);
    spans
}

/// Returns whether the outermost span of each trace has ended. One in which no agent worked does not matter beside
/// others.
pub fn has_ended<'e>(spans: impl IntoIterator<Item = &'e Exported>) -> bool {
    #[derive(Default)]
    struct Progress {
        is_work: bool,
        has_ended: bool,
    }
    let mut traces: HashMap<&[u8], Progress> = HashMap::new();
    for exported in spans {
        let trace = traces.entry(&exported.span.trace_id).or_default();
        trace.is_work |= Role::of(exported).kind() != SpanKind::Other;
        trace.has_ended |= is_outermost(exported) && exported.ended_us().is_some();
    }
    let is_any_work = traces.values().any(|trace| trace.is_work);
    let mut relevant = traces.values().filter(|trace| trace.is_work || !is_any_work).peekable();
    relevant.peek().is_some() && relevant.all(|trace| trace.has_ended)
}

/// Returns whether every span has ended: in a stored trace, the outermost one may be elsewhere.
pub fn have_ended<'e>(spans: impl IntoIterator<Item = &'e Exported>) -> bool {
    distinct(spans).iter().all(|it| it.ended_us().is_some())
}

/// Returns whether a trace whose outermost span was received lacks the parent of another one. Without an outermost span,
/// the parent may be a span of the caller, which is exported elsewhere.
fn lacks_parents(spans: &[&Exported], tree: &Tree) -> bool {
    let rooted: HashSet<&[u8]> = spans.iter().filter(|it| it.is_root()).map(|it| &*it.span.trace_id).collect();
    let lacks = |(it, parent): (&&Exported, &Option<usize>)| {
        parent.is_none() && !is_outermost(it) && rooted.contains(&*it.span.trace_id)
    };
    spans.iter().zip(&tree.parents).any(lacks)
}

struct Tree {
    parents: Vec<Option<usize>>,
}

impl Tree {
    fn of(spans: &[&Exported]) -> Tree {
        let named = spans.iter().enumerate().filter(|(_, it)| !it.span.span_id.is_empty());
        let places: HashMap<(&[u8], &[u8]), usize> =
            named.map(|(index, it)| ((&*it.span.trace_id, &*it.span.span_id), index)).collect();
        let parent = |it: &&Exported| places.get(&(&*it.span.trace_id, &*it.span.parent_span_id)).copied();
        let mut tree = Tree { parents: spans.iter().map(parent).collect() };
        // A span that is its own ancestor is outermost: the export is faulty.
        for index in 0..spans.len() {
            if tree.above(index).take(MAX_DEPTH).any(|above| above == index) {
                tree.parents[index] = None;
            }
        }
        tree
    }

    fn above(&self, index: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(self.parents[index], |above| self.parents[*above])
    }

    fn below(&self, holds: impl Fn(usize) -> bool) -> Vec<bool> {
        let mut below = vec![false; self.parents.len()];
        for index in (0..self.parents.len()).filter(|index| holds(*index)) {
            // All ancestors of a marked one were marked before.
            for above in self.above(index) {
                if std::mem::replace(&mut below[above], true) {
                    break;
                }
            }
        }
        below
    }
}

fn roles(spans: &[&Exported], tree: &Tree) -> Vec<Role> {
    let mut roles: Vec<Role> = spans.iter().map(|it| Role::of(it)).collect();
    let own = roles.clone();
    let counts = |role: Role| match role {
        Role::Model | Role::Tool | Role::Agent | Role::Delegation => true,
        Role::Accounting | Role::Other => false,
    };
    for index in 0..spans.len() {
        let around = tree.above(index).take(MAX_DEPTH).find(|above| counts(own[*above]));
        let Some(around) = around.filter(|around| own[*around] == own[index]) else { continue };
        match own[index] {
            // A framework and the library below it each have a span for the same request: the inner one has more
            // details.
            Role::Model => roles[around] = Role::Other,
            // A program that passes on a call has a span for it, too.
            Role::Tool if name_of(spans[around], Role::Tool) == name_of(spans[index], Role::Tool) => {
                roles[index] = Role::Other;
            }
            Role::Tool | Role::Accounting | Role::Agent | Role::Delegation | Role::Other => {}
        }
    }
    if !roles.contains(&Role::Model) {
        roles.iter_mut().filter(|role| **role == Role::Accounting).for_each(|role| *role = Role::Model);
    }
    // A single agent does not delegate, unless the gateway has a separate span for the started agent.
    let agents: HashSet<&str> = roles
        .iter()
        .zip(spans)
        .filter(|(role, _)| matches!(role, Role::Agent | Role::Delegation))
        .map(|(role, it)| name_of(it, *role))
        .collect();
    if agents.len() < 2 && !spans.iter().any(|it| is_gateway_run(it)) {
        roles.iter_mut().filter(|role| **role == Role::Agent).for_each(|role| *role = Role::Other);
    }
    roles
}

impl Trace {
    pub fn and(mut self, other: Trace) -> Trace {
        self.started_us = [self.started_us, other.started_us].into_iter().flatten().min();
        self.ended_us = self.ended_us.max(other.ended_us);
        self.spans.extend(other.spans);
        self.spans.sort_by_key(|span| span.started_us.unwrap_or(i64::MAX));
        self.cut |= other.cut || self.spans.len() > MAX_SPANS;
        self.spans.truncate(MAX_SPANS);
        self.unfinished |= other.unfinished;
        self.unseen_tools |= other.unseen_tools;
        self.masked |= other.masked;
        self.unassigned = self.unassigned.max(other.unassigned);
        self.cost_usd = match (self.cost_usd, other.cost_usd) {
            (Some(one), Some(two)) => Some(one + two),
            (Some(_), None) | (None, _) => None,
        };
        self
    }
}

/// Returns the words of a text that fit into this many bytes. No word is cut: a part of a secret would not be found to
/// mask it.
pub(super) fn shortened(text: &str, limit: usize) -> String {
    if text.len() <= limit {
        return text.to_owned();
    }
    let start = &text[..text.floor_char_boundary(limit)];
    format!("{}…", &start[..start.rfind(char::is_whitespace).unwrap_or(0)])
}
