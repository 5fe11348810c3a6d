//! Places of keys: the mappings of a kind of file that may have a key.

use std::collections::BTreeMap;

use rustc_hash::FxHashSet;

use super::Shape;
use crate::{json_schema::SpecFile, key_path::KeyPath, spec_file::PerFile};

/// Returns the places of a key, in the order of the format.
pub fn places_of(file: SpecFile, key: &str) -> &'static [KeyPath] {
    table(file).get(key).map(Vec::as_slice).unwrap_or_default()
}

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
