//! Bringing the blocks up to date after edits: those that no edit touched stay.

use std::{ops::Range, sync::Arc};

use super::{Block, Document, Index, Slot, anchors, block_kind, blocks::Span};

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
        let head = self.untouched_head(spans, pending);
        let tail = self.untouched_tail(spans, pending, head);
        let new = spans[head..spans.len() - tail].iter().map(|span| {
            let text = String::from(self.text.byte_slice(span.range.clone()));
            Slot::new(Arc::new(Block::parse(&text, block_kind(span.kind), self.rules, self.suspect(span, pending))))
        });
        let new = new.collect();
        self.replace(head, tail, new);
    }

    /// How many blocks before the edit stay.
    fn untouched_head(&self, spans: &[Span], pending: &Pending) -> usize {
        let same = |((block, start), span): &((&Slot, &usize), &Span)| {
            let start = **start;
            span.range == (start..start + block.length)
                && block_kind(span.kind) == block.kind
                && span.range.end <= pending.new.start
        };
        self.blocks.iter().zip(self.starts.iter()).zip(spans).take_while(same).count()
    }

    /// How many blocks behind the edit stay.
    fn untouched_tail(&self, spans: &[Span], pending: &Pending, head: usize) -> usize {
        let old = self.blocks[head..].iter().zip(&self.starts[head..]).rev();
        let same = |((block, old_start), span): &((&Slot, &usize), &Span)| {
            let old_start = **old_start;
            // What begins where the edit ends may have been joined with it, and so may all there is.
            if old_start < pending.old.end || old_start == 0 {
                return false;
            }
            let start = old_start - pending.old.len() + pending.new.len();
            span.range == (start..start + block.length) && block_kind(span.kind) == block.kind
        };
        old.zip(spans[head..].iter().rev()).take_while(same).count()
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
