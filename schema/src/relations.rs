//! Facts of the items of a list that matter to other items. A keystroke changes one of thousands, and few of them affect
//! each other, so rules between items look only at those with a topic, or with one that others have as well.

use std::{
    any::Any,
    hash::{Hash, Hasher},
    sync::Arc,
};

use rustc_hash::{FxHashMap, FxHasher};

use crate::finding::Finding;

/// The facts of an item that matter to others. Only its own format reads them.
#[derive(Clone, Debug)]
pub struct Facts {
    known: Arc<dyn Any + Send + Sync>,
    topics: Arc<[Topic]>,
}

/// A topic of an item: a name that another item may have as well, or a key that a rule between items is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Topic {
    /// The number that the format gives to topics of this kind.
    kind: u8,
    /// The hash of the name. Two names may have the same hash, so rules compare the names of the items that they find.
    name: u64,
}

impl Topic {
    /// Returns the topic of a name.
    pub fn named(kind: impl Into<u8>, name: &str) -> Topic {
        let mut hasher = FxHasher::default();
        name.hash(&mut hasher);
        Topic { kind: kind.into(), name: hasher.finish() }
    }

    /// Returns a topic without a name.
    pub fn of(kind: impl Into<u8>) -> Topic {
        Topic { kind: kind.into(), name: 0 }
    }
}

impl Facts {
    /// Returns the facts of an item, with its topics.
    pub fn new(known: impl Any + Send + Sync, topics: impl IntoIterator<Item = Topic>) -> Facts {
        let mut topics: Vec<Topic> = topics.into_iter().collect();
        topics.sort_unstable();
        topics.dedup();
        Facts { known: Arc::new(known), topics: topics.into() }
    }
}

/// Number of items with each topic.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    items: FxHashMap<Topic, usize>,
    kinds: FxHashMap<u8, TopicCounts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct TopicCounts {
    /// Number of topics, those of each item counted.
    total: usize,
    /// Number of topics that several items have.
    shared: usize,
}

impl Tally {
    /// Counts the topics of an item.
    pub(crate) fn add(&mut self, facts: &Facts) {
        for topic in &*facts.topics {
            let items = self.items.entry(*topic).or_default();
            let kind = self.kinds.entry(topic.kind).or_default();
            *items += 1;
            kind.total += 1;
            kind.shared += usize::from(*items == 2);
        }
    }

    /// Removes the topics of an item from the count.
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

    fn of(&self, kind: u8) -> TopicCounts {
        self.kinds.get(&kind).copied().unwrap_or_default()
    }
}

/// One of the facts of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FactRef {
    /// Index of the item.
    pub item: usize,
    /// The number of the fact among those of its kind.
    pub part: usize,
}

/// A reason to report an item: the facts of other items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The fact that is reported.
    pub of: FactRef,
    /// The facts that are the reason.
    pub causes: Vec<FactRef>,
}

/// A rule about facts of several items. A problem of it is kept until one of its items changes.
pub trait CrossItemRule: Sync {
    /// Returns a hash of everything that [`CrossItemRule::links`] reads of an item. Byte offsets are not part of it.
    fn digest(&self, items: Items<'_>, index: usize) -> u64;

    /// Returns the links, in the order of the items.
    fn links(&self, items: Items<'_>) -> Vec<Link>;

    /// Returns the finding of a link. All places are absolute.
    fn finding(&self, items: Items<'_>, link: &Link) -> Option<Finding>;
}

/// Items of a list, for rules between them.
#[derive(Clone, Copy)]
pub struct Items<'f> {
    facts: &'f [Facts],
    tally: &'f Tally,
    blocks: &'f [u64],
    start_of: &'f dyn Fn(usize) -> usize,
}

impl<'f> Items<'f> {
    /// `blocks`: the id of the block that contains only the item, or 0, for each item. `start_of`: the start of an
    /// item's node.
    pub(crate) fn new(
        facts: &'f [Facts],
        tally: &'f Tally,
        blocks: &'f [u64],
        start_of: &'f dyn Fn(usize) -> usize,
    ) -> Items<'f> {
        Items { facts, tally, blocks, start_of }
    }

    /// Returns the index of the item that is alone in a block.
    pub(crate) fn in_block(self, number: u64) -> Option<usize> {
        self.blocks.iter().position(|block| *block == number)
    }

    /// Returns the number of items.
    pub fn len(self) -> usize {
        self.facts.len()
    }

    /// Whether there are no items.
    pub fn is_empty(self) -> bool {
        self.facts.is_empty()
    }

    /// Returns the facts of an item. `None` if they are of another format.
    pub fn facts<F: 'static>(self, index: usize) -> Option<&'f F> {
        self.facts.get(index)?.known.downcast_ref()
    }

    /// Returns the start of an item's node.
    pub fn start(self, index: usize) -> usize {
        (self.start_of)(index)
    }

    /// Returns the numbers of the items with a topic of a kind, in their order. Costs nothing if there is none.
    pub fn about<K: Into<u8>>(self, kind: K) -> impl Iterator<Item = usize> + use<'f, K> {
        let kind = kind.into();
        let is_any = self.tally.of(kind).total > 0;
        self.numbers(is_any, move |topic| topic.kind == kind)
    }

    /// Returns the numbers of the items that share a topic of a kind with others. Costs nothing if no topic is shared.
    pub fn sharing<K: Into<u8>>(self, kind: K) -> impl Iterator<Item = usize> + use<'f, K> {
        let kind = kind.into();
        let tally = self.tally;
        let is_shared = move |topic: &Topic| tally.items.get(topic).is_some_and(|items| *items > 1);
        self.numbers(tally.of(kind).shared > 0, move |topic| topic.kind == kind && is_shared(topic))
    }

    /// Returns the numbers of the items with a topic. Costs nothing if there is none.
    pub fn with(self, topic: Topic) -> impl Iterator<Item = usize> + 'f {
        self.numbers(self.tally.items.contains_key(&topic), move |it| *it == topic)
    }

    fn numbers<M: Fn(&Topic) -> bool>(self, is_any: bool, is_meant: M) -> impl Iterator<Item = usize> + use<'f, M> {
        let facts = if is_any { self.facts } else { &[] };
        let meant = facts.iter().enumerate().filter(move |(_, facts)| facts.topics.iter().any(&is_meant));
        meant.map(|(index, _)| index)
    }
}
