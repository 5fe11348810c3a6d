//! The handoff contracts that the stages of a pipeline name.

use std::sync::Arc;

use super::{facts::ItemFacts, ledger_contracts::joined, paths};
use crate::{
    dialect::ScalarRules,
    document::Document,
    files::{self, FileKind, Files},
    relations::Named,
};

/// Contract of a stage.
pub(crate) struct NamedContract<'f> {
    /// Index of the stage.
    pub(crate) index: usize,
    /// Facts of the stage.
    pub(crate) stage: &'f ItemFacts,
    /// Name of the contract.
    pub(crate) name: &'f Named,
    /// Result of looking up the name.
    pub(crate) lookup: ContractLookup,
}

/// Result of looking up the name of a contract.
pub(crate) enum ContractLookup {
    /// Not a path below the root.
    Nowhere,
    /// No file at this path.
    Missing(String),
    /// A file that cannot be read; its own check reports why.
    Unread,
    /// The contract.
    Found { path: String, bytes: Arc<[u8]>, document: Box<Document> },
}

impl<'f> NamedContract<'f> {
    /// Returns the contract of a stage, if it has one.
    pub(crate) fn of(index: usize, stage: &'f ItemFacts, files: &dyn Files) -> Option<NamedContract<'f>> {
        let name = stage.handoff.as_ref().filter(|handoff| !handoff.name.is_empty() && paths::is_placed(files))?;
        Some(NamedContract { index, stage, name, lookup: ContractLookup::of(&name.name, files) })
    }
}

impl ContractLookup {
    fn of(name: &str, files: &dyn Files) -> ContractLookup {
        let base = files::above(files.place(), "tests");
        let Some(path) = joined(base, name) else { return ContractLookup::Nowhere };
        if files.kind(&path) != Some(FileKind::File) {
            return ContractLookup::Missing(path);
        }
        let Ok(bytes) = files.read(&path) else { return ContractLookup::Unread };
        let Ok(text) = std::str::from_utf8(&bytes) else { return ContractLookup::Unread };
        let document = Document::read(text, ScalarRules::Yaml11);
        if document.is_intact() {
            ContractLookup::Found { path, bytes, document: Box::new(document) }
        } else {
            ContractLookup::Unread
        }
    }
}
