//! The diagnostics of a document's text, as JSON. Most of it was sent before: the JSON of the problems in an item is
//! kept with the item, and only its line numbers are rewritten.

use std::{
    hash::{Hash, Hasher},
    sync::{Arc, OnceLock},
};

use ropey::Rope;
use rustc_hash::{FxHashMap, FxHasher};
use speclens_schema::{
    analysis::{Located, Part, Problems},
    document::Document,
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

    /// Returns the diagnostics of the text of a document: all of them, or the most important.
    pub(super) fn of(snapshot: &Snapshot, uri: &lsp::Uri, problems: &Problems) -> List {
        let all: Vec<Located<'_>> = problems.iter().collect();
        let shown = limit::chosen(&all, snapshot.edited_at, |located| (located.severity(), located.range()));
        let ranges = Ranges::new(&snapshot.document, snapshot.abilities.encoding);
        let converter = Converter { ranges, uri, directory: &snapshot.place.directory };
        let mut list = List::new();
        let mut last: Option<(&Part, Placed)> = None;
        let mut lines = Lines::of(&snapshot.document);
        for located in &shown {
            let Some((part, index)) = located.part() else {
                list.push(&converter.diagnostic(located.as_found()));
                continue;
            };
            let placed = match &last {
                Some((known, placed)) if std::ptr::eq(*known, part) => placed,
                Some(_) | None => &last.insert((part, Placed::of(part, &converter, &mut lines))).1,
            };
            let worded = placed.words.0[index].get_or_init(|| Worded::of(located, &converter, &mut lines));
            list.push_worded(worded, located, placed.line, &mut lines);
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
        // Serializing a diagnostic cannot fail.
        self.0.last().push_str(&serde_json::to_string(diagnostic).unwrap_or_default());
    }

    /// Adds a diagnostic that was written before, with the lines that its places are in now.
    fn push_worded(&mut self, worded: &Worded, located: &Located<'_>, line: u32, lines: &mut Lines<'_>) {
        self.0.separate();
        let json = self.0.last();
        push_moved(&worded.json, worded.line, line, json);
        if worded.related.is_empty() {
            return;
        }
        // The end of the object comes after its last member.
        json.pop();
        json.push_str(",\"relatedInformation\":[");
        for ((words, was), start) in worded.related.iter().zip(located.starts_of_related()) {
            match was {
                Some(was) => push_moved(words, *was, lines.line_of(start), json),
                None => json.push_str(words),
            }
            json.push(',');
        }
        json.pop();
        json.push_str("]}");
    }

    /// Returns the list.
    pub(super) fn into_json(self) -> Vec<Piece> {
        self.0.finish("]")
    }

    /// Returns the report for a client that pulls diagnostics and has those of a previous result.
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

/// The lines of a text. Many places are asked for again and again.
struct Lines<'d> {
    text: &'d Rope,
    known: FxHashMap<usize, u32>,
}

impl<'d> Lines<'d> {
    fn of(document: &'d Document) -> Lines<'d> {
        Lines { text: document.text(), known: FxHashMap::default() }
    }

    /// Returns the line that a byte is in.
    fn line_of(&mut self, at: usize) -> u32 {
        let text = self.text;
        *self.known.entry(at).or_insert_with(|| u32::try_from(text.byte_to_line(at)).unwrap_or(u32::MAX))
    }
}

/// The JSON of a part, and the line it begins on.
struct Placed {
    line: u32,
    words: Arc<Words>,
}

/// The diagnostics of a part, once they are written.
struct Words(Vec<OnceLock<Worded>>);

/// A diagnostic as JSON.
struct Worded {
    /// All but the places that belong to it.
    json: Box<str>,
    /// The line in which the part began when it was written.
    line: u32,
    /// The places that belong to it, each with the line from which its lines counted then. `None` for a place in another
    /// file.
    related: Box<[(Box<str>, Option<u32>)]>,
}

impl Placed {
    fn of(part: &Part, converter: &Converter<'_>, lines: &mut Lines<'_>) -> Placed {
        let mut hasher = FxHasher::default();
        // Links to the reference exist only once it is written.
        (converter.ranges.encoding() as u8, reference::is_written()).hash(&mut hasher);
        let compute = || Words(part.problems().iter().map(|_| OnceLock::new()).collect());
        Placed { line: lines.line_of(part.start()), words: part.memo(hasher.finish(), compute) }
    }
}

impl Worded {
    fn of(located: &Located<'_>, converter: &Converter<'_>, lines: &mut Lines<'_>) -> Worded {
        let mut diagnostic = converter.diagnostic(&located.problem());
        let related = diagnostic.related_information.take().unwrap_or_default();
        let starts = located.starts_of_related().into_iter().zip(&located.as_found().related);
        let was: Vec<Option<u32>> =
            starts.map(|(start, related)| related.file.is_none().then(|| lines.line_of(start))).collect();
        // Serializing a diagnostic cannot fail.
        let words = |related: &lsp::DiagnosticRelatedInformation| serde_json::to_string(related).unwrap_or_default();
        let start = located.part().map_or(0, |(part, _)| part.start());
        Worded {
            json: serde_json::to_string(&diagnostic).unwrap_or_default().into(),
            line: lines.line_of(start),
            related: related.iter().map(|related| words(related).into()).zip(was).collect(),
        }
    }
}
