//! Cached results for the items of a list. A keystroke changes one of thousands: the others are recognized by the id of
//! their block, without access to the block itself, since access to cold memory is slow.

mod update;

use std::{
    hash::{Hash, Hasher},
    ops::Range,
    sync::{Arc, Mutex, PoisonError},
};

use rustc_hash::{FxHashMap, FxHasher};

use super::{
    Analyzer, Findings,
    cross_item::{CrossItemContext, CrossItemProblem, RelativeProblem, RuleProblems},
    item_chunks::{ItemChunks, Settled},
    levels::Levels,
    problems::{Group, ItemPlace, ItemReport, Reported, Reports},
};
use crate::{
    document::{Definitions, Document, ItemBlock, ItemBlocks, NodeRef, Version, parallel},
    files::Files,
    json_schema::SpecFile,
    problem::{Code, Problem},
    relations::{CrossItemRule, Facts, Items, Tally},
    validate::Definition,
};

/// Cached lists of the version of a document that was analysed last.
#[derive(Default)]
pub(super) struct ItemLists(Mutex<FxHashMap<(SpecFile, &'static str), ItemList>>);

/// The items of a list, in their order. Facts that every keystroke reads of all of them are in lists of their own.
#[derive(Default)]
pub(super) struct ItemList {
    /// The key of everything outside of the document that they depend on: see [`Analyzer::basis`].
    basis: u64,
    /// The blocks of the document, and the definitions of its names, when the items were looked at.
    version: Version,
    definitions: Definitions,
    /// Id of the block that contains only the item, or 0, which no block has.
    ids: Vec<u64>,
    /// Number of items that are not alone in a block and are checked each time.
    loose: usize,
    known: Vec<Known>,
    /// Items with problems.
    wrong: Vec<usize>,
    /// Items with aliases, each with the ids of the blocks that the aliases lead to. `None` for any block.
    leading: Vec<(usize, Option<u64>)>,
    /// Facts of the items that matter to others; empty for a list without such facts.
    facts: Vec<Facts>,
    tally: Tally,
    /// The problems of each rule between items.
    by_rule: Vec<RuleProblems>,
    /// The items that changed since the rules last looked at them.
    changed: Vec<usize>,
    chunks: ItemChunks,
}

/// The items of a list after a check.
#[derive(Default)]
pub(super) struct Looked<'d> {
    pub(super) list: &'static str,
    blocks: Option<ItemBlocks<'d>>,
    item_list: ItemList,
    /// Items with problems that are alone in an intact block, in the chunks of which nothing is kept.
    pub(super) wrong: Vec<BadItem>,
    /// Their cross-item problems: the number of the rule, and that of the problem.
    cross_item: Vec<(usize, usize)>,
    /// The number of items with problems in each chunk. `None` for a chunk that is as it was.
    opened: Vec<Option<usize>>,
}

/// Cached result of an item.
struct Known {
    /// Hash of everything that the result depends on.
    key: u64,
    /// Start of its node, relative to the offset of its ranges.
    offset: usize,
    findings: Arc<Findings>,
    /// Its problems as reported last, with the key of the circumstances.
    reported: Option<(u64, Arc<Reported>)>,
}

/// The problems of an item as they are reported.
struct ReportedItem {
    /// Hash of everything that `reported` depends on.
    key: u64,
    reported: Arc<Reported>,
    /// Indices of the items that they name.
    places: Box<[usize]>,
}

/// An item that was looked at.
struct Fresh {
    /// Id of the block that contains only the item, or 0.
    id: u64,
    /// Ids of the blocks that its aliases lead to, or its own; `None` for any block. Empty without aliases.
    dependencies: Vec<Option<u64>>,
    known: Known,
}

impl ItemLists {
    /// Returns the cached results of a list.
    pub(super) fn take(&self, file: SpecFile, list: &'static str) -> ItemList {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&(file, list)).unwrap_or_default()
    }

    /// Stores the results for the next version.
    pub(super) fn keep(&self, file: SpecFile, list: &'static str, item_list: ItemList) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert((file, list), item_list);
    }
}

/// An item with problems, and its location.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BadItem {
    /// Index of the item.
    pub(super) index: usize,
    /// The start of the block that it is alone in, its line, and its length in bytes.
    pub(super) start: usize,
    line: usize,
    pub(super) length: usize,
    /// Whether its block defines anchors.
    pub(super) has_anchors: bool,
    /// The range of its cross-item problems.
    cross_item: (usize, usize),
}

impl BadItem {
    /// Returns the bytes of the block.
    pub(super) fn extent(&self) -> Range<usize> {
        self.start..self.start + self.length
    }
}

impl<'d> Looked<'d> {
    /// Looks at the items of a list, as far as they changed.
    pub(super) fn at(
        analyzer: &Analyzer,
        document: &'d Document,
        node: NodeRef<'d>,
        list: &'static str,
        files: &dyn Files,
        mut item_list: ItemList,
    ) -> Looked<'d> {
        analyzer.bring_up_to_date(&mut item_list, document, node, list, files);
        Looked { list, blocks: node.item_blocks(), item_list, ..Looked::default() }
    }

    /// Whether the format has facts of its items.
    pub(super) fn has_facts(&self) -> bool {
        self.item_list.facts.iter().any(Facts::are_of_format)
    }

    /// Calls a function with the facts of the items of lists.
    pub(super) fn relate(lists: &[Looked<'_>], look: impl FnOnce(&[Items<'_>])) {
        let starts: Vec<_> = lists.iter().map(|looked| looked.item_list.starts(looked.blocks)).collect();
        let items = lists.iter().zip(&starts).map(|(looked, start_of)| looked.item_list.items(looked.list, start_of));
        look(&items.collect::<Vec<_>>());
    }

    /// Updates the problems of rules between items. Those that cannot be kept are added to the others.
    pub(super) fn update_cross_item(
        &mut self,
        rules: &[&dyn CrossItemRule],
        root: NodeRef<'_>,
        others: &mut Vec<Problem>,
    ) {
        let Looked { list, blocks, item_list, .. } = self;
        let mut by_rule = std::mem::take(&mut item_list.by_rule);
        by_rule.resize_with(rules.len(), RuleProblems::default);
        let changed = std::mem::take(&mut item_list.changed);
        let mut chunks = std::mem::take(&mut item_list.chunks);
        let key_of = |index: usize| (item_list.ids[index], item_list.known[index].key);
        {
            let start_of = item_list.starts(*blocks);
            let items = item_list.items(list, &start_of);
            let context = CrossItemContext { root, items, blocks: *blocks, key_of: &key_of, changed: &changed };
            for (rule, problems) in rules.iter().zip(&mut by_rule) {
                problems.bring_up_to_date(*rule, &context, &mut chunks, others);
            }
        }
        item_list.by_rule = by_rule;
        item_list.chunks = chunks;
    }

    /// Finds the items with problems that are alone in an intact block, unless they are in a chunk that is as it was. The
    /// problems of other items are added to the others.
    pub(super) fn sort_out(&mut self, others: &mut Vec<Problem>) {
        self.opened = vec![None; self.item_list.chunks.len()];
        let blocks = self.blocks;
        self.open(others, |items, settled| {
            settled.is_none() || !blocks.is_some_and(|blocks| blocks.are_consecutive(items))
        });
    }

    /// Does the same in chunks that are as they were, by the bytes of the items with problems and what is kept of them.
    pub(super) fn open_where(&mut self, others: &mut Vec<Problem>, is_meant: impl Fn(Range<usize>, &Settled) -> bool) {
        let mut blocks = self.blocks;
        self.open(others, |items, settled| {
            settled.zip(blocks.as_mut()).is_some_and(|(settled, blocks)| {
                let start = blocks.at(items.start).start;
                is_meant(start + settled.extent.start..start + settled.extent.end, settled)
            })
        });
        self.wrong.sort_by_key(|wrong| wrong.index);
    }

    /// Finds the items with problems in some of the chunks.
    fn open(&mut self, others: &mut Vec<Problem>, mut is_meant: impl FnMut(Range<usize>, Option<&Settled>) -> bool) {
        let mut end = 0;
        for number in 0..self.opened.len() {
            let items = end..end + self.item_list.chunks.count(number);
            end = items.end;
            if self.opened[number].is_none() && is_meant(items.clone(), self.item_list.chunks.settled(number)) {
                self.opened[number] = Some(self.open_items(items, others));
            }
        }
    }

    /// Finds those of a chunk. Returns their number.
    fn open_items(&mut self, items: Range<usize>, others: &mut Vec<Problem>) -> usize {
        let part = |place: &dyn Fn(usize) -> usize| place(items.start)..place(items.end);
        let mut cross_item: Vec<(usize, usize, usize)> = Vec::new();
        for (rule, of_rule) in self.item_list.by_rule.iter().enumerate() {
            let problems = &of_rule.problems;
            let numbers = part(&|at| problems.partition_point(|problem| problem.link.of.item < at));
            let kept = numbers.filter(|number| problems[*number].relative.is_some());
            cross_item.extend(kept.map(|number| (problems[number].link.of.item, rule, number)));
        }
        cross_item.sort();
        let own = &self.item_list.wrong;
        let mut wrong: Vec<usize> = own[part(&|at| own.partition_point(|index| *index < at))].to_vec();
        wrong.extend(cross_item.iter().map(|(item, ..)| *item));
        wrong.sort_unstable();
        wrong.dedup();
        let before = self.cross_item.len();
        let place = |item: usize| before + cross_item.partition_point(|(of, ..)| *of < item);
        let mut apart = Vec::new();
        for &index in &wrong {
            let wrong_item = BadItem { index, cross_item: (place(index), place(index + 1)), ..BadItem::default() };
            match self.blocks.as_mut().map(|blocks| blocks.at(index)).filter(|place| place.is_alone) {
                Some(ItemBlock { start, line, length, has_anchors, is_intact, .. }) => {
                    let item = BadItem { start, line, length, has_anchors, ..wrong_item };
                    // Unparsed text next to them may affect what is reported.
                    if is_intact { self.wrong.push(item) } else { apart.push(item) }
                }
                None => apart.push(wrong_item),
            }
        }
        self.cross_item.extend(cross_item.into_iter().map(|(_, rule, number)| (rule, number)));
        others.extend(apart.iter().flat_map(|wrong| self.problems(wrong)));
        wrong.len()
    }

    /// Returns the codes of problems in chunks that are as they were, each with the bytes of the items with problems.
    pub(super) fn kept_codes(&self) -> Vec<(Range<usize>, &[Code])> {
        let mut found = Vec::new();
        let mut end = 0;
        for (number, opened) in self.opened.iter().enumerate() {
            let first = end;
            end += self.item_list.chunks.count(number);
            let settled = self.item_list.chunks.settled(number).filter(|_| opened.is_none());
            if let Some(settled) = settled.filter(|settled| !settled.codes.is_empty()) {
                let start = self.place_of(first).start;
                found.push((start + settled.extent.start..start + settled.extent.end, &*settled.codes));
            }
        }
        found
    }

    /// Returns the items with reported problems, in groups: those of a chunk together. Those that are left in a chunk are
    /// kept, unless others are not.
    pub(super) fn groups(&mut self, levels: &Levels<'_>) -> Vec<Group> {
        let wrong = std::mem::take(&mut self.wrong);
        let reported = parallel::map(&wrong, |wrong| self.reported(wrong, levels));
        for (wrong, item) in wrong.iter().zip(&reported) {
            self.item_list.known[wrong.index].reported = Some((item.key, Arc::clone(&item.reported)));
        }
        let wrong: Vec<(BadItem, ReportedItem)> = wrong.into_iter().zip(reported).collect();
        let mut rest = wrong.as_slice();
        let mut groups = Vec::new();
        let mut end = 0;
        for number in 0..self.opened.len() {
            let items = end..end + self.item_list.chunks.count(number);
            end = items.end;
            let Some(found) = self.opened[number] else {
                let settled = self.item_list.chunks.settled(number);
                let reports = settled.and_then(|settled| settled.reports.as_ref()).map(Arc::clone);
                groups.extend(reports.map(|reports| Group::new(self.place_of(items.start), self.list, reports)));
                continue;
            };
            let (own, others) = rest.split_at(rest.partition_point(|(wrong, _)| wrong.index < items.end));
            rest = others;
            let first = self.place_of(items.start);
            let settled = self.settled(first, own, levels);
            let reports = settled.reports.as_ref().map(Arc::clone);
            groups.extend(reports.map(|reports| Group::new(first, self.list, reports)));
            let is_alone = || self.item_list.ids[items.clone()].iter().all(|id| *id != 0);
            let is_consecutive = || self.blocks.is_some_and(|blocks| blocks.are_consecutive(items.clone()));
            let is_whole = own.len() == found && is_alone() && is_consecutive();
            self.item_list.chunks.settle(number, is_whole.then_some(settled));
        }
        groups
    }

    /// Returns what is reported of some items of a chunk. `first`: the first item of the chunk.
    fn settled(&self, first: ItemPlace, wrong: &[(BadItem, ReportedItem)], levels: &Levels<'_>) -> Settled {
        let mut items = Vec::new();
        let mut codes: Vec<Code> = Vec::new();
        for (wrong, ReportedItem { reported, places, .. }) in wrong {
            codes.extend(self.found(wrong).map(|problem| problem.code));
            if !reported.problems.is_empty() {
                let (start, line) = (wrong.start - first.start, wrong.line - first.line);
                let index = wrong.index - first.index;
                let (places, reported) = (places.clone(), Arc::clone(reported));
                items.push(ItemReport { start, line, length: wrong.length, index, places, reported });
            }
        }
        let wrong = || wrong.iter().map(|(wrong, _)| wrong);
        codes.sort_unstable();
        codes.dedup();
        let start = wrong().next().map_or(0, |wrong| wrong.start - first.start);
        Settled {
            levels: levels.key(),
            reports: Reports::of(items).map(Arc::new),
            codes,
            extent: start..wrong().next_back().map_or(start, |wrong| wrong.extent().end - first.start),
            has_anchors: wrong().any(|wrong| wrong.has_anchors),
            has_cross_item: wrong().any(|wrong| wrong.cross_item.0 < wrong.cross_item.1),
        }
    }

    fn cross_item_problems(&self, wrong: &BadItem) -> impl Iterator<Item = (&CrossItemProblem, &RelativeProblem)> {
        let numbers = self.cross_item[wrong.cross_item.0..wrong.cross_item.1].iter();
        numbers.filter_map(|(rule, number)| {
            let problem = &self.item_list.by_rule[*rule].problems[*number];
            Some((problem, problem.relative.as_deref()?))
        })
    }

    /// Returns the problems of an item, including cross-item problems. Ranges are relative to its block.
    pub(super) fn found(&self, wrong: &BadItem) -> impl Iterator<Item = &Problem> {
        let own = &self.item_list.known[wrong.index].findings.problems;
        own.iter().chain(self.cross_item_problems(wrong).map(|(_, relative)| &relative.problem))
    }

    /// Whether the report of an item's problems depends on other parts of the document.
    pub(super) fn is_entangled(&self, wrong: &BadItem) -> bool {
        self.item_list.known[wrong.index].findings.is_entangled
            || self.cross_item_problems(wrong).any(|(_, relative)| relative.is_entangled)
    }

    /// Returns copies of the problems of an item, with absolute locations.
    pub(super) fn problems(&self, wrong: &BadItem) -> Vec<Problem> {
        let base = Definition::list_at(self.list).index(wrong.index);
        let own = self.item_list.known[wrong.index].findings.problems.iter();
        let own = own.map(|problem| problem.clone().moved(&base, wrong.start));
        let cross_item = self.cross_item_problems(wrong).map(|(known, relative)| {
            let mut problem = relative.problem.clone().moved(&base, wrong.start);
            for (number, other) in &relative.elsewhere {
                let item = known.link.causes[*other].item;
                problem.related[*number] = relative.problem.related[*number].clone();
                self.place_of(item).place(self.list, &mut problem.related[*number]);
            }
            problem
        });
        own.chain(cross_item).collect()
    }

    fn place_of(&self, index: usize) -> ItemPlace {
        ItemPlace::of(self.blocks, index)
    }

    /// Returns the problems of an item as they are reported, and the items that they name.
    fn reported(&self, wrong: &BadItem, levels: &Levels<'_>) -> ReportedItem {
        let mut hasher = FxHasher::default();
        (levels.key(), self.item_list.known[wrong.index].key).hash(&mut hasher);
        for (rule, number) in &self.cross_item[wrong.cross_item.0..wrong.cross_item.1] {
            (rule, self.item_list.by_rule[*rule].problems[*number].key).hash(&mut hasher);
        }
        let key = hasher.finish();
        let causes = self.cross_item_problems(wrong).flat_map(|(known, _)| &known.link.causes);
        let places = causes.map(|fact| fact.item).collect();
        if let Some((known, reported)) = &self.item_list.known[wrong.index].reported
            && *known == key
        {
            return ReportedItem { key, reported: Arc::clone(reported), places };
        }
        let own =
            self.item_list.known[wrong.index].findings.problems.iter().map(|problem| (problem.clone(), Vec::new()));
        let mut first = 0;
        let cross_item = self.cross_item_problems(wrong).map(|(known, relative)| {
            let elsewhere = relative.elsewhere.iter().map(|(number, other)| (*number, first + other)).collect();
            first += known.link.causes.len();
            (relative.problem.clone(), elsewhere)
        });
        let reported = Arc::new(Reported::of(own.chain(cross_item).collect(), levels));
        ReportedItem { key, reported, places }
    }

    /// Returns the list, and the results to keep for the next version.
    pub(super) fn into_item_list(self) -> (&'static str, ItemList) {
        (self.list, self.item_list)
    }
}

impl ItemList {
    /// Returns a function that returns the start of an item's node.
    fn starts(&self, blocks: Option<ItemBlocks<'_>>) -> impl Fn(usize) -> usize {
        move |index| {
            let place = blocks.map(|mut blocks| blocks.at(index)).filter(|place| place.is_alone);
            place.map_or(0, |place| place.start) + self.known[index].offset
        }
    }

    /// Returns the facts of the items.
    fn items<'f>(&'f self, list: &'static str, start_of: &'f (dyn Fn(usize) -> usize + Sync)) -> Items<'f> {
        Items::new(list, &self.facts, &self.tally, &self.ids, start_of)
    }

    /// Returns the number of items at the beginning and at the end that are the same as before.
    fn untouched(&self, blocks: &mut ItemBlocks<'_>) -> (usize, usize) {
        let (head, tail) = blocks.shared_with(&self.version);
        let (old, new) = (self.ids.len(), blocks.len());
        let most = old.min(new);
        let mut is_same = |old: usize, new: usize| self.ids[old] != 0 && self.ids[old] == blocks.at(new).id;
        // If the first and the last of several blocks at the start are unchanged, all are; the same applies at the end.
        let is_known = |count: usize| self.loose == 0 && (1..=most).contains(&count);
        let head = if is_known(head) && is_same(0, 0) && is_same(head - 1, head - 1) { head } else { 0 };
        let tail =
            if is_known(tail) && is_same(old - 1, new - 1) && is_same(old - tail, new - tail) { tail } else { 0 };
        let head = head + (head..most).take_while(|index| is_same(*index, *index)).count();
        let tail = tail.min(most - head);
        let tail = tail + (tail + 1..=most - head).take_while(|back| is_same(old - back, new - back)).count();
        (head, tail)
    }

    /// Replaces items.
    fn replace(&mut self, old: Range<usize>, new: Vec<Fresh>) {
        let count = new.len();
        let start = old.start;
        let numbered = || (start..).zip(&new);
        let wrong = numbered().filter(|(_, fresh)| !fresh.known.findings.problems.is_empty());
        let wrong = wrong.map(|(index, _)| index).collect();
        renumber(&mut self.wrong, &old, count, wrong, |index| index);
        let leading = numbered().flat_map(|(index, fresh)| fresh.dependencies.iter().map(move |lead| (index, *lead)));
        let leading = leading.collect();
        renumber(&mut self.leading, &old, count, leading, |(index, _)| index);
        self.chunks.replace(old.clone(), count);
        let gone = if self.facts.is_empty() { 0..0 } else { old.clone() };
        self.facts[gone.clone()].iter().for_each(|facts| self.tally.remove(facts));
        let facts: Vec<Facts> = new.iter().filter_map(|fresh| fresh.known.findings.facts.clone()).collect();
        self.tally.add(&facts);
        drop(self.facts.splice(gone, facts));
        let (ids, known): (Vec<u64>, Vec<Known>) = new.into_iter().map(|fresh| (fresh.id, fresh.known)).unzip();
        let loose = |ids: &[u64]| ids.iter().filter(|id| **id == 0).count();
        self.loose = self.loose + loose(&ids) - loose(&self.ids[old.clone()]);
        drop(self.ids.splice(old.clone(), ids));
        drop(self.known.splice(old, known));
    }
}

/// Replaces the facts of some items in a list in the order of the items, and renumbers those of the items behind.
fn renumber<T>(
    facts: &mut Vec<T>,
    old: &Range<usize>,
    count: usize,
    new: Vec<T>,
    index_of: impl Fn(&mut T) -> &mut usize,
) {
    let mut place = |at: usize| {
        let (mut low, mut high) = (0, facts.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if *index_of(&mut facts[middle]) < at { low = middle + 1 } else { high = middle }
        }
        low
    };
    let (from, to) = (place(old.start), place(old.end));
    if old.len() != count {
        let moved = facts[to..].iter_mut().map(&index_of);
        moved.for_each(|index| *index = *index - old.len() + count);
    }
    drop(facts.splice(from..to, new));
}
