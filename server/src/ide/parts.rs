//! The parts of a document that change independently: groups of items of its long lists, and the other entries of its
//! root. An answer about a whole document is combined from answers about its parts, and those about a group are kept
//! with the document until one of its items changes.

use std::{
    any::Any,
    collections::hash_map::Entry,
    hash::{Hash, Hasher},
    mem,
    ops::Range,
    rc::Rc,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rustc_hash::{FxHashMap, FxHasher};
use speclens_schema::{
    document::{Definitions, Dependencies, Document, ItemBlock, NodeRef, Shape as NodeShape},
    json_schema::SpecFile,
    shape::Shape,
};

/// A part of a document.
pub(crate) struct Part<'d> {
    /// The items, or the value of the entry.
    nodes: Nodes<'d>,
    /// The schema of each of them, whatever it contains.
    pub(crate) shape: Rc<Shape>,
    /// The mapping around them.
    pub(crate) around: Option<NodeRef<'d>>,
}

enum Nodes<'d> {
    Items(Group<'d>),
    One(NodeRef<'d>),
}

impl<'d> Part<'d> {
    /// Returns its nodes.
    pub(crate) fn nodes(&self) -> Vec<NodeRef<'d>> {
        match &self.nodes {
            Nodes::Items(group) => group.items().collect(),
            Nodes::One(node) => vec![*node],
        }
    }

    /// Returns the group of items, if it is one.
    pub(crate) fn group(&self) -> Option<&Group<'d>> {
        match &self.nodes {
            Nodes::Items(group) => Some(group),
            Nodes::One(_) => None,
        }
    }

    /// Returns the byte that places in it are relative to.
    pub(crate) fn start(&self) -> usize {
        self.group().map_or(0, Group::start)
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
    // An undivided document may have several entries on a line.
    if root.shape() != NodeShape::Mapping || document.is_whole() {
        return vec![Part { nodes: Nodes::One(root), shape: Rc::new(shape), around: None }];
    }
    for entry in root.entries() {
        let Some(below) = shape.child(&entry.key.key_text(), Some(entry.value)) else { continue };
        if entry.value.is_spread() && entry.value.alias().is_none() {
            add_items(entry.value, &below, Some(root), &mut found);
        } else {
            found.push(Part { nodes: Nodes::One(entry.value), shape: Rc::new(below), around: Some(root) });
        }
    }
    found
}

fn add_items<'d>(list: NodeRef<'d>, shape: &Shape, around: Option<NodeRef<'d>>, found: &mut Vec<Part<'d>>) {
    let Some(shape) = shape.item().map(Rc::new) else { return };
    let part = |group| Part { nodes: Nodes::Items(group), shape: Rc::clone(&shape), around };
    found.extend(groups(list).into_iter().map(part));
}

/// Consecutive items of a list.
#[derive(Clone, Debug)]
pub(crate) struct Group<'d> {
    list: NodeRef<'d>,
    /// The indices of the items.
    items: Range<usize>,
    /// The blocks that hold the items and nothing else. `None` for items that are not alone in their blocks.
    blocks: Option<Blocks>,
}

/// Consecutive blocks.
#[derive(Clone, Debug)]
struct Blocks {
    /// Their bytes.
    range: Range<usize>,
    /// Changes with the text of the blocks and with the targets of their aliases.
    key: u64,
}

impl<'d> Group<'d> {
    /// Returns the items.
    pub(crate) fn items(&self) -> impl Iterator<Item = NodeRef<'d>> + use<'d> {
        let list = self.list;
        self.items.clone().filter_map(move |number| list.item_at(number))
    }

    /// Returns the document that they are in.
    pub(crate) fn document(&self) -> &'d Document {
        self.list.document()
    }

    /// Returns the indices of the items.
    pub(crate) fn numbers(&self) -> Range<usize> {
        self.items.clone()
    }

    /// Returns the bytes of the blocks that hold the items and nothing else, if there are such blocks.
    pub(crate) fn extent(&self) -> Option<Range<usize>> {
        self.blocks.as_ref().map(|blocks| blocks.range.clone())
    }

    /// Returns the byte that places in it are relative to: 0 if answers about it are not kept.
    pub(crate) fn start(&self) -> usize {
        self.blocks.as_ref().map_or(0, |blocks| blocks.range.start)
    }
}

/// Returns the items of a list in groups. The groups of a long list are small, and an item that is added, removed or
/// changed affects one or two of them.
pub(crate) fn groups(list: NodeRef<'_>) -> Vec<Group<'_>> {
    /// A group ends where the number of a block, which never changes, is a multiple of this.
    const SIZE: u64 = 4;
    // Items that an alias repeats are at another place.
    let Some(blocks) = list.item_blocks().filter(|_| !list.is_through_alias()) else {
        return vec![Group { list, items: 0..list.item_count(), blocks: None }];
    };
    let alias_keys = list.document().notes::<AliasKeys>();
    let mut alias_keys = alias_keys.of(list.document());
    let mut found: Vec<Group<'_>> = Vec::new();
    let mut is_open = false;
    for (number, block) in blocks.iter().enumerate() {
        let items = number..number + 1;
        if !block.is_alone {
            found.push(Group { list, items, blocks: None });
            is_open = false;
            continue;
        }
        let end = block.start + block.length;
        let aliases = if block.has_aliases { alias_keys.of(list.document(), &block) } else { 0 };
        let key_after = |before: u64| {
            let mut hasher = FxHasher::default();
            (before, block.id, aliases).hash(&mut hasher);
            hasher.finish()
        };
        let last = found.last_mut().filter(|_| is_open);
        match last.and_then(|last| Some((&mut last.items, last.blocks.as_mut()?))) {
            // Lines between two items may belong to neither.
            Some((items, before)) if before.range.end == block.start => {
                items.end = number + 1;
                *before = Blocks { range: before.range.start..end, key: key_after(before.key) };
            }
            Some(_) | None => {
                found.push(Group { list, items, blocks: Some(Blocks { range: block.start..end, key: key_after(0) }) });
            }
        }
        is_open = block.id % SIZE != 0;
    }
    found
}

/// The keys of the blocks with aliases, for the definitions of one version of a document.
#[derive(Default)]
struct AliasKeys(Mutex<KnownKeys>);

#[derive(Default)]
struct KnownKeys {
    definitions: Definitions,
    /// The key of each block, by its id.
    keys: FxHashMap<u64, u64>,
    /// The ids of the blocks whose aliases may refer to a block, by the id of that one.
    users: FxHashMap<u64, Vec<u64>>,
}

impl AliasKeys {
    /// Returns the keys that are valid for a version of the document.
    fn of(&self, document: &Document) -> MutexGuard<'_, KnownKeys> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let definitions = document.definitions();
        // Those of blocks that no longer exist remain until there are too many of them.
        let is_long = known.keys.len() > 2 * document.blocks().len() + 1000;
        match definitions.gone_since(&known.definitions).filter(|_| !is_long) {
            Some(gone) => {
                let users: Vec<u64> = gone.iter().filter_map(|id| known.users.remove(id)).flatten().collect();
                known.keys.retain(|id, _| !users.contains(id));
            }
            None => *known = KnownKeys::default(),
        }
        known.definitions = definitions;
        known
    }
}

impl KnownKeys {
    /// Returns a number that changes with the targets of the aliases of a block.
    fn of(&mut self, document: &Document, block: &ItemBlock<'_>) -> u64 {
        if let Some(key) = self.keys.get(&block.id) {
            return *key;
        }
        let dependencies = document.dependencies_at(block.start);
        let mut hasher = FxHasher::default();
        dependencies.hash(&mut hasher);
        let key = hasher.finish();
        match dependencies {
            Dependencies::These(ids) => {
                for lead in ids.iter().filter(|lead| **lead != block.id) {
                    self.users.entry(*lead).or_default().push(block.id);
                }
                self.keys.insert(block.id, key);
            }
            // It changes with any definition.
            Dependencies::Any { .. } => {}
        }
        key
    }
}

/// Returns the index of the first item of a list that begins after a place, in logarithmic time.
pub(crate) fn first_after(list: NodeRef<'_>, place: usize) -> usize {
    let is_after = |number: usize| list.item_at(number).is_none_or(|item| item.range().start > place);
    let mut end = 1;
    while !is_after(end - 1) {
        end *= 2;
    }
    let mut first = end / 2;
    while first < end {
        let middle = first + (end - first) / 2;
        if is_after(middle) { end = middle } else { first = middle + 1 }
    }
    first
}

/// Answers of one kind about the groups of a document. Those that are requested again are kept for the next version of
/// the document; the others are dropped.
pub(crate) struct Kept<T: Send + Sync + 'static> {
    notes: Arc<Notes<T>>,
    asked: FxHashMap<u64, Arc<T>>,
    circumstances: u64,
}

struct Notes<T>(Mutex<FxHashMap<u64, Arc<T>>>);

impl<T> Default for Notes<T> {
    fn default() -> Notes<T> {
        Notes(Mutex::default())
    }
}

impl<T: Any + Send + Sync> Kept<T> {
    /// Returns the answers kept with a document. An answer depends only on the text of the group, the targets of its
    /// aliases, and the circumstances.
    pub(crate) fn with(document: &Document, circumstances: impl Hash) -> Kept<T> {
        let mut hasher = FxHasher::default();
        circumstances.hash(&mut hasher);
        Kept { notes: document.notes(), asked: FxHashMap::default(), circumstances: hasher.finish() }
    }

    /// Returns the answer about a group, computed now if it is not kept. `more`: circumstances of this group.
    pub(crate) fn of(&mut self, group: &Group<'_>, more: impl Hash, compute: impl FnOnce() -> T) -> Arc<T> {
        self.renewed(group, more, |kept| kept.unwrap_or_else(|| Arc::new(compute())))
    }

    /// Returns the kept answer, updated by `renew`.
    pub(crate) fn renewed(
        &mut self,
        group: &Group<'_>,
        more: impl Hash,
        renew: impl FnOnce(Option<Arc<T>>) -> Arc<T>,
    ) -> Arc<T> {
        let Some(blocks) = &group.blocks else { return renew(None) };
        let mut hasher = FxHasher::default();
        (blocks.key, self.circumstances, more).hash(&mut hasher);
        match self.asked.entry(hasher.finish()) {
            Entry::Occupied(mut asked) => {
                let answer = renew(Some(Arc::clone(asked.get())));
                asked.insert(Arc::clone(&answer));
                answer
            }
            Entry::Vacant(place) => {
                let kept = self.notes.0.lock().unwrap_or_else(PoisonError::into_inner).get(place.key()).cloned();
                Arc::clone(place.insert(renew(kept)))
            }
        }
    }
}

impl<T: Send + Sync> Drop for Kept<T> {
    fn drop(&mut self) {
        let asked = mem::take(&mut self.asked);
        let before = mem::replace(&mut *self.notes.0.lock().unwrap_or_else(PoisonError::into_inner), asked);
        drop(before);
    }
}
