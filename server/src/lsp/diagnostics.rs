//! What is wrong with the text of a document, as the client reads it. Most of it was sent before: the words of what was
//! found in an item are kept as JSON with the item, and only the numbers of their lines are rewritten.

use std::{
    fmt::Write as _,
    hash::{Hash, Hasher},
    ops::Range,
    sync::Arc,
};

use rustc_hash::FxHasher;
use speclens_schema::{
    analysis::{Located, Part, Problems},
    document::{LineColumn, Lines},
    problem::Problem,
};
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    convert::{self, Converter, Ranges},
    limit, reference,
    session::Snapshot,
};

/// Diagnostics as a list in JSON.
pub(super) struct List {
    json: String,
}

impl List {
    /// Returns an empty list.
    pub(super) fn new() -> List {
        List { json: String::from("[") }
    }

    /// Returns what is wrong with the text of a document: all of it, or what matters most.
    pub(super) fn of(snapshot: &Snapshot, uri: &lsp::Uri, problems: &Problems) -> List {
        let all: Vec<Located<'_>> = problems.iter().collect();
        let shown = limit::chosen(&all, snapshot.edited_at, |located| (located.severity(), located.range()));
        let ranges = Ranges::new(&snapshot.document, snapshot.abilities.encoding);
        let converter = Converter { ranges, uri, directory: &snapshot.place.directory };
        let mut list = List::new();
        let mut last: Option<(&Part, Placed)> = None;
        for located in &shown {
            let Some((part, index)) = located.part() else {
                list.push(&converter.diagnostic(located.as_found()));
                continue;
            };
            let placed = match &last {
                Some((known, placed)) if std::ptr::eq(*known, part) => placed,
                Some(_) | None => &last.insert((part, Placed::of(part, &converter))).1,
            };
            match &placed.words.0[index] {
                Some(worded) => list.push_worded(worded, placed.line),
                None => list.push(&converter.diagnostic(&located.problem())),
            }
        }
        list.extend(convert::left_out(all.len() - shown.len(), convert::SOURCE, "speclens check").as_ref());
        list
    }

    /// Adds diagnostics.
    pub(super) fn extend<'d>(&mut self, diagnostics: impl IntoIterator<Item = &'d lsp::Diagnostic>) {
        diagnostics.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }

    fn push(&mut self, diagnostic: &lsp::Diagnostic) {
        self.separate();
        // Nothing in a diagnostic can be refused.
        self.json.push_str(&serde_json::to_string(diagnostic).unwrap_or_default());
    }

    fn push_worded(&mut self, Worded { start, end, rest }: &Worded, line: usize) {
        self.separate();
        self.json.push_str("{\"range\":{\"start\":");
        self.push_place(*start, line);
        self.json.push_str(",\"end\":");
        self.push_place(*end, line);
        self.json.push('}');
        self.json.push_str(rest);
    }

    fn push_place(&mut self, LineColumn { line, column }: LineColumn, first: usize) {
        // A string takes everything.
        let _ = write!(self.json, "{{\"line\":{},\"character\":{column}}}", first + line);
    }

    fn separate(&mut self) {
        if self.json.len() > 1 {
            self.json.push(',');
        }
    }

    /// Returns the list.
    pub(super) fn into_json(mut self) -> String {
        self.json.push(']');
        self.json
    }

    /// Returns the answer to a client that asks for the diagnostics, and that has those of a result.
    pub(super) fn into_report(self, known: Option<&str>) -> String {
        let items = self.into_json();
        let mut hasher = FxHasher::default();
        items.hash(&mut hasher);
        let result = format!("{:016x}", hasher.finish());
        match known {
            Some(known) if known == result => format!("{{\"kind\":\"unchanged\",\"resultId\":\"{result}\"}}"),
            Some(_) | None => format!("{{\"kind\":\"full\",\"resultId\":\"{result}\",\"items\":{items}}}"),
        }
    }
}

/// The words of a part, and the line that it begins in.
struct Placed {
    line: usize,
    words: Arc<Words>,
}

/// The diagnostics of a part. `None` for one that names places outside of the part.
struct Words(Vec<Option<Worded>>);

/// A diagnostic, with its lines counted from the first one of its part.
struct Worded {
    start: LineColumn,
    end: LineColumn,
    /// What follows the range in JSON.
    rest: String,
}

impl Placed {
    fn of(part: &Part, converter: &Converter<'_>) -> Placed {
        let mut hasher = FxHasher::default();
        // Links to the reference can be given once it is written.
        (converter.ranges.encoding() as u8, reference::is_written()).hash(&mut hasher);
        let line = converter.ranges.document().text().byte_to_line(part.start());
        let word = |problem: &Problem| Worded::of(problem, part.start(), line, converter);
        let words = part.memo(hasher.finish(), || Words(part.problems().iter().map(word).collect()));
        Placed { line, words }
    }
}

impl Worded {
    fn of(problem: &Problem, distance: usize, first: usize, converter: &Converter<'_>) -> Option<Worded> {
        if !problem.related.is_empty() {
            return None;
        }
        let here = lsp::Diagnostic { range: lsp::Range::default(), ..converter.diagnostic(problem) };
        let range = serde_json::to_string(&here.range).ok()?;
        let json = serde_json::to_string(&here).ok()?;
        let rest = json.strip_prefix("{\"range\":")?.strip_prefix(range.as_str())?.to_owned();
        let Range { start, end } = &problem.range;
        let lines = Lines::new(converter.ranges.document().text(), converter.ranges.encoding());
        let places = lines.places(start + distance..end + distance);
        let place = |place: LineColumn| LineColumn { line: place.line - first, ..place };
        Some(Worded { start: place(places.start), end: place(places.end), rest })
    }
}
