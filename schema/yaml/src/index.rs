//! An index of the entries, lists and anchors of a document, across its blocks.

use std::sync::{Arc, Mutex};

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::{Block, BlockKind, ScalarRules, tree::NodeKind};

#[derive(Debug, Default)]
pub(super) struct Index {
    pub(super) entries: Vec<IndexEntry>,
    /// The root's items, if it is a list: the block and the index in its sequence.
    pub(super) items: Option<Vec<(usize, usize)>>,
    /// The lists with a block per item.
    pub(super) lists: Vec<List>,
    /// The blocks that define each name, in order.
    pub(super) anchors: FxHashMap<SmolStr, Vec<usize>>,
    /// Whether any mapping may have a merge key: nearly none does, and each missing key would have to search for it.
    pub(super) may_merge: bool,
    /// Whether the text contains a tab. Every mapping and list asks.
    pub(super) has_tab: bool,
    /// Whether a block was not readable.
    pub(super) is_damaged: bool,
    /// The positions of keys in mappings with many entries, for requested mappings: a search through thousands of
    /// entries for each of thousands of keys would take too long. The root is 0, another mapping the address of its
    /// entries, which do not move as long as this index is in use.
    pub(super) keys: Mutex<FxHashMap<usize, FxHashMap<String, usize>>>,
    /// Whether an item of a list with a block per item has a property, for requested properties: the entry of the list
    /// (none if the root is a list), and the number of the property.
    pub(super) has_item: Mutex<FxHashMap<(Option<usize>, usize), bool>>,
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

impl Index {
    pub(super) fn of(blocks: &[Arc<Block>], rules: ScalarRules) -> Index {
        let may_merge = rules.merges() && blocks.iter().any(|block| block.has_merge);
        let mut index = Index {
            items: is_list(blocks).then(Vec::new),
            may_merge,
            has_tab: blocks.iter().any(|block| block.has_tab),
            is_damaged: blocks.iter().any(|block| !block.is_intact()),
            ..Index::default()
        };
        // The list of the following items, even if something damaged is in between.
        let mut list = None;
        for (number, block) in blocks.iter().enumerate() {
            let children = children(block);
            match block.kind {
                BlockKind::Entry | BlockKind::Head => {
                    for entry in 0..children {
                        let items = (block.kind == BlockKind::Head && entry + 1 == children).then(Vec::new);
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
                        items.extend((0..children).map(|item| (number, item)));
                    }
                }
                BlockKind::Whole | BlockKind::Stray => {}
            }
            for anchor in &block.anchors {
                let places = index.anchors.entry(anchor.name.clone()).or_default();
                if places.last() != Some(&number) {
                    places.push(number);
                }
            }
        }
        index
    }
}

/// Returns the number of entries or items of a block.
pub(super) fn children(block: &Block) -> usize {
    match block.root.as_ref().map(|root| &root.kind) {
        Some(NodeKind::Mapping(entries)) => entries.len(),
        Some(NodeKind::Sequence(items)) => items.len(),
        Some(NodeKind::Scalar { .. } | NodeKind::Alias(_)) | None => 0,
    }
}

/// Returns whether the blocks are the items of a root that is a list: no entry precedes the first item, though comments
/// may. Otherwise items follow the key of their list.
fn is_list(blocks: &[Arc<Block>]) -> bool {
    let kinds: Vec<BlockKind> = blocks.iter().take(2).map(|block| block.kind).collect();
    matches!(kinds.as_slice(), [BlockKind::Item, ..] | [BlockKind::Entry, BlockKind::Item])
}
