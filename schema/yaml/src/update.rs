//! Updates the blocks after edits: those that no edit touched are kept.

use std::{ops::Range, sync::Arc};

use super::{
    block::{Block, BlockKind},
    blocks::{Span, SpanKind},
};

/// An edit that is not in the tree yet: this range of the old text became that of the new one.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub old: Range<usize>,
    pub new: Range<usize>,
}

impl Pending {
    /// Returns this edit followed by another one, in the coordinates of the text after it.
    pub(super) fn followed_by(self, range: Range<usize>, new: Range<usize>) -> Pending {
        // The other edit's range in the old text, as far as it is outside the pending one.
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

pub(super) fn block_kind(kind: SpanKind) -> BlockKind {
    match kind {
        SpanKind::Preamble | SpanKind::Entry => BlockKind::Entry,
        SpanKind::Head => BlockKind::Head,
        SpanKind::Item => BlockKind::Item,
        SpanKind::MisplacedItem => BlockKind::MisplacedItem,
        SpanKind::Stray => BlockKind::Stray,
    }
}

/// Returns how many of the blocks before and after the edit are unchanged. `blocks` are the old ones, with their starts.
pub(super) fn untouched(blocks: &[(usize, &Arc<Block>)], spans: &[Span], pending: &Pending) -> (usize, usize) {
    let is_before = |((start, block), span): &(&(usize, &Arc<Block>), &Span)| {
        span.range == (*start..start + block.length)
            && block_kind(span.kind) == block.kind
            && span.range.end <= pending.new.start
    };
    let head = blocks.iter().zip(spans).take_while(is_before).count();
    let is_behind = |((old_start, block), span): &(&(usize, &Arc<Block>), &Span)| {
        // A block that begins where the edit ends may have been joined with it, and so may all the rest.
        if *old_start < pending.old.end || *old_start == 0 {
            return false;
        }
        let start = old_start - pending.old.len() + pending.new.len();
        span.range == (start..start + block.length) && block_kind(span.kind) == block.kind
    };
    let tail = blocks[head..].iter().rev().zip(spans[head..].iter().rev()).take_while(is_behind).count();
    (head, tail)
}

#[cfg(test)]
mod tests {
    use crate::{BlockKind, Document, ScalarRules};

    fn cuts(document: &Document) -> Vec<(usize, BlockKind)> {
        document.blocks().map(|(start, block)| (start, block.kind())).collect()
    }

    #[test]
    fn edit_below_a_line_without_indentation_may_move_the_cuts() {
        for line_break in ["\n", "\r\n"] {
            let old = "tests:\n- name: c\n  command: x\nvars: {w: 1}\n  tags: [x]\n".replace('\n', line_break);
            let mut document = Document::read(&old, ScalarRules::Yaml12);
            let at = old.find(": [x]").unwrap();
            document.edit(at..at + ": [x]".len(), &format!("{line_break}  - "));
            document.refresh();
            let opened = Document::read_rope(document.text().clone(), ScalarRules::Yaml12);
            assert_eq!(cuts(&document), cuts(&opened));
            assert_ne!(cuts(&document), cuts(&Document::read(&old, ScalarRules::Yaml12)));
        }
    }
}
