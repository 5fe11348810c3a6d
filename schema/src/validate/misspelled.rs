//! Missing keys that are misspelled, or under another name, and are reported only once.

use std::collections::{HashMap, HashSet};

use crate::{
    document::Pointer,
    key_path::KeyPath,
    rules::unknown_key,
    shape,
    words::{are_siblings, is_negative, nearest, opposite_of},
};

use super::{
    context::{Context, Mapping, Violation, ViolationKind},
    could_hold,
};

/// Maximum distance of a place to which a key belongs; farther away, it is a different key with the same name.
const NEARBY: usize = 2;

impl Context<'_> {
    /// Merges a missing key and a misspelled one next to it into one problem, which is reported at the existing
    /// key, as an error. Returns those keys.
    pub(super) fn drop_explained_by_misspelling(&self, violations: &mut Vec<Violation>) -> HashSet<Pointer> {
        let mut misspelled = HashSet::new();
        let mut meant: HashSet<(Pointer, &'static str)> = HashSet::new();
        // Locations of missing keys that exist one level above or below.
        let mut moved: HashSet<Pointer> = HashSet::new();
        let pairs = only_pairs(violations);
        for violation in violations.iter() {
            let ViolationKind::UnknownKey(key) = &violation.kind else { continue };
            let parent = violation.at.parent().unwrap_or_default();
            let mapping = self.mapping(&parent);
            if let Some(name) = nearest(key, mapping.missing.iter().copied()) {
                misspelled.insert(violation.at.clone());
                meant.insert((parent, name));
            } else if let Some(place) = self.neighbor(&mapping, &parent, key)
                && violations.iter().any(|other| other.at == place && matches!(other.kind, ViolationKind::Missing(_)))
            {
                misspelled.insert(violation.at.clone());
                moved.insert(place);
            } else if let Some(name) = mapping.missing.iter().copied().find(|name| mapping.holds_claims(name))
                && unknown_key::is_lost_claim(self, &violation.at, key)
            {
                // An assertion next to it belongs in it.
                meant.insert((parent, name));
            } else if let Some(missing) = pairs.get(&parent)
                && let Some(name) = mapping.missing.iter().copied().find(|name| name == missing)
                && self.is_stand_in(&mapping, key, name)
            {
                self.stand_ins.borrow_mut().insert(violation.at.clone(), name);
                misspelled.insert(violation.at.clone());
                meant.insert((parent, name));
            }
        }
        violations.retain(|violation| {
            let is_reported = |parent: &Pointer, name: &'static str| meant.contains(&(parent.clone(), name));
            if let ViolationKind::Missing(key) = &violation.kind {
                if moved.contains(&violation.at) {
                    return false;
                }
                let parent = violation.at.parent().unwrap_or_default();
                return !self.mapping(&parent).missing.iter().any(|name| name == key && is_reported(&parent, name));
            }
            let alternatives = || self.shape(&violation.at).map(|shape| shape.one_of_needed()).unwrap_or_default();
            violation.kind != ViolationKind::NoneOf
                || !alternatives().iter().any(|name| is_reported(&violation.at, name))
        });
        misspelled
    }

    /// Whether an unknown key may be another name for the missing one: the value would be valid there, and
    /// the key does not belong nearby.
    fn is_stand_in(&self, mapping: &Mapping<'_>, key: &str, name: &str) -> bool {
        let is_near =
            |place: &KeyPath| mapping.here.as_ref().is_some_and(|here| here != place && here.distance(place) <= NEARBY);
        if shape::places_of(self.file, key).iter().any(is_near)
            || opposite_of(key, &mapping.fields).is_some()
            || is_negative(key) != is_negative(name)
            || are_siblings(key, name)
        {
            return false;
        }
        let Some(shape) = mapping.shape.as_ref() else { return false };
        let Some((member, value)) = shape.step(name, mapping.node).zip(mapping.node.and_then(|node| node.get(key)))
        else {
            return false;
        };
        // In another form, the key is a path, a name or neither: the missing key must be of the same kind.
        let forms = shape.variants();
        let mut others = forms.iter().flat_map(|variant| variant.shape.fields(None)).filter(|field| field.name == key);
        others.all(|field| field.shape.word() == member.word()) && could_hold(&member, value)
    }

    /// Returns the place one level above or below to which an existing key belongs.
    fn neighbor(&self, mapping: &Mapping<'_>, parent: &Pointer, key: &str) -> Option<Pointer> {
        let here = mapping.here.as_ref()?;
        let value = mapping.node.and_then(|node| node.get(key));
        let place = unknown_key::home(self, parent, mapping, key, value).filter(|place| here.distance(place) == 1)?;
        match place.0.last() {
            Some(child) if here.contains(place) => Some(parent.key(child).key(key)),
            Some(_) | None => Some(parent.parent()?.key(key)),
        }
    }
}

/// Returns the mappings in which exactly one key is unknown and exactly one is missing, with the missing one.
fn only_pairs(violations: &[Violation]) -> HashMap<Pointer, String> {
    let mut seen: HashMap<Pointer, (usize, usize, Option<&String>)> = HashMap::new();
    for violation in violations {
        let parent = || violation.at.parent().unwrap_or_default();
        if matches!(violation.kind, ViolationKind::UnknownKey(_)) {
            seen.entry(parent()).or_default().0 += 1;
        } else if let ViolationKind::Missing(name) = &violation.kind {
            let counts = seen.entry(parent()).or_default();
            counts.1 += 1;
            counts.2 = Some(name);
        }
    }
    let pairs = seen.into_iter().filter(|(_, (unknown, missing, _))| (*unknown, *missing) == (1, 1));
    pairs.filter_map(|(parent, (.., name))| Some((parent, name?.clone()))).collect()
}
