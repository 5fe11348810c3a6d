//! Changes of documents and files, in LSP's form.

use speclens_schema::problem::{Edit, NewFile};
use tower_lsp_server::gen_lsp_types::*;

use super::{convert, world::Snapshot};

pub(super) struct Edited {
    pub uri: Uri,
    /// The version they apply to; `None` if the document is not open.
    pub version: Option<i32>,
    pub edits: Vec<TextEdit>,
}

impl Edited {
    pub(super) fn of(snapshot: &Snapshot, edits: &[Edit]) -> Edited {
        let (document, encoding) = (&snapshot.document, snapshot.abilities.encoding);
        let edits = edits.iter().map(|edit| convert::text_edit(document, encoding, edit)).collect();
        Edited { uri: snapshot.uri.clone(), version: Some(snapshot.version), edits }
    }

    fn operation(self) -> DocumentChange {
        DocumentChange::TextDocumentEdit(TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier {
                version: self.version,
                text_document_identifier: TextDocumentIdentifier { uri: self.uri },
            },
            edits: self.edits.into_iter().map(Into::into).collect(),
        })
    }
}

/// Returns the changes of several documents, with versions if the client supports them: it refuses outdated ones.
pub(super) fn workspace_edit(all: Vec<Edited>, with_versions: bool) -> WorkspaceEdit {
    if with_versions {
        return operations(all.into_iter().map(Edited::operation).collect());
    }
    let changes = all.into_iter().map(|edited| (edited.uri, edited.edits)).collect();
    WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
}

pub(super) fn in_document(snapshot: &Snapshot, edits: &[Edit]) -> WorkspaceEdit {
    workspace_edit(vec![Edited::of(snapshot, edits)], snapshot.abilities.document_changes)
}

/// Returns changes together with new files; `None` if the client cannot create files.
pub(super) fn with_new_files(snapshot: &Snapshot, edits: &[Edit], creates: &[NewFile]) -> Option<WorkspaceEdit> {
    if creates.is_empty() {
        return Some(in_document(snapshot, edits));
    }
    if !snapshot.abilities.creates_files {
        return None;
    }
    let own = (!edits.is_empty()).then(|| Edited::of(snapshot, edits).operation());
    let mut all: Vec<DocumentChange> = own.into_iter().collect();
    for file in creates {
        all.extend(new_file(convert::beside(&snapshot.uri, &file.path)?, &file.text));
    }
    Some(operations(all))
}

/// Returns the operations that create a file with a text. If it exists by then, the client refuses the whole edit.
pub(super) fn new_file(uri: Uri, text: &str) -> Vec<DocumentChange> {
    let create = CreateFile { uri: uri.clone(), options: None, annotation_id: None };
    let edit = TextEdit { range: Range::default(), new_text: text.to_owned() };
    let filled = (!text.is_empty()).then(|| Edited { uri, version: None, edits: vec![edit] }.operation());
    std::iter::once(DocumentChange::CreateFile(create)).chain(filled).collect()
}

pub(super) fn operations(all: Vec<DocumentChange>) -> WorkspaceEdit {
    WorkspaceEdit { document_changes: Some(all), ..WorkspaceEdit::default() }
}
