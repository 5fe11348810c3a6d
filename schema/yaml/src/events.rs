//! YAML text → tree, strict: reading ends at the first error. The only module that uses the parser.

mod kind;

use granit_parser::{Event, Parser, ScalarStyle, Span, options};
use smol_str::SmolStr;

use super::{
    fault::FaultKind,
    layout::{floor_boundary, is_dash},
    tree::{Entry, Node, NodeKind, Style},
};
use crate::ScalarRules;

/// Maximum nesting of collections: no author writes deeper by hand, and every walk over the tree may then be recursive.
pub const MAX_NESTING: usize = 200;

/// The content of a text.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Parsed {
    /// The first document's root; `None` if there are only comments.
    pub root: Option<Node>,
    /// The start of a second document, if there is one.
    pub second_document: Option<usize>,
}

/// The first error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SyntaxError {
    /// The position of the parser, in bytes; never past the end of the text.
    pub offset: usize,
    /// The problem.
    pub kind: FaultKind,
    /// The end of the last readable element, in bytes.
    pub read_to: usize,
    /// Whether the line at the offset is wrong, regardless of its surroundings.
    pub at_line: bool,
}

impl SyntaxError {
    /// Returns whether the nesting limit was reached, rather than an error.
    pub(crate) fn is_too_deep(&self) -> bool {
        self.kind == FaultKind::NestedTooDeep
    }
}

/// Reads a text to the end, or to its first error.
pub(crate) fn parse(text: &str, rules: ScalarRules) -> Result<Parsed, SyntaxError> {
    read(text, rules, true)
}

/// Returns the same without the children of the root.
pub(crate) fn skim(text: &str, rules: ScalarRules) -> Result<Parsed, SyntaxError> {
    read(text, rules, false)
}

fn read(text: &str, rules: ScalarRules, keep: bool) -> Result<Parsed, SyntaxError> {
    let options = options! {
        emit_unresolved_aliases: true,
        emit_anchor_events: true,
        emit_comments: false,
        simple_key_max_lookahead: 64 * 1024,
        flow_nesting_limit: MAX_NESTING,
        block_nesting_limit: MAX_NESTING,
    };
    let parser = Parser::new_from_str_with_options(text, options);
    let mut builder = Builder {
        text,
        keep,
        stack: Vec::new(),
        parsed: Parsed::default(),
        documents: 0,
        read_to: 0,
        opened: false,
        misplaced: None,
        indented: !rules.is_yaml11(),
    };
    for event in parser {
        match event {
            Ok((event, span)) => {
                builder.event(event, span);
                if let Some(misplaced) = builder.misplaced.take() {
                    return Err(SyntaxError {
                        offset: misplaced.at,
                        kind: misplaced.kind,
                        read_to: builder.read_to.min(misplaced.at),
                        at_line: true,
                    });
                }
            }
            Err(error) => {
                let offset = error.marker().byte_offset().unwrap_or(text.len()).min(text.len());
                return Err(SyntaxError {
                    offset: floor_boundary(text, offset),
                    kind: kind::of(error.kind()),
                    read_to: builder.read_to,
                    at_line: false,
                });
            }
        }
    }
    Ok(builder.parsed)
}

struct Builder<'t> {
    text: &'t str,
    /// Whether children stay with their parents. Otherwise only the last one does, since the following text depends on
    /// it.
    keep: bool,
    stack: Vec<Open>,
    parsed: Parsed,
    documents: usize,
    read_to: usize,
    /// Whether the last node was a collection that has just been opened: an anchor's name follows its node.
    opened: bool,
    /// An error that the parser accepts.
    misplaced: Option<Misplaced>,
    /// Whether the lines of quoted or bracketed text must be indented: PyYAML lets them begin anywhere.
    indented: bool,
}

/// An element that YAML forbids at its place.
struct Misplaced {
    at: usize,
    kind: FaultKind,
}

/// A collection whose end has not been seen.
struct Open {
    node: Node,
    /// A mapping's key that waits for its value.
    key: Option<Node>,
    flow: bool,
}

impl Builder<'_> {
    fn event(&mut self, event: Event<'_>, span: Span) {
        let range = span.byte_range().unwrap_or(self.read_to..self.read_to);
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents == 2 {
                    self.parsed.second_document = Some(range.start);
                }
            }
            Event::Scalar(value, style, _, tag) => {
                // An absent node is reported as `~` with an empty range.
                let absent = range.is_empty() && style == ScalarStyle::Plain;
                let (range, style) = self.scalar_place(range, style, absent);
                self.expect_deeper_lines(&range, style);
                self.read_to = self.read_to.max(range.end);
                let value = if absent { SmolStr::default() } else { SmolStr::new(value) };
                let tag = tag.map(|tag| tag_text(&tag));
                self.close(Node::new(range, NodeKind::Scalar { value, style }).with_tag(tag));
            }
            Event::SequenceStart(style, _, tag) => {
                let tag = tag.map(|tag| tag_text(&tag));
                self.open(range.start, tag, NodeKind::Sequence(Vec::new()), is_flow(style));
            }
            Event::MappingStart(style, _, tag) => {
                let tag = tag.map(|tag| tag_text(&tag));
                self.open(range.start, tag, NodeKind::Mapping(Vec::new()), is_flow(style));
            }
            Event::SequenceEnd | Event::MappingEnd => {
                let Some(mut open) = self.stack.pop() else { return };
                // A block collection's end is reported at the next token: its last child ends it.
                open.node.set_end(if open.flow { range.end } else { last_end(&open.node) });
                match &mut open.node.kind {
                    NodeKind::Sequence(items) => items.shrink_to_fit(),
                    NodeKind::Mapping(entries) => entries.shrink_to_fit(),
                    NodeKind::Scalar { .. } | NodeKind::Alias(_) => {}
                }
                if open.flow && !self.stack.iter().any(|outer| outer.flow) {
                    self.expect_deeper_lines(&open.node.range(), Style::Plain);
                }
                self.read_to = self.read_to.max(open.node.range().end);
                self.close(open.node);
            }
            Event::Alias(_) | Event::UnresolvedAlias(_) => {
                let name = self.text.get(range.start + 1..range.end).unwrap_or_default().into();
                self.read_to = self.read_to.max(range.end);
                self.close(Node::new(range, NodeKind::Alias(name)));
            }
            Event::Anchor(_, name) => self.name_last_node(&name),
            // Stream and document ends have no content; the parser's type may get more variants.
            _ => {}
        }
    }

    fn open(&mut self, start: usize, tag: Option<Box<str>>, kind: NodeKind, flow: bool) {
        let dash_before = |start: usize| {
            let line = self.text[..start].rfind(['\n', '\r']).map_or(0, |end| end + 1);
            let before = self.text[line..start].split('#').next().unwrap_or_default();
            before.rfind('-').map_or(start, |dash| line + dash)
        };
        let is_list = matches!(kind, NodeKind::Sequence(_)) && !flow;
        // A list that is the root, or that follows a comment, is reported after its first dash...
        let start = if is_list && !is_dash(&self.text[start..]) { dash_before(start) } else { start };
        // ...which may be where a list in it begins.
        if let Some(outer) = self.stack.last_mut().filter(|outer| is_list && outer.node.range().start == start) {
            outer.node.set_start(dash_before(start));
        }
        let node = Node::new(start..start, kind).with_tag(tag);
        self.stack.push(Open { node, key: None, flow });
        self.opened = true;
    }

    /// Passes a finished node to its collection.
    fn close(&mut self, node: Node) {
        self.opened = false;
        let Some(open) = self.stack.last_mut() else {
            if self.documents <= 1 {
                self.parsed.root = Some(node);
            }
            return;
        };
        let start = open.node.range().start;
        match &mut open.node.kind {
            NodeKind::Sequence(items) => {
                let from = items.last().map_or(start, |item| item.range().end);
                if !self.keep {
                    items.clear();
                }
                items.push(behind_dash(self.text, from, node));
            }
            NodeKind::Mapping(entries) => match open.key.take() {
                None => open.key = Some(node),
                Some(key) => {
                    if let Some(at) = on_line_of_colon(self.text, &key, &node) {
                        self.misplaced = Some(Misplaced { at, kind: FaultKind::MissingKey });
                    }
                    if !self.keep {
                        entries.clear();
                    }
                    entries.push(Entry { value: behind_colon(self.text, &key, node), key });
                }
            },
            NodeKind::Scalar { .. } | NodeKind::Alias(_) => {}
        }
    }

    /// Checks that the lines of a quoted string or a bracketed collection are indented deeper than the mapping or list
    /// around it: a line that is not is most likely the next entry. Only a closing bracket may be aligned.
    fn expect_deeper_lines(&mut self, range: &std::ops::Range<usize>, style: Style) {
        let quoted = matches!(style, Style::SingleQuoted | Style::DoubleQuoted);
        let brackets = style == Style::Plain && self.text[range.start..].starts_with(['[', '{']);
        let open = quoted || brackets;
        if !self.indented || !open || memchr::memchr2(b'\n', b'\r', &self.text.as_bytes()[range.clone()]).is_none() {
            return;
        }
        let Some(outer) = self.stack.iter().rev().find(|open| !open.flow) else { return };
        let line = self.text[..outer.node.range().start].rfind(['\n', '\r']).map_or(0, |end| end + 1);
        let before = &self.text[line..outer.node.range().start];
        let before = before.strip_prefix('\u{feff}').unwrap_or(before);
        // An anchor or a tag may precede the first key.
        let column = before.find(|letter| !matches!(letter, ' ' | '-' | '?' | ':')).unwrap_or(before.len());
        let mut at = range.start;
        while let Some(end) = self.text[at..range.end].find(['\n', '\r']) {
            at += end + 1;
            let rest = &self.text[at..range.end];
            let content = rest.trim_start_matches(' ');
            let indent = rest.len() - content.len();
            // A line of blanks and tabs is empty.
            let is_empty = content.trim_start_matches([' ', '\t']).starts_with(['\n', '\r']);
            let comment = brackets && content.starts_with('#');
            let closing = brackets && indent == column && at + indent + 1 == range.end;
            if indent <= column && !(is_empty || comment || closing) {
                let kind = if quoted { FaultKind::QuotesReachInto } else { FaultKind::BracketsReachInto };
                self.misplaced = Some(Misplaced { at: at + indent, kind });
                return;
            }
        }
    }

    /// Gives the node of the last event its name.
    fn name_last_node(&mut self, name: &str) {
        let node = match self.stack.last_mut() {
            None => self.parsed.root.as_mut().filter(|_| self.documents <= 1),
            Some(open) if self.opened => Some(&mut open.node),
            Some(open) => match &mut open.node.kind {
                NodeKind::Sequence(items) => items.last_mut(),
                NodeKind::Mapping(_) if open.key.is_some() => open.key.as_mut(),
                NodeKind::Mapping(entries) => entries.last_mut().map(|entry| &mut entry.value),
                NodeKind::Scalar { .. } | NodeKind::Alias(_) => None,
            },
        };
        if let Some(node) = node {
            node.set_anchor(Some(name.into()));
        }
    }

    /// Returns the range of a scalar: as written for quoted and plain ones, without its header for a block scalar.
    fn scalar_place(
        &self,
        range: std::ops::Range<usize>,
        style: ScalarStyle,
        absent: bool,
    ) -> (std::ops::Range<usize>, Style) {
        let style = match style {
            ScalarStyle::SingleQuoted => Style::SingleQuoted,
            ScalarStyle::DoubleQuoted => Style::DoubleQuoted,
            ScalarStyle::Literal => Style::Literal,
            ScalarStyle::Folded => Style::Folded,
            _ => Style::Plain,
        };
        if absent || !matches!(style, Style::Literal | Style::Folded) {
            return (range, style);
        }
        let mark = if style == Style::Literal { '|' } else { '>' };
        let start = block_header(self.text, range.start, mark).unwrap_or(range.start);
        let written = self.text.get(start..range.end).unwrap_or_default().trim_end();
        (start..start + written.len(), style)
    }
}

fn block_header(text: &str, content: usize, mark: char) -> Option<usize> {
    let before = text.get(..content)?.trim_end();
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    before[line..].match_indices(mark).map(|(at, _)| line + at).find(|&at| {
        let rest = before[at + 1..].trim_start_matches(['+', '-', '1', '2', '3', '4', '5', '6', '7', '8', '9']);
        let preceded = at == 0 || before[..at].ends_with([' ', '\t', '\n', ':', '-']);
        preceded && (rest.trim().is_empty() || rest.trim_start().starts_with('#'))
    })
}

/// Returns the end of the last element in a block collection.
pub(crate) fn last_end(node: &Node) -> usize {
    let last = match &node.kind {
        NodeKind::Sequence(items) => items.last().map(|item| item.range().end),
        NodeKind::Mapping(entries) => entries.last().map(|entry| entry.value.range().end.max(entry.key.range().end)),
        NodeKind::Scalar { .. } | NodeKind::Alias(_) => None,
    };
    last.unwrap_or(node.range().start).max(node.range().start)
}

/// Returns whether a node is absent. Its position in the parser depends on the text that follows.
fn is_absent(node: &Node) -> bool {
    let empty = matches!(&node.kind, NodeKind::Scalar { value, .. } if value.is_empty());
    empty && node.range().is_empty() && node.anchor().is_none() && node.tag().is_none()
}

/// Moves an absent value directly after its key's colon, where the author will type it.
fn behind_colon(text: &str, key: &Node, value: Node) -> Node {
    if !is_absent(&value) {
        return value;
    }
    let rest = &text[key.range().end.min(text.len())..];
    let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
    let colon = rest[blank..].starts_with(':');
    Node::empty(if colon { key.range().end + blank + 1 } else { key.range().end })
}

/// Returns the start of the block after a colon without a key, on the same line.
fn on_line_of_colon(text: &str, key: &Node, value: &Node) -> Option<usize> {
    let is_block = match &value.kind {
        NodeKind::Mapping(_) => !text[value.range().start..].starts_with('{'),
        NodeKind::Sequence(_) => !text[value.range().start..].starts_with('['),
        NodeKind::Scalar { .. } | NodeKind::Alias(_) => false,
    };
    if !is_absent(key) || !is_block {
        return None;
    }
    let line = text[..value.range().start].rfind(['\n', '\r']).map_or(0, |end| end + 1);
    let explicit = text[..line].trim_end().ends_with('?');
    let before = text[line..value.range().start].trim_start_matches(['\u{feff}', ' ', '-', '\t']);
    (before.trim_end() == ":" && !explicit).then_some(value.range().start)
}

/// Moves an absent item directly after its dash. `from`: the end of the list's last item.
fn behind_dash(text: &str, from: usize, item: Node) -> Node {
    if !is_absent(&item) {
        return item;
    }
    let mut at = from;
    for line in text[from..item.range().start.max(from)].split_inclusive('\n') {
        match line.find(['-', '#']) {
            Some(found) if line[found..].starts_with('-') => return Node::empty(at + found + 1),
            Some(_) | None => at += line.len(),
        }
    }
    item
}

fn is_flow(style: granit_parser::StructureStyle) -> bool {
    matches!(style, granit_parser::StructureStyle::Flow)
}

fn tag_text(tag: &granit_parser::Tag) -> Box<str> {
    format!("{}{}", tag.handle(), tag.suffix()).into()
}
