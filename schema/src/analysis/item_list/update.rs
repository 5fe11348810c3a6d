//! Looks at the items of a list that changed, and recalls the findings of the others.

use std::{
    cell::Cell,
    hash::{Hash, Hasher},
    sync::Arc,
};

use rustc_hash::FxHasher;

use super::{super::Analyzer, Fresh, ItemList, Known};
use crate::{
    document::{Dependencies, Document, ItemBlock, ItemBlocks, NodeRef, parallel},
    files::Files,
    relations::{CrossItemRule, Items},
};

impl Analyzer {
    /// Updates the [`ItemList`] of a list. Kept findings are reused; if many are missing, they are computed on several
    /// threads.
    pub(in crate::analysis) fn bring_up_to_date(
        &self,
        item_list: &mut ItemList,
        document: &Document,
        node: NodeRef<'_>,
        list: &'static str,
        files: &dyn Files,
    ) {
        /// Number of changed items above which several threads are used.
        const MANY: usize = 32;
        let blocks = node.item_blocks();
        let length = node.item_count();
        let basis = self.basis(list);
        if item_list.basis != basis {
            *item_list = ItemList { basis, ..ItemList::default() };
        }
        let (head, tail) = blocks.map_or((0, 0), |mut blocks| item_list.untouched(&mut blocks));
        let old = item_list.ids.len();
        let (gone, new) = (head..old - tail, head..length - tail);
        // An alias may refer to another value although the item is unchanged.
        let definitions = document.definitions();
        let elsewhere = definitions.gone_since(&item_list.definitions);
        let may_differ =
            |lead: &Option<u64>| elsewhere.as_ref().is_none_or(|gone| lead.is_none_or(|lead| gone.contains(&lead)));
        let leading = if elsewhere.as_ref().is_some_and(Vec::is_empty) { &[] } else { item_list.leading.as_slice() };
        let stale = leading.iter().filter(|(index, lead)| may_differ(lead) && !gone.contains(index));
        let mut stale: Vec<usize> =
            stale.map(|(index, _)| if *index < gone.start { *index } else { *index - gone.end + new.end }).collect();
        stale.dedup();
        let fresh = Cell::new(0);
        let look = |index: usize, count: &dyn Fn()| {
            let item = node.item_at(index).expect("the index is below the number of items");
            let place = blocks.map(|mut blocks| blocks.at(index)).filter(|place| place.is_alone);
            match place {
                Some(place) => self.look_or_recall(document, item, &place, basis, list, files, count),
                None => {
                    let findings = Arc::new(self.look_at(item, list, files));
                    let known = Known { key: 0, offset: item.range().start, findings, reported: None };
                    Fresh { id: 0, dependencies: Vec::new(), known }
                }
            }
        };
        let asked: Vec<usize> = new.clone().chain(stale.iter().copied()).collect();
        let mut found: Vec<Fresh> = Vec::with_capacity(asked.len());
        let is_first = old == 0;
        while let Some(index) = asked.get(found.len()) {
            if is_first || fresh.get() > MANY {
                found.extend(parallel::map(&asked[found.len()..], |index| look(*index, &|| {})));
                break;
            }
            found.push(look(*index, &|| fresh.set(fresh.get() + 1)));
        }
        let again = found.split_off(new.len());
        let rules = self.cross_item_rules();
        let is_one_for_one = gone.len() == new.len() && asked.len() < MANY;
        let digests = |item_list: &ItemList, blocks: Option<ItemBlocks<'_>>| -> Vec<Vec<u64>> {
            let digests = |items: Items<'_>, rule: &&dyn CrossItemRule| {
                asked.iter().filter(|index| **index < items.len()).map(|index| rule.digest(items, *index)).collect()
            };
            let start_of = item_list.starts(blocks);
            let items = item_list.items(list, &start_of);
            rules.iter().map(|rule| digests(items, rule)).collect()
        };
        let before = if is_one_for_one { digests(item_list, None) } else { Vec::new() };
        item_list.replace(gone, found);
        for (index, fresh) in stale.into_iter().zip(again) {
            item_list.replace(index..index + 1, vec![fresh]);
        }
        let after = if is_one_for_one { digests(item_list, blocks) } else { Vec::new() };
        for (number, problems) in item_list.by_rule.iter_mut().enumerate() {
            problems.is_linked &= is_one_for_one && before[number] == after[number];
        }
        if item_list.facts.is_empty() {
            // Rules look only at items with facts, so no rule would update these.
            item_list.by_rule.clear();
            item_list.chunks.forget_cross_item();
        }
        match is_one_for_one && !item_list.facts.is_empty() {
            true => item_list.changed.extend(asked),
            false => item_list.changed.clear(),
        }
        item_list.changed.sort_unstable();
        item_list.definitions = definitions;
        item_list.version = document.version();
    }

    #[expect(clippy::too_many_arguments, reason = "they are what an answer depends on")]
    fn look_or_recall(
        &self,
        document: &Document,
        item: NodeRef<'_>,
        place: &ItemBlock<'_>,
        basis: u64,
        list: &'static str,
        files: &dyn Files,
        count: &dyn Fn(),
    ) -> Fresh {
        let ItemBlock { block, id, start, has_aliases, .. } = *place;
        let dependencies = has_aliases.then(|| document.dependencies_at(start));
        let mut hasher = FxHasher::default();
        (basis, &dependencies).hash(&mut hasher);
        let key = hasher.finish();
        let findings = block.memo(key, || {
            count();
            self.look_at(item, list, files).relative_to(start, block)
        });
        let dependencies = match dependencies {
            None => Vec::new(),
            // The first id is the block's own. If it is the only one, no alias has a definition yet.
            Some(Dependencies::These(ids)) => ids.iter().skip(usize::from(ids.len() > 1)).copied().map(Some).collect(),
            Some(Dependencies::Any { .. }) => vec![None],
        };
        Fresh { id, dependencies, known: Known { key, offset: item.range().start - start, findings, reported: None } }
    }

    /// Returns a hash of everything outside of the document that the findings of an item depend on, including its list:
    /// an item may end up in another list although its text stays the same.
    fn basis(&self, list: &'static str) -> u64 {
        let mut hasher = FxHasher::default();
        (self.epoch, list).hash(&mut hasher);
        hasher.finish()
    }
}
