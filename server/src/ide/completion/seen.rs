//! Completion of values that the last run has observed, at fields that declare the kind of evidence that feeds them.

use std::{collections::HashSet, sync::Arc};

use serde_json::{Map, Value};
use speclens_schema::{
    document::Pointer,
    evidence::Evidence,
    observed::{self, SeenValue},
    quoting::{scalar, show},
    shape::{Seen, Shape},
    suite::{list_of_cases, name_of_item},
};

use super::{
    insert,
    list::{CompletionKind, List},
};

/// Maximum number of nested mappings around a value.
const MAX_DEPTH: usize = 8;

/// The mappings of each attempt that have the keys of a mapping around the cursor, and the keys from there.
type Around = (Vec<Vec<Map<String, Value>>>, Vec<String>);

impl List<'_> {
    /// Offers the values that feed a field.
    pub(super) fn seen(&mut self, shape: &Shape) {
        let declared = shape.seen();
        let found = match &declared {
            Some((seen, keys)) => observed::values(*seen, &self.attempts(), self.beside(keys).as_deref()),
            None => match self.around(&self.context.at) {
                Some((mappings, keys)) => observed::values_of(&mappings, &keys),
                None => Vec::new(),
            },
        };
        let (taken, start) = (self.named_beside(), self.items.len());
        let total = found.iter().map(|seen| seen.attempts).max().unwrap_or_default().max(self.recorded());
        for SeenValue { value, attempts } in found {
            let detail = detail(attempts, total);
            match value.as_str() {
                Some(text) if !taken.contains(text) => self.found(0, text, &detail),
                Some(_) => {}
                None => {
                    let Some(text) = insert::written(&value, self.quote) else { continue };
                    self.offer(0, show(&value), CompletionKind::Value, &text).detail = detail;
                }
            }
        }
        self.seen = start..self.items.len();
    }

    /// Offers the keys of a mapping, with their values. Returns the keys.
    pub(super) fn seen_keys(&mut self, present: &HashSet<String>) -> HashSet<String> {
        let mut offered = present.clone();
        let Some((mappings, steps)) = self.around(&self.context.at.key("")) else { return offered };
        let [above @ .., _] = steps.as_slice() else { return offered };
        let total = self.recorded();
        let inside = |members: &Map<String, Value>| {
            let all = above.iter().try_fold(members, |members, step| members.get(step)?.as_object());
            all.map(|members| members.keys().cloned().collect::<Vec<_>>())
        };
        let keys: Vec<String> = mappings.iter().flatten().filter_map(inside).flatten().collect();
        let colon = if self.has_colon { "" } else { ": " };
        for key in keys {
            let steps: Vec<String> = above.iter().cloned().chain([key.clone()]).collect();
            let Some(SeenValue { value, attempts }) = observed::values_of(&mappings, &steps).into_iter().next() else {
                continue;
            };
            if !offered.insert(key.clone()) {
                continue;
            }
            let value = if self.has_colon { String::new() } else { show(&value) };
            let item = self.offer(0, &key, CompletionKind::Field, &format!("{}{colon}{value}", scalar(&key)));
            item.detail = format!("{value} {}", detail(attempts, total)).trim_start().to_owned();
        }
        offered
    }

    /// Returns what was observed of the mapping that has a place somewhere below: the arguments of a tool, or the fields
    /// of a file.
    fn around(&self, at: &Pointer) -> Option<Around> {
        let mut keys = Vec::new();
        let mut place = at.clone();
        for _ in 0..MAX_DEPTH {
            keys.insert(0, place.last_step()?.key()?.to_owned());
            place = place.parent()?;
            let Some(shape) = Shape::find(self.file, &place, self.document.root()) else { continue };
            if let Some(key) = shape.arguments_of().filter(|key| !key.is_empty()) {
                let tool = self.document.find(&place.parent()?)?.get(key)?.text()?;
                return Some((observed::arguments(&self.attempts(), tool), keys));
            }
            if let Some((Seen::Fields, names)) = shape.seen() {
                return Some((observed::fields(&self.attempts(), self.beside(&names).as_deref()), keys));
            }
        }
        None
    }

    /// Returns the value of the first of some keys in the nearest mapping around the cursor that has one.
    fn beside(&self, keys: &[&str]) -> Option<String> {
        let around = std::iter::successors(self.context.at.parent(), Pointer::parent).take(MAX_DEPTH);
        let mut mappings = around.filter_map(|at| self.document.find(&at));
        mappings.find_map(|mapping| keys.iter().find_map(|key| mapping.get(key)?.text())).map(str::to_owned)
    }

    fn test(&self) -> Option<&str> {
        let list = list_of_cases(self.file)?;
        let number = self.context.at.below(&list)?.steps().next()?.index()?;
        name_of_item(self.file, self.document.find(&list.index(number))?)
    }

    /// Returns the evidence of the last attempts at the test around the cursor.
    fn attempts(&self) -> Vec<Arc<Evidence>> {
        self.latest.zip(self.test()).map(|(latest, test)| latest.evidence_of(test)).unwrap_or_default()
    }

    fn recorded(&self) -> usize {
        self.latest.zip(self.test()).map_or(0, |(latest, test)| latest.recorded(test))
    }
}

/// Returns how often something was seen.
fn detail(attempts: usize, total: usize) -> String {
    if attempts >= total { "seen".to_owned() } else { format!("seen {attempts} of {total} times") }
}
