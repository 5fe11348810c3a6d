//! The handoff contracts that the stages of a pipeline name.

use std::sync::Arc;

use super::{facts::ItemFacts, paths};
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
    pub(crate) lead: Lead,
}

/// Result of looking up the name of a contract.
pub(crate) enum Lead {
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
        Some(NamedContract { index, stage, name, lead: Lead::of(&name.name, files) })
    }
}

impl Lead {
    fn of(name: &str, files: &dyn Files) -> Lead {
        let base = files::above(files.place(), "tests");
        let joined = if base.is_empty() { name.to_owned() } else { format!("{base}/{name}") };
        let Some(path) = paths::below_root(&joined) else { return Lead::Nowhere };
        if files.kind(&path) != Some(FileKind::File) {
            return Lead::Missing(path);
        }
        let Ok(bytes) = files.read(&path) else { return Lead::Unread };
        let Ok(text) = std::str::from_utf8(&bytes) else { return Lead::Unread };
        let document = Document::read(text, ScalarRules::Yaml11);
        if document.is_intact() { Lead::Found { path, bytes, document: Box::new(document) } } else { Lead::Unread }
    }
}
