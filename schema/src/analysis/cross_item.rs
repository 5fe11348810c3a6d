//! Problems of items because of other items. Each is kept until one of the items changes that it is about, so the
//! messages of all others are not composed again.

use std::{
    hash::{Hash, Hasher},
    sync::Arc,
};

use rustc_hash::{FxHashMap, FxHasher};

use super::finish;
use crate::{
    document::{ItemBlocks, NodeRef},
    finding::Report,
    problem::Problem,
    relations::{CrossItemRule, FactRef, Items, Link},
    validate::Definition,
};

/// The problems of one rule between the items of a list.
#[derive(Default)]
pub(super) struct RuleProblems {
    /// Whether the links are those of the items as they are now.
    pub(super) is_linked: bool,
    /// Problems in the order of the items.
    pub(super) problems: Vec<CrossItemProblem>,
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
    pub(super) key_of: &'s dyn Fn(usize) -> (u64, u64),
    /// The items that changed since the rules last looked at them, in order.
    pub(super) changed: &'s [usize],
}

impl RuleProblems {
    /// Updates the problems. Those that cannot be kept are added to the others.
    pub(super) fn bring_up_to_date(
        &mut self,
        rule: &dyn CrossItemRule,
        context: &CrossItemContext<'_, '_>,
        others: &mut Vec<Problem>,
    ) {
        if self.is_linked {
            for known in &mut self.problems {
                if context.is_changed(&known.link) {
                    *known = context.cross_item_problem(rule, known.link.clone(), None, others);
                } else if known.relative.is_none() {
                    others.extend(context.problem(rule, &known.link));
                }
            }
            return;
        }
        let before: FxHashMap<u64, CrossItemProblem> =
            std::mem::take(&mut self.problems).into_iter().map(|known| (known.key, known)).collect();
        let links = rule.links(context.items);
        let update = |link| context.cross_item_problem(rule, link, Some(&before), others);
        self.problems = links.into_iter().map(update).collect();
        self.is_linked = true;
    }
}

impl CrossItemContext<'_, '_> {
    fn is_changed(&self, link: &Link) -> bool {
        let has_changed = |fact: &FactRef| self.changed.binary_search(&fact.item).is_ok();
        !self.changed.is_empty() && (has_changed(&link.of) || link.causes.iter().any(has_changed))
    }

    fn cross_item_problem(
        &self,
        rule: &dyn CrossItemRule,
        link: Link,
        before: Option<&FxHashMap<u64, CrossItemProblem>>,
        others: &mut Vec<Problem>,
    ) -> CrossItemProblem {
        let Some(key) = self.key(&link) else {
            others.extend(self.problem(rule, &link));
            return CrossItemProblem { link, key: 0, relative: None };
        };
        if let Some(known) = before.and_then(|before| before.get(&key)) {
            return CrossItemProblem { link, key, relative: known.relative.clone() };
        }
        let relative = self.problem(rule, &link).map(|problem| Arc::new(self.relative(problem, &link)));
        CrossItemProblem { link, key, relative }
    }

    /// Returns the hash of the items of a link. `None` if one of them is not alone in a block.
    fn key(&self, link: &Link) -> Option<u64> {
        let mut hasher = FxHasher::default();
        for fact in std::iter::once(&link.of).chain(&link.causes) {
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
