//! Ways through a document, from our terms into LSP's: where names come from and are used, what a path
//! leads to, what a selection grows to.

use std::ops::Range as Bytes;

use speclens_schema::files::Files;
use tower_lsp_server::gen_lsp_types::*;

use super::{convert, features, session::Snapshot};
use crate::ide::{
    links,
    occurrences::{self, NameKind, Occurrences},
    rename, selection,
    symbols::{self, Symbol},
    values::Values,
};

/// As many symbols of the workspace are answered: nobody reads more.
const SYMBOL_LIMIT: usize = 1000;

fn range(snapshot: &Snapshot, bytes: Bytes<usize>) -> Range {
    convert::range(&snapshot.document, snapshot.abilities.encoding, bytes)
}

fn offset(snapshot: &Snapshot, position: Position) -> usize {
    convert::offset(&snapshot.document, snapshot.abilities.encoding, position)
}

fn found(snapshot: &Snapshot, position: Position) -> Option<Occurrences> {
    occurrences::find(&snapshot.document, snapshot.place.file, offset(snapshot, position))
}

/// Where the name at a place comes from; the file that a path leads to.
pub(super) fn definition(snapshot: &Snapshot, uri: &Uri, position: Position) -> Vec<Location> {
    let Some(found) = found(snapshot, position) else {
        let at = offset(snapshot, position);
        let under = links(snapshot).into_iter().filter(|link| {
            let start = convert::offset(&snapshot.document, snapshot.abilities.encoding, link.range.start);
            let end = convert::offset(&snapshot.document, snapshot.abilities.encoding, link.range.end);
            start <= at && at <= end
        });
        return under.filter_map(|link| Some(Location { uri: link.target?, range: Range::default() })).collect();
    };
    let definitions = found.places.into_iter().filter(|place| place.is_definition);
    definitions.map(|place| Location { uri: uri.clone(), range: range(snapshot, place.range) }).collect()
}

/// Where the name at a place is used.
pub(super) fn references(snapshot: &Snapshot, uri: &Uri, position: Position, definitions: bool) -> Vec<Location> {
    let places = found(snapshot, position).into_iter().flat_map(|found| found.places);
    let places = places.filter(|place| definitions || !place.is_definition);
    places.map(|place| Location { uri: uri.clone(), range: range(snapshot, place.range) }).collect()
}

/// The same, shown in the text.
pub(super) fn highlights(snapshot: &Snapshot, position: Position) -> Vec<DocumentHighlight> {
    let places = found(snapshot, position).into_iter().flat_map(|found| found.places);
    let kind = |is_definition| match is_definition {
        true => DocumentHighlightKind::Write,
        false => DocumentHighlightKind::Read,
    };
    places
        .map(|place| DocumentHighlight { range: range(snapshot, place.range), kind: Some(kind(place.is_definition)) })
        .collect()
}

/// The name that would be renamed.
pub(super) fn prepare_rename(snapshot: &Snapshot, position: Position) -> Option<PrepareRenameResult> {
    let found = found(snapshot, position).filter(|found| found.kind != NameKind::BuiltIn)?;
    Some(PrepareRenameResult::PrepareRenamePlaceholder(PrepareRenamePlaceholder {
        range: range(snapshot, found.token),
        placeholder: found.name,
    }))
}

/// The edits of a rename, or why there are none.
pub(super) fn rename(snapshot: &Snapshot, uri: &Uri, position: Position, to: &str) -> Result<WorkspaceEdit, String> {
    let (document, encoding) = (&snapshot.document, snapshot.abilities.encoding);
    let edits = rename::rename(document, snapshot.place.file, offset(snapshot, position), to)?;
    let edits = edits.iter().map(|edit| convert::text_edit(document, encoding, edit)).collect();
    Ok(WorkspaceEdit { changes: Some([(uri.clone(), edits)].into()), ..WorkspaceEdit::default() })
}

/// Paths that lead somewhere.
pub(super) fn links(snapshot: &Snapshot) -> Vec<DocumentLink> {
    let now = snapshot.clock.now();
    let values = Values { files: snapshot.place.files.as_ref(), now: &now };
    let found = links::links(&snapshot.document, snapshot.place.file, values);
    let linked = found.into_iter().filter_map(|link| {
        let target = url::Url::from_file_path(snapshot.place.files.root().join(&link.path)).ok()?;
        Some(DocumentLink {
            range: range(snapshot, link.range),
            target: Some(Uri(target.into())),
            ..DocumentLink::default()
        })
    });
    linked.collect()
}

/// What a selection at each place grows to.
pub(super) fn selections(snapshot: &Snapshot, positions: &[Position]) -> Vec<SelectionRange> {
    let grown = positions.iter().map(|position| {
        let around = selection::around(&snapshot.document, offset(snapshot, *position));
        let outwards = around.into_iter().rev();
        let nested = outwards.fold(None, |parent: Option<Box<SelectionRange>>, bytes| {
            Some(Box::new(SelectionRange { range: range(snapshot, bytes), parent }))
        });
        nested
            .map(|nested| *nested)
            .unwrap_or(SelectionRange { range: Range { start: *position, end: *position }, parent: None })
    });
    grown.collect()
}

/// The symbols of all open documents whose names hold the letters of a query, in order.
pub(super) fn workspace_symbols(open: &[(String, Snapshot)], query: &str) -> Vec<SymbolInformation> {
    let mut found = Vec::new();
    for (uri, snapshot) in open {
        let outline = symbols::symbols(&snapshot.document, snapshot.place.file);
        collect(snapshot, &Uri(uri.clone()), &outline, None, query, &mut found);
    }
    found
}

#[expect(deprecated, reason = "the type cannot be made without the field")]
fn collect(
    snapshot: &Snapshot,
    uri: &Uri,
    outline: &[Symbol],
    container: Option<&str>,
    query: &str,
    found: &mut Vec<SymbolInformation>,
) {
    for symbol in outline {
        if found.len() >= SYMBOL_LIMIT {
            return;
        }
        // Sections and claims have the same names in every file.
        let is_own = matches!(symbol.kind, symbols::SymbolKind::Test | symbols::SymbolKind::Entry);
        if is_own && fits(&symbol.name, query) {
            found.push(SymbolInformation {
                deprecated: None,
                location: Location { uri: uri.clone(), range: range(snapshot, symbol.selection.clone()) },
                base_symbol_information: BaseSymbolInformation {
                    name: symbol.name.clone(),
                    kind: features::symbol_kind(symbol.kind),
                    tags: None,
                    container_name: container.map(str::to_owned),
                },
            });
        }
        collect(snapshot, uri, &symbol.children, Some(&symbol.name), query, found);
    }
}

/// Whether the letters of the query stand in the name in this order, case aside.
fn fits(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query.chars().flat_map(char::to_lowercase).all(|wanted| letters.any(|letter| letter == wanted))
}
