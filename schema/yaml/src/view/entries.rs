//! Entries of mappings by their keys.

use std::sync::PoisonError;

use rustc_hash::FxHashMap;

use super::{
    super::{scalar::is_surely_text, tree::NodeKind},
    EntryRef, Node, NodeRef, Place, Shape,
};

impl<'d> NodeRef<'d> {
    /// Returns the entry with this key, including merged ones if the rules have merge keys.
    pub fn entry(self, key: &str) -> Option<EntryRef<'d>> {
        self.entry_within(key, 0, &mut 1_000)
    }

    /// `left`: number of bases that may still be searched, since bases that are merged twice multiply.
    fn entry_within(self, key: &str, depth: usize, left: &mut usize) -> Option<EntryRef<'d>> {
        /// Bases may have bases. Aliases cannot be circular; the bound is only a safeguard.
        const MAX_DEPTH: usize = 64;
        if let Some(entry) = self.own_entry(key) {
            return Some(entry);
        }
        if !self.document.index.may_merge || depth > MAX_DEPTH || self.own_entry("<<").is_none() {
            return None;
        }
        self.bases().into_iter().find_map(|base| {
            *left = left.checked_sub(1)?;
            base.entry_within(key, depth + 1, left)
        })
    }

    /// Returns the values that are merged into a mapping. Earlier ones override later ones.
    pub fn bases(self) -> Vec<NodeRef<'d>> {
        let mut merged: Vec<_> = self.entries().filter(EntryRef::is_merge).map(|entry| entry.value).collect();
        // PyYAML merges each `<<` over those before it, and readers of YAML 1.2 keep what is there.
        if self.document.rules().is_yaml11() {
            merged.reverse();
        }
        let of_value = |value: NodeRef<'d>| match value.shape() {
            Shape::Sequence => value.items().collect(),
            Shape::Scalar | Shape::Mapping | Shape::Dangling => vec![value],
        };
        merged.into_iter().flat_map(of_value).collect()
    }

    pub fn merged_entries(self) -> Vec<EntryRef<'d>> {
        let mut entries: Vec<_> = self.entries().filter(|entry| !entry.is_merge()).collect();
        for entry in self.bases().into_iter().flat_map(NodeRef::entries) {
            if !entries.iter().any(|known| known.key.key_text() == entry.key.key_text()) {
                entries.push(entry);
            }
        }
        entries
    }

    /// Returns the entry with this key in the mapping itself; of a repeated key the last one, which counts.
    fn own_entry(self, key: &str) -> Option<EntryRef<'d>> {
        /// Key texts of numbers that are spelled differently in the file: see [`NodeRef::key_text`].
        const NAMES_OF_FLOATS: [&str; 2] = ["inf", "NaN"];
        /// Below this, a linear search is faster than a table.
        const MAX_LINEAR_SEARCH_ITEMS: usize = 32;
        let node = self.resolved();
        let (place, count) = match node.place {
            Place::Root => (0, node.document.index.entries.len()),
            Place::Node { node: Node { kind: NodeKind::Mapping(entries), .. }, .. } => {
                (entries.as_ptr().addr(), entries.len())
            }
            Place::Node { .. } | Place::RootList | Place::List(_) => return None,
        };
        if count <= MAX_LINEAR_SEARCH_ITEMS {
            let Place::Node { block, node: Node { kind: NodeKind::Mapping(entries), .. } } = node.place else {
                return node.entries().filter(|entry| entry.key.is_key(key)).last();
            };
            // Most keys are compared as they are written, without regard to what they mean.
            let is_text = is_surely_text(key) && !NAMES_OF_FLOATS.contains(&key);
            let found = entries.iter().rfind(|entry| match &entry.key.kind {
                NodeKind::Scalar { value, .. } if is_text && entry.key.tag().is_none() => {
                    value.as_bytes().first() == key.as_bytes().first() && **value == *key
                }
                NodeKind::Scalar { .. } | NodeKind::Sequence(_) | NodeKind::Mapping(_) | NodeKind::Alias(_) => {
                    node.at(block, &entry.key).is_key(key)
                }
            })?;
            return Some(EntryRef { key: node.at(block, &found.key), value: node.at(block, &found.value) });
        }
        let mut tables = node.document.index.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let table = tables.entry(place).or_insert_with(|| {
            let mut table = FxHashMap::default();
            for (number, entry) in node.entries().enumerate() {
                table.insert(entry.key.key_text(), number);
            }
            table
        });
        node.entry_at(*table.get(key)?)
    }

    /// Returns entry `number` of a mapping, in constant time.
    pub(super) fn entry_at(self, number: usize) -> Option<EntryRef<'d>> {
        match self.place {
            Place::Root => (number < self.document.index.entries.len()).then(|| self.root_entry(number)),
            Place::Node { block, node: Node { kind: NodeKind::Mapping(entries), .. } } => {
                let entry = entries.get(number)?;
                Some(EntryRef { key: self.at(block, &entry.key), value: self.at(block, &entry.value) })
            }
            Place::Node { .. } | Place::RootList | Place::List(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Document, FaultKind, ScalarRules};

    #[test]
    fn of_two_merge_keys_the_later_counts_in_yaml_1_1() {
        for mapping in ["c:\n  <<: *a\n  <<: *b\n", "c: {<<: *a, <<: *b}\n", "c:\r\n  <<: [*a]\r\n  <<: [*b, *a]\r\n"] {
            let text = format!("a: &a {{x: 1, y: 1}}\nb: &b {{x: 2}}\n{mapping}");
            for (rules, x) in [(ScalarRules::Yaml11, "2"), (ScalarRules::Yaml12Merging, "1")] {
                let document = Document::read(&text, rules);
                let merged = document.root().unwrap().get("c").unwrap();
                assert_eq!(merged.get("x").and_then(|value| value.text()), Some(x), "{rules:?}");
                assert_eq!(merged.get("y").and_then(|value| value.text()), Some("1"), "{rules:?}");
                let entries = merged.merged_entries().into_iter();
                let values: Vec<&str> = entries.filter_map(|entry| entry.value.text()).collect();
                assert!(values.contains(&x) && values.len() == 2, "{values:?}");
                assert_eq!(merged.to_value().unwrap()["x"].to_string(), x, "{rules:?}");
                assert!(document.faults().is_empty(), "{rules:?}");
            }
            let faults = Document::read(&text, ScalarRules::Yaml12).faults();
            assert!(
                faults.iter().any(|fault| matches!(&fault.kind, FaultKind::DuplicateKey { key, .. } if key == "<<"))
            );
        }
        // At the root, whose entries are in different blocks.
        let root = "a: &a {x: 1}\nb: &b {x: 2}\n<<: *a\n<<: *b\n";
        let document = Document::read(root, ScalarRules::Yaml11);
        assert!(document.faults().is_empty());
        assert_eq!(document.root().unwrap().get("x").and_then(|value| value.text()), Some("2"));
    }

    #[test]
    fn keys_are_found_by_the_texts_of_their_values() {
        let keys = [
            ("type", "type"),
            (".inf", "inf"),
            (".nan", "NaN"),
            ("0x10", "16"),
            ("null", ""),
            ("True", "true"),
            ("'on'", "on"),
            ("!!str 7", "7"),
            ("note", "note"),
        ];
        let block: String = keys.iter().map(|(written, text)| format!("  {written}: of {text}.\n")).collect();
        let flow: Vec<String> = keys.iter().map(|(written, text)| format!("{written}: of {text}.")).collect();
        for mapping in [format!("\n{block}"), format!(" {{{}}}\n", flow.join(", "))] {
            for rules in [ScalarRules::Yaml11, ScalarRules::Yaml12] {
                let document = Document::read(&format!("a:{mapping}"), rules);
                let mapping = document.root().unwrap().get("a").unwrap();
                for (_, text) in keys {
                    let found = mapping.get(text).and_then(|value| value.text());
                    assert_eq!(found, Some(&*format!("of {text}.")), "{rules:?}");
                }
                assert!(["Type", "typo", "0x10", "null", "True"].iter().all(|text| mapping.get(text).is_none()));
            }
        }
    }
}
