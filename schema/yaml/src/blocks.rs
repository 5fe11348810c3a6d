//! Cuts a text into pieces that mean the same alone: each top-level entry, and each item of a top-level list or of a
//! root that is a list. Decided by indentation, without parsing.

use std::ops::Range;

use ropey::Rope;

use crate::{
    layout::{Head, head_shape, is_dash},
    typo::is_dash_without_space,
};

/// A piece of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The bytes, trailing comments and blank lines included.
    pub range: Range<usize>,
    /// The content.
    pub kind: SpanKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SpanKind {
    /// Comments and the `---` before the first entry.
    Preamble,
    /// A top-level entry.
    Entry,
    /// The `key:` of a top-level list whose items are separate pieces.
    Head,
    Item,
    /// An item whose dash is not aligned with the list's other dashes.
    MisplacedItem,
    /// A line in the middle of a list that does not belong to it, such as a conflict marker.
    Stray,
}

/// Cuts a text. `None` if cutting would change its meaning; then it is read as a whole.
pub(crate) fn split(text: &Rope) -> Option<Vec<Span>> {
    let mut splitter =
        Splitter { text, spans: Vec::new(), list: List::None, separated: false, keys: 0, root_items: None, strays: 0 };
    if !for_each_line(text, |line| splitter.line(&line)) {
        return None;
    }
    match splitter.root_items {
        None if splitter.keys == 0 => return None,
        // A misplaced dash above a mapping does not make it a list.
        Some(items) if items < splitter.keys => return None,
        None | Some(_) => {}
    }
    let mut spans = splitter.spans;
    // The end of the document is not an error if nothing follows it.
    while spans.len() > 1 && spans.last().is_some_and(|span| span.kind == SpanKind::Stray && ends_document(text, span))
    {
        spans.pop();
    }
    let end = text.len_bytes();
    for index in 0..spans.len() {
        spans[index].range.end = spans.get(index + 1).map_or(end, |next| next.range.start);
    }
    join_outdented(text, &mut spans);
    join_headless(text, &mut spans);
    // A key without items is an ordinary entry.
    for index in 0..spans.len() {
        if spans[index].kind == SpanKind::Head && spans.get(index + 1).is_none_or(|next| next.kind != SpanKind::Item) {
            spans[index].kind = SpanKind::Entry;
        }
    }
    Some(spans)
}

/// Joins entries that are too far left for the item above them, but not at the margin: they belong to that item, whose
/// reading reports them. Other words may become a new item, and must not damage the one above while they are typed. An
/// entry that is nearer to the margin than to the item belongs to the root.
fn join_outdented(text: &Rope, spans: &mut Vec<Span>) {
    let is_key = |span: &Span| {
        let line = String::from(text.line(text.byte_to_line(span.range.start)));
        let words = line.trim_start_matches(' ').trim_end();
        let is_key = matches!(head_shape(words), Head::Key { .. } | Head::KeyWithValue { .. });
        is_key && words.starts_with(|first: char| first.is_alphabetic() || first == '_')
    };
    let mut joined: Vec<Span> = Vec::with_capacity(spans.len());
    // The column of the dash of the item that may continue, and that of an indented entry of the root.
    let (mut dash, mut entry) = (None, None);
    let mut before_item = false;
    // Whether an item of the same list follows each piece.
    let mut followed: Vec<bool> = spans
        .iter()
        .rev()
        .map(|span| {
            let is_followed = before_item;
            before_item = match span.kind {
                SpanKind::Stray => before_item,
                SpanKind::Item | SpanKind::MisplacedItem => true,
                SpanKind::Preamble | SpanKind::Entry | SpanKind::Head => false,
            };
            is_followed
        })
        .collect();
    followed.reverse();
    for (mut span, is_followed) in spans.drain(..).zip(followed) {
        let column = blanks_at(text, span.range.start);
        if span.kind == SpanKind::Stray {
            let belongs_to_entry = entry.is_some_and(|entry| column > entry);
            let is_key = !belongs_to_entry && column + usize::from(is_followed && dash == Some(0)) > 0 && is_key(&span);
            let is_of_root = is_key && !is_followed && dash.is_some_and(|dash| column < dash && 2 * column < dash + 2);
            if is_of_root {
                span.kind = SpanKind::Entry;
                (dash, entry) = (None, Some(column));
            } else if belongs_to_entry || (is_key && dash.is_some()) {
                if let Some(last) = joined.last_mut() {
                    last.range.end = span.range.end;
                }
                continue;
            } else {
                (dash, entry) = (None, None);
            }
        } else if dash == Some(0) && span.kind == SpanKind::Entry && is_outdented_entry(text, &span, &joined) {
            if let Some(last) = joined.last_mut() {
                last.range.end = span.range.end;
            }
            continue;
        } else {
            dash = (span.kind == SpanKind::Item).then_some(column);
            entry = None;
        }
        joined.push(span);
    }
    *spans = joined;
}

/// Returns the number of blanks at a byte.
fn blanks_at(text: &Rope, start: usize) -> usize {
    let mut at = start;
    loop {
        let (chunk, first, ..) = text.chunk_at_byte(at);
        let rest = &chunk.as_bytes()[at - first..];
        let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
        at += blanks;
        if blanks < rest.len() || at == text.len_bytes() {
            return at - start;
        }
    }
}

/// Joins a list at the margin whose first dash is missing: its key, the entry that should be its first item, and the
/// items that begin with the key of that entry.
fn join_headless(text: &Rope, spans: &mut Vec<Span>) {
    for at in 0..spans.len() {
        if let Some(end) = end_of_headless(text, spans.get(at..).unwrap_or_default()) {
            spans[at].kind = SpanKind::Entry;
            spans[at].range.end = spans[at + end - 1].range.end;
            spans.drain(at + 1..at + end);
        }
    }
}

/// Returns the number of pieces of a list whose first dash is missing, if the first of them is the key of such a list.
fn end_of_headless(text: &Rope, spans: &[Span]) -> Option<usize> {
    let entry_at = |at: usize| String::from(text.line(text.byte_to_line(at))).trim_end().to_owned();
    let key_of = |words: &str| match head_shape(words) {
        Head::Key { key, .. } | Head::KeyWithValue { key, .. } => Some(words[..key].to_owned()),
        Head::Other => None,
    };
    let head = spans.first().filter(|span| matches!(span.kind, SpanKind::Entry | SpanKind::Head))?;
    if !matches!(entry_shape(&entry_at(head.range.start)), Shape::Key) {
        return None;
    }
    let below = contents_of(text, head).nth(1);
    let (first, items) = match below {
        Some(line) => (line, 1),
        None => (entry_at(spans.get(1)?.range.start), 2),
    };
    let key = key_of(first.trim_start_matches(' '))?;
    let item = |span: &Span| {
        let line = entry_at(span.range.start);
        is_dash(&line).then(|| line[1..].trim_start_matches(' ').to_owned())
    };
    item(spans.get(items)?).and_then(|words| key_of(&words)).filter(|found| *found == key)?;
    Some(items + spans[items..].iter().take_while(|span| item(span).is_some()).count())
}

/// Returns the lines of a piece that are not only a comment.
fn contents_of<'t>(text: &'t Rope, span: &Span) -> impl Iterator<Item = String> + use<'t> {
    let end = span.range.end;
    let first = text.byte_to_line(span.range.start);
    let lines = (first..text.len_lines()).take_while(move |at| text.line_to_byte(*at) < end);
    lines.map(|at| String::from(text.line(at)).trim_end().to_owned()).filter(|line| {
        let words = line.trim_start();
        !words.is_empty() && !words.starts_with('#')
    })
}

/// Returns whether an entry at the margin has a value on its line, and more lines below in the column of the keys of
/// the item above: those belong to the item, so the entry does, too.
fn is_outdented_entry(text: &Rope, span: &Span, above: &[Span]) -> bool {
    let Some(dashed) = above.last().and_then(|item| contents_of(text, item).next()) else { return false };
    let column = dashed.len() - dashed.trim_start_matches(['-', ' ']).len();
    let mut lines = contents_of(text, span);
    let is_complete =
        lines.next().is_some_and(|line| matches!(entry_shape(&line), Shape::KeyWithValue(Value::Complete)));
    is_complete
        && lines.next().is_some_and(|line| {
            let words = line.trim_start_matches(' ');
            let is_entry = matches!(head_shape(words), Head::Key { .. } | Head::KeyWithValue { .. });
            line.len() - words.len() == column && is_entry && !is_dash(words)
        })
}

/// Returns whether a piece begins with `...`.
fn ends_document(text: &Rope, span: &Span) -> bool {
    let mut letters = text.byte_slice(span.range.start..).chars();
    letters.by_ref().take(3).eq("...".chars()) && letters.next().is_none_or(char::is_whitespace)
}

/// The beginning of a line: enough to decide where it belongs.
#[derive(Clone, Copy)]
struct Line {
    start: usize,
    /// Number of blanks at the beginning.
    indent: usize,
    /// The first character that is not blank; 0 on an empty line.
    first: u8,
    /// The character after it; a line break at the end of the line.
    second: u8,
}

struct Splitter<'t> {
    text: &'t Rope,
    spans: Vec<Span>,
    list: List,
    /// Whether `---` was seen.
    separated: bool,
    /// Number of lines that are entries: without any, the root is not a mapping.
    keys: usize,
    /// Number of items of the root so far, if it is a list.
    root_items: Option<usize>,
    /// Number of consecutive lines that are neither entry nor item.
    strays: usize,
}

/// The state of the current entry.
#[derive(Clone, Copy, PartialEq, Eq)]
enum List {
    /// It is not a list that can be cut.
    None,
    /// It is a bare `key:`; the next line decides.
    Possible,
    /// It is a list, and its dashes are in this column.
    At(usize),
    /// Something else came between the items of a list: `column` of its dashes. The list continues at the first dash in
    /// that column that can only be an item.
    Interrupted {
        column: usize,
        /// Whether lines may follow that belong to it, whatever they contain.
        open: bool,
        /// The indentation of the first such line.
        child: Option<usize>,
    },
}

impl Splitter<'_> {
    /// Reads one line. Returns false if the text cannot be cut.
    fn line(&mut self, line: &Line) -> bool {
        if matches!(line.first, 0 | b'#') {
            if self.spans.is_empty() {
                self.begin(0, SpanKind::Preamble);
            }
            return true;
        }
        let is_list = match self.list {
            List::Possible => true,
            List::At(column) | List::Interrupted { column, .. } => column == line.indent,
            List::None => false,
        };
        let dash = line.first == b'-'
            && (matches!(line.second, b' ' | b'\t' | b'\r' | b'\n')
                || (is_list && is_dash_without_space(self.words(line.start).trim_start())));
        if dash && line.indent == 0 && !self.has_entry() {
            self.root_items = Some(0);
            self.list = List::At(0);
        }
        if dash && (self.list == List::Possible || self.list == List::At(line.indent)) {
            self.list = List::At(line.indent);
            self.begin(line.start, SpanKind::Item);
            self.root_items = self.root_items.map(|items| items + 1);
            return true;
        }
        if let List::Interrupted { column, open, child } = self.list {
            if dash && line.indent == column {
                let kind = match child {
                    // A dash directly below `key:` begins its own list.
                    None if open => Some(List::At(column)),
                    // `key: text` followed by an indented `- name: x` is not YAML, nor is a line that is indented less
                    // than the ones before it, and more than the key.
                    None if self.words(line.start).contains([':', '{', '[']) => Some(List::At(column)),
                    Some(child) if child > column => Some(List::At(column)),
                    None | Some(_) => None,
                };
                if let Some(list) = kind {
                    if open && child.is_none() {
                        self.list = list;
                    } else {
                        self.resume(list);
                    }
                    self.begin(line.start, SpanKind::Item);
                    return true;
                }
            }
            if line.indent > 0 && child.is_none() {
                self.list = List::Interrupted { column, open, child: Some(line.indent) };
            }
        }
        if let (true, 0, List::At(column)) = (dash, line.indent, self.list) {
            self.list = List::At(column);
            self.begin(line.start, SpanKind::MisplacedItem);
            return true;
        }
        if let List::At(column) = self.list
            && (1..=column).contains(&line.indent)
            && line.first != b'\t'
            && !matches!(line.first, b']' | b'}')
        {
            // Too shallow for the item before it, and not an item of the list.
            if dash {
                self.begin(line.start, SpanKind::MisplacedItem);
            } else {
                self.begin_stray(line.start, SpanKind::Stray);
            }
            return true;
        }
        if line.indent > 0 || line.first == b'\t' {
            self.strays = 0;
            if self.list == List::Possible {
                self.list = List::None;
            }
            // An indented beginning: the root is not where it is expected.
            return self.has_entry();
        }
        self.top_level(line)
    }

    fn top_level(&mut self, line: &Line) -> bool {
        match line.first {
            // A byte order mark counts as such only at the beginning of the text; a piece that began with it would be
            // read without it.
            0xef if line.start > 0 && self.text.byte_slice(line.start..).chars().next() == Some('\u{feff}') => {
                return false;
            }
            b']' | b'}' => return self.has_entry(),
            b'%' | b'?' if matches!(self.list, List::None | List::Possible) => return false,
            b'-' | b'.' => {
                let words = self.words(line.start);
                let marker = words.get(..3).filter(|marker| *marker == "---" || *marker == "...");
                if let Some(marker) = marker
                    && words[3..].chars().next().is_none_or(char::is_whitespace)
                {
                    let bare = words[3..].trim_start().is_empty() || words[3..].trim_start().starts_with('#');
                    if matches!(self.list, List::At(_) | List::Interrupted { .. }) {
                        self.begin(line.start, SpanKind::Stray);
                        return true;
                    }
                    if marker == "..." || self.has_entry() || self.separated || !bare {
                        return false;
                    }
                    self.separated = true;
                    if self.spans.is_empty() {
                        self.begin(0, SpanKind::Preamble);
                    }
                    return true;
                }
                if line.first == b'-' && !self.has_entry() {
                    return false;
                }
            }
            b'[' | b'{' | b'"' | b'\'' | b'&' | b'!' | b'*' | b'|' | b'>' | b'@' | b'`' if !self.has_entry() => {
                return false;
            }
            _ => {}
        }
        let words = self.words(line.start);
        let shape = entry_shape(&words);
        self.keys += usize::from(!matches!(shape, Shape::Other));
        if self.root_items.is_some() {
            self.begin_stray(line.start, SpanKind::Stray);
            return true;
        }
        let column = match self.list {
            List::At(column) => Some(column),
            // A second entry is not an accident: the list is over.
            List::Interrupted { .. } | List::None | List::Possible => None,
        };
        let interrupted = |open| match column {
            Some(column) => List::Interrupted { column, open, child: None },
            None if open => List::Possible,
            None => List::None,
        };
        match shape {
            Shape::Key => {
                self.list = interrupted(true);
                self.begin(line.start, SpanKind::Head);
            }
            Shape::KeyWithValue(Value::Complete) => {
                self.list = interrupted(false);
                self.begin(line.start, SpanKind::Entry);
            }
            Shape::KeyWithValue(Value::Opens) => {
                self.list = column.map_or(List::None, |column| List::Interrupted { column, open: true, child: None });
                self.begin(line.start, SpanKind::Entry);
            }
            Shape::KeyWithValue(Value::Unclosed) => {
                self.list = List::None;
                self.begin(line.start, SpanKind::Entry);
            }
            Shape::Other if matches!(self.list, List::At(_) | List::Interrupted { .. }) => {
                self.begin_stray(line.start, SpanKind::Stray);
            }
            Shape::Other => {
                // A key without its colon may have items already.
                self.list = List::Possible;
                self.begin_stray(line.start, SpanKind::Head);
            }
        }
        true
    }

    /// Continues a list: the entry in between does not belong to anything.
    fn resume(&mut self, list: List) {
        self.list = list;
        for span in self
            .spans
            .iter_mut()
            .rev()
            .take_while(|span| !matches!(span.kind, SpanKind::Item | SpanKind::MisplacedItem))
        {
            span.kind = SpanKind::Stray;
        }
    }

    /// Begins a piece for a line that is neither entry nor item. One such line is half-typed; hundreds in a row are
    /// text whose surroundings are damaged, and a piece for each would take minutes.
    fn begin_stray(&mut self, start: usize, kind: SpanKind) {
        const ALONE: usize = 64;
        const TOGETHER: usize = 16 * 1024;
        let strays = self.strays + 1;
        let same = |span: &Span| span.kind == kind && start - span.range.start < TOGETHER;
        if strays <= ALONE || !self.spans.last().is_some_and(same) {
            self.begin(start, kind);
        }
        self.strays = strays;
    }

    fn begin(&mut self, start: usize, kind: SpanKind) {
        self.strays = 0;
        let start = if self.spans.is_empty() { 0 } else { start };
        self.spans.push(Span { range: start..start, kind });
    }

    fn has_entry(&self) -> bool {
        self.spans.iter().rev().any(|span| span.kind != SpanKind::Preamble)
    }

    fn words(&self, start: usize) -> String {
        let line = self.text.byte_to_line(start);
        let text: String = self.text.line(line).into();
        text.trim_start_matches('\u{feff}').trim_end().to_owned()
    }
}

/// Passes on each line's beginning. Returns false if a line was refused. Lines end as in YAML: with LF, CR LF, or CR
/// alone.
fn for_each_line(text: &Rope, mut take: impl FnMut(Line) -> bool) -> bool {
    let begin = |start: usize| Line { start, indent: 0, first: 0, second: b'\n' };
    let mut line = begin(0);
    let mut state = State::Indent;
    let mut offset = 0;
    let mut after_return = false;
    for chunk in text.chunks() {
        let bytes = chunk.as_bytes();
        let mut at = 0;
        if offset == 0 && bytes.starts_with(&[0xef, 0xbb, 0xbf]) {
            at = 3;
            line.start = 3;
        }
        while at < bytes.len() {
            if std::mem::take(&mut after_return) && bytes[at] == b'\n' {
                at += 1;
                line = begin(offset + at);
                continue;
            }
            match state {
                State::Rest => match memchr::memchr2(b'\n', b'\r', &bytes[at..]) {
                    None => at = bytes.len(),
                    Some(found) => {
                        at += found + 1;
                        after_return = bytes[at - 1] == b'\r';
                        if !take(line) {
                            return false;
                        }
                        line = begin(offset + at);
                        state = State::Indent;
                    }
                },
                State::Indent => match bytes[at] {
                    b' ' => {
                        let blanks = bytes[at..].iter().take_while(|byte| **byte == b' ').count();
                        line.indent += blanks;
                        at += blanks;
                    }
                    // A no-break space among the blanks looks like one, and was most likely meant as one.
                    0xc2 if bytes.get(at + 1) == Some(&0xa0) => {
                        line.indent += 1;
                        at += 2;
                    }
                    b'\n' | b'\r' => state = State::Rest,
                    byte => {
                        line.first = byte;
                        state = if byte == b'\t' { State::Tab } else { State::Second };
                        at += 1;
                    }
                },
                // A line of blanks and tabs is empty.
                State::Tab => match bytes[at] {
                    b' ' | b'\t' => at += 1,
                    b'\n' | b'\r' => {
                        line.first = 0;
                        state = State::Rest;
                    }
                    b'#' => {
                        line.first = b'#';
                        state = State::Rest;
                    }
                    _ => state = State::Rest,
                },
                State::Second => {
                    line.second = bytes[at];
                    state = State::Rest;
                }
            }
        }
        offset += bytes.len();
    }
    if state == State::Tab {
        line.first = 0;
    }
    line.first == 0 || take(line)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Indent,
    Tab,
    Second,
    Rest,
}

/// The shape of a line in the first column.
enum Shape {
    Key,
    /// `key: value`
    KeyWithValue(Value),
    /// Anything else.
    Other,
}

/// The effect of a value on the lines that follow.
enum Value {
    /// Only continued text may belong to it.
    Complete,
    /// Indented lines follow: a block scalar, or an anchor or tag whose node comes below.
    Opens,
    /// A quote or bracket is open: anything may follow.
    Unclosed,
}

fn value_shape(value: &str) -> Value {
    let balanced = |open: char, close: char| value.matches(open).count() <= value.matches(close).count();
    match value.chars().next() {
        Some('|' | '>' | '&' | '!') => Value::Opens,
        Some(quote @ ('"' | '\'')) if value.matches(quote).count() < 2 => Value::Unclosed,
        Some('[') if !balanced('[', ']') => Value::Unclosed,
        Some('{') if !balanced('{', '}') => Value::Unclosed,
        Some(_) | None => Value::Complete,
    }
}

/// Returns the shape of a line that begins in the first column.
fn entry_shape(line: &str) -> Shape {
    if line.starts_with("<<<<<<<") || line.starts_with(">>>>>>>") || line.starts_with("=======") {
        return Shape::Other;
    }
    let rest = match line.chars().next() {
        Some(quote @ ('"' | '\'')) => match line[1..].find(quote) {
            Some(end) => &line[end + 2..],
            None => return Shape::Other,
        },
        _ => line,
    };
    let Some(colon) = rest
        .match_indices(':')
        .map(|(at, _)| at)
        .find(|at| rest[at + 1..].chars().next().is_none_or(|next| next == ' ' || next == '\t'))
    else {
        return Shape::Other;
    };
    if rest[..colon].contains(" #") {
        return Shape::Other;
    }
    let value = rest[colon + 1..].trim_start();
    if value.is_empty() || value.starts_with('#') { Shape::Key } else { Shape::KeyWithValue(value_shape(value)) }
}

#[cfg(test)]
mod tests;
