//! Places of keys: the mappings of a kind of file that may have a key.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use crate::{document::Pointer, json_schema::SpecFile, spec_file::PerFile};

use super::{Shape, Type};

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

    /// Returns the place of a key in words.
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

/// Returns the places of a key, in the order of the format.
pub fn places_of(file: SpecFile, key: &str) -> &'static [KeyPath] {
    table(file).get(key).map(Vec::as_slice).unwrap_or_default()
}

/// Returns all keys of the format.
pub fn all_keys(file: SpecFile) -> impl Iterator<Item = &'static str> {
    table(file).keys().copied()
}

type Table = BTreeMap<&'static str, Vec<KeyPath>>;

fn table(file: SpecFile) -> &'static Table {
    static TABLES: PerFile<Table> = PerFile::new();
    TABLES.get(file, || {
        let mut table = Table::new();
        Shape::of(file).each_below(&mut |path, shape| {
            for field in shape.all_fields() {
                let places = table.entry(field.name).or_default();
                if !places.iter().any(|place| place.0 == path) {
                    places.push(KeyPath(path.to_vec()));
                }
            }
        });
        table
    })
}

impl Shape {
    /// Calls a function with this schema and all that are below it, each with its place from here.
    pub(crate) fn each_below(&self, look: &mut dyn FnMut(&[&'static str], &Shape)) {
        self.visit(&mut Vec::new(), look);
    }

    fn visit(&self, path: &mut Vec<&'static str>, look: &mut dyn FnMut(&[&'static str], &Shape)) {
        /// Maximum depth. No format is deeper, but recursive types would be.
        const MAX_DEPTH: usize = 16;
        if path.len() > MAX_DEPTH {
            return;
        }
        look(path, self);
        // Forms may declare the same key differently, but most declare it alike.
        let mut seen = FxHashSet::default();
        for form in std::iter::once(self.clone()).chain(self.variants().into_iter().map(|variant| variant.shape)) {
            let fields = form.chosen_fields().into_iter().map(|field| (field.name, field.shape));
            let items = form.item().map(|item| ("[]", item));
            let values = form.map_value().map(|value| ("*", value));
            for (step, member) in fields.chain(items).chain(values) {
                if !seen.insert((step, member.id())) {
                    continue;
                }
                path.push(step);
                member.visit(path, look);
                path.pop();
            }
        }
    }
}

/// Returns the place of a pointer.
pub fn place_of(file: SpecFile, pointer: &Pointer) -> Option<KeyPath> {
    let mut shape = Shape::of(file);
    let mut path = Vec::new();
    for step in pointer.steps() {
        shape = match step.key().and_then(|key| shape.any_field(key)) {
            Some((name, member)) => {
                path.push(name);
                member
            }
            None => {
                path.push(if shape.kind() == Type::List { "[]" } else { "*" });
                shape.step_to(&step, None)?
            }
        };
    }
    Some(KeyPath(path))
}
