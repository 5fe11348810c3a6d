//! Reads the YAML that most authors write, several times faster than the parser.
//!
//! It knows block mappings and lists, scalars in all styles, flow collections on one line, comments, anchors and
//! aliases. It gives up at everything else, and at everything that may be wrong: then the parser reads the text. Where
//! it gives an answer, that is the parser's (debug builds compare the two for each text).

mod scalars;
#[cfg(test)]
mod tests;

use smol_str::SmolStr;

use super::tree::{Entry, Node, NodeKind, Style};

/// Nesting at which it leaves the text to the parser, which has a limit of its own.
const DEEP: usize = 64;

/// Length of the longest key that it reads: YAML limits keys to 1,024 characters.
const LONGEST_KEY: usize = 1000;

/// Reads a text; `None` if the parser has to.
pub(super) fn read(text: &str) -> Option<Node> {
    if !is_ordinary(text) {
        return None;
    }
    let mut reader =
        Reader { text, bytes: text.as_bytes(), at: 0, line: 0, depth: 0, entries: Vec::new(), items: Vec::new() };
    reader.go_to_content()?;
    let root = reader.block()?;
    (reader.at == text.len()).then_some(root)
}

/// Returns whether a text consists of characters that mean the same to every reader of YAML.
fn is_ordinary(text: &str) -> bool {
    let bytes = text.as_bytes();
    let returns = || memchr::memchr_iter(b'\r', bytes).all(|at| bytes.get(at + 1) == Some(&b'\n'));
    let is_control = |byte: &u8| (*byte < b' ' && *byte != b'\n' && *byte != b'\r') || *byte == 0x7f;
    // The first: controls, a line break among them, and the no-break space. The last: byte order marks and the like.
    let is_odd = |letter: char| matches!(letter, '\u{80}'..='\u{a0}' | '\u{2028}' | '\u{2029}' | '\u{fe00}'..='\u{feff}' | '\u{fff0}'..='\u{ffff}');
    !bytes.iter().any(is_control) && (text.is_ascii() || !text.contains(is_odd)) && returns()
}

/// A position in a text. Every function that reads an element begins at it; those of blocks end at the next content.
struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    /// The start of the line.
    line: usize,
    depth: usize,
    /// The entries of the mappings that are being read, and the items of the lists: those of the innermost one last.
    entries: Vec<Entry>,
    items: Vec<Node>,
}

/// The end of unquoted text.
enum PlainEnd {
    /// The colon that makes it a key.
    Colon,
    /// The end of the line, or a comment.
    Line,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn is_at_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    fn column(&self) -> usize {
        self.at - self.line
    }

    fn skip_spaces(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    /// Goes past blank lines and comments. The position must be at the start of a line.
    fn go_to_content(&mut self) -> Option<()> {
        loop {
            self.line = self.at;
            self.skip_spaces();
            match self.peek() {
                Some(b'#') => self.at = self.line_end(),
                Some(b'\r' | b'\n') | None => {}
                // It may be the boundary of two documents.
                Some(b'-' | b'.') if self.column() == 0 && self.begins_with_marker() => return None,
                Some(_) => return Some(()),
            }
            if self.is_at_end() {
                return Some(());
            }
            self.at = self.after_line();
        }
    }

    fn begins_with_marker(&self) -> bool {
        self.bytes[self.at..].starts_with(b"---") || self.bytes[self.at..].starts_with(b"...")
    }

    /// Returns the `\n` of the line, or the end of the text.
    fn line_end(&self) -> usize {
        memchr::memchr(b'\n', &self.bytes[self.at..]).map_or(self.bytes.len(), |end| self.at + end)
    }

    fn after_line(&self) -> usize {
        (self.line_end() + 1).min(self.bytes.len())
    }

    /// Returns whether only blanks and a comment follow on the line.
    fn is_line_over(&self) -> bool {
        let mut at = self.at;
        while self.bytes.get(at) == Some(&b' ') {
            at += 1;
        }
        match self.bytes.get(at) {
            None | Some(b'\r' | b'\n') => true,
            Some(b'#') => at > self.at || self.at == self.line || self.bytes[at - 1] == b' ',
            Some(_) => false,
        }
    }

    /// Goes from the end of an element to the next content. Nothing else may follow on the line.
    fn end_line(&mut self) -> Option<()> {
        if !self.is_line_over() {
            return None;
        }
        self.at = self.after_line();
        self.go_to_content()
    }

    fn is_at_dash(&self) -> bool {
        self.peek() == Some(b'-') && matches!(self.bytes.get(self.at + 1), None | Some(b' ' | b'\r' | b'\n'))
    }

    /// Reads the block that begins here.
    fn block(&mut self) -> Option<Node> {
        if self.is_at_end() || self.depth == DEEP {
            return None;
        }
        self.depth += 1;
        let node = if self.is_at_dash() { self.list() } else { self.mapping() };
        self.depth -= 1;
        node
    }

    /// Returns whether the list or mapping at `column` goes on. `None` if what follows belongs to neither it nor the
    /// blocks around it.
    fn goes_on(&self, column: usize) -> Option<bool> {
        if self.is_at_end() || self.column() < column {
            return Some(false);
        }
        (self.column() == column).then_some(true)
    }

    fn list(&mut self) -> Option<Node> {
        let (start, column) = (self.at, self.column());
        let before = self.items.len();
        loop {
            self.at += 1;
            let behind_dash = self.at;
            self.skip_spaces();
            let anchor = self.anchor()?;
            let item = if self.is_line_over() {
                self.end_line()?;
                if self.is_at_end() || self.column() <= column { None } else { Some(self.block()?) }
            } else if self.is_at_dash() || self.is_at_key() {
                if anchor.is_some() {
                    return None;
                }
                Some(self.block()?)
            } else {
                Some(self.scalar(column)?)
            };
            self.items.push(named(item, anchor, behind_dash)?);
            if !self.goes_on(column)? || !self.is_at_dash() {
                break;
            }
        }
        let items: Vec<Node> = self.items.drain(before..).collect();
        let end = items.last().map_or(start, |item| item.range().end);
        Some(Node::new(start..end, NodeKind::Sequence(items)))
    }

    fn mapping(&mut self) -> Option<Node> {
        let (start, column) = (self.at, self.column());
        let before = self.entries.len();
        loop {
            let key = self.key()?;
            let behind_colon = self.at;
            self.skip_spaces();
            let anchor = self.anchor()?;
            let value = if self.is_line_over() {
                self.end_line()?;
                let is_deeper = !self.is_at_end() && self.column() > column;
                let is_list = !self.is_at_end() && self.column() == column && self.is_at_dash();
                if is_deeper || is_list { Some(self.block()?) } else { None }
            } else {
                Some(self.scalar(column)?)
            };
            self.entries.push(Entry { key, value: named(value, anchor, behind_colon)? });
            if !self.goes_on(column)? {
                break;
            }
        }
        let entries: Vec<Entry> = self.entries.drain(before..).collect();
        let end = entries.last().map_or(start, |entry| entry.value.range().end.max(entry.key.range().end));
        Some(Node::new(start..end, NodeKind::Mapping(entries)))
    }

    /// Returns whether a key begins here: an element with a colon on the same line.
    fn is_at_key(&self) -> bool {
        match self.peek() {
            Some(quote @ (b'"' | b'\'')) => {
                let end = scalars::end_of_quoted(self.bytes, self.at, quote);
                end.is_some_and(|end| self.bytes.get(end) == Some(&b':'))
            }
            Some(first) if scalars::may_begin_plain(first, self.bytes.get(self.at + 1)) => {
                matches!(self.plain_end(), (_, PlainEnd::Colon))
            }
            Some(_) | None => false,
        }
    }

    /// Reads a key and its colon, which a blank or the end of the line must follow.
    fn key(&mut self) -> Option<Node> {
        let start = self.at;
        let key = match self.peek()? {
            b'"' | b'\'' => self.quoted()?,
            first if scalars::may_begin_plain(first, self.bytes.get(self.at + 1)) => {
                let (end, PlainEnd::Colon) = self.plain_end() else { return None };
                if self.bytes[end - 1] == b' ' {
                    return None;
                }
                self.at = end;
                plain(self.text, start, end)
            }
            _ => return None,
        };
        let is_key = self.peek() == Some(b':')
            && matches!(self.bytes.get(self.at + 1), None | Some(b' ' | b'\r' | b'\n'))
            && self.at - start < LONGEST_KEY;
        self.at += 1;
        is_key.then_some(key)
    }

    /// Returns the end of the unquoted text that begins here, and what it ends with.
    fn plain_end(&self) -> (usize, PlainEnd) {
        let mut at = self.at;
        while let Some(found) = memchr::memchr3(b':', b'#', b'\n', &self.bytes[at..]) {
            at += found;
            match self.bytes[at] {
                b':' if matches!(self.bytes.get(at + 1), None | Some(b' ' | b'\r' | b'\n')) => {
                    return (at, PlainEnd::Colon);
                }
                b'#' if self.bytes[at - 1] == b' ' => return (self.without_blanks(at), PlainEnd::Line),
                b'\n' => return (self.without_blanks(at), PlainEnd::Line),
                _ => at += 1,
            }
        }
        (self.without_blanks(self.bytes.len()), PlainEnd::Line)
    }

    /// Returns the end of what precedes the blanks before a place.
    fn without_blanks(&self, mut end: usize) -> usize {
        while end > self.at && matches!(self.bytes[end - 1], b' ' | b'\r') {
            end -= 1;
        }
        end
    }

    /// Reads `&name` and the blanks behind it, if it is there: without the `&`.
    fn anchor(&mut self) -> Option<Option<SmolStr>> {
        if self.peek() != Some(b'&') {
            return Some(None);
        }
        let name = self.name()?;
        if !matches!(self.peek(), None | Some(b' ' | b'\r' | b'\n')) {
            return None;
        }
        self.skip_spaces();
        Some(Some(name))
    }

    /// Reads the name behind the `&` or `*` here.
    fn name(&mut self) -> Option<SmolStr> {
        let start = self.at + 1;
        let rest = &self.bytes[start..];
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        self.at = start + rest.iter().position(|byte| !is_letter(byte)).unwrap_or(rest.len());
        (self.at > start).then(|| self.text[start..self.at].into())
    }
}

/// Returns a value with its name; an absent one, which must have none, is at `absent`.
fn named(node: Option<Node>, anchor: Option<SmolStr>, absent: usize) -> Option<Node> {
    match (node, anchor) {
        (Some(node), None) => Some(node),
        (None, None) => Some(Node::empty(absent)),
        (Some(Node { kind: NodeKind::Alias(_), .. }) | None, Some(_)) => None,
        (Some(mut node), Some(name)) => {
            node.set_anchor(Some((*name).into()));
            Some(node)
        }
    }
}

fn plain(text: &str, start: usize, end: usize) -> Node {
    Node::new(start..end, NodeKind::Scalar { value: text[start..end].into(), style: Style::Plain })
}
