//! Related places of a verdict: in the claim, or in another file.

use std::ops::Range;

use crate::mask::shown;
use speclens_yaml::Pointer;

#[derive(Clone, Debug, PartialEq)]
pub struct Related {
    pub message: String,
    pub at: RelatedPlace,
}

#[derive(Clone, Debug, PartialEq)]
pub enum RelatedPlace {
    /// In the file of the claim, relative to the claim.
    Claim(Pointer),
    File(FilePlace),
}

/// A place in a file without claims: an artifact, a log, a schema, a golden file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// The file, relative to the base directory of the suite's paths, or absolute.
    pub path: String,
    pub node: Option<Pointer>,
    /// The part of a line; `None` for the file as a whole.
    pub line_part: Option<LinePart>,
}

/// A part of a line. Masking keeps its columns: a secret becomes as many stars as it has units.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinePart {
    pub line: usize,
    /// The columns, from 0, in UTF-16 units.
    pub columns: Range<usize>,
    pub text: String,
}

const MAX_LINE_BYTES: usize = 4096;

impl Related {
    pub fn in_claim(message: impl Into<String>, at: Pointer) -> Related {
        Related { message: message.into(), at: RelatedPlace::Claim(at) }
    }

    pub fn in_file(message: impl Into<String>, at: FilePlace) -> Related {
        Related { message: message.into(), at: RelatedPlace::File(at) }
    }

    pub(super) fn texts(&mut self) -> impl Iterator<Item = &mut String> {
        let (path, line) = match &mut self.at {
            RelatedPlace::Claim(_) => (None, None),
            RelatedPlace::File(FilePlace { path, line_part, .. }) => {
                (Some(path), line_part.as_mut().map(|line_part| &mut line_part.text))
            }
        };
        [Some(&mut self.message), path, line].into_iter().flatten()
    }
}

impl FilePlace {
    pub fn whole(path: impl Into<String>) -> FilePlace {
        FilePlace { path: path.into(), node: None, line_part: None }
    }

    /// Returns a byte range of a file with this text, up to the end of its first line.
    pub fn bytes(path: impl Into<String>, text: &str, range: Range<usize>) -> FilePlace {
        FilePlace { line_part: Some(LinePart::of(text, range)), ..FilePlace::whole(path) }
    }

    pub fn behind(mut self, lines: usize) -> FilePlace {
        self.line_part.iter_mut().for_each(|line_part| line_part.line += lines);
        self
    }

    /// Returns a line of a file with this text, counted from 0; the file as a whole if it has no such line.
    pub fn line(path: impl Into<String>, text: &str, line: usize) -> FilePlace {
        match lines(text).nth(line) {
            Some(range) => FilePlace::bytes(path, text, range),
            None => FilePlace::whole(path),
        }
    }
}

impl LinePart {
    fn of(text: &str, range: Range<usize>) -> LinePart {
        let start = text.floor_char_boundary(range.start);
        let (number, line) =
            lines(text).enumerate().take_while(|(_, line)| line.start <= start).last().unwrap_or_default();
        let kept = &text[line.start..text.floor_char_boundary(line.end.min(line.start + MAX_LINE_BYTES))];
        let column = |offset: usize| {
            let offset = kept.floor_char_boundary(offset.saturating_sub(line.start).min(kept.len()));
            kept[..offset].encode_utf16().count()
        };
        let columns = column(start)..column(range.end.max(start));
        LinePart { line: number, columns, text: shown(kept).into_owned() }
    }

    /// Returns the byte range of the columns in the text.
    pub fn range(&self) -> Range<usize> {
        let byte = |column: usize| {
            let mut units = 0;
            let before = self.text.char_indices().find(|(_, letter)| {
                units += letter.len_utf16();
                units > column
            });
            before.map_or(self.text.len(), |(at, _)| at)
        };
        byte(self.columns.start)..byte(self.columns.end)
    }
}

/// Returns the byte range of each line, without its end, by the line ends that editors know.
fn lines(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut from = Some(0);
    std::iter::from_fn(move || {
        let start = from?;
        let end = text[start..].find(['\n', '\r']).map(|length| start + length);
        from = end.map(|end| if text[end..].starts_with("\r\n") { end + 2 } else { end + 1 });
        Some(start..end.unwrap_or(text.len()))
    })
}

#[cfg(test)]
mod tests {
    use super::{FilePlace, LinePart};

    #[track_caller]
    fn check(text: &str, wanted: &str, line: usize, columns: std::ops::Range<usize>) {
        let start = text.find(wanted).unwrap();
        let found = FilePlace::bytes("f", text, start..start + wanted.len()).line_part.unwrap();
        assert_eq!((found.line, found.columns.clone()), (line, columns), "{text:?}");
        let first = wanted.split(['\n', '\r']).next().unwrap();
        assert_eq!(&found.text[found.range()], first, "{text:?}");
    }

    #[test]
    fn place_of_bytes_is_on_the_line_where_they_begin() {
        for end in ["\n", "\r\n", "\r"] {
            check(&format!("one{end}two{end}"), "one", 0, 0..3);
            check(&format!("one{end}two words{end}"), "words", 1, 4..9);
            check(&format!("one{end}a two{end}three"), &format!("two{end}three"), 1, 2..5);
            check(&format!("é😀 {end}😀 x"), "x", 1, 3..4);
        }
    }

    #[test]
    fn line_that_is_not_there_is_the_file_as_a_whole() {
        let line = |line: usize| FilePlace::line("f", "a\nb", line).line_part.map(|line_part| line_part.text);
        assert_eq!([line(0), line(1), line(2)], [Some("a".to_owned()), Some("b".to_owned()), None]);
        assert_eq!(FilePlace::line("f", "", 0).line_part.map(|line_part| line_part.columns), Some(0..0));
    }

    #[test]
    fn columns_beyond_what_is_kept_of_a_line_are_at_its_end() {
        let text = "é".repeat(10_000);
        let LinePart { columns, text, .. } = FilePlace::bytes("f", &text, 9_001..20_000).line_part.unwrap();
        assert_eq!((columns, text.len()), (2048..2048, 4096));
    }

    #[test]
    fn hidden_units_are_shown_as_stars_in_their_columns() {
        let text = "a \u{fdd0}\u{fdd0} b";
        let found = FilePlace::bytes("f", text, text.find('b').unwrap()..text.len()).line_part.unwrap();
        assert_eq!((found.text.as_str(), &found.text[found.range()]), ("a ** b", "b"));
    }
}
