//! Reads text that is not valid YAML: everything intact around the faults is kept.
//!
//! The text is cut at the indentation of its first line, each piece is read alone, and only a piece that fails is cut
//! further. A line that cannot be read by itself is set aside. Omitted text is replaced with blanks, so every offset
//! stays valid. The history of edits plays no part: opening the text gives the same result as typing it.

use std::ops::Range;

use super::{
    events::{MAX_NESTING, SyntaxError, last_end},
    fault::{Fault, FaultKind, Rewrite, RewriteKind},
    layout::{
        Head, after_line, blank, first_content, head_shape, indent, is_dash, is_property, is_word, line_at,
        piece_starts, trimmed,
    },
    loose::parse,
    tree::{Entry, Node, NodeKind, Style},
};
use crate::ScalarRules;

/// The readable parts of a text with faults.
#[derive(Debug, Default)]
pub(crate) struct Recovered {
    /// The tree without damaged parts.
    pub root: Option<Node>,
    pub faults: Vec<Fault>,
}

/// Maximum number of bytes that are parsed while recovering one text; hostile input then becomes one damaged piece.
const MAX_PARSED_BYTES: usize = 4 * 1024 * 1024;

/// Reads a text with a known `error`.
pub(crate) fn recover(text: &str, rules: ScalarRules, error: &SyntaxError) -> Recovered {
    if error.is_too_deep() {
        let line = line_at(text, error.offset);
        return Recovered { root: None, faults: vec![Fault::new(line, FaultKind::NestedTooDeep)] };
    }
    let mut reader = Reader { work: text.to_owned(), rules, faults: Vec::new(), budget: MAX_PARSED_BYTES };
    let root = reader.pieces(0..text.len(), 0);
    let mut faults = reader.faults;
    if faults.is_empty() {
        faults.push(Fault::of_error(text, trimmed(text, line_at(text, error.offset)), error));
    }
    Recovered { root, faults }
}

fn node_of(rewrite: &Rewrite) -> Option<Node> {
    let mut meant = parse(&rewrite.text, ScalarRules::Yaml12).ok()?.root?;
    if rewrite.kind == RewriteKind::Comma {
        // The value itself stays as it is.
        meant.shift(rewrite.range.start);
        return Some(meant);
    }
    matches!(meant.kind, NodeKind::Scalar { .. }).then(|| meant.at(&rewrite.range))
}

struct Reader {
    /// The text with omitted parts blanked.
    work: String,
    rules: ScalarRules,
    faults: Vec<Fault>,
    budget: usize,
}

impl Reader {
    fn parse(&mut self, range: Range<usize>) -> Result<Option<Node>, SyntaxError> {
        let text = &self.work[range.clone()];
        let Some(rest) = self.budget.checked_sub(text.len() + 64) else {
            return Err(SyntaxError {
                offset: range.start,
                kind: FaultKind::TooDamaged,
                read_to: range.start,
                at_line: false,
            });
        };
        self.budget = rest;
        match parse(text, self.rules) {
            Ok(parsed) => Ok(parsed.root.map(|mut root| {
                root.shift(range.start);
                root
            })),
            Err(mut error) => {
                error.offset += range.start;
                error.read_to += range.start;
                Err(error)
            }
        }
    }

    fn blame(&mut self, range: Range<usize>, kind: FaultKind) {
        let range = trimmed(&self.work, range);
        self.faults.push(Fault::new(range, kind));
    }

    /// Reads one level: the entries of a mapping, or the items of a list.
    fn pieces(&mut self, range: Range<usize>, depth: usize) -> Option<Node> {
        let mut starts = piece_starts(&self.work, range.clone());
        let first = *starts.first()?;
        let column = self.column_of_pieces(&starts, depth);
        if column < indent(&self.work[first..]) {
            starts.truncate(2);
            let others = starts.pop().unwrap_or(range.end);
            starts.extend(piece_starts(&self.work, others..range.end));
        }
        let begin = first + indent(&self.work[first..]);
        let is_list = is_dash(&self.work[begin..]);
        if depth > MAX_NESTING {
            self.blame(first..range.end, FaultKind::NestedTooDeepToRecover);
            return None;
        }
        let mut items = Vec::new();
        let mut entries = Vec::new();
        let mut index = 0;
        while index < starts.len() {
            let end_of = |index: usize| starts.get(index + 1).copied().unwrap_or(range.end);
            let piece = starts[index]..end_of(index);
            let is_told = index == 0;
            if !is_told
                && indent(&self.work[piece.start..]) != column
                && let Some(fault) = Fault::misplaced(&self.work, piece.start)
            {
                self.faults.push(fault);
            }
            let (node, used) = match self.parse(piece.clone()) {
                Ok(node) => (node, 1),
                Err(error) => match self.line_before_entries(&piece).filter(|_| is_list) {
                    Some(node) => (Some(node), 1),
                    None => self
                        .joined(&starts, index, range.end, &error)
                        .unwrap_or_else(|| (self.damaged(piece.clone(), is_list, &error, depth), 1)),
                },
            };
            match node.map(|node| (node.range(), node.kind)) {
                Some((_, NodeKind::Sequence(found))) if is_list => items.extend(found),
                Some((_, NodeKind::Mapping(found))) if !is_list => entries.extend(found),
                Some((at, NodeKind::Scalar { style: Style::Plain, .. })) if !is_list => self.without_colon(at),
                Some((at, NodeKind::Mapping(found))) if is_list && self.continues(&items, &found, column) => {
                    self.outdented(&mut items, at.end, found);
                }
                Some((at, NodeKind::Mapping(found))) if is_list && self.begins_alike(&items, &found) => {
                    self.faults.push(Fault::without_dash(&self.work, at.start, true));
                    items.push(Node::new(at, NodeKind::Mapping(found)));
                }
                Some((at, _)) if is_list => {
                    self.faults.push(Fault::new(trimmed(&self.work, at), FaultKind::ExpectedItem));
                }
                Some((at, _)) => match Fault::tabs(&self.work, at.start) {
                    Some(fault) => self.faults.push(fault),
                    None => self.blame(at, FaultKind::ExpectedEntry),
                },
                None => {}
            }
            index += used;
        }
        let kind = if is_list { NodeKind::Sequence(items) } else { NodeKind::Mapping(entries) };
        let mut node = Node::new(begin..begin, kind);
        node.set_end(last_end(&node));
        Some(node)
    }

    /// Returns the column of the pieces that begin at `starts`: that of the first one, unless it alone is indented
    /// deeper than the others, which is then its fault.
    fn column_of_pieces(&mut self, starts: &[usize], depth: usize) -> usize {
        let column_of = |start: &usize| indent(&self.work[*start..]);
        let first = column_of(&starts[0]);
        let is_key = !is_dash(&self.work[starts[0] + first..]);
        let (second, third) = (starts.get(1).map(column_of), starts.get(2).map(column_of));
        match second.filter(|second| is_key && *second < first && (depth == 0 || third == Some(*second))) {
            Some(second) => {
                let line = line_at(&self.work, starts[0]);
                self.faults.push(Fault::indented(&self.work, line, second));
                second
            }
            None => first,
        }
    }

    /// Returns whether entries in the column of the dashes can only belong to the item above them.
    fn continues(&self, items: &[Node], found: &[Entry], column: usize) -> bool {
        let Some(Node { kind: NodeKind::Mapping(entries), .. }) = items.last() else { return false };
        let name = |entry: &Entry| self.work[entry.key.range()].to_owned();
        let is_new = |found: &Entry| entries.iter().all(|entry| name(entry) != name(found));
        entries.first().is_some_and(|first| self.column_of(first) > column) && found.iter().all(is_new)
    }

    /// Reads a line that is too far left, with the entries below it, which are not.
    fn line_before_entries(&mut self, piece: &Range<usize>) -> Option<Node> {
        let end = after_line(&self.work, line_at(&self.work, piece.start).end, piece.end);
        let entries = |node: Node| match (node.range(), node.kind) {
            (range, NodeKind::Mapping(entries)) => Some((range, entries)),
            (_, NodeKind::Scalar { .. } | NodeKind::Sequence(_) | NodeKind::Alias(_)) => None,
        };
        let (first, mut all) = entries(self.parse(piece.start..end).ok()??)?;
        let (rest, more) = entries(self.parse(end..piece.end).ok()??)?;
        all.extend(more);
        Some(Node::new(first.start..rest.end, NodeKind::Mapping(all)))
    }

    fn begins_alike(&self, items: &[Node], found: &[Entry]) -> bool {
        let Some(Node { kind: NodeKind::Mapping(entries), .. }) = items.last() else { return false };
        let name = |entry: &Entry| self.work[entry.key.range()].to_owned();
        entries.first().zip(found.first()).is_some_and(|(first, found)| name(first) == name(found))
    }

    fn column_of(&self, entry: &Entry) -> usize {
        entry.key.range().start - line_at(&self.work, entry.key.range().start).start
    }

    /// Adds entries that are too far left to the item above them, and reports them.
    fn outdented(&mut self, items: &mut [Node], end: usize, found: Vec<Entry>) {
        let Some(Node { kind: NodeKind::Mapping(entries), .. }) = items.last() else { return };
        let (Some(first), Some(key)) = (entries.first(), found.first()) else { return };
        let line = line_at(&self.work, key.key.range().start);
        self.faults.push(Fault::indented(&self.work, line, self.column_of(first)));
        let last = found.last().map_or(end, |entry| entry.value.range().end.max(entry.key.range().end));
        if let Some(item) = items.last_mut() {
            let end = end.max(item.range().end).max(last);
            if let NodeKind::Mapping(entries) = &mut item.kind {
                entries.extend(found);
            }
            item.set_end(end);
        }
    }

    fn without_colon(&mut self, at: Range<usize>) {
        let word = self.work[at.clone()].lines().next().unwrap_or_default().trim_end();
        if !word.is_empty() {
            let fault = Fault::no_entry(word, at.start);
            self.faults.push(fault);
        }
    }

    /// Reads a quoted or bracketed value that may continue in the next pieces.
    fn joined(
        &mut self,
        starts: &[usize],
        index: usize,
        end: usize,
        error: &SyntaxError,
    ) -> Option<(Option<Node>, usize)> {
        let piece_end = starts.get(index + 1).copied().unwrap_or(end);
        if !self.work[error.offset.min(piece_end)..piece_end].trim().is_empty() {
            return None;
        }
        let mut count = 2;
        while index + count <= starts.len() && count <= 64 {
            let joined_end = starts.get(index + count).copied().unwrap_or(end);
            if let Ok(node) = self.parse(starts[index]..joined_end) {
                return Some((node, count));
            }
            count *= 2;
        }
        None
    }

    fn damaged(&mut self, piece: Range<usize>, is_list: bool, error: &SyntaxError, depth: usize) -> Option<Node> {
        let head = line_at(&self.work, piece.start);
        let head_end = head.end.min(piece.end);
        let column = indent(&self.work[piece.start..]);
        let content = piece.start + column;
        if self.work[content..head_end].starts_with('\t') {
            let range = trimmed(&self.work, content..head_end);
            self.faults.push(Fault::tab(range));
            return None;
        }
        if is_list && is_dash(&self.work[content..head_end]) {
            blank(&mut self.work, content..content + 1);
            let anchor = self.anchor_in(content + 1..head_end);
            let inner = if self.work[piece.clone()].trim().is_empty() || self.is_in_brackets(piece.clone(), error) {
                None
            } else if let Some(meant) = self.meant(piece.clone(), error) {
                Some(meant)
            } else {
                self.pieces(piece.clone(), depth + 1)
            };
            let mut item = inner.unwrap_or_else(|| Node::empty(content + 1));
            item.set_anchor(anchor);
            let range = content..item.range().end.max(content + 1);
            return Some(Node::new(range, NodeKind::Sequence(vec![item])));
        }
        let rest = after_line(&self.work, head_end, piece.end)..piece.end;
        match head_shape(&self.work[content..head_end]) {
            Head::Key { key, colon } => {
                self.key_with_children(content..content + key, content + colon + 1, head_end, rest, error, depth)
            }
            Head::KeyWithValue { key, colon } => {
                self.key_with_value(content..content + key, content + colon + 1, piece, head_end, error, depth)
            }
            Head::Other => self.headless(content..head_end, rest, error, depth),
        }
    }

    fn key_with_children(
        &mut self,
        key: Range<usize>,
        behind_colon: usize,
        head_end: usize,
        rest: Range<usize>,
        error: &SyntaxError,
        depth: usize,
    ) -> Option<Node> {
        let Some(key_node) = self.key_node(key.clone()) else {
            self.blame_error(error, key.start..head_end);
            return None;
        };
        let empty = Node::empty(behind_colon);
        if self.work[rest.clone()].trim().is_empty() {
            self.blame_error(error, key.start..head_end);
            return Some(mapping(key_node, empty));
        }
        if self.is_in_brackets(rest.clone(), error) {
            return Some(mapping(key_node, empty));
        }
        let anchor = self.anchor_in(behind_colon..head_end);
        let mut value = self.pieces(rest, depth + 1).unwrap_or(empty);
        value.set_anchor(anchor);
        Some(mapping(key_node, value))
    }

    /// Returns the anchor in a part of a line that consists of `&name` only. The part is blanked.
    fn anchor_in(&mut self, part: Range<usize>) -> Option<Box<str>> {
        let words = self.work[part.clone()].trim();
        let name = words.strip_prefix('&').filter(|_| is_property(words))?.into();
        blank(&mut self.work, part);
        Some(name)
    }

    /// Reads `key: value` with a damaged value, or followed by lines that do not belong there.
    fn key_with_value(
        &mut self,
        key: Range<usize>,
        behind_colon: usize,
        piece: Range<usize>,
        head_end: usize,
        error: &SyntaxError,
        depth: usize,
    ) -> Option<Node> {
        // The value may span lines up to the one where the parser stopped.
        let stopped = line_at(&self.work, error.offset.min(piece.end)).start;
        let mut kept = None;
        for end in [stopped, after_line(&self.work, head_end, piece.end)] {
            if end > piece.start
                && end < piece.end
                && let Ok(Some(node)) = self.parse(piece.start..end)
                && matches!(node.kind, NodeKind::Mapping(_))
            {
                kept = Some((node, end));
                break;
            }
        }
        let key_text = self.work[key.clone()].to_owned();
        let (mut node, rest_start) = match kept {
            Some((node, end)) => {
                let wrong = line_at(&self.work, first_content(&self.work, end..piece.end).unwrap_or(end));
                let wrong = trimmed(&self.work, wrong.start..wrong.end.min(piece.end));
                self.faults.push(Fault::new(wrong, FaultKind::KeyHasValue(key_text)));
                (node, end)
            }
            None => {
                let key_node = self.key_node(key.clone())?;
                let meant = self.blame_error(error, behind_colon..head_end);
                (
                    mapping(key_node, meant.unwrap_or_else(|| Node::empty(behind_colon))),
                    after_line(&self.work, head_end, piece.end),
                )
            }
        };
        // The rest is most likely meant to be beside the key.
        if self.work[rest_start..piece.end].contains(':') {
            let faults = self.faults.len();
            let found = self.pieces(rest_start..piece.end, depth + 1);
            self.faults.truncate(faults);
            if let (NodeKind::Mapping(entries), Some(Node { kind: NodeKind::Mapping(more), .. })) =
                (&mut node.kind, found)
            {
                entries.extend(more);
                node.set_end(last_end(&node));
            }
        }
        Some(node)
    }

    /// Reads a line that is neither an item nor an entry. Lines below it may still be readable.
    fn headless(&mut self, head: Range<usize>, rest: Range<usize>, error: &SyntaxError, depth: usize) -> Option<Node> {
        let word = self.work[head.clone()].trim_end().to_owned();
        let is_word = is_word(&word);
        let no_entry = Fault::no_entry(&word, head.start);
        if is_word || no_entry.rewrite.is_some() {
            self.faults.push(no_entry);
        } else {
            self.blame_error(error, head.clone());
        }
        if self.work[rest.clone()].trim().is_empty() || !is_word {
            return None;
        }
        let kind = NodeKind::Scalar { value: word.as_str().into(), style: Style::Plain };
        let key = Node::new(head.start..head.start + word.len(), kind);
        let value = self.pieces(rest, depth + 1)?;
        Some(mapping(key, value))
    }

    fn key_node(&mut self, key: Range<usize>) -> Option<Node> {
        self.parse(key).ok().flatten().filter(|node| matches!(node.kind, NodeKind::Scalar { .. }))
    }

    /// Returns the intended text of an item on one line, if all of it is text.
    fn meant(&mut self, piece: Range<usize>, error: &SyntaxError) -> Option<Node> {
        let content = trimmed(&self.work, piece);
        let fault = Fault::of_error(&self.work, content.clone(), error);
        let node = fault.rewrite.as_deref().filter(|rewrite| rewrite.range.start == content.start).and_then(node_of)?;
        self.faults.push(fault);
        Some(node)
    }

    /// Reports the error of a value in brackets on several lines, which cannot be read alone.
    fn is_in_brackets(&mut self, value: Range<usize>, error: &SyntaxError) -> bool {
        let value = trimmed(&self.work, value);
        let is_open = self.work[value.clone()].starts_with(['[', '{']);
        let is_within = value.contains(&error.offset) && line_at(&self.work, value.start).end < value.end;
        if is_open && is_within {
            let line = trimmed(&self.work, line_at(&self.work, error.offset));
            self.faults.push(Fault::of_error(&self.work, line, error));
        }
        is_open && is_within
    }

    /// Reports an error of the parser. Returns the intended node, if it is known.
    fn blame_error(&mut self, error: &SyntaxError, fallback: Range<usize>) -> Option<Node> {
        let fallback = trimmed(&self.work, fallback);
        let fault = Fault::of_error(&self.work, fallback, error);
        let meant = fault.rewrite.as_deref().and_then(node_of);
        self.faults.push(fault);
        meant
    }
}

fn mapping(key: Node, value: Node) -> Node {
    let range = key.range().start..value.range().end.max(key.range().end);
    Node::new(range, NodeKind::Mapping(vec![Entry { key, value }]))
}
