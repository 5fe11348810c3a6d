//! The nodes that aliases lead to.

use super::super::{
    Document,
    tree::{Node, NodeKind},
};

impl Document {
    /// Returns the blocks that decide what an alias leads to: the one with its definition, and any after that which
    /// defines the name in a part that is damaged.
    pub(crate) fn blocks_that_define(&self, name: &str, block: usize, offset: usize) -> impl Iterator<Item = usize> {
        let places = self.index.anchors.get(name).map(Vec::as_slice).unwrap_or_default();
        let places = &places[..places.partition_point(|&place| place <= block)];
        let found = self.defining_block(name, block, offset).unwrap_or(0);
        places.iter().rev().copied().take_while(move |place| *place >= found)
    }

    /// Returns the last node before a position that has this name, and its block.
    pub(super) fn definition(&self, name: &str, block: usize, offset: usize) -> Option<(usize, &Node)> {
        self.definitions_before(name, block, offset)
            .find_map(|(place, at)| Some((place, self.named_in(place, name, at)?)))
    }

    fn defining_block(&self, name: &str, block: usize, offset: usize) -> Option<usize> {
        self.definitions_before(name, block, offset).map(|(place, _)| place).next()
    }

    /// Returns the blocks that define a name before a position, from the last one, each with the place of the node in it.
    fn definitions_before(&self, name: &str, block: usize, offset: usize) -> impl Iterator<Item = (usize, usize)> {
        let places = self.index.anchors.get(name).map(Vec::as_slice).unwrap_or_default();
        let before = places.partition_point(|&place| place <= block);
        places[..before].iter().rev().filter_map(move |&place| {
            let limit = if place == block { offset } else { usize::MAX };
            let at = self.blocks[place].last_anchor(name, limit)?.at;
            // A node that contains its own alias has no end.
            let is_around = |node: &Node| node.range().start <= offset && offset < node.range().end;
            let is_own = place == block && self.named_in(place, name, at).is_none_or(is_around);
            (!is_own).then_some((place, at))
        })
    }

    fn named_in(&self, block: usize, name: &str, at: usize) -> Option<&Node> {
        named(self.blocks[block].root.as_ref()?, name, at)
    }
}

/// Returns the node with this name that begins at a position. Children are in the order of the text, so only one of
/// them can contain it.
fn named<'t>(node: &'t Node, name: &str, at: usize) -> Option<&'t Node> {
    if node.range().start == at && node.anchor() == Some(name) {
        return Some(node);
    }
    match &node.kind {
        NodeKind::Scalar { .. } | NodeKind::Alias(_) => None,
        NodeKind::Sequence(items) => {
            let count = items.partition_point(|item| item.range().start <= at);
            named(&items[count.checked_sub(1)?], name, at)
        }
        NodeKind::Mapping(entries) => {
            let count = entries.partition_point(|entry| entry.key.range().start <= at);
            let entry = &entries[count.checked_sub(1)?];
            named(&entry.key, name, at).or_else(|| named(&entry.value, name, at))
        }
    }
}
