//! Updates the blocks after edits: those that no edit touched are kept.

use std::{ops::Range, sync::Arc};

use super::{
    Block, BlockKind, Document, Slot,
    block::Name,
    block_kind,
    blocks::{Span, SpanKind},
    layout::is_dash,
    marks::Mark,
    outline::{Definitions, Index, Outline, fingerprint},
};
use crate::parallel;

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

impl Document {
    /// Reads one item again if the edit is inside it, so the cuts cannot have moved. Returns whether it did.
    pub(super) fn refresh_item(&mut self, pending: &Pending) -> bool {
        let Some(number) = self.item_around(pending) else { return false };
        let start = self.start_of(number);
        let end = start + self.blocks[number].length + pending.new.len() - pending.old.len();
        let span = Span { range: start..end, kind: SpanKind::Item };
        let text = self.source(span.range.clone()).expect("pieces are cut at characters");
        let block = Block::parse(&text, BlockKind::Item, self.rules, self.suspect(&span, pending));
        self.replace(number, self.blocks.len() - number - 1, vec![Slot::new(Arc::new(block))]);
        true
    }

    /// Returns the block of the item around an edit: after the item's dash, without removing the line end of its last
    /// line, and with every line of the item deeper than the dash. Such lines belong to the item, whatever they contain;
    /// whether any other line does may depend on the lines after it.
    fn item_around(&self, pending: &Pending) -> Option<usize> {
        /// Maximum length of an edit: more is not typed.
        const MAX_EDIT_BYTES: usize = 4096;
        let number = self.blocks.around(pending.old.start.checked_sub(1)?)?;
        let (start, slot) = (self.start_of(number), &self.blocks[number]);
        let fits =
            slot.kind == BlockKind::Item && pending.old.end < start + slot.length && pending.new.len() < MAX_EDIT_BYTES;
        if !fits {
            return None;
        }
        let text = &self.text;
        let head = String::from(text.get_byte_slice(start..pending.new.start)?);
        let column = head.len() - head.trim_start_matches(' ').len();
        // The dash and the text after it decide that this is an item.
        let dashed = head.len() >= column + 2 && is_dash(&head[column..]);
        if !dashed {
            return None;
        }
        let end = start + slot.length + pending.new.len() - pending.old.len();
        let item = String::from(text.get_byte_slice(start..end)?);
        let deeper = |line: &str| {
            let words = line.trim_start_matches(' ');
            let is_blank = words.trim_start_matches('\t').is_empty() || words.starts_with(['\n', '\r', '#']);
            is_blank || (line.len() - words.len() > column && !words.starts_with('\t'))
        };
        item.split_inclusive(['\n', '\r']).skip(1).all(deeper).then_some(number)
    }

    pub(super) fn refresh_blocks(&mut self, spans: &[Span], pending: &Pending) {
        let head = self.untouched_head(spans, pending);
        let tail = self.untouched_tail(spans, pending, head);
        let new = parallel::map(&spans[head..spans.len() - tail], |span| {
            let text = self.source(span.range.clone()).expect("pieces are cut at characters");
            Slot::new(Arc::new(Block::parse(&text, block_kind(span.kind), self.rules, self.suspect(span, pending))))
        });
        self.replace(head, tail, new);
    }

    /// Returns the number of unchanged blocks before the edit.
    fn untouched_head(&self, spans: &[Span], pending: &Pending) -> usize {
        let same = |((start, block), span): &((usize, &Slot), &Span)| {
            let start = *start;
            span.range == (start..start + block.length)
                && block_kind(span.kind) == block.kind
                && span.range.end <= pending.new.start
        };
        self.blocks.starting_at(0).zip(spans).take_while(same).count()
    }

    /// Returns the number of unchanged blocks after the edit.
    fn untouched_tail(&self, spans: &[Span], pending: &Pending, head: usize) -> usize {
        let old = self.blocks.starting_at(head).rev();
        let same = |((old_start, block), span): &((usize, &Slot), &Span)| {
            let old_start = *old_start;
            // A block that begins where the edit ends may have been joined with it, and so may all the rest.
            if old_start < pending.old.end || old_start == 0 {
                return false;
            }
            let start = old_start - pending.old.len() + pending.new.len();
            span.range == (start..start + block.length) && block_kind(span.kind) == block.kind
        };
        old.zip(spans[head..].iter().rev()).take_while(same).count()
    }

    /// Replaces the blocks between the unchanged ones.
    pub(super) fn replace(&mut self, head: usize, tail: usize, new: Vec<Slot>) {
        let blocks = &mut self.blocks;
        let old = head..blocks.len() - tail;
        let gone: Vec<&Slot> = old.clone().map(|number| &blocks[number]).collect();
        // Replacing an item with another one affects only that item.
        let alike = match (gone.as_slice(), new.as_slice()) {
            ([old], [new]) => (old.kind, old.children) == (new.kind, new.children) && new.kind == BlockKind::Item,
            _ => false,
        };
        let moved = old.len() != new.len();
        // Each block has the positions of its own names.
        let same_names = match (gone.as_slice(), new.as_slice()) {
            ([old], [new]) => names(&old.anchors).eq(names(&new.anchors)),
            (old, new) => {
                let has_anchor = |slot: &Slot| slot.marks.has(Mark::Anchor);
                !old.iter().any(|slot| has_anchor(slot)) && !new.iter().any(has_anchor)
            }
        };
        let (of_old, of_new) =
            (gone.iter().flat_map(|slot| names(&slot.aliases)), new.iter().flat_map(|slot| names(&slot.aliases)));
        let same_uses = of_old.eq(of_new);
        let grown = fingerprint(new.iter()).wrapping_sub(fingerprint(gone.iter().copied()));
        let count = new.len();
        let before = Arc::clone(&self.index);
        let has_merge = |slot: &Slot| slot.marks.has(Mark::Merge);
        let may_merge = self.rules.merges() && (before.may_merge || new.iter().any(has_merge));
        blocks.replace(old, new);
        let outline = if alike { Arc::clone(&before.outline) } else { Arc::new(Outline::of(&self.blocks)) };
        let is_anywhere = moved && !before.definitions.anchors.is_empty() || !same_names;
        let definitions = match is_anywhere {
            true => Definitions::of(&self.blocks),
            false => before.definitions.with(&self.blocks, grown),
        };
        let most_uses = if same_uses { Arc::clone(&before.most_uses) } else { Arc::default() };
        self.index = Arc::new(Index { outline, definitions, most_uses, may_merge, ..Index::default() });
        let dangling = match moved || is_anywhere {
            true => Arc::new(self.dangling(0..self.blocks.len())),
            false => self.dangling_again(&before.dangling, head..head + count),
        };
        Arc::get_mut(&mut self.index).expect("the new index is not shared yet").dangling = dangling;
    }

    /// Returns the blocks of a range that use a name that is not defined before them.
    fn dangling(&self, some: Range<usize>) -> Vec<usize> {
        let is_few = some.len() < self.blocks.len();
        let using: Vec<usize> = match is_few {
            true => some.filter(|number| self.blocks[*number].marks.has(Mark::Alias)).collect(),
            false => self.blocks.marked(Mark::Alias).map(|(number, _)| number).collect(),
        };
        using.into_iter().filter(|number| self.has_dangling_alias(*number)).collect()
    }

    /// Returns all such blocks after some changed that define the same names as before.
    fn dangling_again(&self, known: &Arc<Vec<usize>>, changed: Range<usize>) -> Arc<Vec<usize>> {
        let place = |at: usize| known.partition_point(|number| *number < at);
        let (from, to) = (place(changed.start), place(changed.end));
        let now = self.dangling(changed);
        if now == known[from..to] {
            return Arc::clone(known);
        }
        let mut all = Vec::clone(known);
        drop(all.splice(from..to, now));
        Arc::new(all)
    }

    /// Returns the range of a new block that was edited since it was last readable.
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
        // The suspect range of the previous block here still counts.
        let before =
            self.block_at(span.range.start).and_then(|found| self.blocks[found].suspect.clone()).map(|range| {
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

/// Returns the names of anchors or aliases.
fn names(of: &[Name]) -> impl Iterator<Item = &str> {
    of.iter().map(|name| &*name.name)
}

#[cfg(test)]
mod tests {
    use crate::{BlockKind, Document, ScalarRules};

    /// Returns the start and the kind of each block.
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
