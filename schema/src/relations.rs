//! What the items of a list say that matters to others. A keystroke changes one of thousands, and hardly any has to do with
//! another: rules between items look only at those that speak about a topic, or that share one.

use std::{
    any::Any,
    hash::{Hash, Hasher},
    sync::Arc,
};

use rustc_hash::{FxHashMap, FxHasher};

use crate::finding::Finding;

/// What an item says that matters to others. Only its own format looks into it.
#[derive(Clone, Debug)]
pub struct Facts {
    known: Arc<dyn Any + Send + Sync>,
    topics: Arc<[Topic]>,
}

/// Something that an item speaks about: a name that another item may have as well, or a key that a rule between items is
/// about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topic {
    /// Numbers are given by the format.
    kind: u8,
    /// Stands for the name. Two names may have the same number: who finds an item by it compares the names.
    name: u64,
}

impl Topic {
    /// Returns a name of a kind.
    pub fn named(kind: impl Into<u8>, name: &str) -> Topic {
        let mut hasher = FxHasher::default();
        name.hash(&mut hasher);
        Topic { kind: kind.into(), name: hasher.finish() }
    }

    /// Returns a topic that is without names.
    pub fn of(kind: impl Into<u8>) -> Topic {
        Topic { kind: kind.into(), name: 0 }
    }
}

impl Facts {
    /// Returns what an item says, and what it speaks about.
    pub fn new(known: impl Any + Send + Sync, topics: impl IntoIterator<Item = Topic>) -> Facts {
        let mut topics: Vec<Topic> = topics.into_iter().collect();
        topics.sort_unstable();
        topics.dedup();
        Facts { known: Arc::new(known), topics: topics.into() }
    }
}

/// How many items speak about each topic.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    items: FxHashMap<Topic, usize>,
    kinds: FxHashMap<u8, OfKind>,
}

#[derive(Clone, Copy, Debug, Default)]
struct OfKind {
    /// Number of topics that items speak about, those of each item counted.
    total: usize,
    /// Number of topics that several items speak about.
    shared: usize,
}

impl Tally {
    /// Counts what an item speaks about.
    pub(crate) fn add(&mut self, facts: &Facts) {
        for topic in &*facts.topics {
            let items = self.items.entry(*topic).or_default();
            let kind = self.kinds.entry(topic.kind).or_default();
            *items += 1;
            kind.total += 1;
            kind.shared += usize::from(*items == 2);
        }
    }

    /// Counts it no more.
    pub(crate) fn remove(&mut self, facts: &Facts) {
        for topic in &*facts.topics {
            let Some(items) = self.items.get_mut(topic) else { continue };
            let kind = self.kinds.entry(topic.kind).or_default();
            *items -= 1;
            kind.total -= 1;
            kind.shared -= usize::from(*items == 1);
            if *items == 0 {
                self.items.remove(topic);
            }
        }
    }

    fn of(&self, kind: u8) -> OfKind {
        self.kinds.get(&kind).copied().unwrap_or_default()
    }
}

/// Something that an item says: the number of the item, and which it is of the things of its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Said {
    /// The number of the item.
    pub item: usize,
    /// The number of what it says.
    pub part: usize,
}

/// Something that is reported of an item because of what others say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Where it is reported.
    pub of: Said,
    /// Why.
    pub because: Vec<Said>,
}

/// A rule about what several items say. What it reports is kept until one of the items changes that it is about.
pub trait Between: Sync {
    /// Returns a number that changes with anything that [`Between::links`] reads of an item. Where bytes are does not belong to
    /// it.
    fn digest(&self, items: Items<'_>, index: usize) -> u64;

    /// Returns what is reported, in the order of the items.
    fn links(&self, items: Items<'_>) -> Vec<Link>;

    /// Returns what is reported because of a link. All places are absolute.
    fn finding(&self, items: Items<'_>, link: &Link) -> Option<Finding>;
}

/// The items of a list, for rules between them.
#[derive(Clone, Copy)]
pub struct Items<'f> {
    facts: &'f [Facts],
    tally: &'f Tally,
    blocks: &'f [u64],
    start_of: &'f dyn Fn(usize) -> usize,
}

impl<'f> Items<'f> {
    /// `blocks`: the number of the block that each item is alone in, or 0. `start_of`: the byte where the node of an item
    /// begins.
    pub(crate) fn new(
        facts: &'f [Facts],
        tally: &'f Tally,
        blocks: &'f [u64],
        start_of: &'f dyn Fn(usize) -> usize,
    ) -> Items<'f> {
        Items { facts, tally, blocks, start_of }
    }

    /// Returns the number of the item that is alone in a block.
    pub(crate) fn in_block(self, number: u64) -> Option<usize> {
        self.blocks.iter().position(|block| *block == number)
    }

    /// Returns how many there are.
    pub fn len(self) -> usize {
        self.facts.len()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.facts.is_empty()
    }

    /// Returns what an item says. `None` where it is not known, or known to another format.
    pub fn facts<F: 'static>(self, index: usize) -> Option<&'f F> {
        self.facts.get(index)?.known.downcast_ref()
    }

    /// Returns the byte where the node of an item begins.
    pub fn start(self, index: usize) -> usize {
        (self.start_of)(index)
    }

    /// Returns the numbers of the items that speak about a kind of topic, in their order. Costs nothing where there is none.
    pub fn about<K: Into<u8>>(self, kind: K) -> impl Iterator<Item = usize> + use<'f, K> {
        let kind = kind.into();
        let is_any = self.tally.of(kind).total > 0;
        self.numbers(is_any, move |topic| topic.kind == kind)
    }

    /// Returns the numbers of the items that share a topic of a kind with others. Costs nothing where each is alone.
    pub fn sharing<K: Into<u8>>(self, kind: K) -> impl Iterator<Item = usize> + use<'f, K> {
        let kind = kind.into();
        let tally = self.tally;
        let is_shared = move |topic: &Topic| tally.items.get(topic).is_some_and(|items| *items > 1);
        self.numbers(tally.of(kind).shared > 0, move |topic| topic.kind == kind && is_shared(topic))
    }

    /// Returns the numbers of the items that may speak about this topic. Costs nothing where none does.
    pub fn speaking_of(self, topic: Topic) -> impl Iterator<Item = usize> + 'f {
        self.numbers(self.tally.items.contains_key(&topic), move |it| *it == topic)
    }

    fn numbers<M: Fn(&Topic) -> bool>(self, is_any: bool, is_meant: M) -> impl Iterator<Item = usize> + use<'f, M> {
        let facts = if is_any { self.facts } else { &[] };
        let meant = facts.iter().enumerate().filter(move |(_, facts)| facts.topics.iter().any(&is_meant));
        meant.map(|(index, _)| index)
    }
}
