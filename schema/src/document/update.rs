//! Bringing the blocks up to date after edits: those that no edit touched stay.

use std::{ops::Range, sync::Arc};

use super::{Document, Index, Slot, anchors, block_kind, blocks::Span};

/// An edit that the tree does not show yet: these bytes of the old text became those of the new one.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

impl Pending {
    /// This edit, then another one in the coordinates of the text after it.
    pub(super) fn followed_by(self, range: Range<usize>, new: Range<usize>) -> Pending {
        // The other edit's range in the old text, as far as it lies outside of what is pending.
        let grown = self.new.len();
        let shrunk = self.old.len();
        let to_old = |at: usize| if at >= self.new.end { at - grown + shrunk } else { at };
        let old_start = self.old.start.min(range.start);
        let old_end = self.old.end.max(if range.end >= self.new.end { to_old(range.end) } else { self.old.end });
        let shift =
            |at: usize| if at >= range.end { at - range.len() + new.len() } else { new.end.max(at.min(new.end)) };
        let new_start = self.new.start.min(new.start);
        let new_end = shift(self.new.end).max(new.end);
        Pending { old: old_start..old_end, new: new_start..new_end }
    }
}

impl Document {
    pub(super) fn refresh_blocks(&mut self, spans: &[Span], pending: &Pending) {
        let (head, head_spans) = self.untouched_head(spans, pending);
        let (mut tail, mut tail_spans) = self.untouched_tail(spans, pending, head, head_spans);
        let mut new = Vec::new();
        let mut index = head_spans;
        while index < spans.len() - tail_spans {
            let suspect = self.suspect(&spans[index], pending);
            let (block, pieces) = self.parse_span(spans, index, block_kind(spans[index].kind), suspect);
            index += pieces;
            new.push(Slot::new(Arc::new(block)));
            // A block may have taken in its successors.
            while index > spans.len() - tail_spans {
                tail_spans -= self.blocks[self.blocks.len() - tail].pieces;
                tail -= 1;
            }
        }
        self.replace(head, tail, new);
    }

    /// How many blocks before the edit stay, and how many pieces they are.
    fn untouched_head(&self, spans: &[Span], pending: &Pending) -> (usize, usize) {
        let (mut blocks, mut pieces) = (0, 0);
        for (block, &start) in self.blocks.iter().zip(self.starts.iter()) {
            let end = start + block.length;
            let same = spans.get(pieces).is_some_and(|span| {
                span.range.start == start
                    && block_kind(span.kind) == block.kind
                    && spans.get(pieces + block.pieces - 1).is_some_and(|last| last.range.end == end)
            });
            if end > pending.new.start || !same {
                break;
            }
            blocks += 1;
            pieces += block.pieces;
        }
        // A block that stopped at its end looks at its successors again.
        while blocks > 0 && self.blocks[blocks - 1].open_ended {
            blocks -= 1;
            pieces -= self.blocks[blocks].pieces;
        }
        (blocks, pieces)
    }

    /// How many blocks behind the edit stay, and how many pieces they are.
    fn untouched_tail(&self, spans: &[Span], pending: &Pending, head: usize, head_spans: usize) -> (usize, usize) {
        let (mut blocks, mut pieces) = (0, 0);
        for (block, &old_start) in self.blocks.iter().zip(self.starts.iter()).skip(head).rev() {
            if old_start < pending.old.end || old_start == 0 {
                break;
            }
            let start = old_start - pending.old.len() + pending.new.len();
            let end = spans.len() - pieces;
            let same = end.checked_sub(block.pieces).filter(|first| *first >= head_spans).is_some_and(|first| {
                spans[first].range.start == start
                    && block_kind(spans[first].kind) == block.kind
                    && spans[end - 1].range.end == start + block.length
            });
            if !same {
                break;
            }
            blocks += 1;
            pieces += block.pieces;
        }
        (blocks, pieces)
    }

    /// Puts new blocks between those that stay.
    pub(super) fn replace(&mut self, head: usize, tail: usize, new: Vec<Slot>) {
        let blocks = Arc::make_mut(&mut self.blocks);
        let old = head..blocks.len() - tail;
        let moved = old.len() != new.len() && !self.index.anchors.is_empty();
        let mut names = moved || new.iter().any(|block| block.has_anchors);
        for block in blocks.splice(old, new) {
            names |= block.has_anchors;
        }
        let starts = Arc::make_mut(&mut self.starts);
        starts.truncate(head);
        let mut at = starts.last().map_or(0, |start| start + blocks[head - 1].length);
        for block in &blocks[head..] {
            starts.push(at);
            at += block.length;
        }
        let mut index = Index::of(blocks);
        index.anchors = if names { Arc::new(anchors(blocks)) } else { Arc::clone(&self.index.anchors) };
        self.index = Arc::new(index);
    }

    /// The bytes of a new block that were edited since it could last be read.
    fn suspect(&self, span: &Span, pending: &Pending) -> Option<Range<usize>> {
        if self.blocks.is_empty() {
            return None;
        }
        let clip = |range: Range<usize>| {
            let start = range.start.clamp(span.range.start, span.range.end) - span.range.start;
            let end = range.end.clamp(span.range.start, span.range.end) - span.range.start;
            start..end
        };
        let touched = pending.new.start <= span.range.end && pending.new.end >= span.range.start;
        let edited = touched.then(|| clip(pending.new.clone()));
        // What was suspect in the block that stood here before still is.
        let before = self
            .starts
            .binary_search(&span.range.start)
            .ok()
            .map(|found| &self.blocks[found])
            .and_then(|block| block.suspect.clone())
            .map(|range| {
                let shift = |at: usize| {
                    let absolute = at + span.range.start;
                    if absolute >= pending.old.end {
                        absolute - pending.old.len() + pending.new.len()
                    } else {
                        absolute
                    }
                };
                clip(shift(range.start)..shift(range.end))
            });
        match (edited, before) {
            (Some(edited), Some(before)) => Some(edited.start.min(before.start)..edited.end.max(before.end)),
            (edited, before) => edited.or(before),
        }
    }
}
