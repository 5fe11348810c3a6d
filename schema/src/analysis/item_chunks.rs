//! Items of a list in chunks of a few dozen, in long lists of a few hundred. What is reported of the items of a chunk
//! is kept until one of them changes, so a keystroke costs nothing for the items of the others, of which there may be
//! thousands.

use std::{ops::Range, sync::Arc};

use super::problems::Reports;
use crate::problem::Code;

/// Minimum number of items of a new chunk.
const MIN_SIZE: usize = 64;

/// The chunks of a list, in their order.
#[derive(Default)]
pub(super) struct ItemChunks(Vec<ItemChunk>);

struct ItemChunk {
    /// Number of items.
    count: usize,
    settled: Option<Settled>,
}

/// What is reported of the items of a chunk, where nothing outside of the items decides about it. The blocks of the items
/// follow each other, and nothing else is in them. Offsets are relative to the first block.
pub(super) struct Settled {
    /// The key of the circumstances: see [`super::levels::Levels::key`].
    pub(super) levels: u64,
    /// `None` if no problem is reported.
    pub(super) reports: Option<Arc<Reports>>,
    /// The codes of the problems that were found, reported or not.
    pub(super) codes: Vec<Code>,
    /// Bytes from the first item with a problem to the last one.
    pub(super) extent: Range<usize>,
    /// Whether one of the items with problems defines names.
    pub(super) has_anchors: bool,
    /// Whether one of the problems is because of other items.
    pub(super) has_cross_item: bool,
}

impl ItemChunks {
    /// Returns the number of chunks.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the number of items of a chunk.
    pub(super) fn count(&self, number: usize) -> usize {
        self.0[number].count
    }

    /// Returns what is kept of a chunk.
    pub(super) fn settled(&self, number: usize) -> Option<&Settled> {
        self.0[number].settled.as_ref()
    }

    /// Sets what is kept of a chunk.
    pub(super) fn settle(&mut self, number: usize, settled: Option<Settled>) {
        self.0[number].settled = settled;
    }

    /// Replaces items with others. Nothing is kept of the chunks that contain them.
    pub(super) fn replace(&mut self, old: Range<usize>, count: usize) {
        let (mut first, mut start) = (0, 0);
        // Items that are added at the end belong to the last chunk.
        while first + 1 < self.0.len() && start + self.0[first].count <= old.start {
            start += self.0[first].count;
            first += 1;
        }
        let (mut last, mut end) = (first, start);
        while last < self.0.len() && (last == first || end < old.end) {
            end += self.0[last].count;
            last += 1;
        }
        let total = end - start - old.len() + count;
        let size = size_among(self.0.iter().map(|chunk| chunk.count).sum::<usize>() - old.len() + count);
        let sizes = if total < 2 * size { vec![total] } else { in_pieces(total, size) };
        let fresh = sizes.into_iter().filter(|count| *count > 0).map(|count| ItemChunk { count, settled: None });
        drop(self.0.splice(first..last, fresh));
        if old.len() != count {
            self.forget_cross_item();
        }
    }

    /// Keeps nothing of the chunks of some items.
    pub(super) fn forget(&mut self, mut items: Vec<usize>) {
        items.sort_unstable();
        let mut left = items.as_slice();
        let mut end = 0;
        for chunk in &mut self.0 {
            end += chunk.count;
            let (own, rest) = left.split_at(left.partition_point(|item| *item < end));
            if !own.is_empty() {
                chunk.settled = None;
            }
            left = rest;
        }
    }

    /// Keeps nothing of chunks with problems that are because of other items.
    pub(super) fn forget_cross_item(&mut self) {
        for chunk in &mut self.0 {
            chunk.settled.take_if(|settled| settled.has_cross_item);
        }
    }
}

/// Returns the number of items of a new chunk in a list of this length: a keystroke costs a little for each chunk, and a
/// little for each problem in the edited one.
fn size_among(length: usize) -> usize {
    MIN_SIZE.max(length.isqrt())
}

fn in_pieces(total: usize, size: usize) -> Vec<usize> {
    (0..total).step_by(size).map(|start| size.min(total - start)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(has_cross_item: bool) -> Settled {
        Settled { levels: 0, reports: None, codes: Vec::new(), extent: 0..0, has_anchors: false, has_cross_item }
    }

    /// Returns the indices of the items of which something is kept.
    fn kept(chunks: &ItemChunks) -> Vec<bool> {
        chunks.0.iter().flat_map(|chunk| vec![chunk.settled.is_some(); chunk.count]).collect()
    }

    #[test]
    fn nothing_is_kept_of_replaced_items() {
        for (old, count) in
            [(0..0, 1), (0..1, 0), (70..71, 1), (70..70, 1), (64..70, 200), (0..500, 3), (500..500, 1), (31..33, 2)]
        {
            let mut chunks = ItemChunks::default();
            chunks.replace(0..0, 500);
            (0..chunks.len()).for_each(|number| chunks.settle(number, Some(settled(false))));
            chunks.replace(old.clone(), count);
            let kept = kept(&chunks);
            assert_eq!(kept.len(), 500 - old.len() + count);
            assert!(kept[old.start..old.start + count].iter().all(|kept| !kept), "{old:?}");
            let lost = kept.iter().filter(|kept| !**kept).count();
            assert!(lost <= old.len() + count + 2 * MIN_SIZE, "{lost} of {old:?}");
        }
    }

    #[test]
    fn chunks_of_items_that_are_added_one_by_one_are_not_short() {
        let mut chunks = ItemChunks::default();
        (0..1000).for_each(|count| chunks.replace(count..count, 1));
        assert!(chunks.len() <= 1000 / MIN_SIZE + 1, "{}", chunks.len());
        (0..900).for_each(|_| chunks.replace(50..51, 0));
        assert_eq!(kept(&chunks).len(), 100);
    }

    #[test]
    fn problems_because_of_other_items_are_not_kept_if_the_items_have_other_numbers() {
        let mut chunks = ItemChunks::default();
        chunks.replace(0..0, 3 * MIN_SIZE);
        let settle = |chunks: &mut ItemChunks| {
            (0..3).for_each(|number| chunks.settle(number, Some(settled(number == 0))));
        };
        settle(&mut chunks);
        chunks.replace(2 * MIN_SIZE..2 * MIN_SIZE + 1, 1);
        assert_eq!([0, 1, 2].map(|number| chunks.settled(number).is_some()), [true, true, false]);
        chunks.replace(2 * MIN_SIZE..2 * MIN_SIZE + 1, 2);
        assert_eq!([0, 1, 2].map(|number| chunks.settled(number).is_some()), [false, true, false]);
        settle(&mut chunks);
        chunks.forget(vec![MIN_SIZE]);
        assert_eq!([0, 1, 2].map(|number| chunks.settled(number).is_some()), [true, false, true]);
    }
}
