//! Actions that fix many problems at once. Their edit is computed when one is chosen, if the client
//! supports it: a menu must not cost as much as everything it offers.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use speclens_schema::{analysis::Problems, problem::Code};
use tower_lsp_server::gen_lsp_types::*;

use super::{edits, world::Snapshot};
use crate::ide::actions::{self, Scope};

/// The kind of the action for the whole file.
pub(super) const KIND: &str = "source.fixAll.speclens";

/// The data of an action without an edit.
#[derive(Debug, Serialize, Deserialize)]
struct Data {
    uri: String,
    version: i32,
    /// The kind of problem; `None` for all safe fixes.
    code: Option<String>,
}

/// Whether the client requests actions for the whole file: it names them, or the user opened the menu.
pub(super) fn is_asked_for(params: &CodeActionParams) -> bool {
    params.context.only.is_some() || params.context.trigger_kind != Some(CodeActionTriggerKind::Automatic)
}

/// Maximum size, in bytes, of a text whose edits are computed at once, for clients that cannot resolve them later.
const MAX_EAGER_BYTES: usize = 64 * 1024;

/// Whether the edits of such actions may be computed: later, or at once for a short text, or because the client
/// requests them by name, as when it saves the document.
pub(super) fn is_affordable(snapshot: &Snapshot, params: &CodeActionParams) -> bool {
    let is_named = || {
        let only = serde_json::to_value(&params.context.only).ok();
        only.and_then(|only| Some(only.as_array()?.iter().all(|kind| kind.as_str().is_some_and(is_fix_all))))
    };
    snapshot.abilities.resolves_edits
        || snapshot.document.text().len_bytes() <= MAX_EAGER_BYTES
        || is_named().unwrap_or(false)
}

/// Whether a kind of actions is that for the whole file, or contains no other kind of ours.
fn is_fix_all(kind: &str) -> bool {
    matches!(kind, "source.fixAll" | KIND)
}

/// Returns, for each kind of problem in a range, the action that fixes all problems of the kind.
pub(super) fn of_kinds(snapshot: &Snapshot, problems: &Problems, range: Range<usize>) -> Vec<CodeActionResponse> {
    let workspace = snapshot.workspace();
    let look = |document: &_| snapshot.problems_of(document, &workspace);
    let kinds = actions::kinds(&snapshot.document, problems, &look, range).into_iter();
    kinds.map(|(scope, title)| action(snapshot, scope, title, CodeActionKind::QuickFix)).collect()
}

/// Returns the action that applies every safe fix.
pub(super) fn of_file(snapshot: &Snapshot, problems: &Problems) -> Option<CodeActionResponse> {
    let (scope, title) = actions::safe(problems)?;
    Some(action(snapshot, scope, title, CodeActionKind::Custom(KIND.into())))
}

fn action(snapshot: &Snapshot, scope: Scope, title: String, kind: CodeActionKind) -> CodeActionResponse {
    let mut action = CodeAction { title, kind: Some(kind), ..CodeAction::default() };
    if snapshot.abilities.resolves_edits {
        let code = match scope {
            Scope::Kind(code) => Some(code.as_str().to_owned()),
            Scope::Safe => None,
        };
        let data = Data { uri: snapshot.uri.0.clone(), version: snapshot.version, code };
        action.data = serde_json::to_value(data).ok();
    } else {
        action.edit = Some(edit(snapshot, scope));
    }
    CodeActionResponse::CodeAction(action)
}

fn edit(snapshot: &Snapshot, scope: Scope) -> WorkspaceEdit {
    let document = &snapshot.document;
    let workspace = snapshot.workspace();
    let look = |document: &_| snapshot.problems_of(document, &workspace).to_vec(document);
    let edits = actions::fix_all(document, &look, scope);
    edits::in_document(snapshot, &edits)
}

fn data_of(action: &CodeAction) -> Option<Data> {
    serde_json::from_value(action.data.clone()?).ok()
}

/// Returns the document of an action without an edit.
pub(super) fn document_of(action: &CodeAction) -> Option<Uri> {
    data_of(action).map(|data| Uri(data.uri))
}

/// Returns the action with its edit; `None` if the text has changed since the action was created.
pub(super) fn resolve(snapshot: &Snapshot, mut action: CodeAction) -> Option<CodeAction> {
    let data = data_of(&action).filter(|data| data.version == snapshot.version)?;
    let scope = match &data.code {
        Some(code) => Scope::Kind(Code::parse(code)?),
        None => Scope::Safe,
    };
    action.edit = Some(edit(snapshot, scope));
    Some(action)
}
