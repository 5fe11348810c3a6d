//! Items of a list that are part of the item above them: their dash is missing, or they are indented too deep.
//!
//! Such a text is readable, but the keys of the item above appear twice, or an item is in a list of other items. The
//! first key of the items is the sign: it belongs to an item once.

use std::ops::Range;

use rustc_hash::FxHashSet;
use smol_str::{SmolStr, format_smolstr};

use super::{
    events::last_end,
    fault::Fault,
    layout::line_at,
    tree::{Entry, Node, NodeKind},
};

pub(super) fn separate(root: &mut Node, text: &str) -> Vec<Fault> {
    let mut separator = Separator { text, faults: Vec::new() };
    separator.node(root);
    separator.faults
}

struct Separator<'t> {
    text: &'t str,
    faults: Vec<Fault>,
}

impl Separator<'_> {
    fn node(&mut self, node: &mut Node) {
        match &mut node.kind {
            NodeKind::Scalar { .. } | NodeKind::Alias(_) => {}
            NodeKind::Mapping(entries) => entries.iter_mut().for_each(|entry| self.node(&mut entry.value)),
            NodeKind::Sequence(items) => {
                let (mut index, mut column) = (0, None);
                while let Some(item) = items.get_mut(index) {
                    // An item that was just separated has no dash of its own.
                    column = self.dash_of(item).or(column);
                    let is_block = !self.text[item.range().start..].starts_with('{');
                    if let Some(more) = column.filter(|_| is_block).and_then(|column| self.below(item, column)) {
                        items.splice(index + 1..index + 1, more);
                    }
                    self.node(&mut items[index]);
                    index += 1;
                }
            }
        }
    }

    /// Takes the items that belong below an item out of it. `column`: that of the dashes of the list.
    fn below(&mut self, item: &mut Node, column: usize) -> Option<Vec<Node>> {
        let NodeKind::Mapping(entries) = &mut item.kind else { return None };
        let names = names_of(entries);
        let more = match starts_of_items(&names) {
            Some(Starts { at, is_certain }) => {
                // From the last one, so the others stay where they are.
                let split = |start: &usize| {
                    let entries = entries.split_off(*start);
                    let key = entries[0].key.range().start;
                    self.faults.push(Fault::dash_in_column(self.text, key, column, is_certain));
                    mapping(entries)
                };
                at.iter().rev().map(split).collect::<Vec<Node>>().into_iter().rev().collect()
            }
            None => match self.with_shifted_dash(entries, &names, column) {
                Some(item) => vec![item],
                None => self.too_deep(entries, &names, column)?,
            },
        };
        item.set_end(last_end(item));
        Some(more)
    }

    /// Returns the column of the dash of a block mapping.
    fn dash_of(&self, item: &Node) -> Option<usize> {
        let NodeKind::Mapping(entries) = &item.kind else { return None };
        let key = entries.first()?.key.range().start;
        let line = line_at(self.text, key);
        let before = self.text[line.start..key].trim_end_matches(' ');
        let is_item = before.ends_with('-') && before.trim_start_matches([' ', '-']).is_empty();
        is_item.then(|| before.len() - 1)
    }

    /// Returns the item whose first line is indented too deep, as an item of the last list of the item above it, while
    /// its other keys repeat those of the item above.
    fn with_shifted_dash(&mut self, entries: &mut Vec<Entry>, names: &[SmolStr], column: usize) -> Option<Node> {
        let start = first_repeated(names).filter(|start| *start > 0)?;
        let above = &mut entries[start - 1].value;
        let NodeKind::Sequence(items) = &mut above.kind else { return None };
        let head =
            items.last().filter(|head| first_name(head) == Some(names[0].as_str()) && self.dash_of(head).is_some())?;
        let line = line_at(self.text, head.range().start);
        let NodeKind::Mapping(first) = &head.kind else { return None };
        let mut all = names_of(first);
        all.extend_from_slice(&names[start..]);
        if first_repeated(&all).is_some() {
            return None;
        }
        let Some(Node { kind: NodeKind::Mapping(mut all), .. }) = items.pop() else { return None };
        above.set_end(last_end(above));
        all.extend(entries.split_off(start));
        self.faults.push(Fault::indented(self.text, line, column));
        Some(mapping(all))
    }

    /// Takes the last items out of the last list of an item if they begin as the item itself does, and those before them
    /// do not.
    fn too_deep(&mut self, entries: &mut [Entry], names: &[SmolStr], column: usize) -> Option<Vec<Node>> {
        let value = &mut entries.last_mut()?.value;
        let taken = self.taken(value, names)?;
        let line = line_at(self.text, taken.first()?.range().start);
        self.faults.push(Fault::indented(self.text, line, column));
        Some(taken)
    }

    fn taken(&self, node: &mut Node, names: &[SmolStr]) -> Option<Vec<Node>> {
        let taken = match &mut node.kind {
            NodeKind::Scalar { .. } | NodeKind::Alias(_) => None,
            NodeKind::Mapping(entries) => self.taken(&mut entries.last_mut()?.value, names),
            NodeKind::Sequence(items) => {
                let is_alike = |item: &Node| {
                    let known = entries_of(item).iter().filter(|it| names.iter().any(|name| name == key_text(it)));
                    first_name(item) == Some(names[0].as_str()) && known.count() > 1 && self.dash_of(item).is_some()
                };
                let begins_otherwise = |item: &Node| entries_of(item).iter().all(|entry| names[0] != key_text(entry));
                let start = items.iter().position(is_alike).filter(|start| *start > 0)?;
                let fits = items[..start].iter().all(begins_otherwise) && items[start..].iter().all(is_alike);
                fits.then(|| items.split_off(start))
            }
        };
        if taken.is_some() {
            node.set_end(last_end(node));
        }
        taken
    }
}
/// The entries of a mapping that begin an item.
struct Starts {
    at: Vec<usize>,
    is_certain: bool,
}

/// Returns the entries, other than the first, that begin an item: each item has every key once, and has the first key.
fn starts_of_items(names: &[SmolStr]) -> Option<Starts> {
    first_repeated(names)?;
    let first = names.first().filter(|name| !name.starts_with('\0'))?;
    let by_first_key: Vec<usize> = (1..names.len()).filter(|at| names[*at] == *first).collect();
    let mut by_repetition: Vec<usize> = Vec::new();
    let mut begin = 0;
    while let Some(at) = first_repeated(&names[begin..]) {
        begin += at;
        by_repetition.push(begin);
    }
    let items = |starts: &[usize]| -> Vec<Range<usize>> {
        let ends = starts.iter().copied().chain([names.len()]);
        [0].into_iter().chain(starts.iter().copied()).zip(ends).map(|(start, end)| start..end).collect()
    };
    let is_item = |item: &Range<usize>| {
        let names = &names[item.clone()];
        names.contains(first) && first_repeated(names).is_none()
    };
    let at = [by_first_key, by_repetition].into_iter().find(|starts| items(starts).iter().all(is_item))?;
    let items = items(&at);
    let is_single = |item: &Range<usize>| item.len() == 1;
    // A single key that is repeated most likely replaces the other.
    let is_split = !items.iter().any(is_single) || items.iter().all(is_single);
    is_split.then(|| Starts { is_certain: !items.iter().any(is_single), at })
}

/// Returns the index of the first name that appears before.
fn first_repeated(names: &[SmolStr]) -> Option<usize> {
    /// Below this, a linear search is faster than a table.
    const MAX_LINEAR_SEARCH_NAMES: usize = 16;
    if names.len() <= MAX_LINEAR_SEARCH_NAMES {
        return (1..names.len()).find(|at| names[..*at].contains(&names[*at]));
    }
    let mut seen = FxHashSet::default();
    names.iter().position(|name| !seen.insert(name.as_str()))
}

/// Returns the names of the keys. A key that may be repeated has a name of its own.
fn names_of(entries: &[Entry]) -> Vec<SmolStr> {
    let name = |(index, entry): (usize, &Entry)| match key_text(entry) {
        "" | "<<" => format_smolstr!("\0{index}"),
        name => name.into(),
    };
    entries.iter().enumerate().map(name).collect()
}

fn key_text(entry: &Entry) -> &str {
    match &entry.key.kind {
        NodeKind::Scalar { value, .. } => value,
        NodeKind::Sequence(_) | NodeKind::Mapping(_) | NodeKind::Alias(_) => "",
    }
}

fn entries_of(node: &Node) -> &[Entry] {
    match &node.kind {
        NodeKind::Mapping(entries) => entries,
        NodeKind::Scalar { .. } | NodeKind::Sequence(_) | NodeKind::Alias(_) => &[],
    }
}

fn first_name(node: &Node) -> Option<&str> {
    entries_of(node).first().map(key_text)
}

fn mapping(entries: Vec<Entry>) -> Node {
    let start = entries.first().map_or(0, |entry| entry.key.range().start);
    let mut node = Node::new(start..start, NodeKind::Mapping(entries));
    node.set_end(last_end(&node));
    node
}
