//! What is being typed. Problems at it are shown as hints until the cursor leaves its lines or rests: a word is unknown
//! before its last letter.

use std::{ops::Range, time::Duration};

use speclens_schema::document::{Document, Encoding};
use tower_lsp_server::gen_lsp_types as lsp;

use super::convert;

/// Time without a change after which the text counts as written.
pub(super) const REST: Duration = Duration::from_secs(2);

/// The bytes that the last changes wrote in one place; `None` if nothing is being typed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Typing(Option<Range<usize>>);

impl Typing {
    /// Follows a change: `replaced` bytes of the text before became `text`.
    pub(super) fn change(&mut self, replaced: Range<usize>, text: &str) {
        let end = replaced.start + text.len();
        let is_new_line = text.contains('\n') && text.trim().is_empty();
        self.0 = Some(match self.0.take() {
            _ if is_new_line => end..end,
            Some(area) if area.start <= replaced.start && replaced.end <= area.end => {
                area.start..area.end - replaced.len() + text.len()
            }
            Some(_) | None => replaced.start..end,
        });
    }

    pub(super) fn end(&mut self) {
        self.0 = None;
    }

    pub(super) fn is_going_on(&self) -> bool {
        self.0.is_some()
    }

    /// Returns whether a selection has left the lines that are being typed.
    pub(super) fn is_left_by(&self, document: &Document, encoding: Encoding, selection: lsp::Range) -> bool {
        self.0.clone().is_some_and(|area| {
            let area = convert::range(document, encoding, area);
            selection.end.line < area.start.line || area.end.line < selection.start.line
        })
    }

    /// Makes the diagnostics that touch what is being typed hints.
    pub(super) fn calm(&self, document: &Document, encoding: Encoding, diagnostics: &mut [lsp::Diagnostic]) {
        let Some(area) = self.0.clone() else { return };
        let area = convert::range(document, encoding, area);
        let touches = |diagnostic: &&mut lsp::Diagnostic| {
            diagnostic.range.start <= area.end && area.start <= diagnostic.range.end
        };
        for diagnostic in diagnostics.iter_mut().filter(touches) {
            diagnostic.severity = Some(lsp::DiagnosticSeverity::Hint);
        }
    }
}

#[cfg(test)]
mod tests {
    use speclens_schema::document::ScalarRules;

    use super::*;

    fn typed(changes: &[(Range<usize>, &str)]) -> Typing {
        let mut typing = Typing::default();
        changes.iter().for_each(|(replaced, text)| typing.change(replaced.clone(), text));
        typing
    }

    #[test]
    fn letters_in_one_place_are_one_area() {
        assert_eq!(typed(&[(10..10, "e"), (11..11, "q"), (11..12, ""), (11..11, "xit")]), Typing(Some(10..14)));
        assert_eq!(typed(&[(10..10, "e"), (30..30, "q")]), Typing(Some(30..31)));
        assert_eq!(typed(&[(10..20, "a")]), Typing(Some(10..11)));
    }

    #[test]
    fn snippet_is_one_area_while_it_is_filled() {
        let snippet = "name: \n  command: \n  expect: []";
        assert_eq!(typed(&[(10..10, snippet), (16..16, "a"), (30..30, "b")]), Typing(Some(10..43)));
    }

    #[test]
    fn new_line_leaves_the_line_above() {
        assert_eq!(typed(&[(10..10, "exit_code"), (19..19, "\n    ")]), Typing(Some(24..24)));
    }

    #[test]
    fn selection_leaves_the_lines_not_the_word() {
        let document = Document::read("one: 1\ntwo: 2\nthree: 3\n", ScalarRules::Yaml12);
        let typing = typed(&[(7..7, "two")]);
        let line = |line| {
            let position = lsp::Position { line, character: 6 };
            typing.is_left_by(&document, Encoding::Utf16, lsp::Range { start: position, end: position })
        };
        assert_eq!([line(0), line(1), line(2)], [true, false, true]);
    }
}
