//! What is wrong with the text of a document, as the client reads it. Most of it was sent before: the words of what was
//! found in an item are kept as JSON with the item, and only the numbers of their lines are rewritten.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use rustc_hash::FxHasher;
use speclens_schema::{
    analysis::{Located, Part, Problems},
    problem::Problem,
};
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    convert::{self, Converter, Ranges},
    limit, reference,
    session::Snapshot,
    shares::{Pieces, push_moved},
    transport::Piece,
};

/// Diagnostics as a list in JSON.
pub(super) struct List(Pieces);

impl List {
    /// Returns an empty list.
    pub(super) fn new() -> List {
        List(Pieces::new("["))
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
            match &placed.words.diagnostics[index] {
                Some(json) => {
                    list.0.separate();
                    push_moved(json, placed.words.line, placed.line, list.0.last());
                }
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
        self.0.separate();
        // Nothing in a diagnostic can be refused.
        self.0.last().push_str(&serde_json::to_string(diagnostic).unwrap_or_default());
    }

    /// Returns the list.
    pub(super) fn into_json(self) -> Vec<Piece> {
        self.0.finish("]")
    }

    /// Returns the answer to a client that asks for the diagnostics, and that has those of a result.
    pub(super) fn into_report(self, known: Option<&str>) -> Vec<Piece> {
        let items = self.into_json();
        let mut hasher = FxHasher::default();
        items.iter().for_each(|piece| piece.as_ref().hash(&mut hasher));
        let result = format!("{:016x}", hasher.finish());
        if known == Some(result.as_str()) {
            return vec![format!("{{\"kind\":\"unchanged\",\"resultId\":\"{result}\"}}").into()];
        }
        let head = format!("{{\"kind\":\"full\",\"resultId\":\"{result}\",\"items\":");
        std::iter::once(head.into()).chain(items).chain(["}".to_owned().into()]).collect()
    }
}

/// The words of a part, and the line that it begins in.
struct Placed {
    line: u32,
    words: Arc<Words>,
}

/// The diagnostics of a part.
struct Words {
    /// The line in which the part began when they were written.
    line: u32,
    /// Each as JSON; `None` for one that names places outside of the part.
    diagnostics: Vec<Option<Box<str>>>,
}

impl Placed {
    fn of(part: &Part, converter: &Converter<'_>) -> Placed {
        let mut hasher = FxHasher::default();
        // Links to the reference can be given once it is written.
        (converter.ranges.encoding() as u8, reference::is_written()).hash(&mut hasher);
        let line = converter.ranges.document().text().byte_to_line(part.start());
        let line = u32::try_from(line).unwrap_or(u32::MAX);
        let word = |problem: &Problem| {
            let range = problem.range.start + part.start()..problem.range.end + part.start();
            let is_alone = problem.related.is_empty();
            let here = || lsp::Diagnostic { range: converter.ranges.range(range), ..converter.diagnostic(problem) };
            is_alone.then(|| serde_json::to_string(&here()).ok())?.map(String::into_boxed_str)
        };
        let find_out = || Words { line, diagnostics: part.problems().iter().map(word).collect() };
        Placed { line, words: part.memo(hasher.finish(), find_out) }
    }
}
