//! The scenario contracts that a coverage ledger names.

use std::collections::HashMap;

use super::paths;
use crate::{
    dialect::ScalarRules,
    document::{Document, NodeRef},
    files::Files,
    spot::Spot,
    words::Search,
};

/// Returns the entries of a ledger.
pub(crate) fn entries<'d>(root: &Spot<'d>) -> Vec<Spot<'d>> {
    let waves = root.get("waves").filter(Spot::is_mapping).map(|waves| waves.entries()).unwrap_or_default();
    waves.iter().filter_map(|(_, wave)| wave.get("items")).flat_map(|items| items.items()).collect()
}

/// Returns the directory that paths begin in: the ledger's, or two levels above `docs/testing`.
pub(crate) fn base(place: &str) -> &str {
    let directory = place.rsplit_once('/').map_or("", |(directory, _)| directory);
    match directory {
        "docs/testing" => "",
        directory => directory.strip_suffix("/docs/testing").unwrap_or(directory),
    }
}

/// Returns the scenario contract of an entry, from the root, in a ledger at `place`.
pub(crate) fn contract_of(item: NodeRef<'_>, place: &str) -> Option<String> {
    joined(base(place), item.get("contracts")?.get("scenario_file")?.text()?)
}

/// Returns a path of a ledger, from the root of the workspace.
pub(crate) fn joined(base: &str, path: &str) -> Option<String> {
    paths::below_root(&if base.is_empty() { path.to_owned() } else { format!("{base}/{path}") })
}

/// The scenario contracts that the ledger names. Thousands of its entries may name the same one: each is read once.
pub(crate) struct Contracts<'f> {
    base: &'f str,
    files: &'f dyn Files,
    read: HashMap<String, Option<Contract>>,
}

/// What the ledger asks of a contract.
pub(crate) struct Contract {
    /// Whether a scenario is tagged `negative`.
    pub(crate) has_negative: bool,
    /// The names of its scenarios.
    pub(crate) names: Vec<String>,
    /// Finds the nearest of them.
    pub(crate) search: Search,
}

impl<'f> Contracts<'f> {
    /// Those below a directory.
    pub(crate) fn new(base: &'f str, files: &'f dyn Files) -> Contracts<'f> {
        Contracts { base, files, read: HashMap::new() }
    }

    /// Returns the contract of an entry; `None` if it has no list of scenarios.
    pub(crate) fn of(&mut self, contracts: Option<&Spot<'_>>) -> Option<&mut Contract> {
        let path = joined(self.base, contracts?.get("scenario_file")?.text()?)?;
        let files = self.files;
        self.read.entry(path).or_insert_with_key(|path| Contract::read(&files.read(path).ok()?)).as_mut()
    }
}

impl Contract {
    fn read(bytes: &[u8]) -> Option<Contract> {
        let document = Document::read(std::str::from_utf8(bytes).ok()?, ScalarRules::Yaml11);
        let list = document.root()?.get("scenarios")?;
        let is_negative = |scenario: NodeRef<'_>| {
            scenario.get("tags").is_some_and(|tags| tags.items().any(|tag| tag.as_str() == Some("negative")))
        };
        let names = list.items().filter_map(|scenario| scenario.get("name")?.as_str()).map(str::to_owned).collect();
        Some(Contract { has_negative: list.items().any(is_negative), names, search: Search::default() })
    }
}
