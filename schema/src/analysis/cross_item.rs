//! Problems of items because of other items. Each is kept until one of the items changes that it is about, so the
//! messages of all others are not composed again.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use rustc_hash::{FxHashMap, FxHasher};

use super::{finish, item_chunks::ItemChunks};
use crate::{
    document::{ItemBlocks, NodeRef, parallel},
    finding::Report,
    problem::Problem,
    relations::{CrossItemRule, Items, Link},
    validate::Definition,
};

/// The problems of one rule between the items of a list.
#[derive(Default)]
pub(super) struct RuleProblems {
    /// Whether the links are those of the items as they are now.
    pub(super) is_linked: bool,
    /// Problems in the order of the items.
    pub(super) problems: Vec<CrossItemProblem>,
    /// The items that the problems are about, in order, each with the number of the problem.
    about: Vec<(usize, usize)>,
    /// The numbers of the problems that cannot be kept.
    unkept: Vec<usize>,
}

/// A problem of an item because of other items.
#[derive(Clone)]
pub(super) struct CrossItemProblem {
    pub(super) link: Link,
    /// The hash of the items that it is about.
    pub(super) key: u64,
    /// `None` if it cannot be kept; it is then one of the other problems.
    pub(super) relative: Option<Arc<RelativeProblem>>,
}

/// A problem with ranges relative to the item's block, and pointers relative to the item.
pub(super) struct RelativeProblem {
    pub(super) problem: Problem,
    /// Related locations in other items: the index of each, and that of the item in
    /// [`Link::causes`]. Ranges are relative to the block of that item, pointers to the item.
    pub(super) elsewhere: Vec<(usize, usize)>,
    pub(super) is_entangled: bool,
}

/// The items that rules look at.
pub(super) struct CrossItemContext<'s, 'd> {
    pub(super) root: NodeRef<'d>,
    pub(super) items: Items<'s>,
    pub(super) blocks: Option<ItemBlocks<'d>>,
    /// Returns the number of the block that an item is alone in, or 0, and the key of its findings.
    pub(super) key_of: &'s (dyn Fn(usize) -> (u64, u64) + Sync),
    /// The items that changed since the rules last looked at them, in order.
    pub(super) changed: &'s [usize],
}

impl RuleProblems {
    /// Updates the problems. Nothing is kept of chunks with items whose problems change. Problems that cannot be kept are
    /// added to the others.
    pub(super) fn bring_up_to_date(
        &mut self,
        rule: &dyn CrossItemRule,
        context: &CrossItemContext<'_, '_>,
        chunks: &mut ItemChunks,
        others: &mut Vec<Problem>,
    ) {
        if self.is_linked {
            let mut numbers = std::mem::take(&mut self.unkept);
            for item in context.changed {
                let place = |at: usize| self.about.partition_point(|(about, _)| *about < at);
                numbers.extend(self.about[place(*item)..place(item + 1)].iter().map(|(_, number)| *number));
            }
            numbers.sort_unstable();
            numbers.dedup();
            chunks.forget(numbers.iter().map(|number| self.problems[*number].link.of.item).collect());
            for &number in &numbers {
                let link = self.problems[number].link.clone();
                let (problem, unkept) = context.cross_item_problem(rule, link, None);
                self.problems[number] = problem;
                others.extend(unkept);
            }
            self.unkept = numbers.into_iter().filter(|number| self.problems[*number].relative.is_none()).collect();
            return;
        }
        let old = std::mem::take(&mut self.problems);
        let before: Before = old.iter().map(|known| (known.key, known.relative.clone())).collect();
        let mut links = rule.links(context.items);
        links.sort_by_key(|link| link.of.item);
        let found = parallel::map(&links, |link| context.cross_item_problem(rule, link.clone(), Some(&before)));
        let (new, unkept): (Vec<CrossItemProblem>, Vec<Option<Problem>>) = found.into_iter().unzip();
        others.extend(unkept.into_iter().flatten());
        let is_same = |(old, new): &(&CrossItemProblem, &CrossItemProblem)| old.key == new.key && old.link == new.link;
        let head = old.iter().zip(&new).take_while(is_same).count();
        let tail = old[head..].iter().rev().zip(new[head..].iter().rev()).take_while(is_same).count();
        let changed = old[head..old.len() - tail].iter().chain(&new[head..new.len() - tail]);
        chunks.forget(changed.map(|known| known.link.of.item).collect());
        let numbered = new.iter().enumerate();
        let about = numbered.flat_map(|(number, known)| known.link.facts().map(move |fact| (fact.item, number)));
        self.about = about.collect();
        self.about.sort_unstable();
        self.unkept = (0..new.len()).filter(|number| new[*number].relative.is_none()).collect();
        self.problems = new;
        self.is_linked = true;
    }
}

/// Known problems, by their keys.
type Before = FxHashMap<u64, Option<Arc<RelativeProblem>>>;

impl CrossItemContext<'_, '_> {
    /// Returns the problem of a link; if it cannot be kept, with absolute locations in the second place.
    fn cross_item_problem(
        &self,
        rule: &dyn CrossItemRule,
        link: Link,
        before: Option<&Before>,
    ) -> (CrossItemProblem, Option<Problem>) {
        let Some(key) = self.key(&link) else {
            let problem = self.problem(rule, &link);
            return (CrossItemProblem { link, key: 0, relative: None }, problem);
        };
        if let Some(relative) = before.and_then(|before| before.get(&key)) {
            return (CrossItemProblem { link, key, relative: relative.clone() }, None);
        }
        let relative = self.problem(rule, &link).map(|problem| Arc::new(self.relative(problem, &link)));
        (CrossItemProblem { link, key, relative }, None)
    }

    /// Returns the hash of the items of a link. `None` if one of them is not alone in a block.
    fn key(&self, link: &Link) -> Option<u64> {
        let mut hasher = FxHasher::default();
        for fact in link.facts() {
            let (block, key) = (self.key_of)(fact.item);
            if block == 0 {
                return None;
            }
            (block, key, fact.part).hash(&mut hasher);
        }
        Some(hasher.finish())
    }

    /// Returns the problem, with absolute locations.
    fn problem(&self, rule: &dyn CrossItemRule, link: &Link) -> Option<Problem> {
        let mut report = Report::default();
        report.push(rule.finding(self.items, link)?);
        report.resolve(false).problems(self.root).pop()
    }

    /// Makes the locations of a problem relative to their items.
    fn relative(&self, mut problem: Problem, link: &Link) -> RelativeProblem {
        let is_entangled = finish::is_entangled(&problem, self.root.document());
        let list = Definition::list_at(self.items.list());
        let extent = |item: usize| {
            let block = self.blocks.map(|mut blocks| blocks.at(item));
            block.map_or(0..0, |place| place.start..place.start + place.block.length())
        };
        let own = extent(link.of.item);
        let base = list.index(link.of.item);
        let moved = |range: &std::ops::Range<usize>, by: usize| range.start - by..range.end - by;
        problem.range = moved(&problem.range, own.start);
        problem.at = problem.at.below(&base).unwrap_or_default();
        for fix in &mut problem.fixes {
            fix.edits.iter_mut().for_each(|edit| edit.range = moved(&edit.range, own.start));
        }
        let mut elsewhere = Vec::new();
        let places = problem.related.iter_mut().enumerate().filter(|(_, related)| related.file.is_none());
        for (number, related) in places {
            let holds = |item: usize| extent(item).contains(&related.range.start);
            let other = link.causes.iter().position(|fact| fact.item != link.of.item && holds(fact.item));
            let (start, base) = match other {
                None => (own.start, base.clone()),
                Some(other) => {
                    elsewhere.push((number, other));
                    let item = link.causes[other].item;
                    (extent(item).start, list.index(item))
                }
            };
            related.range = moved(&related.range, start);
            related.at = related.at.below(&base).unwrap_or_default();
        }
        RelativeProblem { problem, elsewhere, is_entangled }
    }
}
