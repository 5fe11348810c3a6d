//! Diagnostics of files that are not open, because of an open document: the settings that it is under, the files that
//! hold tests of its suite.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::PoisonError,
};

use tower_lsp_server::gen_lsp_types as lsp;

use super::{convert, diagnostics::List, session::Session};

/// What was published, by the path of the file.
pub(super) type Published = BTreeMap<PathBuf, Entry>;

/// What was published of one file.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// The open documents because of which it was published.
    documents: BTreeSet<String>,
    diagnostics: Vec<lsp::Diagnostic>,
}

/// Publishes diagnostics of other files because of a document, and removes those that it no longer causes.
/// A file that is open has its own. Runs on the thread of the analysis only, so what is published last is what is known
/// last.
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
        let mut list = List::new();
        list.extend(&diagnostics);
        session.publish(&address, list, None);
    }
}
