//! The scenario contracts that a coverage ledger names.

use std::collections::HashMap;

use super::paths;
use crate::{
    document::{Document, NodeRef},
    files::{self, Files},
    lint_node::LintNode,
};

/// Returns the entries of a ledger.
pub(crate) fn entries<'d>(root: &LintNode<'d>) -> Vec<LintNode<'d>> {
    let waves = root.get("waves").filter(LintNode::is_mapping).map(|waves| waves.entries()).unwrap_or_default();
    waves.iter().filter_map(|(_, wave)| wave.get("items")).flat_map(|items| items.items()).collect()
}

/// Returns the directory that paths are relative to: the ledger's, or the one two levels above `docs/testing`.
pub(crate) fn base(place: &str) -> &str {
    files::above(place, "docs/testing")
}

/// Returns the scenario contract of an entry, relative to the root, for a ledger at `place`.
pub(crate) fn contract_of(item: NodeRef<'_>, place: &str) -> Option<String> {
    joined(base(place), item.get("contracts")?.get("scenario_file")?.text()?)
}

/// Returns a path in a ledger, relative to the root of the workspace.
pub(crate) fn joined(base: &str, path: &str) -> Option<String> {
    paths::below_root(&if base.is_empty() { path.to_owned() } else { format!("{base}/{path}") })
}

/// Scenario contracts that the ledger names. Thousands of entries may name the same contract: each is read once.
pub(crate) struct Contracts<'f> {
    base: &'f str,
    files: &'f dyn Files,
    /// Whether a scenario of each has the tag `negative`; `None` for a file without a list of scenarios.
    read: HashMap<String, Option<bool>>,
}

impl<'f> Contracts<'f> {
    /// Creates the contracts for paths relative to a directory.
    pub(crate) fn new(base: &'f str, files: &'f dyn Files) -> Contracts<'f> {
        Contracts { base, files, read: HashMap::new() }
    }

    /// Returns whether a scenario of an entry's contract has the tag `negative`; `None` if it has no list of scenarios.
    pub(crate) fn have_negative(&mut self, contracts: Option<&LintNode<'_>>) -> Option<bool> {
        let path = joined(self.base, contracts?.get("scenario_file")?.text()?)?;
        let files = self.files;
        *self.read.entry(path).or_insert_with_key(|path| has_negative(&paths::document_at(path, files)?))
    }
}

/// Returns whether a scenario of a contract has the tag `negative`; `None` if it has no list of scenarios.
pub(crate) fn has_negative(document: &Document) -> Option<bool> {
    let list = document.root()?.get("scenarios")?;
    let is_negative = |scenario: NodeRef<'_>| {
        scenario.get("tags").is_some_and(|tags| tags.items().any(|tag| tag.as_str() == Some("negative")))
    };
    Some(list.items().any(is_negative))
}
