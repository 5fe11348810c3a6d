//! Values that are no blocks: scalars of all styles, aliases, and flow collections on one line.

use super::{
    super::tree::{Entry, Node, NodeKind, Style},
    DEEP, PlainEnd, Reader, plain,
};

/// Returns whether unquoted text may begin with a byte, given the next one.
pub(super) fn may_begin_plain(first: u8, next: Option<&u8>) -> bool {
    match first {
        b'-' => matches!(next, Some(next) if next.is_ascii_alphanumeric() || matches!(next, b'.' | b'-' | b'/')),
        b'?' | b':' | b',' | b'[' | b']' | b'{' | b'}' | b'#' | b'&' | b'*' | b'!' | b'|' | b'>' | b'\'' | b'"'
        | b'%' | b'@' | b'`' | b' ' | b'\r' | b'\n' => false,
        _ => true,
    }
}

/// Returns the end of the quoted text that begins at a place, which must be on its line.
pub(super) fn end_of_quoted(bytes: &[u8], start: usize, quote: u8) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += memchr::memchr3(quote, b'\\', b'\n', &bytes[at..])?;
        match bytes[at] {
            b'\n' => return None,
            b'\\' if quote == b'"' => at += 2,
            b'\\' => at += 1,
            _ if quote == b'\'' && bytes.get(at + 1) == Some(&quote) => at += 2,
            _ => return Some(at + 1),
        }
        if at > bytes.len() {
            return None;
        }
    }
}

impl Reader<'_> {
    /// Reads the value that begins here and goes to the next content. `column`: that of the mapping or list it is in.
    pub(super) fn scalar(&mut self, column: usize) -> Option<Node> {
        let node = match self.peek()? {
            mark @ (b'|' | b'>') => return self.block_scalar(mark, column),
            b'"' | b'\'' => self.quoted()?,
            b'[' | b'{' => self.flow()?,
            b'*' => self.alias()?,
            first if may_begin_plain(first, self.bytes.get(self.at + 1)) => {
                let (end, PlainEnd::Line) = self.plain_end() else { return None };
                let node = plain(self.text, self.at, end);
                self.at = end;
                node
            }
            _ => return None,
        };
        self.end_line()?;
        // A deeper line would continue unquoted text, or would be wrong.
        (self.is_at_end() || self.column() <= column).then_some(node)
    }

    fn alias(&mut self) -> Option<Node> {
        let start = self.at;
        let name = self.name()?;
        Some(Node::new(start..self.at, NodeKind::Alias(name)))
    }

    pub(super) fn quoted(&mut self) -> Option<Node> {
        let start = self.at;
        let quote = self.bytes[start];
        let end = end_of_quoted(self.bytes, start, quote)?;
        self.at = end;
        let inner = &self.text[start + 1..end - 1];
        let (value, style) = match quote {
            b'\'' if inner.contains('\'') => (inner.replace("''", "'").into(), Style::SingleQuoted),
            b'\'' => (inner.into(), Style::SingleQuoted),
            _ if inner.contains('\\') => (unescaped(inner)?.into(), Style::DoubleQuoted),
            _ => (inner.into(), Style::DoubleQuoted),
        };
        Some(Node::new(start..end, NodeKind::Scalar { value, style }))
    }

    /// Reads a list or mapping in brackets that ends on its line.
    fn flow(&mut self) -> Option<Node> {
        if self.depth == DEEP {
            return None;
        }
        self.depth += 1;
        let start = self.at;
        let kind = if self.peek() == Some(b'[') {
            NodeKind::Sequence(self.flow_elements(b']', Self::flow_value)?)
        } else {
            NodeKind::Mapping(self.flow_elements(b'}', Self::flow_entry)?)
        };
        self.depth -= 1;
        Some(Node::new(start..self.at, kind))
    }

    /// Reads the elements between brackets, and the closing one.
    fn flow_elements<T>(&mut self, close: u8, read: fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        self.at += 1;
        let mut elements = Vec::new();
        loop {
            self.skip_spaces();
            if self.peek()? == close {
                self.at += 1;
                elements.shrink_to_fit();
                return Some(elements);
            }
            elements.push(read(self)?);
            self.skip_spaces();
            match self.peek()? {
                b',' => self.at += 1,
                byte if byte == close => {}
                _ => return None,
            }
        }
    }

    fn flow_entry(&mut self) -> Option<Entry> {
        let key = self.flow_scalar()?;
        if self.peek() != Some(b':') || self.bytes.get(self.at + 1) != Some(&b' ') {
            return None;
        }
        self.at += 1;
        self.skip_spaces();
        Some(Entry { key, value: self.flow_value()? })
    }

    fn flow_value(&mut self) -> Option<Node> {
        match self.peek()? {
            b'[' | b'{' => self.flow(),
            b'*' => self.alias(),
            _ => self.flow_scalar(),
        }
    }

    /// Reads a scalar between brackets. Unquoted text ends before whatever may end it there.
    fn flow_scalar(&mut self) -> Option<Node> {
        let start = self.at;
        match self.peek()? {
            b'"' | b'\'' => return self.quoted(),
            first if may_begin_plain(first, self.bytes.get(start + 1)) => {}
            _ => return None,
        }
        let ends = |byte: &u8| matches!(byte, b',' | b'[' | b']' | b'{' | b'}' | b':' | b'#' | b'\n');
        let mut end = start;
        loop {
            end += self.bytes[end..].iter().position(ends)?;
            let next = self.bytes.get(end + 1);
            match self.bytes[end] {
                // A URL, or the time of a day.
                b':' if next.is_some_and(|next| next.is_ascii_alphanumeric() || *next == b'/') => end += 1,
                b'#' | b'\n' => return None,
                _ => break,
            }
        }
        let end = self.without_blanks(end);
        self.at = end;
        Some(plain(self.text, start, end))
    }

    /// Reads the text behind `|` or `>`, whose lines are deeper than `column`.
    fn block_scalar(&mut self, mark: u8, column: usize) -> Option<Node> {
        let start = self.at;
        self.at += 1;
        let is_stripped = self.peek() == Some(b'-');
        self.at += usize::from(is_stripped);
        if !self.is_line_over() {
            return None;
        }
        self.at = self.after_line();
        let mut value = String::new();
        // The breaks that have been read since the last line with words.
        let mut breaks = 0;
        let (mut indent, mut end) = (0, self.at);
        while !self.is_at_end() {
            self.line = self.at;
            self.skip_spaces();
            let line_end = self.line_end();
            let words = self.text[self.at..line_end].trim_end_matches('\r');
            if words.is_empty() {
                // Blanks beyond the indentation are content.
                if self.column() > indent {
                    return None;
                }
                breaks += 1;
            } else if indent > 0 && self.column() <= column {
                break;
            } else {
                if indent == 0 {
                    indent = self.column();
                }
                // Without a break at its end, the last line depends on what its author types next.
                if indent <= column || self.column() < indent || line_end == self.bytes.len() {
                    return None;
                }
                let is_folded = mark == b'>';
                if is_folded && (self.column() > indent || words.ends_with(' ')) {
                    return None;
                }
                match (is_folded && !value.is_empty(), breaks) {
                    (true, 0) => value.push(' '),
                    (false, _) if !value.is_empty() => value.extend(std::iter::repeat_n('\n', breaks + 1)),
                    (_, _) => value.extend(std::iter::repeat_n('\n', breaks)),
                }
                breaks = 0;
                end = self.at + words.len();
                value.push_str(&self.text[self.line + indent..end]);
            }
            self.at = (line_end + 1).min(self.bytes.len());
        }
        if value.is_empty() {
            return None;
        }
        if !is_stripped {
            value.push('\n');
        }
        self.at = if self.is_at_end() { self.at } else { self.line };
        self.go_to_content()?;
        let style = if mark == b'|' { Style::Literal } else { Style::Folded };
        let end = start + self.text[start..end].trim_end().len();
        let node = Node::new(start..end, NodeKind::Scalar { value: value.into(), style });
        (self.is_at_end() || self.column() <= column).then_some(node)
    }
}

/// Returns text between double quotes without its escapes. `None` if it has unusual ones.
fn unescaped(text: &str) -> Option<String> {
    let mut value = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        value.push(match letter {
            '\\' => match letters.next()? {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                quoted @ ('"' | '\\' | '/') => quoted,
                _ => return None,
            },
            letter => letter,
        });
    }
    Some(value)
}
