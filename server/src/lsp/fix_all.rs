//! Actions that put many problems right at once. Their edit is worked out when one is chosen, where the client
//! can wait for it: a menu must not cost as much as all that it offers.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use speclens_schema::problem::{Code, Edit, NewFile, Problem};
use tower_lsp_server::gen_lsp_types::*;

use super::{convert, session::Snapshot};
use crate::ide::actions::{self, Scope};

/// The kind of the action for the whole file.
pub(super) const KIND: &str = "source.fixAll.speclens";

/// What an action without an edit remembers.
#[derive(Debug, Serialize, Deserialize)]
struct Data {
    uri: String,
    version: i32,
    /// The kind of problem; nothing for all that is safe.
    code: Option<String>,
}

/// Whether the client wants actions for the whole file: it names them, or a person opened the menu.
pub(super) fn is_asked_for(params: &CodeActionParams) -> bool {
    params.context.only.is_some() || params.context.trigger_kind != Some(CodeActionTriggerKind::Automatic)
}

/// Bytes of a text whose edits are worked out at once, where the client asks for no edit when an action is chosen.
const MAX_EAGER_BYTES: usize = 64 * 1024;

/// Whether the edits of such actions may be worked out: later, or at once for a short text, or because they are what
/// the client asks for by name, as when it saves the document.
pub(super) fn is_affordable(snapshot: &Snapshot, params: &CodeActionParams) -> bool {
    let is_named = || {
        let only = serde_json::to_value(&params.context.only).ok();
        only.and_then(|only| Some(only.as_array()?.iter().all(|kind| kind.as_str().is_some_and(is_fix_all))))
    };
    snapshot.abilities.resolves_edits
        || snapshot.document.text().len_bytes() <= MAX_EAGER_BYTES
        || is_named().unwrap_or(false)
}

/// Whether a kind of actions is that for the whole file, or holds nothing else of ours.
fn is_fix_all(kind: &str) -> bool {
    matches!(kind, "source.fixAll" | KIND)
}

/// For each kind of problem in a range, the action that puts right all of its kind.
pub(super) fn of_kinds(
    snapshot: &Snapshot,
    uri: &Uri,
    problems: &[Problem],
    range: Range<usize>,
) -> Vec<CodeActionResponse> {
    let kinds = actions::kinds(problems, range).into_iter();
    kinds.map(|(scope, title)| action(snapshot, uri, scope, title, CodeActionKind::QuickFix)).collect()
}

/// The action that applies every safe fix.
pub(super) fn of_file(snapshot: &Snapshot, uri: &Uri, problems: &[Problem]) -> Option<CodeActionResponse> {
    let (scope, title) = actions::safe(problems)?;
    Some(action(snapshot, uri, scope, title, CodeActionKind::Custom(KIND.into())))
}

fn action(snapshot: &Snapshot, uri: &Uri, scope: Scope, title: String, kind: CodeActionKind) -> CodeActionResponse {
    let mut action = CodeAction { title, kind: Some(kind), ..CodeAction::default() };
    if snapshot.abilities.resolves_edits {
        let code = match scope {
            Scope::Kind(code) => Some(code.as_str().to_owned()),
            Scope::Safe => None,
        };
        let data = Data { uri: uri.0.clone(), version: snapshot.version, code };
        action.data = serde_json::to_value(data).ok();
    } else {
        action.edit = Some(edit(snapshot, uri, scope));
    }
    CodeActionResponse::CodeAction(action)
}

fn edit(snapshot: &Snapshot, uri: &Uri, scope: Scope) -> WorkspaceEdit {
    let document = &snapshot.document;
    let workspace = snapshot.workspace();
    let look = |document: &_| super::problems_of(snapshot, document, &workspace);
    let edits = actions::fix_all(document, &look, scope);
    changes(snapshot, uri, &edits)
}

/// The edit of one text, and of the files that come into being with it; nothing where the client cannot create files.
pub(super) fn workspace_edit(
    snapshot: &Snapshot,
    uri: &Uri,
    edits: &[Edit],
    creates: &[NewFile],
) -> Option<WorkspaceEdit> {
    if creates.is_empty() {
        return Some(changes(snapshot, uri, edits));
    }
    if !snapshot.abilities.creates_files {
        return None;
    }
    let (document, encoding) = (&snapshot.document, snapshot.abilities.encoding);
    let mut operations = Vec::new();
    if !edits.is_empty() {
        let edits = edits.iter().map(|edit| convert::text_edit(document, encoding, edit)).collect();
        operations.push(in_document(uri.clone(), Some(snapshot.version), edits));
    }
    for file in creates {
        let new = convert::beside(uri, &file.path)?;
        // Neither option: where a file has come into being meanwhile, the client refuses the edit.
        operations.push(DocumentChange::CreateFile(CreateFile {
            uri: new.clone(),
            options: None,
            annotation_id: None,
        }));
        if !file.text.is_empty() {
            let edit =
                TextEdit { range: tower_lsp_server::gen_lsp_types::Range::default(), new_text: file.text.clone() };
            operations.push(in_document(new, None, vec![edit]));
        }
    }
    Some(WorkspaceEdit { document_changes: Some(operations), ..WorkspaceEdit::default() })
}

fn changes(snapshot: &Snapshot, uri: &Uri, edits: &[Edit]) -> WorkspaceEdit {
    let (document, encoding) = (&snapshot.document, snapshot.abilities.encoding);
    let edits = edits.iter().map(|edit| convert::text_edit(document, encoding, edit)).collect();
    WorkspaceEdit { changes: Some([(uri.clone(), edits)].into()), ..WorkspaceEdit::default() }
}

fn in_document(uri: Uri, version: Option<i32>, edits: Vec<TextEdit>) -> DocumentChange {
    DocumentChange::TextDocumentEdit(TextDocumentEdit {
        text_document: OptionalVersionedTextDocumentIdentifier {
            text_document_identifier: TextDocumentIdentifier { uri },
            version,
        },
        edits: edits.into_iter().map(Into::into).collect(),
    })
}

fn data_of(action: &CodeAction) -> Option<Data> {
    serde_json::from_value(action.data.clone()?).ok()
}

/// The document that an action without an edit is about.
pub(super) fn document_of(action: &CodeAction) -> Option<Uri> {
    data_of(action).map(|data| Uri(data.uri))
}

/// The action with its edit; nothing where the text is no longer the one that it was made for.
pub(super) fn resolve(snapshot: &Snapshot, mut action: CodeAction) -> Option<CodeAction> {
    let data = data_of(&action).filter(|data| data.version == snapshot.version)?;
    let scope = match &data.code {
        Some(code) => Scope::Kind(Code::parse(code)?),
        None => Scope::Safe,
    };
    action.edit = Some(edit(snapshot, &Uri(data.uri), scope));
    Some(action)
}
