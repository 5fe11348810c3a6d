//! One tree over all blocks. A [`NodeRef`] is cheap to copy and knows its position in the text.

use std::{ops::Range, sync::PoisonError};

use rustc_hash::FxHashMap;

use crate::{
    Document, Pointer,
    lines::is_on_one_line,
    pointer::Step,
    scalar::{Scalar, is_surely_text, resolve},
    tree::{Entry, Node, NodeKind, Style},
};

#[derive(Clone, Copy, Debug)]
pub struct NodeRef<'d> {
    document: &'d Document,
    place: Place<'d>,
    /// The alias through which the node was reached, with its block: its range replaces the node's own.
    through: Option<(BlockNumber, &'d Node)>,
}

/// The number of a block, or of an entry, in half the memory: rules hold many nodes.
type BlockNumber = u32;

#[derive(Clone, Copy, Debug)]
enum Place<'d> {
    /// The root mapping, whose entries are spread over blocks.
    Root,
    /// The root list, whose items are spread over blocks.
    RootList,
    /// The list of an entry whose items are blocks, by its number in the index.
    List(BlockNumber),
    Node {
        block: BlockNumber,
        node: &'d Node,
    },
}

/// One `key: value` of a mapping.
#[derive(Clone, Copy, Debug)]
pub struct EntryRef<'d> {
    pub key: NodeRef<'d>,
    pub value: NodeRef<'d>,
}

impl EntryRef<'_> {
    /// Returns whether it merges another mapping. Quoted `<<` is an ordinary key.
    pub fn is_merge(&self) -> bool {
        self.key.document.index.may_merge && self.key.text() == Some("<<") && self.key.style() == Some(Style::Plain)
    }
}

/// The kind of a node, with aliases resolved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Scalar,
    /// A list.
    Sequence,
    Mapping,
    /// An alias whose anchor does not exist.
    Dangling,
}

impl Document {
    /// Returns the root node; `None` in a document without content.
    pub fn root(&self) -> Option<NodeRef<'_>> {
        let place = if self.is_whole() {
            Place::Node { block: 0, node: self.blocks[0].root.as_ref()? }
        } else if self.index.items.as_ref().is_some_and(|items| !items.is_empty()) {
            Place::RootList
        } else if self.index.entries.is_empty() {
            return None;
        } else {
            Place::Root
        };
        Some(NodeRef { document: self, place, through: None })
    }

    pub fn find(&self, pointer: &Pointer) -> Option<NodeRef<'_>> {
        self.root()?.find(pointer)
    }

    /// Returns whether a mapping may have a merge key that counts.
    pub fn may_merge(&self) -> bool {
        self.index.may_merge
    }
}

/// Returns the number of the first child that ends at an offset or after it. `end_of` returns the end of a child, if it
/// exists; children are in the order of the text.
fn first_reaching(offset: usize, end_of: impl Fn(usize) -> Option<usize>) -> usize {
    let reaches = |number: usize| end_of(number).is_none_or(|end| end >= offset);
    let (mut low, mut high) = (0, 1);
    while !reaches(high - 1) {
        (low, high) = (high, high * 2);
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if reaches(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

impl<'d> NodeRef<'d> {
    fn at(self, block: BlockNumber, node: &'d Node) -> NodeRef<'d> {
        NodeRef { document: self.document, place: Place::Node { block, node }, through: self.through }
    }

    pub fn document(self) -> &'d Document {
        self.document
    }

    /// Returns its range. A node reached through an alias has the alias's range: problems are reported at the use.
    pub fn range(self) -> Range<usize> {
        match self.through {
            Some((block, alias)) => self.range_in(block, alias),
            None => self.own_range(),
        }
    }

    fn range_in(self, block: BlockNumber, node: &Node) -> Range<usize> {
        let start = self.document.start_of(block as usize);
        start + node.range().start..start + node.range().end
    }

    /// Returns the range where it was written, even if it was reached through an alias.
    pub fn own_range(self) -> Range<usize> {
        match self.place {
            Place::Node { block, node } => self.range_in(block, node),
            Place::Root => 0..self.document.text.len_bytes(),
            Place::RootList => self.extent(self.root_items()).unwrap_or(0..self.document.text.len_bytes()),
            Place::List(entry) => {
                self.extent(self.list_items(entry)).unwrap_or_else(|| self.head_value(entry).own_range())
            }
        }
    }

    /// Returns the range from the first dash to the end of the last item.
    fn extent(self, items: &[(usize, usize)]) -> Option<Range<usize>> {
        let (&(block, _), &last) = items.first().zip(items.last())?;
        let dash = self.document.blocks[block].root.as_ref().map_or(0, |root| root.range().start);
        Some(self.document.start_of(block) + dash..self.item(last).own_range().end)
    }

    /// Returns whether [`NodeRef::range`] is on one line.
    pub fn is_on_one_line(self) -> bool {
        self.through.is_some() || is_on_one_line(&self.document.text, &self.range())
    }

    /// Returns whether it was reached through an alias.
    pub fn is_through_alias(self) -> bool {
        self.through.is_some()
    }

    /// Returns the node itself, or the target of an alias. A dangling alias is returned unchanged.
    #[inline]
    pub fn resolved(self) -> NodeRef<'d> {
        match self.place {
            Place::Node { node: Node { kind: NodeKind::Alias(_), .. }, .. } => self.definition(),
            Place::Node { .. } | Place::Root | Place::RootList | Place::List(_) => self,
        }
    }

    fn definition(self) -> NodeRef<'d> {
        let mut node = self;
        // Aliases to aliases cannot be written; the bound is for safety only.
        for _ in 0..8 {
            let Place::Node { block, node: alias } = node.place else { return node };
            let NodeKind::Alias(name) = &alias.kind else { return node };
            let at = alias.range().start;
            let Some((found_block, found)) = self.document.definition(name, block as usize, at) else { return node };
            node = NodeRef {
                document: self.document,
                place: Place::Node { block: numbered(found_block), node: found },
                through: node.through.or(Some((block, alias))),
            };
        }
        node
    }

    /// Returns the name in `*name`, if it is an alias.
    pub fn alias(self) -> Option<&'d str> {
        match self.place {
            Place::Node { node: Node { kind: NodeKind::Alias(name), .. }, .. } => Some(name),
            Place::Node { .. } | Place::Root | Place::RootList | Place::List(_) => None,
        }
    }

    /// Returns the name in `&name`, if it has one.
    pub fn anchor(self) -> Option<&'d str> {
        match self.place {
            Place::Node { node, .. } => node.anchor(),
            Place::Root | Place::RootList | Place::List(_) => None,
        }
    }

    /// Returns the resolved tag, if there is one: `tag:yaml.org,2002:str`, `!custom`.
    pub fn tag(self) -> Option<&'d str> {
        match self.place {
            Place::Node { node, .. } => node.tag(),
            Place::Root | Place::RootList | Place::List(_) => None,
        }
    }

    /// Returns the kind of the node, with aliases resolved.
    pub fn shape(self) -> Shape {
        match self.resolved().place {
            Place::Root => Shape::Mapping,
            Place::RootList | Place::List(_) => Shape::Sequence,
            Place::Node { node, .. } => match node.kind {
                NodeKind::Scalar { .. } => Shape::Scalar,
                NodeKind::Sequence(_) => Shape::Sequence,
                NodeKind::Mapping(_) => Shape::Mapping,
                NodeKind::Alias(_) => Shape::Dangling,
            },
        }
    }

    /// Returns a scalar's text, whatever its meaning.
    pub fn text(self) -> Option<&'d str> {
        match self.resolved().place {
            Place::Node { node: Node { kind: NodeKind::Scalar { value, .. }, .. }, .. } => Some(value),
            Place::Node { .. } | Place::Root | Place::RootList | Place::List(_) => None,
        }
    }

    pub fn style(self) -> Option<Style> {
        match self.resolved().place {
            Place::Node { node: Node { kind: NodeKind::Scalar { style, .. }, .. }, .. } => Some(*style),
            Place::Node { .. } | Place::Root | Place::RootList | Place::List(_) => None,
        }
    }

    pub fn scalar(self) -> Option<Scalar> {
        match self.resolved().place {
            Place::Node { node: node @ Node { kind: NodeKind::Scalar { value, style }, .. }, .. } => {
                Some(resolve(value, *style, node.tag(), self.document.rules))
            }
            Place::Node { .. } | Place::Root | Place::RootList | Place::List(_) => None,
        }
    }

    /// Returns a scalar's text, if it is a string.
    #[inline]
    pub fn as_str(self) -> Option<&'d str> {
        let Place::Node { node, .. } = self.resolved().place else { return None };
        let NodeKind::Scalar { value, style } = &node.kind else { return None };
        let meaning = || resolve(value, *style, node.tag(), self.document.rules);
        let is_text = node.tag().is_none() && is_surely_text(value);
        (is_text || matches!(meaning(), Scalar::Text | Scalar::Timestamp)).then_some(value)
    }

    /// Returns whether it is empty or `null`.
    pub fn is_null(self) -> bool {
        self.scalar() == Some(Scalar::Null)
    }

    /// Returns the entries of a mapping, including repeated keys; empty for any other node.
    pub fn entries(self) -> impl Iterator<Item = EntryRef<'d>> {
        let node = self.resolved();
        let (root, own) = match node.place {
            Place::Root => (node.document.index.entries.len(), None),
            Place::Node { block, node: Node { kind: NodeKind::Mapping(entries), .. } } => {
                (0, Some((block, entries.as_slice())))
            }
            Place::Node { .. } | Place::RootList | Place::List(_) => (0, None),
        };
        let spread = (0..root).map(move |index| node.root_entry(index));
        let (block, entries) = own.unwrap_or((0, &[]));
        let held = entries
            .iter()
            .map(move |Entry { key, value }| EntryRef { key: node.at(block, key), value: node.at(block, value) });
        spread.chain(held)
    }

    /// Returns the items of a list; empty for any other node.
    pub fn items(self) -> impl Iterator<Item = NodeRef<'d>> {
        let node = self.resolved();
        let (spread, own): (&'d [(usize, usize)], _) = match node.place {
            Place::RootList => (node.root_items(), None),
            Place::List(entry) => (node.list_items(entry), None),
            Place::Node { block, node: Node { kind: NodeKind::Sequence(items), .. } } => {
                (&[], Some((block, items.as_slice())))
            }
            Place::Node { .. } | Place::Root => (&[], None),
        };
        let (block, items) = own.unwrap_or((0, &[]));
        spread.iter().map(move |&place| node.item(place)).chain(items.iter().map(move |item| node.at(block, item)))
    }

    /// Returns the items of a list that are not mappings, each with its index.
    pub fn plain_items(self) -> impl Iterator<Item = (usize, NodeRef<'d>)> {
        self.items().enumerate().filter(|(_, item)| {
            !matches!(item.place, Place::Node { node: Node { kind: NodeKind::Mapping(_), .. }, .. })
        })
    }

    /// Returns how many items a list has.
    pub fn item_count(self) -> usize {
        let node = self.resolved();
        match node.place {
            Place::RootList => node.root_items().len(),
            Place::List(entry) => node.list_items(entry).len(),
            Place::Node { node: Node { kind: NodeKind::Sequence(items), .. }, .. } => items.len(),
            Place::Node { .. } | Place::Root => 0,
        }
    }

    /// Returns whether an item of a list has a property. `question` identifies the property, so thousands of items are
    /// searched once.
    pub fn has_item(self, question: usize, has: impl Fn(NodeRef<'d>) -> bool) -> bool {
        let node = self.resolved();
        let list = match node.place {
            Place::RootList => None,
            Place::List(entry) => Some(entry as usize),
            Place::Node { .. } | Place::Root => return node.items().any(has),
        };
        let known = |index: &super::index::Index| {
            index.has_item.lock().unwrap_or_else(PoisonError::into_inner).get(&(list, question)).copied()
        };
        if let Some(known) = known(&node.document.index) {
            return known;
        }
        let found = node.items().any(has);
        node.document.index.has_item.lock().unwrap_or_else(PoisonError::into_inner).insert((list, question), found);
        found
    }

    /// Returns the items of a list that touch a range, each with its index. The others cost nothing.
    pub fn items_in(self, range: &Range<usize>) -> impl Iterator<Item = (usize, NodeRef<'d>)> {
        let end = range.end;
        let first = first_reaching(range.start, |index| Some(self.item_at(index)?.own_range().end));
        let items = (first..).map_while(move |index| Some((index, self.item_at(index)?)));
        items.take_while(move |(_, item)| item.own_range().start <= end)
    }

    /// Returns the entries of a mapping that touch a range. The others cost nothing.
    pub fn entries_in(self, range: &Range<usize>) -> impl Iterator<Item = EntryRef<'d>> {
        let node = self.resolved();
        let end = range.end;
        let end_of = |entry: EntryRef<'_>| entry.key.own_range().end.max(entry.value.own_range().end);
        let first = first_reaching(range.start, |number| node.entry_at(number).map(end_of));
        let entries = (first..).map_while(move |number| node.entry_at(number));
        entries.take_while(move |entry| entry.key.own_range().start <= end)
    }

    /// Returns item `index` of a list, in constant time.
    pub fn item_at(self, index: usize) -> Option<NodeRef<'d>> {
        let node = self.resolved();
        match node.place {
            Place::RootList => node.root_items().get(index).map(|&place| node.item(place)),
            Place::List(entry) => node.list_items(entry).get(index).map(|&place| node.item(place)),
            Place::Node { block, node: Node { kind: NodeKind::Sequence(items), .. } } => {
                items.get(index).map(|item| node.at(block, item))
            }
            Place::Node { .. } | Place::Root => None,
        }
    }

    pub fn get(self, key: &str) -> Option<NodeRef<'d>> {
        self.entry(key).map(|entry| entry.value)
    }

    /// Returns the node at a relative pointer, following aliases.
    pub fn find(self, pointer: &Pointer) -> Option<NodeRef<'d>> {
        let mut node = self;
        for step in pointer.steps() {
            node = node.step(&step)?;
        }
        Some(node)
    }

    fn step(self, step: &Step<'_>) -> Option<NodeRef<'d>> {
        match (self.shape(), step) {
            (Shape::Sequence, Step::Index(index)) => self.item_at(*index),
            // A parsed pointer reads a number as an item, whatever the node is.
            (Shape::Mapping, Step::Key(_) | Step::Index(_)) => self.get(&step.text()),
            (Shape::Sequence, Step::Key(_)) | (Shape::Scalar | Shape::Dangling, _) => None,
        }
    }

    /// Returns the place of a parsed pointer below this node: the nodes know which numbers are keys.
    pub fn place_of(self, text: &Pointer) -> Pointer {
        let mut node = Some(self);
        text.steps().fold(Pointer::root(), |at, step| {
            let is_mapping = node.is_some_and(|node| node.shape() == Shape::Mapping);
            node = node.and_then(|node| node.step(&step));
            if is_mapping { at.key(&step.text()) } else { at.step(&step) }
        })
    }

    /// Returns whether this is the key `name`; see [`NodeRef::key_text`].
    fn is_key(self, name: &str) -> bool {
        match self.scalar() {
            Some(Scalar::Text | Scalar::Timestamp) => self.text() == Some(name),
            Some(Scalar::Null | Scalar::Bool(_) | Scalar::Int(_) | Scalar::Float(_)) => self.key_text() == name,
            None => name.is_empty(),
        }
    }

    /// Returns a key as text. Keys that are not strings become text, as in the tools that read these files: `1` is
    /// `"1"`, `0x10` is `"16"`, `null` is empty.
    pub fn key_text(self) -> String {
        match self.scalar() {
            Some(Scalar::Null) => String::new(),
            Some(Scalar::Bool(value)) => value.to_string(),
            Some(Scalar::Int(value)) => value.to_string(),
            Some(Scalar::Float(value)) => value.to_string(),
            Some(Scalar::Text | Scalar::Timestamp) | None => self.text().unwrap_or_default().to_owned(),
        }
    }

    fn root_entry(self, index: usize) -> EntryRef<'d> {
        let place = &self.document.index.entries[index];
        let Some(Node { kind: NodeKind::Mapping(entries), .. }) = &self.document.blocks[place.block].root else {
            unreachable!("the index names mappings only");
        };
        let entry = &entries[place.entry];
        let value = match &place.items {
            Some(_) => NodeRef { document: self.document, place: Place::List(numbered(index)), through: self.through },
            None => self.at(numbered(place.block), &entry.value),
        };
        EntryRef { key: self.at(numbered(place.block), &entry.key), value }
    }

    fn head_value(self, index: BlockNumber) -> NodeRef<'d> {
        let place = &self.document.index.entries[index as usize];
        match &self.document.blocks[place.block].root {
            Some(Node { kind: NodeKind::Mapping(entries), .. }) => {
                self.at(numbered(place.block), &entries[place.entry].value)
            }
            Some(_) | None => unreachable!("the index names mappings only"),
        }
    }

    fn root_items(self) -> &'d [(usize, usize)] {
        self.document.index.items.as_deref().unwrap_or_default()
    }

    fn list_items(self, index: BlockNumber) -> &'d [(usize, usize)] {
        self.document.index.entries[index as usize].items.as_deref().unwrap_or_default()
    }

    fn item(self, (block, item): (usize, usize)) -> NodeRef<'d> {
        match &self.document.blocks[block].root {
            Some(Node { kind: NodeKind::Sequence(items), .. }) => self.at(numbered(block), &items[item]),
            Some(_) | None => unreachable!("the index names sequences only"),
        }
    }

    /// Returns the number of the node's block.
    pub fn block(self) -> Option<usize> {
        match self.place {
            Place::Node { block, .. } => Some(block as usize),
            Place::Root | Place::RootList | Place::List(_) => None,
        }
    }
}

fn numbered(number: usize) -> BlockNumber {
    BlockNumber::try_from(number).expect("a text has fewer blocks than bytes, and 4 GB are not read")
}

/// Visits every node as written; aliases are not followed.
#[cfg(test)]
pub(super) fn walk<'d>(node: NodeRef<'d>, pointer: &Pointer, visit: &mut impl FnMut(NodeRef<'d>, &Pointer)) {
    visit(node, pointer);
    if node.alias().is_some() {
        return;
    }
    for (index, item) in node.items().enumerate() {
        walk(item, &pointer.index(index), visit);
    }
    for entry in node.entries() {
        let pointer = pointer.key(&entry.key.key_text());
        if entry.key.alias().is_some() {
            visit(entry.key, &pointer);
        }
        walk(entry.value, &pointer, visit);
    }
}

impl Document {
    /// Returns the range of the node at a pointer, or of its nearest existing ancestor.
    pub fn range_of(&self, pointer: &Pointer) -> Range<usize> {
        let Some(mut node) = self.root() else { return 0..0 };
        for step in pointer.steps() {
            match node.step(&step) {
                Some(next) => node = next,
                None => break,
            }
        }
        node.range()
    }

    /// Returns the range of the key of a pointer's node, or of the node itself if it has no key.
    pub fn key_range_of(&self, pointer: &Pointer) -> Range<usize> {
        let Some(parent) = pointer.parent() else { return self.range_of(pointer) };
        let last = pointer.last().unwrap_or_default();
        self.find(&parent)
            .and_then(|parent| parent.entry(&last))
            .map_or_else(|| self.range_of(pointer), |entry| entry.key.range())
    }

    /// Returns the innermost node around an offset, as a pointer. Keys count as their value.
    pub fn pointer_at(&self, offset: usize) -> Pointer {
        let mut pointer = Pointer::root();
        let Some(mut node) = self.root() else { return pointer };
        loop {
            if matches!(node.place, Place::Node { node: Node { kind: NodeKind::Alias(_), .. }, .. }) {
                return pointer;
            }
            let item = first_reaching(offset, |number| Some(node.item_at(number)?.range().end));
            if let Some(inner) = node.item_at(item).filter(|inner| touches(inner.range(), offset)) {
                pointer = pointer.index(item);
                node = inner;
                continue;
            }
            let end = |entry: EntryRef<'_>| entry.key.range().end.max(entry.value.range().end);
            let entry = node.entry_at(first_reaching(offset, |number| node.entry_at(number).map(end)));
            let around =
                |entry: &EntryRef<'_>| touches(entry.key.range(), offset) || touches(entry.value.range(), offset);
            let Some(entry) = entry.filter(around) else { return pointer };
            pointer = pointer.key(&entry.key.key_text());
            node = entry.value;
        }
    }
}

fn touches(range: Range<usize>, offset: usize) -> bool {
    range.start <= offset && offset <= range.end
}

impl Document {
    /// Returns the blocks that decide what an alias leads to: the one with its definition, and any after that which
    /// defines the name in a part that is damaged.
    pub(crate) fn blocks_that_define(&self, name: &str, block: usize, offset: usize) -> impl Iterator<Item = usize> {
        let places = self.index.anchors.get(name).map(Vec::as_slice).unwrap_or_default();
        let places = &places[..places.partition_point(|&place| place <= block)];
        let found = self.defining_block(name, block, offset).unwrap_or(0);
        places.iter().rev().copied().take_while(move |place| *place >= found)
    }

    /// Returns the last node before a position that has this name, and its block.
    fn definition(&self, name: &str, block: usize, offset: usize) -> Option<(usize, &Node)> {
        self.definitions_before(name, block, offset)
            .find_map(|(place, at)| Some((place, self.named_in(place, name, at)?)))
    }

    fn defining_block(&self, name: &str, block: usize, offset: usize) -> Option<usize> {
        self.definitions_before(name, block, offset).map(|(place, _)| place).next()
    }

    /// Returns the blocks that define a name before a position, from the last one, each with the place of the node in it.
    fn definitions_before(&self, name: &str, block: usize, offset: usize) -> impl Iterator<Item = (usize, usize)> {
        let places = self.index.anchors.get(name).map(Vec::as_slice).unwrap_or_default();
        let before = places.partition_point(|&place| place <= block);
        places[..before].iter().rev().filter_map(move |&place| {
            let limit = if place == block { offset } else { usize::MAX };
            let at = self.blocks[place].last_anchor(name, limit)?.at;
            // A node that contains its own alias has no end.
            let is_around = |node: &Node| node.range().start <= offset && offset < node.range().end;
            let is_own = place == block && self.named_in(place, name, at).is_none_or(is_around);
            (!is_own).then_some((place, at))
        })
    }

    fn named_in(&self, block: usize, name: &str, at: usize) -> Option<&Node> {
        named(self.blocks[block].root.as_ref()?, name, at)
    }
}

/// Returns the node with this name that begins at a position. Children are in the order of the text, so only one of
/// them can contain it.
fn named<'t>(node: &'t Node, name: &str, at: usize) -> Option<&'t Node> {
    if node.range().start == at && node.anchor() == Some(name) {
        return Some(node);
    }
    match &node.kind {
        NodeKind::Scalar { .. } | NodeKind::Alias(_) => None,
        NodeKind::Sequence(items) => {
            let count = items.partition_point(|item| item.range().start <= at);
            named(&items[count.checked_sub(1)?], name, at)
        }
        NodeKind::Mapping(entries) => {
            let count = entries.partition_point(|entry| entry.key.range().start <= at);
            let entry = &entries[count.checked_sub(1)?];
            named(&entry.key, name, at).or_else(|| named(&entry.value, name, at))
        }
    }
}

impl<'d> NodeRef<'d> {
    /// Returns the entry with this key, including merged ones if the rules have merge keys.
    pub fn entry(self, key: &str) -> Option<EntryRef<'d>> {
        self.entry_within(key, 0, &mut 1_000)
    }

    /// `left`: number of bases that may still be searched, since bases that are merged twice multiply.
    fn entry_within(self, key: &str, depth: usize, left: &mut usize) -> Option<EntryRef<'d>> {
        /// Bases may have bases. Aliases cannot be circular; the bound is only a safeguard.
        const MAX_DEPTH: usize = 64;
        if let Some(entry) = self.own_entry(key) {
            return Some(entry);
        }
        if !self.document.index.may_merge || depth > MAX_DEPTH || self.own_entry("<<").is_none() {
            return None;
        }
        self.bases().into_iter().find_map(|base| {
            *left = left.checked_sub(1)?;
            base.entry_within(key, depth + 1, left)
        })
    }

    /// Returns the values that are merged into a mapping. Earlier ones override later ones.
    pub fn bases(self) -> Vec<NodeRef<'d>> {
        let mut merged: Vec<_> = self.entries().filter(EntryRef::is_merge).map(|entry| entry.value).collect();
        // PyYAML merges each `<<` over those before it, and readers of YAML 1.2 keep what is there.
        if self.document.rules().is_yaml11() {
            merged.reverse();
        }
        let of_value = |value: NodeRef<'d>| match value.shape() {
            Shape::Sequence => value.items().collect(),
            Shape::Scalar | Shape::Mapping | Shape::Dangling => vec![value],
        };
        merged.into_iter().flat_map(of_value).collect()
    }

    pub fn merged_entries(self) -> Vec<EntryRef<'d>> {
        let mut entries: Vec<_> = self.entries().filter(|entry| !entry.is_merge()).collect();
        for entry in self.bases().into_iter().flat_map(NodeRef::entries) {
            if !entries.iter().any(|known| known.key.key_text() == entry.key.key_text()) {
                entries.push(entry);
            }
        }
        entries
    }

    /// Returns the entry with this key in the mapping itself; of a repeated key the last one, which counts.
    fn own_entry(self, key: &str) -> Option<EntryRef<'d>> {
        /// Key texts of numbers that are spelled differently in the file: see [`NodeRef::key_text`].
        const NAMES_OF_FLOATS: [&str; 2] = ["inf", "NaN"];
        /// Below this, a linear search is faster than a table.
        const MAX_LINEAR_SEARCH_ITEMS: usize = 32;
        let node = self.resolved();
        let (place, count) = match node.place {
            Place::Root => (0, node.document.index.entries.len()),
            Place::Node { node: Node { kind: NodeKind::Mapping(entries), .. }, .. } => {
                (entries.as_ptr().addr(), entries.len())
            }
            Place::Node { .. } | Place::RootList | Place::List(_) => return None,
        };
        if count <= MAX_LINEAR_SEARCH_ITEMS {
            let Place::Node { block, node: Node { kind: NodeKind::Mapping(entries), .. } } = node.place else {
                return node.entries().filter(|entry| entry.key.is_key(key)).last();
            };
            // Most keys are compared as they are written, without regard to what they mean.
            let is_text = is_surely_text(key) && !NAMES_OF_FLOATS.contains(&key);
            let found = entries.iter().rfind(|entry| match &entry.key.kind {
                NodeKind::Scalar { value, .. } if is_text && entry.key.tag().is_none() => {
                    value.as_bytes().first() == key.as_bytes().first() && **value == *key
                }
                NodeKind::Scalar { .. } | NodeKind::Sequence(_) | NodeKind::Mapping(_) | NodeKind::Alias(_) => {
                    node.at(block, &entry.key).is_key(key)
                }
            })?;
            return Some(EntryRef { key: node.at(block, &found.key), value: node.at(block, &found.value) });
        }
        let mut tables = node.document.index.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let table = tables.entry(place).or_insert_with(|| {
            let mut table = FxHashMap::default();
            for (number, entry) in node.entries().enumerate() {
                table.insert(entry.key.key_text(), number);
            }
            table
        });
        node.entry_at(*table.get(key)?)
    }

    /// Returns entry `number` of a mapping, in constant time.
    fn entry_at(self, number: usize) -> Option<EntryRef<'d>> {
        match self.place {
            Place::Root => (number < self.document.index.entries.len()).then(|| self.root_entry(number)),
            Place::Node { block, node: Node { kind: NodeKind::Mapping(entries), .. } } => {
                let entry = entries.get(number)?;
                Some(EntryRef { key: self.at(block, &entry.key), value: self.at(block, &entry.value) })
            }
            Place::Node { .. } | Place::RootList | Place::List(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Document, FaultKind, ScalarRules};

    #[test]
    fn of_two_merge_keys_the_later_counts_in_yaml_1_1() {
        for mapping in ["c:\n  <<: *a\n  <<: *b\n", "c: {<<: *a, <<: *b}\n", "c:\r\n  <<: [*a]\r\n  <<: [*b, *a]\r\n"] {
            let text = format!("a: &a {{x: 1, y: 1}}\nb: &b {{x: 2}}\n{mapping}");
            for (rules, x) in [(ScalarRules::Yaml11, "2"), (ScalarRules::Yaml12Merging, "1")] {
                let document = Document::read(&text, rules);
                let merged = document.root().unwrap().get("c").unwrap();
                assert_eq!(merged.get("x").and_then(|value| value.text()), Some(x), "{rules:?}");
                assert_eq!(merged.get("y").and_then(|value| value.text()), Some("1"), "{rules:?}");
                let entries = merged.merged_entries().into_iter();
                let values: Vec<&str> = entries.filter_map(|entry| entry.value.text()).collect();
                assert!(values.contains(&x) && values.len() == 2, "{values:?}");
                assert_eq!(merged.to_value().unwrap()["x"].to_string(), x, "{rules:?}");
                assert!(document.faults().is_empty(), "{rules:?}");
            }
            let faults = Document::read(&text, ScalarRules::Yaml12).faults();
            assert!(
                faults.iter().any(|fault| matches!(&fault.kind, FaultKind::DuplicateKey { key, .. } if key == "<<"))
            );
        }
        // At the root, whose entries are in different blocks.
        let root = "a: &a {x: 1}\nb: &b {x: 2}\n<<: *a\n<<: *b\n";
        let document = Document::read(root, ScalarRules::Yaml11);
        assert!(document.faults().is_empty());
        assert_eq!(document.root().unwrap().get("x").and_then(|value| value.text()), Some("2"));
    }

    #[test]
    fn keys_are_found_by_the_texts_of_their_values() {
        let keys = [
            ("type", "type"),
            (".inf", "inf"),
            (".nan", "NaN"),
            ("0x10", "16"),
            ("null", ""),
            ("True", "true"),
            ("'on'", "on"),
            ("!!str 7", "7"),
            ("note", "note"),
        ];
        let block: String = keys.iter().map(|(written, text)| format!("  {written}: of {text}.\n")).collect();
        let flow: Vec<String> = keys.iter().map(|(written, text)| format!("{written}: of {text}.")).collect();
        for mapping in [format!("\n{block}"), format!(" {{{}}}\n", flow.join(", "))] {
            for rules in [ScalarRules::Yaml11, ScalarRules::Yaml12] {
                let document = Document::read(&format!("a:{mapping}"), rules);
                let mapping = document.root().unwrap().get("a").unwrap();
                for (_, text) in keys {
                    let found = mapping.get(text).and_then(|value| value.text());
                    assert_eq!(found, Some(&*format!("of {text}.")), "{rules:?}");
                }
                assert!(["Type", "typo", "0x10", "null", "True"].iter().all(|text| mapping.get(text).is_none()));
            }
        }
    }
}
