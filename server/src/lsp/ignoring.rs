//! Actions that suppress a kind of problem: on a line, in a file, or in the workspace through `speclens.yaml`.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use ropey::Rope;
use speclens_runner::files::Buffers as _;
use speclens_schema::{
    analysis::Problems,
    document::Lines,
    problem::{Code, Edit},
};
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    convert,
    edits::{self, Edited},
    world::Snapshot,
};
use crate::{
    ide::{actions, ignore},
    workspace::SETTINGS_FILE,
};

/// Returns the actions for the problems that touch a range.
pub(super) fn actions(snapshot: &Snapshot, problems: &Problems, range: Range<usize>) -> Vec<lsp::CodeActionResponse> {
    if snapshot.place.file.is_settings() {
        // They have no such comments, and cannot switch off their own problems.
        return Vec::new();
    }
    let ranges = convert::Ranges::new(&snapshot.document, snapshot.abilities.encoding);
    let converter = convert::Converter { ranges, uri: &snapshot.uri, directory: &snapshot.place.directory };
    let mut found = Vec::new();
    for (code, problem) in actions::silenceable(problems, range) {
        let word = code.as_str();
        let own = |edits: Vec<Edit>| edits::in_document(snapshot, &edits);
        let here = ignore::here(&snapshot.document, code, problem.range.start).map(own);
        let in_file = ignore::in_file(&snapshot.document, code).map(own);
        let ways = [
            (format!("Ignore `{word}` here"), here),
            (format!("Ignore `{word}` in this file"), in_file),
            (format!("Ignore `{word}` in this workspace"), in_workspace(snapshot, code)),
        ];
        let solved = vec![converter.diagnostic(problem)];
        for (title, edit) in ways.into_iter().filter_map(|(title, edit)| Some((title, edit?))) {
            found.push(lsp::CodeActionResponse::CodeAction(lsp::CodeAction {
                title,
                kind: Some(lsp::CodeActionKind::QuickFix),
                diagnostics: Some(solved.clone()),
                edit: Some(edit),
                ..lsp::CodeAction::default()
            }));
        }
    }
    found
}

/// Returns the edit of the settings in force, or of new ones at the root of the workspace.
fn in_workspace(snapshot: &Snapshot, code: Code) -> Option<lsp::WorkspaceEdit> {
    let path = snapshot.place.path.as_deref()?;
    let file = snapshot.workspace().file;
    let is_new = file.is_none();
    let file = match file {
        Some(file) => file.path.clone(),
        None => root_of(snapshot, path).join(SETTINGS_FILE),
    };
    if file.file_name().is_none_or(|name| name != SETTINGS_FILE) {
        // A file with that name is not read.
        return None;
    }
    let text = match (is_new, snapshot.world.buffers.text(&file)) {
        (_, Some(text)) => text,
        (true, None) => String::new(),
        (false, None) => std::fs::read_to_string(&file).ok()?,
    };
    if is_new && !snapshot.abilities.creates_files {
        return None;
    }
    let edit = ignore::in_settings(&text, code)?;
    let uri = convert::uri(&file)?;
    if is_new {
        return Some(edits::operations(edits::new_file(uri, &edit.text)));
    }
    let places = Lines::new(&Rope::from_str(&text), snapshot.abilities.encoding).places(edit.range);
    let range = lsp::Range { start: convert::position(places.start), end: convert::position(places.end) };
    let edits = vec![lsp::TextEdit { range, new_text: edit.text }];
    let edited = Edited { uri, version: None, edits };
    Some(edits::workspace_edit(vec![edited], snapshot.abilities.document_changes))
}

/// Returns the directory for new settings: the folder of a file; the top of its workspace if settings in the folder
/// would not be read, or if there is no folder.
fn root_of(snapshot: &Snapshot, path: &Path) -> PathBuf {
    let own = || path.parent().unwrap_or(path).to_owned();
    let Some(reach) = &snapshot.place.settings else { return own() };
    let folder = snapshot.world.scopes.folders().into_iter().find(|folder| path.starts_with(folder));
    folder.filter(|folder| folder.starts_with(reach.top())).unwrap_or_else(|| reach.top().to_owned())
}
