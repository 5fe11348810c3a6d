//! The items of a list whose items are blocks.

use std::sync::Arc;

use super::super::{Block, Document, Version, marks::Mark, slots::Slot};

/// The block of an item, with properties that are known without reading it.
#[derive(Clone, Copy, Debug)]
pub struct ItemBlock<'d> {
    /// The block.
    pub block: &'d Arc<Block>,
    /// The number of the line.
    pub id: u64,
    /// The start of the line.
    pub start: usize,
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
    /// The blocks around the one that was asked for last, and the number of the first.
    pub(super) near: (usize, &'d [Slot]),
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

    /// Returns the blocks, in the order of the items.
    pub fn iter(mut self) -> impl Iterator<Item = ItemBlock<'d>> {
        (0..self.len()).map(move |index| self.at(index))
    }

    /// Returns the block of an item. Faster for the neighbors of the one before.
    pub fn at(&mut self, index: usize) -> ItemBlock<'d> {
        let (number, _) = self.items[index];
        let (first, near) = self.near;
        if !(first..first + near.len()).contains(&number) {
            self.near = self.document.blocks.piece_of(number);
        }
        let (first, near) = self.near;
        let slot = &near[number - first];
        ItemBlock {
            block: &slot.block,
            id: slot.id,
            start: self.document.starts[number],
            length: slot.length,
            is_alone: slot.children == 1,
            is_intact: !slot.marks.has(Mark::Fault),
            has_anchors: slot.marks.has(Mark::Anchor),
            has_aliases: slot.marks.has(Mark::Alias),
        }
    }
}
