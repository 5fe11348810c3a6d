//! Ranges of a text, for frequent queries.

use std::ops::Range;

/// Ranges of a text, which may overlap.
pub(super) struct Ranges(Vec<Range<usize>>);

impl Ranges {
    pub(super) fn of(ranges: impl Iterator<Item = Range<usize>>) -> Ranges {
        let mut ranges: Vec<Range<usize>> = ranges.collect();
        ranges.sort_by_key(|stretch| stretch.start);
        // Each end is the maximum of all ends up to it, so the last range that begins before a place decides.
        let mut end = 0;
        for stretch in &mut ranges {
            end = end.max(stretch.end);
            stretch.end = end;
        }
        Ranges(ranges)
    }

    pub(super) fn hold(&self, place: usize) -> bool {
        self.touch(&(place..place + 1))
    }

    pub(super) fn touch(&self, range: &Range<usize>) -> bool {
        let before = self.0.partition_point(|stretch| stretch.start < range.end);
        before > 0 && self.0[before - 1].end > range.start
    }
}
