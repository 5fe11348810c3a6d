//! Diagnostics of files that are not open, caused by an open document: its settings, and the files with
//! tests of its suite.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::PoisonError,
};

use tower_lsp_server::gen_lsp_types as lsp;

use super::{convert, session::Session};

/// Published diagnostics by the path of the file.
pub(super) type Published = BTreeMap<PathBuf, Entry>;

/// The published diagnostics of one file.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// The open documents that caused them.
    documents: BTreeSet<String>,
    diagnostics: Vec<lsp::Diagnostic>,
}

/// Publishes diagnostics of other files because of a document, and removes those that it no longer causes.
/// An open file has its own. Runs on the analysis thread only, so the last published state is the last known
/// state.
pub(super) fn publish(session: &Session, uri: &str, files: Vec<(PathBuf, Vec<lsp::Diagnostic>)>) {
    let mut changed: Vec<(PathBuf, Vec<lsp::Diagnostic>)> = Vec::new();
    {
        let mut published = session.published_elsewhere.lock().unwrap_or_else(PoisonError::into_inner);
        published.retain(|path, entry| {
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
            let entry = published.entry(path.clone()).or_default();
            entry.documents.insert(uri.to_owned());
            if entry.diagnostics != diagnostics {
                entry.diagnostics.clone_from(&diagnostics);
                changed.push((path, diagnostics));
            }
        }
    }
    for (path, diagnostics) in changed.into_iter().filter(|(path, _)| !session.is_ours(path)) {
        let Some(address) = convert::uri(&path) else { continue };
        session.publish(address, diagnostics, None);
    }
}
