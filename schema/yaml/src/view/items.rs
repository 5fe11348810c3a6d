//! The items of a list whose items are blocks.

use std::{ops::Range, sync::Arc};

use super::{
    super::{
        Block, Document, Version,
        marks::Mark,
        slots::Near,
        tree::{Node, NodeKind},
    },
    NodeRef, Place,
};

/// The block of an item, with properties that are known without reading it.
#[derive(Clone, Copy, Debug)]
pub struct ItemBlock<'d> {
    /// The block.
    pub block: &'d Arc<Block>,
    /// The number of the line.
    pub id: u64,
    /// The start of the line.
    pub start: usize,
    /// The line, counted from 0.
    pub line: usize,
    /// The length in bytes.
    pub length: usize,
    /// Whether it contains no other item.
    pub is_alone: bool,
    /// Whether all of it was understood.
    pub is_intact: bool,
    /// Whether it defines names.
    pub has_anchors: bool,
    /// Whether it refers to names that may be defined elsewhere.
    pub has_aliases: bool,
}

/// The items of a list, each by the block that it is in.
#[derive(Clone, Copy, Debug)]
pub struct ItemBlocks<'d> {
    pub(super) document: &'d Document,
    pub(super) items: &'d [(usize, usize)],
    /// The blocks around the one that was asked for last.
    pub(super) near: Option<Near<'d>>,
}

impl<'d> ItemBlocks<'d> {
    /// Returns how many items there are.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Returns the number of items at the beginning and at the end that are in blocks with which another version begins and
    /// ends. In that version they may be in another list.
    pub fn shared_with(&self, version: &Version) -> (usize, usize) {
        let blocks = &self.document.blocks;
        let (head, tail) = blocks.shared_with(&version.0);
        let before = |number: usize| self.items.partition_point(|(block, _)| *block < number);
        (before(head), self.items.len() - before(blocks.len() - tail))
    }

    /// Whether nothing is between the blocks of some items, each of which is alone in its block.
    pub fn are_consecutive(&self, items: Range<usize>) -> bool {
        self.items[items.clone()]
            .split_last()
            .is_none_or(|(last, rest)| last.0 - rest.len() == self.items[items.start].0)
    }

    /// Returns the blocks, in the order of the items.
    pub fn iter(mut self) -> impl Iterator<Item = ItemBlock<'d>> {
        (0..self.len()).map(move |index| self.at(index))
    }

    /// Returns the block of an item. Faster for the neighbors of the one before.
    pub fn at(&mut self, index: usize) -> ItemBlock<'d> {
        let (number, _) = self.items[index];
        let known = self.near.filter(|near| near.has(number));
        let near = *self.near.insert(known.unwrap_or_else(|| self.document.blocks.near(number)));
        let (start, slot) = (near.start(number), near.slot(number));
        ItemBlock {
            block: &slot.block,
            id: slot.id,
            start: start.byte,
            line: start.line,
            length: slot.length,
            is_alone: slot.children == 1,
            is_intact: !slot.marks.has(Mark::Fault),
            has_anchors: slot.marks.has(Mark::Anchor),
            has_aliases: slot.marks.has(Mark::Alias),
        }
    }
}

impl<'d> NodeRef<'d> {
    /// Returns the items of a list that are not mappings, each with its index. In a list with a block per item, the others
    /// cost next to nothing.
    pub fn plain_items(self) -> Vec<(usize, NodeRef<'d>)> {
        let node = self.resolved();
        let is_plain = |(_, item): &(usize, NodeRef<'d>)| {
            !matches!(item.place, Place::Node { node: Node { kind: NodeKind::Mapping(_), .. }, .. })
        };
        let items = match node.place {
            Place::RootList => node.root_items(),
            Place::List(entry) => node.list_items(entry),
            Place::Node { .. } | Place::Root => return node.items().enumerate().filter(is_plain).collect(),
        };
        let numbers = node.document.blocks.marked(Mark::PlainItem).flat_map(|(block, _)| {
            let place = |at: usize| items.partition_point(|(of, _)| *of < at);
            place(block)..place(block + 1)
        });
        numbers.map(|number| (number, node.item(items[number]))).filter(is_plain).collect()
    }
}
