//! An index of the entries, lists and anchors of a document, across its blocks.

use std::{
    hash::Hasher,
    ops::Deref,
    sync::{Arc, Mutex, OnceLock},
};

use rustc_hash::{FxHashMap, FxHasher};
use smol_str::SmolStr;

use super::{
    BlockKind,
    marks::Mark,
    slots::{Slot, Slots},
};

/// An index of a document.
#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) outline: Arc<Outline>,
    pub(super) definitions: Definitions,
    /// Whether any mapping may have a merge key: nearly none does, and each missing key would have to search for it.
    pub(super) may_merge: bool,
    /// The blocks that use a name that is not defined before them, in order.
    pub(super) dangling: Arc<Vec<usize>>,
    /// Number of uses of the name that is used most often, once requested.
    pub(super) most_uses: Arc<OnceLock<usize>>,
    /// The positions of keys in mappings with many entries, for requested mappings: a search through thousands of
    /// entries for each of thousands of keys would take too long. The root is 0, another mapping the address of its
    /// entries, which do not move as long as this index is in use.
    pub(super) keys: Mutex<FxHashMap<usize, FxHashMap<String, usize>>>,
    /// Whether an item of a list with a block per item has a property, for requested properties: the entry of the list
    /// (none if the root is a list), and the number of the property.
    pub(super) has_item: Mutex<FxHashMap<(Option<usize>, usize), bool>>,
}

/// The definitions of names in one version of a document.
#[derive(Clone, Debug, Default)]
pub struct Definitions {
    /// The blocks that define each name, in order.
    pub(super) anchors: Arc<FxHashMap<SmolStr, Vec<usize>>>,
    blocks: Slots,
    /// The sum of the hashes of the ids of the blocks that define any name.
    pub(super) fingerprint: u64,
}

impl Definitions {
    pub(super) fn of(blocks: &Slots) -> Definitions {
        let fingerprint = fingerprint(blocks.marked(Mark::Anchor).map(|(_, slot)| slot));
        Definitions { anchors: Arc::new(anchors(blocks)), blocks: blocks.clone(), fingerprint }
    }

    /// Returns the definitions after blocks were replaced by others that define the same names. `grown`: the difference of
    /// their fingerprints.
    pub(super) fn with(&self, blocks: &Slots, grown: u64) -> Definitions {
        let fingerprint = self.fingerprint.wrapping_add(grown);
        Definitions { anchors: Arc::clone(&self.anchors), blocks: blocks.clone(), fingerprint }
    }

    /// Returns a number that changes with the blocks that define names.
    pub(super) fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Returns the ids of the blocks that defined a name before and are gone. `None` if any name may have another definition.
    pub fn gone_since(&self, before: &Definitions) -> Option<Vec<u64>> {
        if !Arc::ptr_eq(&self.anchors, &before.anchors) {
            return None;
        }
        // If there are any names, the blocks that define them are at the same positions.
        let (head, tail) = before.blocks.shared_with(&self.blocks);
        let changed = (head..before.blocks.len().saturating_sub(tail)).map(|number| (number, &before.blocks[number]));
        let gone = changed.filter(|(number, old)| old.marks.has(Mark::Anchor) && self.blocks[*number].id != old.id);
        Some(gone.map(|(_, old)| old.id).collect())
    }
}

/// Returns the sum of the hashes of the ids of those blocks that define names.
pub(super) fn fingerprint<'s>(blocks: impl Iterator<Item = &'s Slot>) -> u64 {
    let defining = blocks.filter(|slot| slot.marks.has(Mark::Anchor));
    defining.fold(0, |sum: u64, slot| {
        let mut hasher = FxHasher::default();
        hasher.write_u64(slot.id);
        sum.wrapping_add(hasher.finish())
    })
}

/// The positions of the root's entries and the lists' items.
#[derive(Debug, Default)]
pub(super) struct Outline {
    pub(super) entries: Vec<IndexEntry>,
    /// The root's items, if it is a list: the block and the index in its sequence.
    pub(super) items: Option<Vec<(usize, usize)>>,
    /// The lists with a block per item.
    pub(super) lists: Vec<List>,
}

impl Deref for Index {
    type Target = Outline;

    fn deref(&self) -> &Outline {
        &self.outline
    }
}

#[derive(Debug)]
pub(super) struct List {
    pub(super) key: String,
    /// The index among the entries.
    pub(super) entry: usize,
    pub(super) first_block: usize,
}

#[derive(Debug)]
pub(super) struct IndexEntry {
    pub(super) block: usize,
    /// The entry in that block's mapping.
    pub(super) entry: usize,
    /// The items, if they are blocks: the block and the index in its sequence.
    pub(super) items: Option<Vec<(usize, usize)>>,
}

impl Outline {
    pub(super) fn of(blocks: &Slots) -> Outline {
        let mut index = Outline { items: is_list(blocks).then(Vec::new), ..Outline::default() };
        // The list of the following items, even if something damaged is in between.
        let mut list = None;
        for (number, block) in blocks.iter().enumerate() {
            match block.kind {
                BlockKind::Entry | BlockKind::Head => {
                    for entry in 0..block.children {
                        let items = (block.kind == BlockKind::Head && entry + 1 == block.children).then(Vec::new);
                        if items.is_some() {
                            list = Some(index.entries.len());
                            let key = block.key_of(entry);
                            index.lists.push(List { key, entry: index.entries.len(), first_block: number });
                        }
                        index.entries.push(IndexEntry { block: number, entry, items });
                    }
                }
                BlockKind::Item | BlockKind::MisplacedItem => {
                    let items = match list {
                        Some(list) => {
                            index.entries.get_mut(list).and_then(|entry: &mut IndexEntry| entry.items.as_mut())
                        }
                        None => index.items.as_mut(),
                    };
                    if let Some(items) = items {
                        items.extend((0..block.children).map(|item| (number, item)));
                    }
                }
                BlockKind::Whole | BlockKind::Stray => {}
            }
        }
        index
    }
}

/// Returns whether the blocks are the items of a root that is a list: no entry precedes the first item, though comments
/// may. Otherwise items follow the key of their list.
pub(super) fn is_list(blocks: &Slots) -> bool {
    let kinds: Vec<BlockKind> = blocks.iter().take(2).map(|block| block.kind).collect();
    matches!(kinds.as_slice(), [BlockKind::Item, ..] | [BlockKind::Entry, BlockKind::Item])
}

/// Returns the blocks that define names.
fn anchors(blocks: &Slots) -> FxHashMap<SmolStr, Vec<usize>> {
    let mut anchors: FxHashMap<SmolStr, Vec<usize>> = FxHashMap::default();
    for (number, block) in blocks.marked(Mark::Anchor) {
        for anchor in &block.anchors {
            let places = anchors.entry(anchor.name.clone()).or_default();
            if places.last() != Some(&number) {
                places.push(number);
            }
        }
    }
    anchors
}
