//! Facts of the items of a list that matter to other items. A keystroke changes one of thousands, and few of them affect
//! each other, so rules between items look only at those with a topic, or with one that others have as well.

use std::{
    any::Any,
    hash::{Hash, Hasher},
    ops::Range,
    sync::Arc,
};

use rustc_hash::{FxHashMap, FxHasher};

use crate::{
    document::Pointer,
    finding::Finding,
    names::{Name, Role},
    validate::Definition,
};

/// The facts of an item that matter to others.
#[derive(Clone, Debug)]
pub struct Facts {
    /// What only its own format reads.
    known: Option<Arc<dyn Any + Send + Sync>>,
    /// Its own name, and the names that it refers to, as the schema declares them.
    names: Arc<[Name]>,
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

/// A kind of topics of a format.
pub trait Kind: Copy {
    /// The format's facts of an item.
    type Facts: 'static;

    /// Returns the number of the kind, unique in the format.
    fn number(self) -> u8;
}

/// Number of the topics of items with a name of their own.
const DEFINES: u8 = u8::MAX;

/// Number of the topics of items that refer to names.
const REFERS: u8 = u8::MAX - 1;

impl Topic {
    /// Returns the topic of a name.
    pub fn named(kind: impl Kind, name: &str) -> Topic {
        Topic::numbered(kind.number(), name)
    }

    /// Returns a topic without a name.
    pub fn of(kind: impl Kind) -> Topic {
        Topic { kind: kind.number(), name: 0 }
    }

    fn numbered(kind: u8, name: &str) -> Topic {
        let mut hasher = FxHasher::default();
        name.hash(&mut hasher);
        Topic { kind, name: hasher.finish() }
    }
}

/// A text of an item, and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The text.
    pub(crate) name: String,
    /// Location relative to the item.
    pub(crate) at: Pointer,
    /// Bytes, relative to the first byte of the item.
    pub(crate) range: Range<usize>,
}

impl Named {
    /// Returns a text of an item that begins at an offset.
    pub(crate) fn new(name: impl Into<String>, at: &Pointer, range: Range<usize>, start: usize) -> Named {
        let range = range.start.saturating_sub(start)..range.end.saturating_sub(start);
        Named { name: name.into(), at: at.clone(), range }
    }
}

impl Facts {
    /// Returns the facts of an item, with its topics.
    pub fn new(known: impl Any + Send + Sync, topics: impl IntoIterator<Item = Topic>) -> Facts {
        Facts { known: Some(Arc::new(known)), names: Arc::default(), topics: sorted(topics.into_iter().collect()) }
    }

    /// Adds the names of an item to its facts.
    pub(crate) fn with_names(facts: Option<Facts>, names: Vec<Name>) -> Facts {
        let facts = facts.unwrap_or_else(|| Facts { known: None, names: Arc::default(), topics: Arc::default() });
        let topic = |name: &Name| match name.declaration.role {
            Role::Defines => Topic::numbered(DEFINES, &name.named.name),
            Role::Refers => Topic { kind: REFERS, name: 0 },
        };
        let topics = facts.topics.iter().copied().chain(names.iter().map(topic)).collect();
        Facts { names: names.into(), topics: sorted(topics), ..facts }
    }

    /// Whether a format has facts of the item.
    pub(crate) fn are_of_format(&self) -> bool {
        self.known.is_some()
    }
}

fn sorted(mut topics: Vec<Topic>) -> Arc<[Topic]> {
    topics.sort_unstable();
    topics.dedup();
    topics.into()
}

/// Number of items with each topic.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    items: FxHashMap<Topic, usize>,
    /// By the number of the kind. Empty if no topics were counted.
    kinds: Vec<TopicCounts>,
}

#[derive(Clone, Copy, Debug, Default)]
struct TopicCounts {
    /// Number of topics, those of each item counted.
    total: usize,
    /// Number of topics that several items have.
    shared: usize,
}

impl Tally {
    /// Counts the topics of items.
    pub(crate) fn add(&mut self, facts: &[Facts]) {
        self.kinds.resize(usize::from(u8::MAX) + 1, TopicCounts::default());
        // Most items have a name that no other one has.
        self.items.reserve(facts.len());
        for topic in facts.iter().flat_map(|facts| &*facts.topics) {
            let items = self.items.entry(*topic).or_default();
            let kind = &mut self.kinds[usize::from(topic.kind)];
            *items += 1;
            kind.total += 1;
            kind.shared += usize::from(*items == 2);
        }
    }

    /// Removes the topics of an item from the count.
    pub(crate) fn remove(&mut self, facts: &Facts) {
        for topic in &*facts.topics {
            let Some(items) = self.items.get_mut(topic) else { continue };
            let kind = &mut self.kinds[usize::from(topic.kind)];
            *items -= 1;
            kind.total -= 1;
            kind.shared -= usize::from(*items == 1);
            if *items == 0 {
                self.items.remove(topic);
            }
        }
    }

    fn of(&self, kind: u8) -> TopicCounts {
        self.kinds.get(usize::from(kind)).copied().unwrap_or_default()
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

impl Link {
    /// Returns the fact that is reported, and those that are the reason.
    pub(crate) fn facts(&self) -> impl Iterator<Item = &FactRef> {
        std::iter::once(&self.of).chain(&self.causes)
    }
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
    list: &'static str,
    facts: &'f [Facts],
    tally: &'f Tally,
    blocks: &'f [u64],
    start_of: &'f (dyn Fn(usize) -> usize + Sync),
}

impl<'f> Items<'f> {
    /// `blocks`: the id of the block that contains only the item, or 0, for each item. `start_of`: the start of an
    /// item's node.
    pub(crate) fn new(
        list: &'static str,
        facts: &'f [Facts],
        tally: &'f Tally,
        blocks: &'f [u64],
        start_of: &'f (dyn Fn(usize) -> usize + Sync),
    ) -> Items<'f> {
        Items { list, facts, tally, blocks, start_of }
    }

    /// Returns the key of the list; empty if the root is the list.
    pub(crate) fn list(self) -> &'static str {
        self.list
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
        self.facts.get(index)?.known.as_ref()?.downcast_ref()
    }

    /// Returns the names of an item.
    pub(crate) fn names(self, index: usize) -> &'f [Name] {
        self.facts.get(index).map(|facts| &*facts.names).unwrap_or_default()
    }

    /// Returns the name that an item defines.
    pub(crate) fn own_name(self, index: usize) -> Option<&'f Name> {
        self.names(index).iter().find(|name| name.declaration.role == Role::Defines)
    }

    /// Returns the numbers of the items whose own name another one has as well.
    pub(crate) fn namesakes(self) -> impl Iterator<Item = usize> + use<'f> {
        self.shared(DEFINES)
    }

    /// Returns the numbers of the items that refer to names.
    pub(crate) fn referring(self) -> impl Iterator<Item = usize> + use<'f> {
        self.of_kind(REFERS)
    }

    /// Returns the number of the first item with a name.
    pub(crate) fn named(self, name: &str) -> Option<usize> {
        let mut found = self.with(Topic::numbered(DEFINES, name));
        found.find(|index| self.own_name(*index).is_some_and(|own| own.named.name == name))
    }

    /// Returns the absolute location of a text of an item.
    pub(crate) fn place(self, index: usize, named: &Named) -> (Pointer, Range<usize>) {
        let start = self.start(index);
        let at = Definition::list_at(self.list).index(index).join(&named.at);
        (at, named.range.start + start..named.range.end + start)
    }

    /// Returns the start of an item's node.
    pub fn start(self, index: usize) -> usize {
        (self.start_of)(index)
    }

    /// Returns the items with a topic of a kind, in their order: the number of each, and its facts. Costs nothing if
    /// there is none.
    pub fn about<K: Kind>(self, kind: K) -> impl Iterator<Item = (usize, &'f K::Facts)> {
        self.of_kind(kind.number()).filter_map(move |index| Some((index, self.facts(index)?)))
    }

    /// Returns the items that share a topic of a kind with others. Costs nothing if no topic is shared.
    pub fn sharing<K: Kind>(self, kind: K) -> impl Iterator<Item = (usize, &'f K::Facts)> {
        self.shared(kind.number()).filter_map(move |index| Some((index, self.facts(index)?)))
    }

    fn of_kind(self, kind: u8) -> impl Iterator<Item = usize> + use<'f> {
        let is_any = self.tally.of(kind).total > 0;
        self.numbers(is_any, move |topic| topic.kind == kind)
    }

    fn shared(self, kind: u8) -> impl Iterator<Item = usize> + use<'f> {
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
