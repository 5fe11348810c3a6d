//! The context of the cursor. A mark is put at the cursor, and the tree says where the mark is: as it stands, as a new
//! item, as a key, and at last in brackets that are closed behind it. The first text that has the mark in its tree
//! decides, so half-typed text is read as everything else is.

use std::{borrow::Cow, ops::Range};

use ropey::Rope;
use speclens_schema::{
    document::{Document, NodeRef, Pointer, Shape as NodeShape},
    json_schema::SpecFile,
    shape::{Shape, Type},
};

/// A letter that means nothing in YAML and that no text has.
const MARK: &str = "\u{e000}";

#[derive(Debug)]
pub(crate) struct Context<'d> {
    /// The mapping or list around the cursor, or the value that is being typed.
    pub at: Pointer,
    pub shape: Shape,
    pub node: Option<NodeRef<'d>>,
    /// The kind of text that is being typed.
    pub slot: Slot,
    /// The bytes that would be replaced, all on one line.
    pub token: Range<usize>,
    pub layout: Layout,
}

/// The kind of text that is being typed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Slot {
    Key {
        has_colon: bool,
        /// The other keys. The tree of the document may not have them all.
        others: Vec<String>,
        quote: Option<char>,
    },
    Value {
        quote: Option<char>,
    },
    /// A continuation of a text that began on a line above.
    Continued,
    /// The mapping or list after its key's colon, on the same line, which is still empty.
    Below,
    /// An item of the list without its dash.
    Item,
    Comment,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Layout {
    pub flow: bool,
    /// The column of the neighboring keys or dashes.
    pub column: usize,
    /// The indentation of the cursor's line.
    pub indent: usize,
    pub step: usize,
    pub line_break: &'static str,
    /// The text to insert before the new text: a blank after a colon or dash.
    pub gap: String,
}

pub(crate) struct Line<'t> {
    pub start: usize,
    /// The text without the line break.
    pub text: Cow<'t, str>,
}

impl<'t> Line<'t> {
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

    fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start_matches([' ', '\t']).len()
    }

    fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

/// A place in a text where a mark is read.
struct Cursor<'d> {
    document: &'d Document,
    offset: usize,
    line: Line<'d>,
}

/// What is written around the mark.
#[derive(Clone, Default)]
struct Attempt {
    /// What replaces the blanks of an empty line: as many as another column has.
    column: Option<usize>,
    /// The text before the mark.
    lead: &'static str,
    /// Whether the words at the cursor become a key.
    is_key: bool,
    /// The quotes and brackets that are open at the cursor. The text behind it in the block is left out.
    closing: Option<String>,
}

/// A text with a mark, and the node with it.
pub(super) struct Reading {
    attempt: Attempt,
    pub marked: Document,
    mark: Range<usize>,
    pub node: MarkedNode,
}

/// The node with the mark. Its bytes are those of the marked text.
#[derive(Default)]
pub(super) struct MarkedNode {
    /// The place of the value, or of the mapping with the key.
    pub at: Pointer,
    is_alias: bool,
    is_key: bool,
    is_in_brackets: bool,
    range: Range<usize>,
    /// The start of the key of the value, if that is on the same line.
    key: Option<usize>,
    others: Vec<String>,
    has_value: bool,
    /// The indentation of the last level, if there is one.
    step: Option<usize>,
}

impl<'d> Context<'d> {
    /// The context of the cursor; `None` if it is unknown.
    pub(crate) fn find(document: &'d Document, file: SpecFile, offset: usize) -> Option<Context<'d>> {
        let cursor = Cursor::new(document, offset)?;
        let found = cursor.attempts().find_map(|attempt| cursor.context(file, cursor.read(attempt)?));
        found.unwrap_or_else(|| cursor.comment(file))
    }

    /// The context further to the right, if the cursor is where editors put it after the first key of an item: below its
    /// dash, or below a key without a value.
    pub(crate) fn inside(document: &'d Document, file: SpecFile, offset: usize) -> Option<Context<'d>> {
        let cursor = Cursor::new(document, offset)?;
        let plain = Attempt { column: Some(cursor.column_inside()?), ..Attempt::default() };
        let [key, item] = [Attempt { is_key: true, ..plain.clone() }, Attempt { lead: "- ", ..plain.clone() }];
        [key, item, plain].into_iter().find_map(|attempt| cursor.context(file, cursor.read(attempt)?).flatten())
    }
}

/// The alias that is being typed, with the bytes that it replaces.
pub(super) fn typed_alias(document: &Document, offset: usize) -> Option<(Reading, Range<usize>)> {
    let cursor = Cursor::new(document, offset).filter(|cursor| cursor.before().contains('*'))?;
    let reading = cursor.read(Attempt::default()).or_else(|| cursor.read(cursor.closed()))?;
    let token = cursor.token(&reading);
    reading.node.is_alias.then_some((reading, token))
}

impl<'d> Cursor<'d> {
    fn new(document: &'d Document, offset: usize) -> Option<Cursor<'d>> {
        let text = document.text();
        let line = Line::of(text, text.byte_to_line(offset));
        let is_on_line = line.start <= offset && offset <= line.end();
        is_on_line.then_some(Cursor { document, offset, line })
    }

    fn before(&self) -> &str {
        &self.line.text[..self.offset - self.line.start]
    }

    fn behind(&self) -> &str {
        &self.line.text[self.offset - self.line.start..]
    }

    fn column(&self) -> usize {
        self.offset - self.line.start
    }

    fn attempts(&self) -> impl Iterator<Item = Attempt> {
        let plain = Attempt::default();
        let mut attempts = Vec::new();
        let needs_gap =
            self.before().ends_with([':', '-']) && !self.behind().starts_with(|next: char| !next.is_whitespace());
        if needs_gap {
            let gap = Attempt { lead: " ", ..plain.clone() };
            attempts.extend([gap.clone(), Attempt { is_key: true, ..gap }]);
        }
        let is_blank = self.line.is_blank();
        let columns = [None, self.column_of_neighbors().filter(|_| is_blank)];
        for column in columns.into_iter().enumerate().filter(|(at, column)| *at == 0 || column.is_some()) {
            let plain = Attempt { column: column.1, ..plain.clone() };
            attempts.push(plain.clone());
            if is_blank {
                attempts.push(Attempt { lead: "- ", ..plain.clone() });
            }
            if !needs_gap {
                attempts.push(Attempt { is_key: true, ..plain });
            }
        }
        attempts.into_iter().chain(std::iter::once_with(|| self.closed()))
    }

    fn closed(&self) -> Attempt {
        let start = self.document.block_around(self.offset).start;
        let before = String::from(self.document.text().byte_slice(start..self.offset));
        Attempt { closing: Some(closing(&before)), ..Attempt::default() }
    }

    /// The column that a blank line should have: that of the first line below the key above it, or more than that of
    /// the bracket below it.
    fn column_of_neighbors(&self) -> Option<usize> {
        let text = self.document.text();
        let number = text.byte_to_line(self.offset);
        let holds_something = |line: &Line<'_>| !line.is_blank() && !line.text.trim_start().starts_with('#');
        let above = (0..number).rev().map(|number| Line::of(text, number)).find(holds_something)?;
        let below = (number + 1..text.len_lines()).map(|number| Line::of(text, number)).find(holds_something)?;
        if below.text.trim_start().starts_with(['}', ']']) {
            return Some(below.indent() + 2).filter(|column| *column > self.column());
        }
        let is_below_key = above.text.trim_end().ends_with(':') && self.column() > above.indent();
        Some(below.indent()).filter(|column| is_below_key && *column != self.column())
    }

    /// The column of the next key of the item that begins on the line above, or of the value of its key, if the line is
    /// blank, or a word that is being typed, and less far to the right.
    fn column_inside(&self) -> Option<usize> {
        let text = self.document.text();
        let above = Line::of(text, text.byte_to_line(self.offset).checked_sub(1)?);
        let words = above.text.trim_start_matches([' ', '-']);
        let content = above.text.len() - words.len();
        let own = self.line.indent().min(self.column());
        let is_word = !self.line.text.trim().contains([' ', ':', '-', '#', '"', '\'', '[', '{', '*']);
        let is_item =
            above.text[..content].ends_with("- ") && words.contains(':') && !words.starts_with(['#', '[', '{']);
        let column = if words.trim_end().ends_with(':') { content + 2 } else { content };
        let fits = is_word && self.behind().trim().is_empty() && is_item && above.indent() <= own;
        Some(column).filter(|column| fits && own < *column)
    }

    /// Reads the text with the mark; `None` if its tree has no mark, or if the mark damages it.
    fn read(&self, attempt: Attempt) -> Option<Reading> {
        let from = if attempt.column.is_some() { self.line.start } else { self.offset };
        let lead = format!("{}{}", " ".repeat(attempt.column.unwrap_or(0)), attempt.lead);
        let mut marked = self.document.clone();
        let word = self.behind().find(|next: char| next.is_whitespace() || ",[]{}:".contains(next));
        let word = self.offset + word.unwrap_or(self.behind().len());
        if let Some(closing) = attempt.closing.as_ref().filter(|closing| !closing.is_empty()) {
            marked.edit(word..self.document.block_around(self.offset).end, &format!("{closing}\n"));
        } else if attempt.closing.is_some() {
            return None;
        } else if attempt.is_key {
            let behind = self.behind();
            let end = self.offset + behind[..behind.find(" #").unwrap_or(behind.len())].trim_end().len();
            marked.edit(end..end, ":");
        }
        marked.edit(from..self.offset, &format!("{lead}{MARK}"));
        marked.refresh();
        let mark = from + lead.len()..from + lead.len() + MARK.len();
        let is_new_line = self.line.is_blank() && attempt.closing.is_none();
        if is_new_line && marked.faults().len() > self.document.faults().len() {
            return None;
        }
        let mut node = MarkedNode::default();
        let is_found = descend(marked.root()?, &mark, &mut node);
        let is_whole = node.range == mark;
        let fits = match (attempt.lead, attempt.is_key) {
            ("", false) => !is_new_line || is_whole || node.range.start < self.line.start || node.is_in_brackets,
            (_, true) => node.is_key && !node.has_value,
            (_, false) => is_whole && !node.is_key,
        };
        (is_found && fits).then_some(Reading { attempt, marked, mark, node })
    }

    /// The bytes of the node with the mark on the cursor's line, quotes included.
    fn token(&self, reading: &Reading) -> Range<usize> {
        let Range { start, end } = reading.node.range;
        let start = match start < reading.mark.start {
            true => start,
            false => {
                let column = reading.attempt.column.map_or(usize::MAX / 2, |column| column.min(self.line.indent()));
                self.offset.min(self.line.start + column)
            }
        };
        let end = (end + self.offset).saturating_sub(reading.mark.end);
        start.max(self.line.start)..end.clamp(self.offset, self.line.end())
    }

    /// The context that a reading gives; `None` if another reading may be the right one.
    fn context(&self, file: SpecFile, reading: Reading) -> Option<Option<Context<'d>>> {
        let mut at = reading.node.at.clone();
        let is_read = self.document.find(&at).is_some();
        let find =
            |at: &Pointer| Shape::find(file, at, if is_read { self.document.root() } else { reading.marked.root() });
        let attempt = &reading.attempt;
        if attempt.lead == "- " {
            at = at.parent()?;
            if find(&at)?.kind() != Type::List {
                return None;
            }
        }
        let open = || std::iter::successors(at.parent(), Pointer::parent).find_map(|at| find(&at))?.anything();
        Some(find(&at).or_else(open).and_then(|shape| self.context_at(at, shape, reading)))
    }

    fn context_at(&self, at: Pointer, mut shape: Shape, reading: Reading) -> Option<Context<'d>> {
        let Reading { attempt, marked, mark, node: found } = &reading;
        let is_indented = self.line.is_blank() || self.column() >= self.line.indent();
        if !is_indented || self.is_before_dash() || self.is_before_value() {
            return None;
        }
        let mut token = self.token(&reading);
        let begins_here = found.range.start == mark.start;
        let goes_on = self.before().ends_with([' ', '\t']) && !begins_here;
        let first = marked.text().get_byte(found.range.start);
        let quote = first.map(char::from).filter(|first| matches!(first, '"' | '\'') && !begins_here);
        if let Some(quote) = quote {
            let source = self.document.source(token.clone()).unwrap_or_default();
            if self.before().ends_with(quote) && token.start + 1 < self.offset {
                return None;
            }
            let is_closed = source.len() > 1 && source.ends_with(quote);
            token = (token.start + 1).min(self.offset)..(token.end - usize::from(is_closed)).max(self.offset);
        }
        let gap = match attempt.column {
            Some(column) => " ".repeat(column.saturating_sub(self.line.indent().min(self.column()))),
            None => attempt.lead.trim_end_matches("- ").to_owned(),
        };
        let mut layout = Layout {
            flow: found.is_in_brackets,
            column: (token.start - self.line.start) + gap.len(),
            indent: self.line.indent().min(self.column()).min(attempt.column.unwrap_or(usize::MAX)),
            step: found.step.unwrap_or(2),
            line_break: self.line_break(),
            gap,
        };
        let mut node = self.document.find(&at);
        let behind = self.behind().trim_start();
        let slot = if found.is_key && found.is_in_brackets && shape.kind() == Type::Text {
            // The braces of a placeholder that is being typed.
            Slot::Value { quote: None }
        } else if found.is_key {
            let behind = &self.line.text[token.end - self.line.start..];
            let has_colon = !attempt.is_key && behind.trim_start_matches(['"', '\'', ' ']).starts_with(':');
            if !has_colon && goes_on && quote.is_none() {
                return None;
            }
            Slot::Key { has_colon, others: found.others.clone(), quote }
        } else if attempt.lead == "- " {
            Slot::Item
        } else if found.range.start < self.line.start && !found.is_in_brackets {
            token = self.line.start + self.line.indent().min(self.column())..self.line.end();
            (shape.kind() == Type::Text).then_some(Slot::Continued)?
        } else if quote.is_some() {
            Slot::Value { quote }
        } else if (goes_on && (behind.is_empty() || behind.starts_with('#')))
            || (begins_here && behind.starts_with(['"', '\'']))
        {
            // A second value is neither part of the first one nor another one.
            return None;
        } else if found.is_in_brackets {
            Slot::Value { quote: None }
        } else if let Some(key) = found.key {
            let text = self.document.text();
            let below = node.filter(|node| node.own_range().start > self.line.end());
            layout.column = column_of(text, key);
            match (shape.kind(), below.map(NodeRef::shape)) {
                (Type::Mapping | Type::List, None) if token.is_empty() => layout.column += layout.step,
                (_, None) => {
                    return Some(Context { at, shape, node, slot: Slot::Value { quote: None }, token, layout });
                }
                (Type::Mapping, Some(NodeShape::Mapping)) | (Type::List, Some(NodeShape::Sequence)) => {
                    layout.column = column_of(text, below?.own_range().start);
                }
                (_, Some(_)) => return None,
            }
            token.start -= self.before().len() - self.before().trim_end().len();
            Slot::Below
        } else {
            // A word may become a key if both a text and a mapping are possible.
            let is_address = self.document.source(token.clone()).is_some_and(|word| word.contains(':'));
            let is_mapping = node.is_some_and(|node| node.shape() == NodeShape::Mapping);
            let word = shape.at(None);
            if !is_address && !is_mapping && word.text_form().is_some() {
                (shape, node) = (word, None);
            }
            match shape.kind() {
                Type::Mapping => Slot::Key { has_colon: false, others: Vec::new(), quote: None },
                Type::List => Slot::Item,
                Type::Text | Type::Integer | Type::Number | Type::Boolean | Type::Any => Slot::Value { quote: None },
            }
        };
        Some(Context { at, shape, node, slot, token, layout })
    }

    fn is_before_dash(&self) -> bool {
        let is_dash =
            |words: &str| words.strip_prefix('-').is_some_and(|rest| rest.is_empty() || rest.starts_with(' '));
        is_dash(self.behind()) && self.before().chars().all(|letter| matches!(letter, ' ' | '-'))
    }

    /// Whether the cursor is between a colon or a dash and a value, or directly before brackets.
    fn is_before_value(&self) -> bool {
        let behind = self.behind();
        let is_value = !behind.trim_start().is_empty() && !behind.trim_start().starts_with(['}', ']', ',', '#']);
        behind.starts_with(['{', '[']) || (self.before().ends_with([':', '-']) && behind.starts_with(' ') && is_value)
    }

    fn comment(&self, file: SpecFile) -> Option<Context<'d>> {
        let starts = self.before().match_indices('#').map(|(at, _)| at);
        let start = starts.into_iter().find(|at| *at == 0 || self.before()[..*at].ends_with([' ', '\t']))?;
        Some(Context {
            at: Pointer::root(),
            shape: Shape::of(file),
            node: self.document.root(),
            slot: Slot::Comment,
            token: self.line.start + start..self.line.end(),
            layout: Layout {
                flow: false,
                column: 0,
                indent: 0,
                step: 2,
                line_break: self.line_break(),
                gap: String::new(),
            },
        })
    }

    fn line_break(&self) -> &'static str {
        let first = self.document.text().line(0);
        let is_crlf = first.len_chars() > 1 && first.char(first.len_chars() - 2) == '\r';
        if is_crlf { "\r\n" } else { "\n" }
    }
}

fn descend(node: NodeRef<'_>, mark: &Range<usize>, found: &mut MarkedNode) -> bool {
    let range = node.own_range();
    let holds = |node: NodeRef<'_>| node.own_range().start <= mark.start && mark.end <= node.own_range().end;
    let text = node.document().text();
    if node.alias().is_some() || node.text().is_some() {
        found.is_alias = node.alias().is_some();
        found.range = range;
        return holds(node);
    }
    found.is_in_brackets |= text.get_byte(range.start).is_some_and(|first| matches!(first, b'{' | b'['));
    if let Some((index, item)) = node.items_in(mark).find(|(_, item)| holds(*item)) {
        found.at = found.at.index(index);
        found.key = None;
        return descend(item, mark, found);
    }
    let Some(entry) = node.entries_in(mark).find(|entry| holds(entry.key) || holds(entry.value)) else { return false };
    if holds(entry.key) {
        let others = node.entries().filter(|other| !holds(other.key));
        found.others = others.map(|other| other.key.key_text()).collect();
        found.range = entry.key.own_range();
        found.is_key = true;
        found.has_value = !entry.value.own_range().is_empty();
        return true;
    }
    let (key, value) = (entry.key.own_range().start, entry.value.own_range().start);
    let is_beside = text.byte_to_line(key) == text.byte_to_line(value);
    let indent = column_of(text, value).saturating_sub(column_of(text, key));
    if !is_beside && (2..=8).contains(&indent) {
        found.step = Some(indent);
    }
    found.key = is_beside.then_some(key);
    found.at = found.at.key(&entry.key.key_text());
    descend(entry.value, mark, found)
}

fn column_of(text: &Rope, at: usize) -> usize {
    at - text.line_to_byte(text.byte_to_line(at))
}

fn closing(text: &str) -> String {
    let mut open = Vec::new();
    let mut quote = None;
    let mut begins = true;
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(letter) = letters.next() {
        match (quote, letter) {
            (Some('"'), '\\') => drop(letters.next()),
            (Some(_), _) => quote = quote.filter(|quote| *quote != letter),
            (None, '"' | '\'') if begins => quote = Some(letter),
            (None, '{' | '[') if begins => open.push(if letter == '{' { '}' } else { ']' }),
            (None, '}' | ']') => drop(open.pop()),
            (None, '#') if before.is_whitespace() => while letters.next_if(|next| *next != '\n').is_some() {},
            (None, _) => {}
        }
        begins = match letter {
            ' ' | '\t' => begins || matches!(before, ':' | '-'),
            '\n' | '[' | '{' | ',' => true,
            ':' => !open.is_empty(),
            _ => false,
        };
        before = letter;
    }
    quote.into_iter().chain(open.into_iter().rev()).collect()
}
