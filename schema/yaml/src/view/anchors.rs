//! The nodes that aliases lead to.

use super::super::{
    Document,
    tree::{Node, NodeKind},
};

impl Document {
    /// Returns the blocks that decide what an alias leads to: the one with its definition, and any after that which
    /// defines the name in a part that is damaged.
    pub(crate) fn blocks_that_define(&self, name: &str, block: usize, offset: usize) -> impl Iterator<Item = usize> {
        let places = self.index.definitions.anchors.get(name).map(Vec::as_slice).unwrap_or_default();
        let places = &places[..places.partition_point(|&place| place <= block)];
        let found = self.definition(name, block, offset).map_or(0, |(place, _)| place);
        places.iter().rev().copied().take_while(move |place| *place >= found)
    }

    /// Returns the last node before a position that has this name.
    pub(super) fn definition(&self, name: &str, block: usize, offset: usize) -> Option<(usize, &Node)> {
        let places = self.index.definitions.anchors.get(name)?;
        let before = places.partition_point(|&place| place <= block);
        for &place in places[..before].iter().rev() {
            let limit = if place == block { offset } else { usize::MAX };
            let at = self.blocks[place].last_anchor(name, limit).map(|anchor| anchor.at);
            if let Some(at) = at
                && let Some(node) = self.blocks[place].root.as_ref().and_then(|root| named(root, name, at))
                // A node that contains its own alias has no end.
                && !(place == block && node.range().start <= offset && offset < node.range().end)
            {
                return Some((place, node));
            }
        }
        None
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
