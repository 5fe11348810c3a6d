//! The place of a key in a kind of file.

use crate::document::Pointer;

/// A place in a kind of file where keys may be: `tests`, `[]`, `expect`. Items of lists are `[]`, members of mappings
/// with free keys `*`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct KeyPath(pub Vec<&'static str>);

impl KeyPath {
    /// Returns the place of a key in words, for an author who wrote it at `here`: "under `expect.output`", "under
    /// `params` in an item of `models`", "at the top level".
    pub(crate) fn words_from(&self, here: &KeyPath) -> String {
        let below = &self.0[self.in_common(here)..];
        let Some(marker) = below.iter().rposition(is_marker) else {
            return match (below, self.0.split_last()) {
                // Several places have a key of this name.
                ([_], Some((key, parent))) if here.0.last() == Some(key) => {
                    format!("{} {}", self.words(), KeyPath(parent.to_vec()).words())
                }
                ([], _) => self.words(),
                (below, _) => format!("under `{}`", below.join(".")),
            };
        };
        let list = below[..marker].iter().rposition(is_marker).map_or(0, |last| last + 1);
        let member = if below[marker] == "[]" { "an item" } else { "an entry" };
        let place = format!("in {member} of `{}`", below[list..marker].join("."));
        match &below[marker + 1..] {
            [] => place,
            keys => format!("under `{}` {place}", keys.join(".")),
        }
    }

    pub fn words(&self) -> String {
        match self.0.as_slice() {
            [] => "at the top level".to_owned(),
            [.., list, "[]"] => format!("in an item of `{list}`"),
            [.., map, "*"] => format!("in an entry of `{map}`"),
            [.., key] => format!("under `{key}`"),
        }
    }

    /// Returns the help for a key at `here` that belongs to this place: "move it under `expect.output`".
    pub(crate) fn way_from(&self, here: &KeyPath) -> String {
        let out_of = here.0.get(self.0.len()..).filter(|_| self.contains(here)).unwrap_or_default();
        match self.0.as_slice() {
            [] => "move it to the top level".to_owned(),
            [..] if let [holder, ..] = out_of
                && !out_of.iter().any(is_marker) =>
            {
                format!("move it out of `{holder}`")
            }
            [.., list, "[]"] if !out_of.is_empty() => format!("move it to the enclosing item of `{list}`"),
            [.., map, "*"] if !out_of.is_empty() => format!("move it to the enclosing entry of `{map}`"),
            [..] => match self.words_from(here) {
                place if place.starts_with("in ") => format!("move it {}", place.replacen("in ", "into ", 1)),
                place => format!("move it {place}"),
            },
        }
    }

    /// Returns a pointer to this place, in the first item of each list.
    pub fn pointer(&self) -> Pointer {
        let step = |at: Pointer, step: &&'static str| match *step {
            "[]" => at.index(0),
            key => at.key(key),
        };
        self.0.iter().fold(Pointer::root(), step)
    }

    /// Returns the number of steps between the places.
    pub fn distance(&self, other: &KeyPath) -> usize {
        self.0.len() + other.0.len() - 2 * self.in_common(other)
    }

    /// Returns the number of first steps that the places have in common.
    pub(crate) fn in_common(&self, other: &KeyPath) -> usize {
        self.0.iter().zip(&other.0).take_while(|(mine, theirs)| mine == theirs).count()
    }

    /// Whether another place is this one or below it.
    pub fn contains(&self, other: &KeyPath) -> bool {
        other.0.starts_with(&self.0)
    }
}

/// Whether a step is any item of a list, or any member of a mapping with free keys.
pub(crate) fn is_marker(step: &&'static str) -> bool {
    matches!(*step, "[]" | "*")
}
