//! The blocks that the meaning of a block depends on: those that its aliases lead to.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use super::{Document, marks::Mark};

/// Maximum number of blocks that are listed. A chain of aliases through thousands of blocks would take memory
/// that grows with the square of its length.
const MAX_DEPENDENCIES: usize = 256;

/// A block, and the blocks that its aliases lead to, directly or through other aliases.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Dependencies {
    /// The ids of the blocks.
    These(Box<[u64]>),
    /// Too many blocks: each block that defines a name counts.
    Any {
        /// The id of the block itself.
        block: u64,
        /// A number that changes with the blocks that define names.
        definitions: u64,
    },
}

impl Document {
    /// Returns a number that changes when the block at a position changes, or a block that one of its aliases leads to.
    pub fn fingerprint_at(&self, position: usize) -> u64 {
        let mut hasher = FxHasher::default();
        self.dependencies_at(position).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the block at a position, and the blocks that its aliases lead to.
    pub fn dependencies_at(&self, position: usize) -> Dependencies {
        let first = self.blocks.around(position).unwrap_or_default();
        let mut found = vec![first];
        let mut known = FxHashSet::from_iter([first]);
        let mut next = 0;
        while let Some(&number) = found.get(next) {
            next += 1;
            let Some(slot) = self.blocks.get(number).filter(|slot| slot.marks.has(Mark::Alias)) else { continue };
            for alias in &slot.block.aliases {
                found.extend(
                    self.blocks_that_define(&alias.name, number, alias.at).filter(|place| known.insert(*place)),
                );
            }
            if found.len() > MAX_DEPENDENCIES {
                let definitions = self.index.definitions.fingerprint();
                return Dependencies::Any { block: self.blocks[first].id, definitions };
            }
        }
        Dependencies::These(found.iter().filter_map(|number| Some(self.blocks.get(*number)?.id)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScalarRules;

    /// Returns the numbers of the blocks that the last item leads to; `None` if there are too many.
    fn dependencies_of_last(text: &str) -> Option<Vec<usize>> {
        let document = Document::read(text, ScalarRules::Yaml12);
        match document.dependencies_at(document.text().len_bytes() - 1) {
            Dependencies::These(ids) => Some(ids.iter().map(|id| place_of(&document, *id)).collect()),
            Dependencies::Any { .. } => None,
        }
    }

    fn place_of(document: &Document, id: u64) -> usize {
        document.blocks().position(|(_, block)| block.id() == id).unwrap()
    }

    #[test]
    fn aliases_lead_to_the_last_definition_before_them() {
        for line_end in ["\n", "\r\n"] {
            let dependencies = |lines: &[&str]| dependencies_of_last(&format!("{}{line_end}", lines.join(line_end)));
            assert_eq!(dependencies(&["- &a 1", "- &a 2", "- *a"]), Some(vec![2, 1]));
            assert_eq!(dependencies(&["- &a 1", "- [&a 2, *a]"]), Some(vec![1]));
            assert_eq!(dependencies(&["- &a 1", "- [*a, &a 2]"]), Some(vec![1, 0]));
            assert_eq!(dependencies(&["- &a 1", "- &a [*a]"]), Some(vec![1, 0]));
            assert_eq!(dependencies(&["- &a 1", "- &b [*a]", "- &c 3", "- [*b, *b]"]), Some(vec![3, 1, 0]));
            assert_eq!(dependencies(&["- *a", "- &a 1"]), Some(vec![1]));
        }
    }

    #[test]
    fn long_chain_of_aliases_leads_to_every_definition() {
        let chain = |count: usize| -> String {
            (1..count).fold("- &a0 1\n".to_owned(), |text, item| text + &format!("- &a{item} [*a{}]\n", item - 1))
        };
        assert_eq!(
            dependencies_of_last(&chain(MAX_DEPENDENCIES)).map(|dependencies| dependencies.len()),
            Some(MAX_DEPENDENCIES)
        );
        assert_eq!(dependencies_of_last(&chain(MAX_DEPENDENCIES + 2)), None);
        let text = chain(2_000);
        let mut document = Document::read(&text, ScalarRules::Yaml12);
        let before: Vec<Dependencies> = document.blocks().map(|(start, _)| document.dependencies_at(start)).collect();
        let definitions = document.definitions();
        let at = text.find("1\n").unwrap();
        document.edit(at..at + 1, "2");
        document.refresh();
        let gone = document.definitions().gone_since(&definitions).unwrap();
        let after = document.blocks().map(|(start, _)| document.dependencies_at(start));
        let leads_to_gone = |before: &Dependencies| match before {
            Dependencies::These(ids) => ids.iter().any(|id| gone.contains(id)),
            Dependencies::Any { .. } => !gone.is_empty(),
        };
        assert!(before.iter().zip(after).all(|(before, after)| *before != after && leads_to_gone(before)));
    }
}
