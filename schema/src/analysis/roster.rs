//! What the items of a list gave. A keystroke changes one of thousands: the others are recognised by the number of their block,
//! without a look at the block, since memory that was not used for a while is slow.

use std::{
    cell::Cell,
    hash::{Hash, Hasher},
    sync::{Arc, Mutex, PoisonError},
};

use rustc_hash::{FxHashMap, FxHasher};

use super::{Analyzer, Findings, FoundItem};
use crate::{
    dialect::format::Facts,
    document::{Block, Document, ItemBlock, NodeRef, parallel},
    files::Files,
    json_schema::SpecFile,
    problem::Problem,
    validate::Definition,
};

/// The lists of a document as they were looked at last, in whichever version.
#[derive(Default)]
pub(super) struct Rosters(Mutex<FxHashMap<(SpecFile, &'static str), Vec<Known>>>);

/// The items of a list, in their order.
pub(super) struct Roster<'d> {
    list: &'static str,
    places: Vec<Place<'d>>,
    known: Vec<Known>,
}

/// Where an item is.
struct Place<'d> {
    /// The block that it is alone in.
    block: Option<&'d Arc<Block>>,
    /// The byte that its ranges count from.
    start: usize,
}

/// What is known of an item.
pub(super) struct Known {
    /// The number of the block that it is alone in, or 0, which no block has.
    id: u64,
    /// Under which circumstances it is known.
    key: u64,
    /// Where its node begins, from where its ranges count.
    offset: usize,
    has_problems: bool,
    facts: Option<Facts>,
    findings: Arc<Findings>,
}

impl Known {
    fn of(id: u64, key: u64, offset: usize, findings: Arc<Findings>) -> Known {
        let (has_problems, facts) = (!findings.problems.is_empty(), findings.facts.clone());
        Known { id, key, offset, has_problems, facts, findings }
    }
}

impl Rosters {
    /// Returns what is known of the items of a list.
    pub(super) fn take(&self, file: SpecFile, list: &'static str) -> Vec<Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(file, list)).unwrap_or_default()
    }

    /// Keeps it for the next version.
    pub(super) fn keep(&self, file: SpecFile, mut roster: Roster<'_>) {
        roster.known.retain(|known| known.id != 0);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert((file, roster.list), roster.known);
    }
}

impl<'d> Roster<'d> {
    /// Returns the items with problems that are alone in an intact block. The problems of the others are handed over.
    pub(super) fn found(&self, others: &mut Vec<Problem>) -> Vec<FoundItem<'d>> {
        let mut found = Vec::new();
        let list = self.list;
        let wrong = self.places.iter().zip(&self.known).enumerate().filter(|(_, (_, known))| known.has_problems);
        for (index, (Place { block, start }, Known { key, findings, .. })) in wrong {
            let Some(block) = *block else {
                let base = Definition::list_at(list).index(index);
                others.extend(findings.problems.iter().map(|problem| problem.clone().moved(&base, *start)));
                continue;
            };
            let item = FoundItem { block, start: *start, list, index, key: *key, findings: Arc::clone(findings) };
            // What cannot be read beside them may say more about them.
            if block.is_intact() { found.push(item) } else { others.extend(item.problems()) }
        }
        found
    }

    /// Returns what the items say that matters to others, each with the byte where it begins.
    pub(super) fn facts(&self) -> impl Iterator<Item = (usize, &Facts)> {
        let known = self.places.iter().zip(&self.known);
        known.filter_map(|(place, known)| Some((place.start + known.offset, known.facts.as_ref()?)))
    }
}

/// What was known of the items of a list, in their order, to be compared with the items that there are.
struct Before(std::vec::IntoIter<Known>);

impl Before {
    /// Returns what is known of an item. An item above it may be new, and one may be gone.
    fn recall(&mut self, id: u64, key: u64) -> Option<Known> {
        let first = self.0.as_slice().iter().take(2).position(|known| known.id == id)?;
        self.0.nth(first).filter(|known| known.key == key)
    }
}

impl Analyzer {
    /// Returns what each item of a list gives. As long as answers are known they are looked up; when many are not, they
    /// are found on several threads.
    pub(super) fn roster<'d>(
        &self,
        document: &'d Document,
        node: NodeRef<'d>,
        list: &'static str,
        files: &dyn Files,
        before: Vec<Known>,
    ) -> Roster<'d> {
        const MANY: usize = 32;
        let blocks: Vec<Option<ItemBlock<'d>>> = match node.item_blocks() {
            Some(blocks) => blocks.map(|block| Some(block).filter(|block| block.is_alone)).collect(),
            None => node.items().map(|_| None).collect(),
        };
        let places = blocks.iter().map(|block| match block {
            Some(block) => Place { block: Some(block.block), start: block.start },
            None => Place { block: None, start: 0 },
        });
        let places: Vec<Place<'d>> = places.collect();
        let mut known = Vec::with_capacity(blocks.len());
        let mut before = Before(before.into_iter());
        let fresh = Cell::new(0);
        let look = |index: usize, block: &Option<ItemBlock<'d>>, count: &dyn Fn()| {
            let item = node.item_at(index).expect("each of the items has a block, or none");
            match block {
                Some(block) => self.look_or_recall(document, item, block, list, files, count),
                None => Known::of(0, 0, item.range().start, Arc::new(self.look_at(item, list, files))),
            }
        };
        while let Some(block) = blocks.get(known.len()) {
            let index = known.len();
            if fresh.get() > MANY {
                let rest: Vec<_> = blocks.iter().enumerate().skip(index).collect();
                known.extend(parallel::map(&rest, |(index, block)| look(*index, block, &|| {})));
                break;
            }
            let recalled = block.as_ref().and_then(|it| before.recall(it.id, self.key_in(document, it, list)));
            known.push(recalled.unwrap_or_else(|| look(index, block, &|| fresh.set(fresh.get() + 1))));
        }
        Roster { list, places, known }
    }

    fn look_or_recall(
        &self,
        document: &Document,
        item: NodeRef<'_>,
        place: &ItemBlock<'_>,
        list: &'static str,
        files: &dyn Files,
        count: &dyn Fn(),
    ) -> Known {
        let ItemBlock { block, id, start, .. } = *place;
        let key = self.key_in(document, place, list);
        let findings = block.memo(key, || {
            count();
            self.look_at(item, list, files).relative_to(start, block)
        });
        Known::of(id, key, item.range().start - start, findings)
    }

    /// Changes whenever anything changes that the findings of an item depend on. An item may end up in another list,
    /// without a letter of it changing.
    fn key_in(&self, document: &Document, place: &ItemBlock<'_>, list: &'static str) -> u64 {
        let mut hasher = FxHasher::default();
        let aliases = if place.has_aliases { document.fingerprint_of(place.block) } else { 0 };
        (self.key_with(aliases), list).hash(&mut hasher);
        hasher.finish()
    }
}
