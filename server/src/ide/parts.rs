//! The parts of a document that change on their own: the items of its long lists, and the other entries of its root. An
//! answer about a whole document is put together from answers about them; what is found out about an item is kept with
//! the block that it is alone in.

use std::{
    any::Any,
    hash::{DefaultHasher, Hash, Hasher},
    rc::Rc,
    sync::Arc,
};

use speclens_schema::{
    document::{Block, Document, NodeRef, Shape as NodeShape},
    json_schema::SpecFile,
    shape::Shape,
};

/// A part of a document.
pub(crate) struct Part<'d> {
    /// The item, or the value of the entry.
    pub(crate) node: NodeRef<'d>,
    /// What the schema says of it, whatever it holds.
    pub(crate) shape: Rc<Shape>,
    /// The mapping around it.
    pub(crate) around: Option<NodeRef<'d>>,
    /// Where answers about it are kept; `None` where they are found again each time.
    pub keeper: Option<Keeper<'d>>,
}

/// A block of a document as a place for answers. An answer must depend on nothing but the text of the block, what its
/// aliases lead to, and the key.
#[derive(Clone, Copy)]
pub(crate) struct Keeper<'d> {
    /// Where the block begins, in bytes.
    pub start: usize,
    /// Its length in bytes.
    pub length: usize,
    block: &'d Arc<Block>,
    key: u64,
}

impl<'d> Keeper<'d> {
    /// Returns the block of a document that begins at a byte.
    pub(crate) fn of_block(start: usize, block: &'d Arc<Block>) -> Keeper<'d> {
        Keeper { start, length: block.length(), block, key: 0 }
    }

    /// Returns the block of an item, if it is alone in it.
    pub(crate) fn of_item(item: NodeRef<'d>) -> Option<Keeper<'d>> {
        let document = item.document();
        let (start, block) = document.own_block(item)?;
        let key = if block.has_aliases() { document.fingerprint_of(block) } else { 0 };
        Some(Keeper { key, ..Keeper::of_block(start, block) })
    }

    /// Returns the same place for answers that depend on something else, too.
    pub(crate) fn under(self, circumstances: impl Hash) -> Keeper<'d> {
        let mut hasher = DefaultHasher::new();
        (self.key, circumstances).hash(&mut hasher);
        Keeper { key: hasher.finish(), ..self }
    }

    /// Returns what was found out about the block under the same circumstances, or finds it out now. One answer of each type
    /// is kept.
    pub(crate) fn kept<T: Any + Send + Sync>(self, find_out: impl FnOnce() -> T) -> Arc<T> {
        self.block.memo(self.key, find_out)
    }
}

/// Returns the parts of a document in the order of the text.
pub(crate) fn parts(document: &Document, file: SpecFile) -> Vec<Part<'_>> {
    let Some(root) = document.root() else { return Vec::new() };
    let shape = Shape::of(file).at(Some(root));
    let mut found = Vec::new();
    if root.is_spread() {
        add_items(root, &shape, None, &mut found);
        return found;
    }
    // What is not cut may have several entries on a line.
    if root.shape() != NodeShape::Mapping || document.is_whole() {
        return vec![Part { node: root, shape: Rc::new(shape), around: None, keeper: None }];
    }
    for entry in root.entries() {
        let Some(below) = shape.child(&entry.key.key_text(), Some(entry.value)) else { continue };
        if entry.value.is_spread() && entry.value.alias().is_none() {
            add_items(entry.value, &below, Some(root), &mut found);
        } else {
            found.push(Part { node: entry.value, shape: Rc::new(below), around: Some(root), keeper: None });
        }
    }
    found
}

fn add_items<'d>(list: NodeRef<'d>, shape: &Shape, around: Option<NodeRef<'d>>, found: &mut Vec<Part<'d>>) {
    let Some(shape) = shape.item().map(Rc::new) else { return };
    let id = shape.id();
    found.extend(list.items().map(|node| {
        // An item may end up in another list, without a letter of it changing.
        let keeper = Keeper::of_item(node).map(|keeper| keeper.under(id));
        Part { node, shape: Rc::clone(&shape), around, keeper }
    }));
}
