//! Facts of the items of a list that matter to other items. Few of thousands affect each other, so rules between items look
//! only at those with a topic, or with one that others have as well.

use std::{
    any::Any,
    hash::{Hash, Hasher},
    ops::Range,
    sync::Arc,
};

use rustc_hash::{FxHashMap, FxHasher};

use crate::{
    document::Pointer,
    names::{Name, Named, Role},
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

impl Facts {
    pub fn new(known: impl Any + Send + Sync, topics: impl IntoIterator<Item = Topic>) -> Facts {
        Facts { known: Some(Arc::new(known)), names: Arc::default(), topics: sorted(topics.into_iter().collect()) }
    }

    pub(crate) fn with_names(facts: Option<Facts>, names: Vec<Name>) -> Facts {
        let facts = facts.unwrap_or_else(|| Facts { known: None, names: Arc::default(), topics: Arc::default() });
        let topic = |name: &Name| match name.declaration.role {
            Role::Defines => Topic::numbered(DEFINES, &name.named.name),
            Role::Refers => Topic { kind: REFERS, name: 0 },
        };
        let topics = facts.topics.iter().copied().chain(names.iter().map(topic)).collect();
        Facts { names: names.into(), topics: sorted(topics), ..facts }
    }
}

fn sorted(mut topics: Vec<Topic>) -> Arc<[Topic]> {
    topics.sort_unstable();
    topics.dedup();
    topics.into()
}

#[derive(Debug, Default)]
pub(crate) struct ListFacts<'f> {
    list: &'static str,
    /// Location of the list.
    at: Pointer,
    /// Empty for a list without such facts.
    facts: Vec<&'f Facts>,
    /// The start of each item's node.
    starts: Vec<usize>,
    /// The first item with each topic, and the number of those that have it.
    topics: FxHashMap<Topic, (usize, usize)>,
}

impl<'f> ListFacts<'f> {
    /// Takes the facts of each item, and the start of its node.
    pub(crate) fn new(list: &'static str, at: Pointer, all: impl Iterator<Item = (&'f Facts, usize)>) -> ListFacts<'f> {
        let (facts, starts): (Vec<&Facts>, Vec<usize>) = all.unzip();
        let mut topics: FxHashMap<Topic, (usize, usize)> = FxHashMap::default();
        // Most items have a name that no other one has.
        topics.reserve(facts.len());
        for (index, facts) in facts.iter().enumerate() {
            for topic in &*facts.topics {
                topics.entry(*topic).or_insert((index, 0)).1 += 1;
            }
        }
        ListFacts { list, at, facts, starts, topics }
    }
}

#[derive(Clone, Copy)]
pub struct Items<'f>(&'f ListFacts<'f>);

impl<'f> Items<'f> {
    pub(crate) fn of(list: &'f ListFacts<'f>) -> Items<'f> {
        Items(list)
    }

    /// Returns the key of the list; empty if the root is the list.
    pub(crate) fn list(self) -> &'static str {
        self.0.list
    }

    pub(crate) fn has_facts(self) -> bool {
        self.0.facts.iter().any(|facts| facts.known.is_some())
    }

    /// Returns the number of items.
    pub fn len(self) -> usize {
        self.0.facts.len()
    }

    /// Whether there are no items.
    pub fn is_empty(self) -> bool {
        self.0.facts.is_empty()
    }

    /// Returns the facts of an item. `None` if they are of another format.
    pub fn facts<F: 'static>(self, index: usize) -> Option<&'f F> {
        self.0.facts.get(index)?.known.as_ref()?.downcast_ref()
    }

    pub(crate) fn names(self, index: usize) -> &'f [Name] {
        self.0.facts.get(index).map(|facts| &*facts.names).unwrap_or_default()
    }

    /// Returns the name that an item defines.
    pub(crate) fn own_name(self, index: usize) -> Option<&'f Name> {
        self.names(index).iter().find(|name| name.declaration.role == Role::Defines)
    }

    /// Returns the numbers of the items whose own name another one has as well.
    pub(crate) fn namesakes(self) -> impl Iterator<Item = usize> + use<'f> {
        self.shared(DEFINES)
    }

    pub(crate) fn referring(self) -> impl Iterator<Item = usize> + use<'f> {
        self.of_kind(REFERS)
    }

    /// Returns the number of the first item with a name.
    pub(crate) fn named(self, name: &str) -> Option<usize> {
        let topic = Topic::numbered(DEFINES, name);
        let (first, _) = *self.0.topics.get(&topic)?;
        (first..self.len()).find(|index| self.own_name(*index).is_some_and(|own| own.named.name == name))
    }

    /// Returns the absolute location of a text of an item.
    pub(crate) fn place(self, index: usize, named: &Named) -> (Pointer, Range<usize>) {
        let start = self.start(index);
        let at = self.0.at.index(index).join(&named.at);
        (at, named.range.start + start..named.range.end + start)
    }

    /// Returns the start of an item's node.
    pub fn start(self, index: usize) -> usize {
        self.0.starts[index]
    }

    /// Returns the items with a topic of a kind, in their order: the number of each, and its facts.
    pub fn about<K: Kind>(self, kind: K) -> impl Iterator<Item = (usize, &'f K::Facts)> {
        self.of_kind(kind.number()).filter_map(move |index| Some((index, self.facts(index)?)))
    }

    pub fn sharing<K: Kind>(self, kind: K) -> impl Iterator<Item = (usize, &'f K::Facts)> {
        self.shared(kind.number()).filter_map(move |index| Some((index, self.facts(index)?)))
    }

    fn of_kind(self, kind: u8) -> impl Iterator<Item = usize> + use<'f> {
        self.numbers(move |topic| topic.kind == kind)
    }

    fn shared(self, kind: u8) -> impl Iterator<Item = usize> + use<'f> {
        self.numbers(move |topic| topic.kind == kind && self.0.topics.get(topic).is_some_and(|(_, count)| *count > 1))
    }

    fn numbers<M: Fn(&Topic) -> bool>(self, is_meant: M) -> impl Iterator<Item = usize> + use<'f, M> {
        let meant = self.0.facts.iter().enumerate().filter(move |(_, facts)| facts.topics.iter().any(&is_meant));
        meant.map(|(index, _)| index)
    }
}
