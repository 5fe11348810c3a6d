//! Reads text that is not valid YAML: everything intact around the faults is kept.
//!
//! The text is cut at the indentation of its first line, each piece is read alone, and only a piece that fails is cut
//! further. A line that cannot be read by itself is set aside. Omitted text is replaced with blanks, so every offset
//! stays valid. The history of edits plays no part: opening the text gives the same result as typing it.
//!
//! That takes too long at every keystroke for a long text that could not be cut into blocks: in such a text, the values
//! on the lines that were edited since it was last readable are blanked first, then those lines.

use std::ops::Range;

use super::{
    events::{MAX_NESTING, SyntaxError, parse},
    fault::{Fault, FaultKind},
    layout::{
        Head, after_line, blank, first_content, head_shape, indent, is_dash, is_property, line_at, lines, piece_starts,
        trimmed,
    },
    tree::{Entry, Node, NodeKind, Style},
};
use crate::ScalarRules;

/// The readable parts of a text with faults.
#[derive(Debug, Default)]
pub(crate) struct Recovered {
    /// The tree without damaged parts.
    pub root: Option<Node>,
    /// At least one fault.
    pub faults: Vec<Fault>,
    /// Whether edits influenced how it was read: without knowing them, it is read differently.
    pub by_edits: bool,
}

/// Maximum number of bytes that are parsed while recovering one text; hostile input then becomes one damaged piece.
const MAX_PARSED_BYTES: usize = 4 * 1024 * 1024;

/// Maximum length of a text that is read without regard to edited lines.
const SHORT: usize = 64 * 1024;

/// Reads a text with a known `error`. `suspect`: the range edited since it was last readable.
pub(crate) fn recover(text: &str, rules: ScalarRules, error: &SyntaxError, suspect: Option<Range<usize>>) -> Recovered {
    if error.is_too_deep() {
        return without_depths(text, rules, error);
    }
    let by_edits = |suspect| without_suspect(text, rules, error, suspect);
    suspect.filter(|_| text.len() > SHORT).and_then(by_edits).unwrap_or_else(|| by_pieces(text, rules, error))
}

fn by_pieces(text: &str, rules: ScalarRules, error: &SyntaxError) -> Recovered {
    let mut reader = Reader { work: text.to_owned(), rules, faults: Vec::new(), budget: MAX_PARSED_BYTES };
    let root = reader.pieces(0..text.len(), 0);
    let mut faults = reader.faults;
    if faults.is_empty() {
        faults.push(Fault::of_error(text, trimmed(text, line_at(text, error.offset)), error));
    }
    Recovered { root, faults, by_edits: false }
}

/// Returns the full lines that a range touches.
fn lines_around(text: &str, range: &Range<usize>) -> Range<usize> {
    let start = line_at(text, range.start).start;
    start..line_at(text, range.end).end.max(start)
}

/// Blanks bracketed values that are nested too deeply, if the rest is then readable.
fn without_depths(text: &str, rules: ScalarRules, error: &SyntaxError) -> Recovered {
    /// Maximum number of blanked values: each costs another reading of the whole text.
    const MAX_BLANKED_VALUES: usize = 8;
    let fault = |range: Range<usize>| Fault::new(range, FaultKind::NestedTooDeep);
    let mut work = text.to_owned();
    let mut faults = Vec::new();
    let mut offset = error.offset;
    for _ in 0..MAX_BLANKED_VALUES {
        let Some(range) = brackets_around(&work, offset) else { break };
        blank(&mut work, range.clone());
        // A node is required there, and its content does not matter.
        work.replace_range(range.start..range.start + 2, "[]");
        faults.push(fault(
            line_at(text, range.start).start.max(range.start)..line_at(text, range.start).end.min(range.end),
        ));
        match parse(&work, rules) {
            Ok(parsed) => return Recovered { root: parsed.root, faults, by_edits: false },
            Err(error) if error.is_too_deep() => offset = error.offset,
            Err(_) => break,
        }
    }
    Recovered { root: None, faults: vec![fault(line_at(text, error.offset))], by_edits: false }
}

/// Returns the brackets that begin in one run before an offset, up to the one that closes the first of them.
fn brackets_around(text: &str, offset: usize) -> Option<Range<usize>> {
    let run = text[..offset].trim_end_matches(|letter: char| letter.is_whitespace() || "[{".contains(letter));
    let start = run.len() + text[run.len()..offset].find(['[', '{'])?;
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, letter) in text[start..].char_indices() {
        match (quote, letter) {
            (Some(open), _) if open != letter => {}
            (Some(_), _) => quote = None,
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') if depth == 1 => return Some(start..start + at + 1),
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, _) => {}
        }
    }
    None
}

/// Blanks the values of the suspect lines, or the whole lines, if the rest is then readable.
fn without_suspect(text: &str, rules: ScalarRules, error: &SyntaxError, suspect: Range<usize>) -> Option<Recovered> {
    let Range { start, end } = lines_around(text, &suspect);
    if end - start > 4096 {
        return None;
    }
    let mut values = text.to_owned();
    for line in lines(text, start..end) {
        if let Some(value) = value_of_line(&text[line.clone()]) {
            blank(&mut values, line.start + value..line.end);
        }
    }
    let mut whole = text.to_owned();
    blank(&mut whole, start..end);
    for candidate in [values, whole] {
        if candidate != text
            && let Ok(parsed) = parse(&candidate, rules)
        {
            let range = trimmed(text, start..end);
            return Some(Recovered {
                root: parsed.root,
                faults: vec![Fault::of_error(text, range, error)],
                by_edits: true,
            });
        }
    }
    None
}

/// Returns the start of the value in a line like `  - key: value`.
fn value_of_line(line: &str) -> Option<usize> {
    let colon = line.match_indices(':').map(|(at, _)| at).find(|at| line[at + 1..].starts_with([' ', '\t']))?;
    Some(colon + 1)
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
        let is_list = is_dash(&self.work[first + indent(&self.work[first..])..]);
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
            let mut moved = piece.clone();
            let (node, used) = match self.parse(piece.clone()) {
                Ok(node) => (node, 1),
                Err(error) => match self.line_before_entries(&piece).filter(|_| is_list) {
                    Some(node) => {
                        moved.end = after_line(&self.work, line_at(&self.work, piece.start).end, piece.end);
                        (Some(node), 1)
                    }
                    None => match self.joined(&starts, index, range.end, &error) {
                        Some((node, used)) => (node, used),
                        None => (self.damaged(piece.clone(), is_list, &error, depth), 1),
                    },
                },
            };
            match node.map(|node| (node.range(), node.kind)) {
                Some((_, NodeKind::Sequence(found))) if is_list => items.extend(found),
                Some((_, NodeKind::Mapping(found))) if !is_list => entries.extend(found),
                Some((at, NodeKind::Scalar { style: Style::Plain, .. })) if !is_list => self.without_colon(at),
                Some((at, NodeKind::Mapping(found))) if is_list && self.continues(&items, &found, column) => {
                    let lines = moved.start..if moved == piece { end_of(index + used - 1) } else { moved.end };
                    self.outdented(lines, &mut items, at.end, found, column);
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
        let begin = first + indent(&self.work[first..]);
        let mut node = Node::new(begin..begin, kind);
        node.set_end(super::events::last_end(&node));
        Some(node)
    }

    /// Returns the column of the pieces that begin at `starts`: that of the first one, unless it alone is indented
    /// deeper than the others, which is then its fault.
    fn column_of_pieces(&mut self, starts: &[usize], depth: usize) -> usize {
        let columns: Vec<usize> = starts.iter().take(3).map(|start| indent(&self.work[*start..])).collect();
        let is_key = !is_dash(&self.work[starts[0] + columns[0]..]);
        match columns[..] {
            [first, second, ref rest @ ..]
                if is_key && second < first && (depth == 0 || rest.first() == Some(&second)) =>
            {
                let fault = Fault::too_deep(&self.work, starts[0]..starts[1], second);
                self.faults.push(fault);
                second
            }
            _ => columns[0],
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

    /// Returns whether entries begin with the same key as the item above them.
    fn begins_alike(&self, items: &[Node], found: &[Entry]) -> bool {
        let Some(Node { kind: NodeKind::Mapping(entries), .. }) = items.last() else { return false };
        let name = |entry: &Entry| self.work[entry.key.range()].to_owned();
        entries.first().zip(found.first()).is_some_and(|(first, found)| name(first) == name(found))
    }

    fn column_of(&self, entry: &Entry) -> usize {
        entry.key.range().start - line_at(&self.work, entry.key.range().start).start
    }

    /// Adds entries that are too far left to the item above them, and reports them.
    fn outdented(&mut self, lines: Range<usize>, items: &mut [Node], end: usize, found: Vec<Entry>, column: usize) {
        let Some(item) = items.last_mut() else { return };
        let end = end.max(item.range().end);
        let NodeKind::Mapping(entries) = &mut item.kind else { return };
        let (Some(first), Some(key)) = (entries.first(), found.first().map(|entry| entry.key.range())) else {
            return;
        };
        let by = self.column_of(first).saturating_sub(column);
        self.faults.push(Fault::outdented(&self.work, lines, key, by));
        let last = found.last().map_or(end, |entry| entry.value.range().end.max(entry.key.range().end));
        entries.extend(found);
        item.set_end(end.max(last));
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

    /// Reads a piece that is unreadable as a whole.
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
            let inner = if self.work[piece.clone()].trim().is_empty() || self.has_empty_item(piece.clone(), error) {
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
        if self.has_empty_item(rest.clone(), error) {
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
                node.set_end(super::events::last_end(&node));
            }
        }
        Some(node)
    }

    /// Reads a line that is neither an item nor an entry. Lines below it may still be readable.
    fn headless(&mut self, head: Range<usize>, rest: Range<usize>, error: &SyntaxError, depth: usize) -> Option<Node> {
        let word = self.work[head.clone()].trim_end().to_owned();
        let is_word = !word.is_empty() && word.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter));
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
        let node = fault.rewrite.as_ref().filter(|rewrite| rewrite.range.start == content.start)?.node()?;
        self.faults.push(fault);
        Some(node)
    }

    /// Reports an empty item of a value in brackets. Its lines cannot be read alone.
    fn has_empty_item(&mut self, value: Range<usize>, error: &SyntaxError) -> bool {
        let value = trimmed(&self.work, value);
        if !self.work[value.clone()].starts_with(['[', '{']) {
            return false;
        }
        let fault = Fault::of_error(&self.work, value, error);
        let is_empty_item = fault.kind == FaultKind::EmptyItem && fault.rewrite.is_some();
        if is_empty_item {
            self.faults.push(fault);
        }
        is_empty_item
    }

    /// Reports an error of the parser. Returns the intended node, if it is known.
    fn blame_error(&mut self, error: &SyntaxError, fallback: Range<usize>) -> Option<Node> {
        let fallback = trimmed(&self.work, fallback);
        let fault = Fault::of_error(&self.work, fallback, error);
        let meant = fault.rewrite.as_ref().and_then(|rewrite| rewrite.node());
        self.faults.push(fault);
        meant
    }
}

fn mapping(key: Node, value: Node) -> Node {
    let range = key.range().start..value.range().end.max(key.range().end);
    Node::new(range, NodeKind::Mapping(vec![Entry { key, value }]))
}
