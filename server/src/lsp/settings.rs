//! Problems of settings that nobody has open: they are told for the file of settings, for as long as an open document is
//! under them.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::PoisonError,
};

use speclens_schema::{document::Document, verdict::Status};
use tokio::runtime::Handle;
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    convert,
    session::{Session, Snapshot},
};
use crate::{
    ide::run_problems::RunProblem,
    job,
    workspace::{SettingsFile, Workspace},
};

/// What was told, by the path of the settings.
pub(super) type Told = BTreeMap<PathBuf, Entry>;

/// What was told of one file.
#[derive(Debug, Default)]
pub(super) struct Entry {
    /// The open documents that are under these settings.
    documents: BTreeSet<String>,
    diagnostics: Vec<lsp::Diagnostic>,
}

/// Tells what is wrong with the settings that an open document is under. Runs on the thread of the analysis only, so
/// what is told last is what is known last.
pub(super) fn tell(session: &Session, runtime: &Handle, uri: &str, snapshot: &Snapshot, workspace: &Workspace) {
    let wrong = workspace.file.as_ref().filter(|file| !file.problems.is_empty() && !session.is_ours(&file.path));
    leave(session, runtime, uri, wrong.map(|file| file.path.as_path()));
    let Some((file, address)) = wrong.and_then(|file| Some((file, convert::uri(&file.path)?))) else { return };
    let encoding = snapshot.abilities.encoding;
    let diagnostics = convert::diagnostics(&file.document, encoding, &address, &file.problems, 0);
    let is_new = {
        let mut told = session.told_settings.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = told.entry(file.path.clone()).or_default();
        entry.documents.insert(uri.to_owned());
        let is_new = entry.diagnostics != diagnostics;
        entry.diagnostics.clone_from(&diagnostics);
        is_new
    };
    if is_new {
        runtime.block_on(session.client.publish_diagnostics(address, diagnostics, None));
    }
}

/// A document is under these settings and no others, or is closed. What was told of settings that no document is under
/// is taken back.
pub(super) fn leave(session: &Session, runtime: &Handle, uri: &str, stays: Option<&Path>) {
    let mut gone = Vec::new();
    session.told_settings.lock().unwrap_or_else(PoisonError::into_inner).retain(|path, entry| {
        if stays != Some(path) {
            entry.documents.remove(uri);
        }
        let keep = !entry.documents.is_empty();
        if !keep {
            gone.push(path.clone());
        }
        keep
    });
    // An open document tells about itself.
    for address in gone.iter().filter(|path| !session.is_ours(path)).filter_map(|path| convert::uri(path)) {
        runtime.block_on(session.client.publish_diagnostics(address, Vec::new(), None));
    }
}

/// The problem of a suite that does not run because of its settings, at its first key.
pub(super) fn refusal(document: &Document, file: &SettingsFile) -> RunProblem {
    let first = document.root().and_then(|root| Some(root.entries().next()?.key.range()));
    RunProblem {
        range: first.unwrap_or(0..0),
        code: None,
        message: job::settings_sentence(file),
        status: Status::Error,
        related: Vec::new(),
    }
}
