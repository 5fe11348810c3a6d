//! The blocks of a document, in chunks: an edit copies its chunk, and all versions share the others.

use std::{
    ops::{Deref, Index, Range},
    sync::Arc,
};

use super::{
    Block, BlockKind,
    marks::{Mark, Marks},
    tree::{Node, NodeKind},
};

/// Minimum number of blocks of a new chunk.
const MIN_PIECE: usize = 64;

/// A block in its document, with the properties that are needed of every block at each keystroke: a look into each of
/// thousands of blocks would cost more than everything else.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) block: Arc<Block>,
    pub(super) id: u64,
    pub(super) length: usize,
    pub(super) kind: BlockKind,
    /// Number of its entries or items.
    pub(super) children: usize,
    /// Its properties that are searched for in the whole text.
    pub(super) marks: Marks,
}

impl Slot {
    pub(super) fn new(block: Arc<Block>) -> Slot {
        let is_plain = |item: &Node| !matches!(item.kind, NodeKind::Mapping(_));
        let (children, has_plain_item) = match block.root.as_ref().map(|root| &root.kind) {
            Some(NodeKind::Mapping(entries)) => (entries.len(), false),
            Some(NodeKind::Sequence(items)) => (items.len(), items.iter().any(is_plain)),
            Some(NodeKind::Scalar { .. } | NodeKind::Alias(_)) | None => (0, false),
        };
        Slot {
            id: block.id(),
            length: block.length,
            kind: block.kind,
            children,
            marks: block
                .marks
                .with(Mark::Fault, !block.faults.is_empty())
                .with(Mark::RepeatedKey, !block.duplicates.is_empty())
                .with(Mark::Anchor, !block.anchors.is_empty())
                .with(Mark::Alias, !block.aliases.is_empty())
                .with(Mark::Directive, !block.directives.is_empty())
                .with(Mark::PlainItem, has_plain_item),
            block,
        }
    }
}

impl Deref for Slot {
    type Target = Arc<Block>;

    fn deref(&self) -> &Arc<Block> {
        &self.block
    }
}

/// Consecutive blocks.
#[derive(Debug)]
struct Piece {
    slots: Vec<Slot>,
    /// The marks that any of them has.
    marks: Marks,
}

impl Piece {
    fn new(slots: Vec<Slot>) -> Arc<Piece> {
        let marks = slots.iter().fold(Marks::default(), |marks, slot| marks | slot.marks);
        Arc::new(Piece { slots, marks })
    }
}

/// The blocks, in the order of the text.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    pieces: Arc<Vec<Arc<Piece>>>,
    /// Number of blocks before each chunk.
    before: Arc<Vec<usize>>,
    length: usize,
}

impl Slots {
    /// Returns the number of blocks.
    pub(super) fn len(&self) -> usize {
        self.length
    }

    /// Returns whether there are no blocks.
    pub(super) fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the block with a number.
    pub(super) fn get(&self, number: usize) -> Option<&Slot> {
        let piece = self.before.partition_point(|before| *before <= number).checked_sub(1)?;
        self.pieces[piece].slots.get(number - self.before[piece])
    }

    /// Returns the number of blocks at the beginning and at the end that are in pieces of another version as well.
    pub(super) fn shared_with(&self, other: &Slots) -> (usize, usize) {
        let is_same = |(one, other): &(&Arc<Piece>, &Arc<Piece>)| Arc::ptr_eq(one, other);
        let head = self.pieces.iter().zip(other.pieces.iter()).take_while(is_same).count();
        let tail = self.pieces.iter().rev().zip(other.pieces.iter().rev()).take_while(is_same).count();
        // A look into each piece would cost more than everything else.
        let before = |piece: usize| self.before.get(piece).copied().unwrap_or(self.length);
        (before(head), self.length - before(self.pieces.len() - tail))
    }

    /// Returns the piece that a block is in, and the number of its first block.
    pub(super) fn piece_of(&self, number: usize) -> (usize, &[Slot]) {
        let piece = self.before.partition_point(|before| *before <= number) - 1;
        (self.before[piece], &self.pieces[piece].slots)
    }

    /// Returns the block, if there is only one.
    pub(super) fn only(&self) -> Option<&Slot> {
        self.get(0).filter(|_| self.length == 1)
    }

    /// Returns all blocks.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.pieces.iter().flat_map(|piece| &piece.slots)
    }

    /// Returns the blocks from a number on, from either end. Each step costs a little more than one of [`Slots::iter`].
    pub(super) fn starting_at(&self, first: usize) -> impl ExactSizeIterator<Item = &Slot> + DoubleEndedIterator {
        (first..self.length).map(|number| &self[number])
    }

    /// Returns the blocks with a mark, each with its number. Pieces without the mark are skipped.
    pub(super) fn marked(&self, mark: Mark) -> impl Iterator<Item = (usize, &Slot)> {
        let pieces = self.pieces.iter().zip(self.before.iter()).filter(move |(piece, _)| piece.marks.has(mark));
        let numbered = pieces.flat_map(|(piece, before)| (*before..).zip(&piece.slots));
        numbered.filter(move |(_, slot)| slot.marks.has(mark))
    }

    /// Returns whether a block has a mark.
    pub(super) fn has(&self, mark: Mark) -> bool {
        self.pieces.iter().any(|piece| piece.marks.has(mark))
    }

    /// Replaces blocks with others.
    pub(super) fn replace(&mut self, old: Range<usize>, new: Vec<Slot>) {
        let piece_of = |number: usize| self.before.partition_point(|before| *before <= number).saturating_sub(1);
        let first = piece_of(old.start);
        let last = piece_of(old.end.max(old.start + 1) - 1).max(first);
        let start = self.before.get(first).copied().unwrap_or_default();
        let is_alike = old.len() == new.len();
        self.length = self.length + new.len() - old.len();
        // One chunk takes the blocks, or new ones replace those that lose some.
        let mut slots: Vec<Slot> = Vec::new();
        for piece in self.pieces.get(first..=last).unwrap_or_default() {
            slots.extend(piece.slots.iter().cloned());
        }
        drop(slots.splice(old.start - start..old.end - start, new));
        let pieces = Arc::make_mut(&mut self.pieces);
        let end = pieces.len().min(last + 1);
        // An edit copies a piece, and the list of all pieces.
        let size = MIN_PIECE.max(self.length.isqrt());
        let is_small = slots.len() < 2 * size;
        let fresh: Vec<Arc<Piece>> = match slots.is_empty() {
            true => Vec::new(),
            false if is_small => vec![Piece::new(slots)],
            false => slots.chunks(size).map(|piece| Piece::new(piece.to_vec())).collect(),
        };
        let is_one_for_one = is_alike && fresh.len() == end - first.min(end);
        drop(pieces.splice(first.min(end)..end, fresh));
        if is_one_for_one && first == last {
            return;
        }
        let counted = pieces.iter().scan(0, |count, piece| {
            *count += piece.slots.len();
            Some(*count - piece.slots.len())
        });
        self.before = Arc::new(counted.collect());
    }
}

impl Index<usize> for Slots {
    type Output = Slot;

    fn index(&self, number: usize) -> &Slot {
        self.get(number).expect("the number is below the number of blocks")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScalarRules;

    fn slot(number: usize) -> Slot {
        Slot::new(Arc::new(Block::parse(&format!("- {number}\n"), BlockKind::Item, ScalarRules::Yaml12, None)))
    }

    /// Returns the ids of blocks.
    fn ids<'s>(slots: impl Iterator<Item = &'s Slot>) -> Vec<u64> {
        slots.map(|slot| slot.id).collect()
    }

    #[test]
    fn pieces_are_one_list() {
        let mut slots = Slots::default();
        let mut plain: Vec<Slot> = Vec::new();
        let changes = [
            (0, 0, 700),
            (3, 4, 1),
            (130, 130, 5),
            (699, 705, 0),
            (0, 300, 2),
            (100, 101, 900),
            (0, 0, 1),
            (5, 1200, 0),
        ];
        for (start, end, count) in changes {
            let new: Vec<Slot> = (0..count).map(slot).collect();
            let before = slots.clone();
            let was = ids(before.iter());
            drop(plain.splice(start..end, new.iter().cloned()));
            slots.replace(start..end, new);
            assert_eq!(ids(slots.iter()), ids(plain.iter()));
            assert_eq!(ids(slots.starting_at(2).rev()), ids(plain[2..].iter().rev()));
            assert_eq!((slots.len(), slots.get(plain.len()).is_none()), (plain.len(), true));
            assert!((0..plain.len()).all(|number| slots[number].id == plain[number].id));
            assert_eq!(ids(before.iter()), was, "other versions stay as they are");
        }
        slots.replace(0..slots.len(), Vec::new());
        assert!(slots.is_empty() && slots.only().is_none());
    }

    #[test]
    fn an_edit_shares_the_pieces_that_it_is_not_in() {
        let mut slots = Slots::default();
        slots.replace(0..0, (0..1000).map(slot).collect());
        let before = slots.clone();
        slots.replace(500..501, vec![slot(0)]);
        let shared = before.pieces.iter().zip(slots.pieces.iter()).filter(|(one, other)| Arc::ptr_eq(one, other));
        assert_eq!((shared.count() + 1, slots.pieces.len()), (before.pieces.len(), before.pieces.len()));
    }
}
