//! The blocks that the meaning of a block depends on: those that its aliases lead to.

use std::hash::{Hash, Hasher};

use rustc_hash::{FxHashSet, FxHasher};

use super::Document;

/// Maximum number of blocks that are followed. A chain of aliases through thousands of blocks would take time that grows with
/// the square of its length.
const MAX_DEPENDENCIES: usize = 256;

impl Document {
    /// Returns a number that changes when the block at a position changes, or a block that one of its aliases leads to.
    pub fn fingerprint_at(&self, position: usize) -> u64 {
        let ids = |numbers: &[usize]| numbers.iter().map(|number| self.blocks[*number].id()).collect::<Vec<_>>();
        let mut hasher = FxHasher::default();
        match self.dependencies_at(position) {
            Some(numbers) => ids(&numbers).hash(&mut hasher),
            // Each block that defines a name counts.
            None => {
                let mut numbers: Vec<usize> = self.index.anchors.values().flatten().copied().collect();
                numbers.sort_unstable();
                numbers.extend(self.around(position));
                ids(&numbers).hash(&mut hasher);
            }
        }
        hasher.finish()
    }

    /// Returns the block at a position, and the blocks that its aliases lead to, directly or through other aliases. `None` if
    /// there are too many.
    fn dependencies_at(&self, position: usize) -> Option<Vec<usize>> {
        let mut found: Vec<usize> = self.around(position).into_iter().collect();
        let mut known = FxHashSet::from_iter(found.iter().copied());
        let mut next = 0;
        while let Some(&number) = found.get(next) {
            next += 1;
            for alias in &self.blocks[number].aliases {
                let leads = self.blocks_that_define(&alias.name, number, alias.at);
                found.extend(leads.filter(|place| known.insert(*place)));
            }
            if found.len() > MAX_DEPENDENCIES {
                return None;
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScalarRules;

    /// Returns the numbers of the blocks that the last item leads to; `None` if there are too many.
    fn dependencies_of_last(text: &str) -> Option<Vec<usize>> {
        let document = Document::read(text, ScalarRules::Yaml12);
        document.dependencies_at(document.text().len_bytes() - 1)
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
        let fingerprints = |document: &Document| -> Vec<u64> {
            document.blocks().map(|(start, _)| document.fingerprint_at(start)).collect()
        };
        let before = fingerprints(&document);
        let at = text.find("1\n").unwrap();
        document.edit(at..at + 1, "2");
        document.refresh();
        assert!(before.iter().zip(fingerprints(&document)).all(|(before, after)| *before != after));
    }
}
