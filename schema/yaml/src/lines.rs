//! Bytes ⇄ lines and columns, in the units of editors.

use std::ops::Range;

use ropey::{Rope, RopeSlice};

/// The unit of a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// UTF-16 code units, which every LSP client supports.
    #[default]
    Utf16,
    /// Characters.
    Utf32,
}

/// A position as in an editor; both count from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineColumn {
    pub line: usize,
    /// The column, in units of an [`Encoding`].
    pub column: usize,
}

/// Converts positions of a text.
#[derive(Clone, Copy, Debug)]
pub struct Lines<'t> {
    text: &'t Rope,
    encoding: Encoding,
}

impl<'t> Lines<'t> {
    /// Returns a converter for a text.
    pub fn new(text: &'t Rope, encoding: Encoding) -> Lines<'t> {
        Lines { text, encoding }
    }

    /// Returns the position of a byte, or of the end if there is no such byte.
    pub fn place(&self, offset: usize) -> LineColumn {
        let offset = offset.min(self.text.len_bytes());
        if let Some(place) = self.place_in_chunk(offset) {
            return place;
        }
        let line = self.text.byte_to_line(offset);
        let start = self.text.line_to_byte(line);
        // Inside a character: its beginning.
        let offset = self.text.char_to_byte(self.text.byte_to_char(offset));
        let before = self.text.byte_slice(start..offset.max(start));
        LineColumn { line, column: self.width(before) }
    }

    /// Does the same for most bytes: those whose line begins in the same chunk of the text, which has no carriage
    /// returns.
    fn place_in_chunk(&self, offset: usize) -> Option<LineColumn> {
        let (chunk, start, _, line) = self.text.chunk_at_byte(offset);
        let before = chunk.get(..offset - start)?;
        let (above, own) = before.rsplit_once('\n')?;
        if before.contains('\r') {
            return None;
        }
        let column = match self.encoding {
            Encoding::Utf8 => own.len(),
            Encoding::Utf16 | Encoding::Utf32 if own.is_ascii() => own.len(),
            Encoding::Utf16 => own.encode_utf16().count(),
            Encoding::Utf32 => own.chars().count(),
        };
        Some(LineColumn { line: line + 1 + memchr::memchr_iter(b'\n', above.as_bytes()).count(), column })
    }

    /// Returns the byte at a position. A column beyond the end of its line is the line's end, a line beyond the end of
    /// the text is the text's end.
    pub fn offset(&self, place: LineColumn) -> usize {
        if place.line >= self.text.len_lines() {
            return self.text.len_bytes();
        }
        let start = self.text.line_to_byte(place.line);
        let mut column = 0;
        let mut offset = start;
        for character in self.text.line(place.line).chars() {
            if column >= place.column || matches!(character, '\n' | '\r') {
                break;
            }
            let width = match self.encoding {
                Encoding::Utf8 => character.len_utf8(),
                Encoding::Utf16 => character.len_utf16(),
                Encoding::Utf32 => 1,
            };
            if column + width > place.column {
                break;
            }
            column += width;
            offset += character.len_utf8();
        }
        offset
    }

    pub fn places(&self, range: Range<usize>) -> Range<LineColumn> {
        self.place(range.start)..self.place(range.end)
    }

    fn width(&self, text: RopeSlice<'_>) -> usize {
        match self.encoding {
            Encoding::Utf8 => text.len_bytes(),
            Encoding::Utf16 => text.len_utf16_cu(),
            Encoding::Utf32 => text.len_chars(),
        }
    }
}

pub(crate) fn is_on_one_line(text: &Rope, range: &Range<usize>) -> bool {
    let (chunk, start, ..) = text.chunk_at_byte(range.start);
    match chunk.as_bytes().get(range.start - start..range.end - start) {
        Some(inside) => memchr::memchr2(b'\n', b'\r', inside).is_none(),
        None => text.byte_to_line(range.start) == text.byte_to_line(range.end),
    }
}

#[cfg(test)]
mod tests {
    use ropey::Rope;

    use super::{Encoding, LineColumn, Lines, is_on_one_line};

    #[test]
    fn places_in_a_long_text_are_those_of_a_count_from_its_beginning() {
        let long = "x".repeat(3_000);
        for line_end in ["\n", "\r\n", "\r"] {
            let written = format!("ä😀 b{line_end}{line_end}{long}é{line_end}c{line_end}").repeat(3);
            let text = Rope::from_str(&written);
            assert!(text.chunks().count() > 3);
            for (offset, letter) in written.char_indices() {
                let before = &written[..offset];
                // Both bytes of a two-byte line end are on the line that they end.
                let lines: Vec<&str> = match before.strip_suffix('\r').filter(|_| letter == '\n') {
                    Some(before) => [before.split(line_end).collect(), vec![]].concat(),
                    None => before.split(line_end).collect(),
                };
                let own = lines.last().unwrap();
                let inside = usize::from(letter == '\n' && line_end == "\r\n");
                for (encoding, column) in [
                    (Encoding::Utf8, own.len()),
                    (Encoding::Utf16, own.encode_utf16().count()),
                    (Encoding::Utf32, own.chars().count()),
                ] {
                    let place = LineColumn { line: lines.len() - 1, column: column + inside };
                    assert_eq!(Lines::new(&text, encoding).place(offset), place, "{offset} {encoding:?} {line_end:?}");
                }
                let end = offset + written[offset..].chars().take(40).map(char::len_utf8).sum::<usize>();
                if written[..end].ends_with('\r') && written[end..].starts_with('\n') {
                    continue;
                }
                let is_same = text.byte_to_line(offset) == text.byte_to_line(end);
                assert_eq!(is_on_one_line(&text, &(offset..end)), is_same, "{offset} {line_end:?}");
            }
        }
    }

    #[test]
    fn columns_count_in_the_unit_of_the_client() {
        let text = Rope::from_str("a\r\nä😀b\nc");
        for (encoding, column) in [(Encoding::Utf8, 6), (Encoding::Utf16, 3), (Encoding::Utf32, 2)] {
            let lines = Lines::new(&text, encoding);
            let offset = 3 + 2 + 4;
            assert_eq!(lines.place(offset), LineColumn { line: 1, column });
            assert_eq!(lines.offset(LineColumn { line: 1, column }), offset);
        }
    }

    #[test]
    fn places_beyond_the_end_are_the_end() {
        let text = Rope::from_str("ab\ncd");
        let lines = Lines::new(&text, Encoding::Utf16);
        assert_eq!(lines.offset(LineColumn { line: 0, column: 9 }), 2);
        assert_eq!(lines.offset(LineColumn { line: 7, column: 0 }), 5);
        assert_eq!(lines.place(99), LineColumn { line: 1, column: 2 });
    }

    #[test]
    fn only_line_feeds_and_returns_break_lines() {
        let text = Rope::from_str("a\u{2028}b\u{85}c\u{b}d\ne");
        assert_eq!(Lines::new(&text, Encoding::Utf16).place(text.len_bytes()).line, 1);
    }
}
