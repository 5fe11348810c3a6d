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
    /// The line.
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
        let line = self.text.byte_to_line(offset);
        let start = self.text.line_to_byte(line);
        // Inside a character: its beginning.
        let offset = self.text.char_to_byte(self.text.byte_to_char(offset));
        let before = self.text.byte_slice(start..offset.max(start));
        LineColumn { line, column: self.width(before) }
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

    /// Returns the positions of a range.
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

#[cfg(test)]
mod tests {
    use ropey::Rope;

    use super::{Encoding, LineColumn, Lines};

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
