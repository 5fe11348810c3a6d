//! Pointers and the ranges that they lead to.

use std::ops::Range;

use super::{
    super::{
        Document, Pointer,
        tree::{Node, NodeKind},
    },
    EntryRef, Place, first_reaching,
};

impl Document {
    /// Returns the range of the node at a pointer, or of its nearest existing ancestor.
    pub fn range_of(&self, pointer: &Pointer) -> Range<usize> {
        let Some(mut node) = self.root() else { return 0..0 };
        for step in pointer.steps() {
            match node.step(&step) {
                Some(next) => node = next,
                None => break,
            }
        }
        node.range()
    }

    /// Returns the range of the key of a pointer's node, or of the node itself if it has no key.
    pub fn key_range_of(&self, pointer: &Pointer) -> Range<usize> {
        let Some(parent) = pointer.parent() else { return self.range_of(pointer) };
        let last = pointer.last().unwrap_or_default();
        self.find(&parent)
            .and_then(|parent| parent.entry(&last))
            .map_or_else(|| self.range_of(pointer), |entry| entry.key.range())
    }

    /// Returns the innermost node around an offset, as a pointer. Keys count as their value.
    pub fn pointer_at(&self, offset: usize) -> Pointer {
        let mut pointer = Pointer::root();
        let Some(mut node) = self.root() else { return pointer };
        loop {
            if matches!(node.place, Place::Node { node: Node { kind: NodeKind::Alias(_), .. }, .. }) {
                return pointer;
            }
            let item = first_reaching(offset, |number| Some(node.item_at(number)?.range().end));
            if let Some(inner) = node.item_at(item).filter(|inner| touches(inner.range(), offset)) {
                pointer = pointer.index(item);
                node = inner;
                continue;
            }
            let end = |entry: EntryRef<'_>| entry.key.range().end.max(entry.value.range().end);
            let entry = node.entry_at(first_reaching(offset, |number| node.entry_at(number).map(end)));
            let around =
                |entry: &EntryRef<'_>| touches(entry.key.range(), offset) || touches(entry.value.range(), offset);
            let Some(entry) = entry.filter(around) else { return pointer };
            pointer = pointer.key(&entry.key.key_text());
            node = entry.value;
        }
    }
}

fn touches(range: Range<usize>, offset: usize) -> bool {
    range.start <= offset && offset <= range.end
}
