//! The handoff contracts that the stages of a pipeline name.

use std::sync::Arc;

use super::{
    facts::{ItemFacts, Named},
    paths,
    pipeline::handoff_base,
};
use crate::{
    dialect::ScalarRules,
    document::Document,
    files::{FileKind, Files},
};

/// The contract that a stage names.
pub(crate) struct NamedContract<'f> {
    /// The number of the stage.
    pub(crate) index: usize,
    /// What the stage says.
    pub(crate) stage: &'f ItemFacts,
    /// The name of the contract.
    pub(crate) name: &'f Named,
    /// What the name leads to.
    pub(crate) lead: Lead,
}

/// What the name of a contract leads to.
pub(crate) enum Lead {
    /// It is no path below the root.
    Nowhere,
    /// There is not a file at this path.
    Missing(String),
    /// A file that cannot be read tells its own mistakes.
    Unread,
    /// The contract.
    Found { path: String, bytes: Arc<[u8]>, document: Box<Document> },
}

impl<'f> NamedContract<'f> {
    /// Returns the contract of a stage, if it names one.
    pub(crate) fn of(index: usize, stage: &'f ItemFacts, files: &dyn Files) -> Option<NamedContract<'f>> {
        let name = stage.handoff.as_ref().filter(|handoff| !handoff.name.is_empty() && paths::is_placed(files))?;
        Some(NamedContract { index, stage, name, lead: Lead::of(&name.name, files) })
    }
}

impl Lead {
    fn of(name: &str, files: &dyn Files) -> Lead {
        let base = handoff_base(files.place());
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
