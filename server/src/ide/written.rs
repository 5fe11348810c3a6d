//! Maps each character of a text to its place in the source: through quotes, escapes, folded lines and block
//! scalars.

use std::{iter::Peekable, ops::Range, str::CharIndices};

use speclens_schema::document::{NodeRef, Style};

/// A scalar's text with the places of its characters.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub text: String,
    /// The start, if every character is written literally.
    start: usize,
    /// For each byte of the text, the place of its character; `None` if every character is written literally.
    places: Option<Vec<(usize, usize)>>,
}

impl Written {
    /// Returns the text of a scalar with its places; `None` for other nodes and for aliases.
    pub(crate) fn of(node: NodeRef<'_>) -> Option<Written> {
        if node.alias().is_some() {
            return None;
        }
        let (range, style) = (node.own_range(), node.style()?);
        let source = String::from(node.document().text().get_byte_slice(range.clone())?);
        Some(Written::read(&source, style, range.start))
    }

    fn read(source: &str, style: Style, start: usize) -> Written {
        let body = match style {
            Style::SingleQuoted | Style::DoubleQuoted => {
                let quote = if style == Style::SingleQuoted { '\'' } else { '"' };
                let from = usize::from(source.starts_with(quote));
                let to = if source.len() > from && source.ends_with(quote) { source.len() - 1 } else { source.len() };
                from..to
            }
            Style::Plain => 0..source.len(),
            Style::Literal | Style::Folded => return Written::block(source, style == Style::Folded, start),
        };
        let special = match style {
            Style::DoubleQuoted => '\\',
            Style::SingleQuoted => '\'',
            Style::Plain | Style::Literal | Style::Folded => '\n',
        };
        let words = &source[body.clone()];
        if !words.contains(['\n', '\r', special]) {
            return Written { text: words.to_owned(), start: start + body.start, places: None };
        }
        let mut reader = Reader::new(words, start + body.start);
        reader.flow(style);
        reader.done(start)
    }

    fn block(source: &str, is_folded: bool, start: usize) -> Written {
        let head = lines_of(source).next().map_or(0, str::len);
        let lines = || lines_of(&source[head..]);
        let indent = |line: &str| line.len() - line.trim_start_matches(' ').len();
        let is_blank = |line: &str| line.trim().is_empty();
        let explicit = source[..head].contains(|letter: char| letter.is_ascii_digit());
        let mut indents = lines().filter(|line| !is_blank(line)).map(indent);
        let columns = if explicit { indents.min() } else { indents.next() }.unwrap_or(0);
        let mut reader = Reader::new("", start);
        let mut at = head;
        let mut was_text = false;
        for line in lines() {
            let words = line.trim_end_matches(['\n', '\r']);
            let skipped = columns.min(indent(words));
            let is_text = !is_blank(words) && !words[skipped..].starts_with([' ', '\t']);
            if is_folded && was_text && is_text && reader.text.ends_with('\n') {
                // One line break between two lines of words is a blank; of several, one is dropped.
                reader.text.pop();
                match reader.text.ends_with('\n') {
                    true => drop(reader.places.pop()),
                    false => reader.text.push(' '),
                }
            }
            for (index, letter) in words[skipped..].char_indices() {
                let from = start + at + skipped + index;
                reader.push(letter, from, from + letter.len_utf8());
            }
            if words.len() < line.len() {
                reader.push('\n', start + at + words.len(), start + at + line.len());
            }
            if !is_blank(words) {
                was_text = is_text;
            }
            at += line.len();
        }
        reader.done(start)
    }

    /// Returns where a part of the text is written. A part on several lines has several pieces: none contains a line
    /// break, or the blanks around it.
    pub(crate) fn pieces(&self, part: Range<usize>, source: &ropey::Rope) -> Vec<Range<usize>> {
        let Some(places) = &self.places else {
            return std::iter::once(self.start + part.start..self.start + part.end).collect();
        };
        let mut pieces: Vec<Range<usize>> = Vec::new();
        for (at, letter) in self.text[part.clone()].char_indices() {
            let (from, to) = places[part.start + at];
            // A line break, or a fold that represents a blank.
            let is_break =
                letter == '\n' || source.byte_slice(from..to).chars().any(|letter| matches!(letter, '\n' | '\r'));
            match pieces.last_mut() {
                _ if is_break => pieces.push(to..to),
                Some(last) if last.end == from => last.end = to,
                Some(_) | None => pieces.push(from..to),
            }
        }
        pieces.retain(|piece| !piece.is_empty());
        pieces
    }

    /// Returns where a part of the text is written, from its first character to its last.
    pub(crate) fn range(&self, part: Range<usize>) -> Range<usize> {
        match &self.places {
            None => self.start + part.start..self.start + part.end,
            Some(places) if places.is_empty() => self.start..self.start,
            Some(places) => {
                let last = places.len() - 1;
                let from = if part.start > last { places[last].1 } else { places[part.start].0 };
                let to = if part.is_empty() { from } else { places[(part.end - 1).min(last)].1 };
                from..to
            }
        }
    }

    /// Returns the offset in the text of a place in the document; `None` outside of the text.
    pub(crate) fn offset(&self, at: usize) -> Option<usize> {
        match &self.places {
            None => at.checked_sub(self.start).filter(|at| *at <= self.text.len()),
            Some(places) => {
                let found = places.partition_point(|(_, end)| *end <= at);
                match places.get(found) {
                    Some((start, _)) => (*start <= at || found > 0).then_some(found),
                    None => places.last().filter(|(_, end)| *end == at).map(|_| self.text.len()),
                }
            }
        }
        .map(|at| (0..=at).rev().find(|at| self.text.is_char_boundary(*at)).unwrap_or(0))
    }
}

fn lines_of(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = match rest.find(['\n', '\r']) {
            Some(at) if rest[at..].starts_with("\r\n") => at + 2,
            Some(at) => at + 1,
            None => rest.len(),
        };
        let (line, after) = rest.split_at(length);
        rest = after;
        (!line.is_empty()).then_some(line)
    })
}

struct Reader<'s> {
    letters: Peekable<CharIndices<'s>>,
    source: &'s str,
    start: usize,
    text: String,
    places: Vec<(usize, usize)>,
}

impl<'s> Reader<'s> {
    fn new(source: &'s str, start: usize) -> Reader<'s> {
        let letters = source.char_indices().peekable();
        Reader { letters, source, start, text: String::new(), places: Vec::new() }
    }

    fn push(&mut self, letter: char, from: usize, to: usize) {
        self.text.push(letter);
        self.places.extend(std::iter::repeat_n((from, to), letter.len_utf8()));
    }

    fn done(self, start: usize) -> Written {
        Written { text: self.text, start, places: Some(self.places) }
    }

    fn flow(&mut self, style: Style) {
        while let Some((at, letter)) = self.letters.next() {
            match letter {
                '\n' | '\r' => self.fold(at),
                '\'' if style == Style::SingleQuoted => {
                    if self.letters.peek().is_some_and(|(_, next)| *next == '\'') {
                        self.letters.next();
                    }
                    self.put('\'', at);
                }
                '\\' if style == Style::DoubleQuoted => self.escape(at),
                _ => self.put(letter, at),
            }
        }
    }

    /// Adds a character that began at `at` and ends where the next one begins.
    fn put(&mut self, letter: char, at: usize) {
        let end = self.here();
        self.push(letter, self.start + at, self.start + end);
    }

    fn here(&mut self) -> usize {
        self.letters.peek().map_or(self.source.len(), |(at, _)| *at)
    }

    /// Reads line breaks with the blanks around them: one is a blank, of several one is dropped.
    fn fold(&mut self, at: usize) {
        let written = self.source[..at].len() - self.source[..at].trim_end_matches([' ', '\t']).len();
        for _ in 0..written.min(self.text.len() - self.text.trim_end_matches([' ', '\t']).len()) {
            self.text.pop();
            self.places.pop();
        }
        let mut breaks = 1;
        let mut before = self.source[at..].chars().next();
        while let Some((_, next)) = self.letters.peek().copied() {
            match next {
                '\n' if before == Some('\r') => {}
                '\n' | '\r' => breaks += 1,
                ' ' | '\t' => {}
                _ => break,
            }
            before = Some(next);
            self.letters.next();
        }
        let (from, to) = (self.start + at - written, self.start + self.here());
        match breaks {
            1 => self.push(' ', from, to),
            more => (1..more).for_each(|_| self.push('\n', from, to)),
        }
    }

    fn escape(&mut self, at: usize) {
        let Some((_, letter)) = self.letters.next() else { return self.put('\\', at) };
        let digits = match letter {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            '\n' | '\r' => {
                // An escaped line break is skipped, as are the blanks after it.
                while self.letters.peek().is_some_and(|(_, next)| matches!(next, ' ' | '\t' | '\n')) {
                    self.letters.next();
                }
                return;
            }
            _ => 0,
        };
        if digits > 0 {
            let mut code = 0;
            for _ in 0..digits {
                let Some(digit) = self.letters.peek().and_then(|(_, letter)| letter.to_digit(16)) else { break };
                code = code * 16 + digit;
                self.letters.next();
            }
            return self.put(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER), at);
        }
        let meant = match letter {
            '0' => '\0',
            'a' => '\u{7}',
            'b' => '\u{8}',
            't' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            'e' => '\u{1b}',
            'N' => '\u{85}',
            '_' => '\u{a0}',
            'L' => '\u{2028}',
            'P' => '\u{2029}',
            other => other,
        };
        self.put(meant, at);
    }
}

#[cfg(test)]
mod tests {
    use speclens_schema::document::{Document, NodeRef, ScalarRules};

    use super::Written;

    fn scalars<'d>(node: NodeRef<'d>, found: &mut Vec<NodeRef<'d>>) {
        node.items().for_each(|item| scalars(item, found));
        node.entries().for_each(|entry| scalars(entry.value, found));
        found.extend(node.text().map(|_| node));
    }

    const TEXTS: &str = "\
- plain 😀 text
- plain text
  of several

  lines
- 'it''s
  ''quoted''   

  twice'
- \"a \\\"b\\\" \\u00e4\\x41\\n😀 \\
  joined
  folded\"
- |
  literal 😀

    deeper
  end
- |-
  cut
- >
  folded
  words

  paragraph
- >-
  one
  two
- ''
- \"\"
";

    #[test]
    fn every_letter_is_found_where_it_was_written() {
        for line_break in ["\n", "\r\n", "\r"] {
            let text = TEXTS.replace('\n', line_break);
            let document = Document::read(&text, ScalarRules::Yaml12);
            let mut found = Vec::new();
            scalars(document.root().unwrap(), &mut found);
            assert_eq!(found.len(), 10);
            for node in found {
                let written = Written::of(node).unwrap();
                let meant = node.text().unwrap();
                assert_eq!(written.text.trim_end(), meant.trim_end(), "{:?}", &text[node.own_range()]);
                for (at, letter) in meant.trim_end().char_indices().filter(|(_, letter)| letter.is_alphanumeric()) {
                    let range = written.range(at..at + letter.len_utf8());
                    let source = &text[range.clone()];
                    assert!(source.starts_with(letter) || source.starts_with('\\'), "{letter} {source:?} {meant:?}");
                    assert_eq!(written.offset(range.start), Some(at), "{letter} {meant:?}");
                    assert_eq!(written.pieces(at..at + letter.len_utf8(), document.text()), [range]);
                }
            }
        }
    }
}
