//! The diagnostics of a document's text, as JSON. Most of it was sent before: the JSON of a group of items is kept with the
//! group, and sent again as it is if the group is on the same line. If not, the line numbers are rewritten in the JSON of each
//! problem.

use std::{
    hash::{Hash, Hasher},
    sync::{Arc, OnceLock},
};

use rustc_hash::FxHasher;
use speclens_schema::{
    analysis::{Group, Located, Part, Problems, Run},
    document::parallel,
    problem::Severity,
};
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    convert::{self, Converter, Ranges},
    fragments::{JsonPieces, push_moved},
    limit::{Choice, Chosen},
    session::Snapshot,
    transport::Piece,
};

/// Diagnostics as a list in JSON.
pub(super) struct List(JsonPieces);

impl List {
    /// Returns an empty list.
    pub(super) fn new() -> List {
        List(JsonPieces::new("["))
    }

    /// Returns the diagnostics of the text of a document: all of them, or the most important.
    pub(super) fn of(snapshot: &Snapshot, uri: &lsp::Uri, problems: &Problems) -> List {
        let writer = Writer::of(snapshot, uri, problems);
        let mut choice = Choice::of(problems, snapshot.edited_at);
        if snapshot.latest.is_none() {
            write_ahead(snapshot, uri, problems, choice.clone());
        }
        let mut list = List::new();
        for run in problems.runs() {
            match run {
                Run::Group(group) => match choice.of_group(group) {
                    Chosen::None => {}
                    Chosen::Down(least) => list.0.add_kept(&writer.words_of(group, least).0),
                    Chosen::Some => {
                        let located = problems.of_group(group);
                        located.for_each(|located| list.push_chosen(&located, &mut choice, &writer));
                    }
                },
                Run::One(located) => list.push_chosen(&located, &mut choice, &writer),
            }
        }
        list.extend(convert::left_out(choice.left_out, convert::SOURCE, "speclens check").as_ref());
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

    fn push_chosen(&mut self, located: &Located<'_>, choice: &mut Choice, writer: &Writer<'_>) {
        if !choice.takes(located.severity(), &located.range()) {
            return;
        }
        match located.part() {
            None => self.push(&writer.converter.diagnostic(located.as_found())),
            Some((part, index)) => {
                self.0.separate();
                writer.write(&writer.words_of_part(part), index, located, self.0.last());
            }
        }
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

/// Writes the diagnostics of a document.
struct Writer<'s> {
    converter: Converter<'s>,
    problems: &'s Problems,
    /// A hash of everything outside of a problem that its JSON depends on, besides the lines.
    circumstances: u64,
}

/// The diagnostics of a group, with a comma before each.
struct GroupDiagnostics(Arc<str>);

/// The diagnostics of a part, once they are written.
struct PartDiagnostics(Vec<OnceLock<DiagnosticJson>>);

/// A diagnostic as JSON.
struct DiagnosticJson {
    /// All but the places that belong to it.
    json: Box<str>,
    /// The line in which the part began when it was written.
    line: u32,
    /// The places that belong to it, each with the line from which its lines counted then. `None` for a place in another
    /// file.
    related: Box<[(Box<str>, Option<u32>)]>,
}

/// Writes the diagnostics, possibly hundreds, of a document that was just opened, on several threads.
fn write_ahead(snapshot: &Snapshot, uri: &lsp::Uri, problems: &Problems, mut choice: Choice) {
    let all = problems.runs().flat_map(|run| match run {
        Run::Group(group) => problems.of_group(group).collect(),
        Run::One(located) => vec![located],
    });
    let chosen: Vec<Located<'_>> = all.filter(|located| choice.takes(located.severity(), &located.range())).collect();
    parallel::map(&chosen, |located| {
        if let Some((part, index)) = located.part() {
            let writer = Writer::of(snapshot, uri, problems);
            writer.worded(&writer.words_of_part(part), index, located);
        }
    });
}

impl<'s> Writer<'s> {
    fn of(snapshot: &'s Snapshot, uri: &'s lsp::Uri, problems: &'s Problems) -> Writer<'s> {
        let ranges = Ranges::new(&snapshot.document, snapshot.abilities.encoding);
        let converter = Converter { ranges, uri, directory: &snapshot.place.directory };
        let mut hasher = FxHasher::default();
        (converter.ranges.encoding() as u8).hash(&mut hasher);
        Writer { converter, problems, circumstances: hasher.finish() }
    }

    /// Returns the diagnostics of a group that are at least this severe.
    fn words_of(&self, group: &Group, least: Severity) -> Arc<GroupDiagnostics> {
        let mut hasher = FxHasher::default();
        let lines = group.has_places_elsewhere().then(|| self.converter.ranges.document().lines_id());
        (self.circumstances, least, group.line(), lines).hash(&mut hasher);
        group.memo(hasher.finish(), || {
            let mut json = String::new();
            for part in group.parts() {
                let words = self.words_of_part(part);
                for (index, located) in self.problems.of_part(part).enumerate() {
                    if located.severity() <= least {
                        json.push(',');
                        self.write(&words, index, &located, &mut json);
                    }
                }
            }
            GroupDiagnostics(json.into())
        })
    }

    fn words_of_part(&self, part: Part<'_>) -> Arc<PartDiagnostics> {
        part.memo(self.circumstances, || PartDiagnostics(part.problems().iter().map(|_| OnceLock::new()).collect()))
    }

    fn worded<'w>(&self, words: &'w PartDiagnostics, index: usize, located: &Located<'_>) -> &'w DiagnosticJson {
        words.0[index].get_or_init(|| DiagnosticJson::of(located, &self.converter))
    }

    /// Writes a diagnostic of a part, with the lines that its places are in now.
    fn write(&self, words: &PartDiagnostics, index: usize, located: &Located<'_>, json: &mut String) {
        let worded = self.worded(words, index, located);
        push_moved(&worded.json, worded.line, line_of(located), json);
        if worded.related.is_empty() {
            return;
        }
        // The end of the object comes after its last member.
        json.pop();
        json.push_str(",\"relatedInformation\":[");
        for ((words, was), line) in worded.related.iter().zip(located.lines_of_related()) {
            match was {
                Some(was) => push_moved(words, *was, number(line), json),
                None => json.push_str(words),
            }
            json.push(',');
        }
        json.pop();
        json.push_str("]}");
    }
}

impl DiagnosticJson {
    fn of(located: &Located<'_>, converter: &Converter<'_>) -> DiagnosticJson {
        let mut diagnostic = converter.diagnostic(&located.problem());
        let related = diagnostic.related_information.take().unwrap_or_default();
        let lines = located.lines_of_related().into_iter().zip(&located.as_found().related);
        let was: Vec<Option<u32>> = lines.map(|(line, related)| related.file.is_none().then(|| number(line))).collect();
        // Serializing a diagnostic cannot fail.
        let words = |related: &lsp::DiagnosticRelatedInformation| serde_json::to_string(related).unwrap_or_default();
        DiagnosticJson {
            json: serde_json::to_string(&diagnostic).unwrap_or_default().into(),
            line: line_of(located),
            related: related.iter().map(|related| words(related).into()).zip(was).collect(),
        }
    }
}

/// Returns the line that the lines of a problem count from.
fn line_of(located: &Located<'_>) -> u32 {
    located.part().map_or(0, |(part, _)| number(part.line()))
}

fn number(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}
