//! Stretches of a text, to be asked often.

use std::ops::Range;

/// Stretches of a text, which may overlap.
pub(super) struct Stretches(Vec<Range<usize>>);

impl Stretches {
    pub(super) fn of(stretches: impl Iterator<Item = Range<usize>>) -> Stretches {
        let mut stretches: Vec<Range<usize>> = stretches.collect();
        stretches.sort_by_key(|stretch| stretch.start);
        // Each reaches as far as any that begins before it: the last one that begins before a place decides.
        let mut end = 0;
        for stretch in &mut stretches {
            end = end.max(stretch.end);
            stretch.end = end;
        }
        Stretches(stretches)
    }

    /// Whether a place is in one of them.
    pub(super) fn hold(&self, place: usize) -> bool {
        self.touch(&(place..place + 1))
    }

    /// Whether one of them has bytes of a range.
    pub(super) fn touch(&self, range: &Range<usize>) -> bool {
        let before = self.0.partition_point(|stretch| stretch.start < range.end);
        before > 0 && self.0[before - 1].end > range.start
    }
}
