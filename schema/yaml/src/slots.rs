//! The blocks of a document, in chunks: an edit copies its chunk, and all versions share the others.

use std::{
    ops::{Add, Deref, Index, Range},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
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
    line_breaks: usize,
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
            line_breaks: block.line_breaks,
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

/// The place where a block begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    /// Number of blocks before it.
    pub(super) number: usize,
    pub(super) byte: usize,
    pub(super) line: usize,
}

impl Add for Start {
    type Output = Start;

    fn add(self, other: Start) -> Start {
        Start { number: self.number + other.number, byte: self.byte + other.byte, line: self.line + other.line }
    }
}

/// Consecutive blocks.
#[derive(Debug)]
struct Piece {
    slots: Vec<Slot>,
    /// Where each of them begins, and the end, relative to the first one.
    starts: Vec<Start>,
    /// The marks that any of them has.
    marks: Marks,
}

impl Piece {
    fn new(slots: Vec<Slot>) -> Arc<Piece> {
        let marks = slots.iter().fold(Marks::default(), |marks, slot| marks | slot.marks);
        let mut starts = vec![Start::default()];
        for slot in &slots {
            let extent = Start { number: 1, byte: slot.length, line: slot.line_breaks };
            starts.push(starts[starts.len() - 1] + extent);
        }
        Arc::new(Piece { slots, starts, marks })
    }

    fn extent(&self) -> Start {
        self.starts[self.slots.len()]
    }
}

/// The blocks, in the order of the text.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots {
    pieces: Arc<Vec<Arc<Piece>>>,
    /// Where each of them begins.
    starts: Arc<Vec<Start>>,
    length: usize,
    /// Differs between versions whose blocks begin on other lines; 0 without blocks.
    lines_id: u64,
}

static NEXT_LINES_ID: AtomicU64 = AtomicU64::new(1);

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
        (number < self.length).then(|| self.near(number).slot(number))
    }

    /// Returns a number that differs between versions whose blocks begin on other lines.
    pub(super) fn lines_id(&self) -> u64 {
        self.lines_id
    }

    /// Returns where a block begins.
    pub(super) fn start(&self, number: usize) -> Start {
        self.near(number).start(number)
    }

    /// Returns the number of the block around a byte; `None` without blocks.
    pub(super) fn around(&self, byte: usize) -> Option<usize> {
        let piece = self.starts.partition_point(|start| start.byte <= byte).checked_sub(1)?;
        let (first, piece) = (self.starts[piece], &self.pieces[piece]);
        let begun = piece.starts[..piece.slots.len()].partition_point(|start| first.byte + start.byte <= byte);
        Some(first.number + begun - 1)
    }

    /// Returns the number of blocks at the beginning and at the end that are in pieces of another version as well.
    pub(super) fn shared_with(&self, other: &Slots) -> (usize, usize) {
        let is_same = |(one, other): &(&Arc<Piece>, &Arc<Piece>)| Arc::ptr_eq(one, other);
        let head = self.pieces.iter().zip(other.pieces.iter()).take_while(is_same).count();
        let tail = self.pieces.iter().rev().zip(other.pieces.iter().rev()).take_while(is_same).count();
        // A look into each piece would cost more than everything else.
        let before = |piece: usize| self.starts.get(piece).map_or(self.length, |start| start.number);
        (before(head), self.length - before(self.pieces.len() - tail))
    }

    /// Returns the blocks around one of them.
    pub(super) fn near(&self, number: usize) -> Near<'_> {
        let piece = self.starts.partition_point(|start| start.number <= number) - 1;
        Near { first: self.starts[piece], piece: &self.pieces[piece] }
    }

    /// Returns the block, if there is only one.
    pub(super) fn only(&self) -> Option<&Slot> {
        self.get(0).filter(|_| self.length == 1)
    }

    /// Returns all blocks.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Slot> {
        self.pieces.iter().flat_map(|piece| &piece.slots)
    }

    /// Returns the blocks from a number on, from either end, each with its start. Each step costs a little more than one of
    /// [`Slots::iter`].
    pub(super) fn starting_at(
        &self,
        first: usize,
    ) -> impl ExactSizeIterator<Item = (usize, &Slot)> + DoubleEndedIterator {
        (first..self.length).map(|number| {
            let near = self.near(number);
            (near.start(number).byte, near.slot(number))
        })
    }

    /// Returns the blocks with a mark, each with its number. Pieces without the mark are skipped.
    pub(super) fn marked(&self, mark: Mark) -> impl Iterator<Item = (usize, &Slot)> {
        let pieces = self.pieces.iter().zip(self.starts.iter()).filter(move |(piece, _)| piece.marks.has(mark));
        let numbered = pieces.flat_map(|(piece, start)| (start.number..).zip(&piece.slots));
        numbered.filter(move |(_, slot)| slot.marks.has(mark))
    }

    /// Returns whether a block has a mark.
    pub(super) fn has(&self, mark: Mark) -> bool {
        self.pieces.iter().any(|piece| piece.marks.has(mark))
    }

    /// Replaces blocks with others.
    pub(super) fn replace(&mut self, old: Range<usize>, new: Vec<Slot>) {
        let piece_of = |number: usize| self.starts.partition_point(|start| start.number <= number).saturating_sub(1);
        let first = piece_of(old.start);
        let last = piece_of(old.end.max(old.start + 1) - 1).max(first);
        let start = self.starts.get(first).copied().unwrap_or_default();
        self.length = self.length + new.len() - old.len();
        // One chunk takes the blocks, or new ones replace those that lose some.
        let mut slots: Vec<Slot> = Vec::new();
        for piece in self.pieces.get(first..=last).unwrap_or_default() {
            slots.extend(piece.slots.iter().cloned());
        }
        let own = old.start - start.number..old.end - start.number;
        let line_breaks = |slots: &[Slot]| slots.iter().map(|slot| slot.line_breaks).collect::<Vec<_>>();
        if line_breaks(&slots[own.clone()]) != line_breaks(&new) {
            self.lines_id = NEXT_LINES_ID.fetch_add(1, Ordering::Relaxed);
        }
        drop(slots.splice(own, new));
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
        let mut next = start;
        let mut starts = Vec::new();
        for piece in &fresh {
            starts.push(next);
            next = next + piece.extent();
        }
        let rest = first.min(end) + fresh.len();
        drop(pieces.splice(first.min(end)..end, fresh));
        let all = Arc::make_mut(&mut self.starts);
        drop(all.splice(first.min(end)..end, starts));
        let Some(before) = all.get(rest).copied() else { return };
        for start in &mut all[rest..] {
            start.number = start.number - before.number + next.number;
            start.byte = start.byte - before.byte + next.byte;
            start.line = start.line - before.line + next.line;
        }
    }
}

/// Blocks that follow each other, for fast access to neighbors.
#[derive(Clone, Copy, Debug)]
pub(super) struct Near<'s> {
    first: Start,
    piece: &'s Piece,
}

impl<'s> Near<'s> {
    /// Whether a block is one of them.
    pub(super) fn has(&self, number: usize) -> bool {
        (self.first.number..self.first.number + self.piece.slots.len()).contains(&number)
    }

    /// Returns one of the blocks.
    pub(super) fn slot(&self, number: usize) -> &'s Slot {
        &self.piece.slots[number - self.first.number]
    }

    /// Returns where one of the blocks begins.
    pub(super) fn start(&self, number: usize) -> Start {
        self.first + self.piece.starts[number - self.first.number]
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
            assert_eq!(ids(slots.starting_at(2).rev().map(|(_, slot)| slot)), ids(plain[2..].iter().rev()));
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
