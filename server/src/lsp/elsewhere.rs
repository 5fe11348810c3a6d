//! What is told of files that nobody has open, because of an open document: the settings that it is under, the files that
//! hold tests of its suite.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::PoisonError,
};

use tokio::runtime::Handle;
use tower_lsp_server::gen_lsp_types as lsp;

use super::{convert, session::Session};

/// What was told, by the path of the file.
pub(super) type Told = BTreeMap<PathBuf, Entry>;

/// What was told of one file.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// The open documents because of which it was told.
    documents: BTreeSet<String>,
    diagnostics: Vec<lsp::Diagnostic>,
}

/// Tells of other files because of a document, and takes back what was told because of it before and is not so any more.
/// A file that is open tells about itself. Runs on the thread of the analysis only, so what is told last is what is known
/// last.
pub(super) fn tell(session: &Session, runtime: &Handle, uri: &str, files: Vec<(PathBuf, Vec<lsp::Diagnostic>)>) {
    let mut changed: Vec<(PathBuf, Vec<lsp::Diagnostic>)> = Vec::new();
    {
        let mut told = session.told_elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        told.retain(|path, entry| {
            if !files.iter().any(|(stays, _)| stays == path) {
                entry.documents.remove(uri);
            }
            let keep = !entry.documents.is_empty();
            if !keep {
                changed.push((path.clone(), Vec::new()));
            }
            keep
        });
        for (path, diagnostics) in files {
            let entry = told.entry(path.clone()).or_default();
            entry.documents.insert(uri.to_owned());
            if entry.diagnostics != diagnostics {
                entry.diagnostics.clone_from(&diagnostics);
                changed.push((path, diagnostics));
            }
        }
    }
    for (path, diagnostics) in changed.into_iter().filter(|(path, _)| !session.is_ours(path)) {
        let Some(address) = convert::uri(&path) else { continue };
        runtime.block_on(session.client.publish_diagnostics(address, diagnostics, None));
    }
}
