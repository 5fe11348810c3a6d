//! Reads one line in block style by itself: dashes, a key, and the rest. It works in text that is not valid YAML yet
//! because only the line is read.

use std::{borrow::Cow, ops::Range};

use ropey::Rope;

/// A line.
#[derive(Debug)]
pub(crate) struct Line<'t> {
    /// The start.
    pub start: usize,
    /// The text without the line break.
    pub text: Cow<'t, str>,
}

/// The content of a line. Offsets are relative to the start of the document.
#[derive(Debug, PartialEq)]
pub(crate) struct Parts {
    /// Dashes and perhaps a key, from left to right.
    pub segments: Vec<Segment>,
    /// The rest of the line, without a comment; empty if there is none.
    pub rest: Range<usize>,
    /// The start of a comment.
    pub comment: Option<usize>,
}

/// A dash or key that other lines can be nested below.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Segment {
    /// The start.
    pub at: usize,
    /// The start, relative to the beginning of the line.
    pub column: usize,
    /// A dash or a key.
    pub kind: SegmentKind,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SegmentKind {
    /// `- `
    Dash,
    /// `key:`
    Key {
        /// The key without quotes.
        name: String,
        /// The bytes, quotes included.
        range: Range<usize>,
        /// The place after the colon.
        colon_end: usize,
        /// The rest of the line after the colon, without anchor, tag and comment.
        value: Range<usize>,
    },
}

impl<'t> Line<'t> {
    /// Returns the line with a number, counted from 0.
    pub(crate) fn of(text: &'t Rope, number: usize) -> Line<'t> {
        let mut start = text.line_to_byte(number);
        let mut words = Cow::from(text.line(number));
        let length = words.trim_end_matches(['\n', '\r']).len();
        match &mut words {
            Cow::Borrowed(words) => *words = &words[..length],
            Cow::Owned(words) => words.truncate(length),
        }
        if number == 0 && words.starts_with('\u{feff}') {
            start += 3;
            words = Cow::Owned(words[3..].to_owned());
        }
        Line { start, text: words }
    }

    /// Returns the number of blanks before the first other character.
    pub(crate) fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start_matches([' ', '\t']).len()
    }

    /// Whether it contains only blanks.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns the end of the line, without the line break.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// Returns the text between two places of the document.
    pub(crate) fn slice(&self, range: Range<usize>) -> &str {
        &self.text[range.start - self.start..range.end - self.start]
    }

    /// Splits the line into its parts.
    pub(crate) fn parts(&self) -> Parts {
        let comment = comment_start(&self.text);
        let end = comment.unwrap_or(self.text.len());
        let text = self.text[..end].trim_end();
        let mut segments = Vec::new();
        let mut at = self.indent().min(text.len());
        while text[at..].starts_with('-') && text[at + 1..].chars().next().is_none_or(|next| next == ' ') {
            segments.push(Segment { at: self.start + at, column: at, kind: SegmentKind::Dash });
            let behind = &self.text[at + 1..];
            at += 1 + (behind.len() - behind.trim_start_matches(' ').len());
            if at >= text.len() {
                break;
            }
        }
        let at = at.min(self.text.len());
        let end = text.len().max(at);
        let mut rest = at + skip_properties(&self.text[at..end])..end;
        if let Some((key, colon)) = key(&self.text[at..end]) {
            let behind = at + colon + 1;
            let value = skip_properties(&self.text[behind..end]);
            let value = behind + value..end;
            let range = self.start + at..self.start + at + key.1;
            let shifted = self.start + value.start..self.start + value.end;
            segments.push(Segment {
                at: self.start + at,
                column: at,
                kind: SegmentKind::Key { name: key.0, range, colon_end: self.start + behind, value: shifted },
            });
            rest = value;
        }
        Parts {
            segments,
            rest: self.start + rest.start..self.start + rest.end,
            comment: comment.map(|at| self.start + at),
        }
    }
}

/// Returns the key at the beginning of a text, without quotes, with its length; and the offset of its colon.
fn key(text: &str) -> Option<((String, usize), usize)> {
    let first = text.chars().next()?;
    if matches!(first, '"' | '\'') {
        let close = quote_end(text)?;
        let behind = text[close..].trim_start_matches(' ');
        let colon = text.len() - behind.len();
        let is_key = behind.starts_with(':') && behind[1..].chars().next().is_none_or(|next| next == ' ');
        return is_key.then(|| ((text[1..close - 1].to_owned(), close), colon));
    }
    if matches!(first, '{' | '[' | '|' | '>' | '%' | '@' | '`' | '*' | '#' | '}' | ']' | ',') {
        return None;
    }
    let skipped = if matches!(first, '&' | '!') { skip_properties(text) } else { 0 };
    let colon = text[skipped..]
        .match_indices(':')
        .map(|(at, _)| at + skipped)
        .find(|at| text[at + 1..].chars().next().is_none_or(|next| matches!(next, ' ' | '\t')))?;
    let name = text[skipped..colon].trim_end();
    (!name.is_empty()).then(|| ((name.to_owned(), colon), colon))
}

/// Returns how many bytes of blanks, anchors and tags a text begins with.
fn skip_properties(text: &str) -> usize {
    let mut at = text.len() - text.trim_start_matches([' ', '\t']).len();
    while text[at..].starts_with(['&', '!']) {
        let word = text[at..].find([' ', '\t']).map_or(text.len(), |end| at + end);
        let blanks = text[word..].len() - text[word..].trim_start_matches([' ', '\t']).len();
        at = word + blanks;
    }
    at
}

/// Returns the offset after the quote that closes the one at the beginning of a text.
pub(crate) fn quote_end(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut letters = text.char_indices().skip(1).peekable();
    while let Some((at, letter)) = letters.next() {
        if letter == '\\' && quote == '"' {
            letters.next();
        } else if letter == quote {
            if quote == '\'' && letters.peek().is_some_and(|(_, next)| *next == '\'') {
                letters.next();
                continue;
            }
            return Some(at + 1);
        }
    }
    None
}

/// Returns the start of a comment: a `#` at the beginning or after a blank, outside of quotes.
fn comment_start(text: &str) -> Option<usize> {
    let mut at = 0;
    let mut before = ' ';
    let mut begins_value = true;
    while let Some(letter) = text[at..].chars().next() {
        if letter == '#' && matches!(before, ' ' | '\t') {
            return Some(at);
        }
        if begins_value && matches!(letter, '"' | '\'') {
            // An unclosed quote extends to the end.
            at += quote_end(&text[at..])?;
            before = letter;
            begins_value = false;
            continue;
        }
        begins_value = match letter {
            ' ' | '\t' => begins_value || matches!(before, ':' | '-' | ','),
            '[' | '{' | ',' => true,
            _ => false,
        };
        before = letter;
        at += letter.len_utf8();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks a line against `^` below dashes and keys, `~` below the rest, `#` below a comment.
    #[track_caller]
    fn check(text: &str, expected: &str) {
        let rope = Rope::from_str(text);
        let line = Line::of(&rope, 0);
        let parts = line.parts();
        let mut marks = vec![' '; text.len() + 1];
        let mut mark = |range: Range<usize>, with: char| marks[range].iter_mut().for_each(|mark| *mark = with);
        mark(parts.rest.clone(), '~');
        for segment in &parts.segments {
            match &segment.kind {
                SegmentKind::Dash => mark(segment.at..segment.at + 1, '^'),
                SegmentKind::Key { range, .. } => mark(range.clone(), '^'),
            }
        }
        if let Some(comment) = parts.comment {
            mark(comment..text.len(), '#');
        }
        let marks: String = marks.into_iter().collect();
        assert_eq!(marks.trim_end(), expected, "{text}");
    }

    #[test]
    fn a_line_is_dashes_a_key_and_a_value() {
        check("  - name: a b # c", "  ^ ^^^^  ~~~ ###");
        check("- - 'a: b': c", "^ ^ ^^^^^^  ~");
        check("  exp", "  ~~~");
        check("command: echo a:b", "^^^^^^^  ~~~~~~~~");
        check("x: \"# no\" # c", "^  ~~~~~~ ###");
        check("x: \"open # no", "^  ~~~~~~~~~~");
        check("e: &a {b: c}", "^     ~~~~~~");
        check("- ", "^");
        check("a: it's # c", "^  ~~~~ ###");
        check("{a: b}", "~~~~~~");
        check("---", "~~~");
    }
}
