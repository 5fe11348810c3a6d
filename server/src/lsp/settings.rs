//! Problems of settings, as far as they concern the documents they apply to.

use std::path::PathBuf;

use speclens_schema::{document::Document, verdict::Status};
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    convert, limit,
    session::{Session, Snapshot},
};
use crate::{
    ide::run_problems::RunProblem,
    job,
    workspace::{SettingsFile, Workspace},
};

/// Returns the problems in the settings of a document, unless they are open.
pub(super) fn wrong(
    session: &Session,
    snapshot: &Snapshot,
    workspace: &Workspace,
) -> Option<(PathBuf, Vec<lsp::Diagnostic>)> {
    let is_wrong = |file: &&SettingsFile| !file.problems.is_empty() && !session.is_ours(&file.path);
    let file = workspace.file.as_deref().filter(is_wrong)?;
    let address = convert::uri(&file.path)?;
    let ranges = convert::Ranges::new(&file.document, snapshot.abilities.encoding);
    let converter = convert::Converter { ranges, uri: &address, directory: &snapshot.place.directory };
    let shown = limit::chosen(&file.problems, 0, |problem| (problem.severity, problem.range.clone()));
    let mut found: Vec<_> = shown.iter().map(|problem| converter.diagnostic(problem)).collect();
    found.extend(convert::left_out(file.problems.len() - shown.len(), convert::SOURCE, "speclens check"));
    Some((file.path.clone(), found))
}

/// Returns the problem of a suite that does not run because of its settings, at its first key.
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
