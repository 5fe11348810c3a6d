//! Navigation, converted from our types to LSP's: definitions and uses of names, targets of
//! paths, selection ranges.

use std::sync::Arc;

use speclens_runner::files::lexical;
use speclens_schema::{
    document::Document,
    files::Files,
    json_schema::SpecFile,
    shape::{Shape, Word},
    suite::task_files,
};
use tower_lsp_server::gen_lsp_types::*;

use super::{
    convert,
    cross_file::{self, CrossFileName},
    diagnostics::RunConverter,
    edits, features,
    world::{Snapshot, World},
};
use crate::ide::{
    agents, links,
    occurrences::{self, NameKind, Occurrences},
    rename, selection,
    values::Values,
};

const MAX_SYMBOLS: usize = 1000;

fn found(snapshot: &Snapshot, position: Position) -> Option<Occurrences> {
    occurrences::find(&snapshot.document, snapshot.place.file, snapshot.offset(position))
}

pub(super) fn definition(snapshot: &Snapshot, position: Position) -> Vec<Location> {
    let now = snapshot.clock.now();
    let values = Values { files: snapshot.place.files.as_ref(), now: &now };
    let script = links::script_at(&snapshot.document, snapshot.place.file, values, snapshot.offset(position));
    if let Some(uri) = script.and_then(|path| target(snapshot, &path)) {
        return vec![Location { uri, range: Range::default() }];
    }
    let found = found(snapshot, position);
    let shared = found.as_ref().is_some_and(|found| matches!(found.kind, NameKind::Shared(_)));
    if let Some(agent) = found.as_ref().filter(|found| found.kind == NameKind::Shared(agents::KIND)) {
        let file = agents::defined_by(&agent.name, snapshot.place.file, snapshot.place.files.as_ref());
        let uri = file.and_then(|file| target(snapshot, &file));
        return uri.into_iter().map(|uri| Location { uri, range: Range::default() }).collect();
    }
    let Some(found) = found.filter(|_| !shared) else {
        let at = snapshot.offset(position);
        let files = links::files_at(&snapshot.document, snapshot.place.file, values, at).into_iter();
        let uris = files.filter_map(|path| target(snapshot, &path));
        let places = uris.map(|uri| Location { uri, range: Range::default() }).collect();
        return seen_at(snapshot, at, places);
    };
    if let Some(cross_file_name) = CrossFileName::of(snapshot, &found) {
        let places = cross_file_name.places(snapshot).into_iter();
        return places.filter(|(_, is_definition)| *is_definition).map(|(location, _)| location).collect();
    }
    let definitions = found.places.into_iter().filter(|place| place.is_definition);
    definitions.map(|place| Location { uri: snapshot.uri.clone(), range: snapshot.range(place.range) }).collect()
}

/// Returns where the newest run saw the subject of the claim at a place, if the path there refers to that file; else
/// the files it refers to. A log need not be in the workspace.
fn seen_at(snapshot: &Snapshot, at: usize, files: Vec<Location>) -> Vec<Location> {
    let (document, file) = (&snapshot.document, snapshot.place.file);
    let pointer = document.pointer_at(at);
    let word = Shape::find(file, &pointer, document.root()).and_then(|shape| shape.word());
    let Some(Word::File(kind)) = word else { return files };
    let sightings = snapshot.latest.as_deref().map(|latest| latest.sightings(document, &pointer)).unwrap_or_default();
    let folders = snapshot.world.scopes.folders();
    let converter = RunConverter::of(snapshot, &snapshot.uri, &folders);
    let mut seen = sightings.iter().filter_map(|place| converter.location(place));
    let is_meant = |place: &Location| match files.is_empty() {
        true => kind == "log",
        false => files.iter().any(|file| file.uri == place.uri),
    };
    seen.find(is_meant).map_or_else(|| files.clone(), |place| vec![place])
}

pub(super) fn references(snapshot: &Snapshot, position: Position, definitions: bool) -> Vec<Location> {
    let found = found(snapshot, position);
    if let Some(cross_file_name) = found.as_ref().and_then(|found| CrossFileName::of(snapshot, found)) {
        let places = cross_file_name.places(snapshot).into_iter();
        let wanted = places.filter(|(_, is_definition)| definitions || !is_definition);
        let mut wanted: Vec<Location> = wanted.map(|(location, _)| location).collect();
        // The entry that makes a task file a part of the suite uses each of its tasks.
        if cross_file_name.is_of("tasks") {
            wanted.extend(entries(snapshot));
        }
        return wanted;
    }
    let places = places(snapshot, found).into_iter().filter(|(_, is_definition)| definitions || !is_definition);
    places.map(|(range, _)| Location { uri: snapshot.uri.clone(), range }).collect()
}

pub(super) fn highlights(snapshot: &Snapshot, position: Position) -> Vec<DocumentHighlight> {
    let kind = |is_definition| match is_definition {
        true => DocumentHighlightKind::Write,
        false => DocumentHighlightKind::Read,
    };
    let places = places(snapshot, found(snapshot, position)).into_iter();
    places.map(|(range, is_definition)| DocumentHighlight { range, kind: Some(kind(is_definition)) }).collect()
}

fn places(snapshot: &Snapshot, found: Option<Occurrences>) -> Vec<(Range, bool)> {
    let places = found.into_iter().flat_map(|found| found.places);
    places.map(|place| (snapshot.range(place.range), place.is_definition)).collect()
}

pub(super) fn prepare_rename(snapshot: &Snapshot, position: Position) -> Option<PrepareRenameResult> {
    let found = found(snapshot, position).filter(|found| !matches!(found.kind, NameKind::BuiltIn(_)))?;
    Some(PrepareRenameResult::PrepareRenamePlaceholder(PrepareRenamePlaceholder {
        range: snapshot.range(found.token),
        placeholder: found.name,
    }))
}

pub(super) fn rename(snapshot: &Snapshot, position: Position, to: &str) -> Result<WorkspaceEdit, String> {
    if let Some(cross_file_name) = found(snapshot, position).and_then(|found| CrossFileName::of(snapshot, &found)) {
        let edited = cross_file_name.rename(snapshot, to)?;
        return Ok(edits::workspace_edit(edited, snapshot.abilities.document_changes));
    }
    let edits = rename::rename(&snapshot.document, snapshot.place.file, snapshot.offset(position), to)?;
    Ok(edits::in_document(snapshot, &edits))
}

pub(super) fn links(snapshot: &Snapshot) -> Vec<DocumentLink> {
    let now = snapshot.clock.now();
    let values = Values { files: snapshot.place.files.as_ref(), now: &now };
    let found = links::links(&snapshot.document, snapshot.place.file, values).into_iter();
    let linked = found.filter_map(|link| {
        let target = target(snapshot, &links::opened(&link.path, values.files))?;
        Some(DocumentLink { range: snapshot.range(link.range), target: Some(target), ..DocumentLink::default() })
    });
    linked.collect()
}

fn target(snapshot: &Snapshot, path: &str) -> Option<Uri> {
    convert::uri(&lexical(&snapshot.place.files.root().join(path)))
}

fn entries(snapshot: &Snapshot) -> Vec<Location> {
    let files = snapshot.place.files.as_ref();
    let Some(main) = files.main() else { return Vec::new() };
    let (Some(uri), Ok(text)) = (target(snapshot, main), files.read(main)) else { return Vec::new() };
    let document = Document::read_cut(&String::from_utf8_lossy(&text), SpecFile::CLI_BENCH.scalar_rules());
    let found = task_files::entries_to(&document, files.place(), files).into_iter();
    found
        .map(|bytes| Location {
            uri: uri.clone(),
            range: convert::range(&document, snapshot.abilities.encoding, bytes),
        })
        .collect()
}

pub(super) fn selections(snapshot: &Snapshot, positions: &[Position]) -> Vec<SelectionRange> {
    let grown = positions.iter().map(|position| {
        let around = selection::around(&snapshot.document, snapshot.offset(*position));
        let outwards = around.into_iter().rev();
        let nested = outwards.fold(None, |parent: Option<Box<SelectionRange>>, bytes| {
            Some(Box::new(SelectionRange { range: snapshot.range(bytes), parent }))
        });
        nested
            .map(|nested| *nested)
            .unwrap_or(SelectionRange { range: Range { start: *position, end: *position }, parent: None })
    });
    grown.collect()
}

/// Returns the symbols of all files, open or not, whose names match a query, in the order of the files.
#[expect(deprecated, reason = "the type cannot be made without the field")]
pub(super) fn workspace_symbols(world: &Arc<World>, query: &str) -> Vec<SymbolInformation> {
    let mut found = Vec::new();
    for source in world.sources(None) {
        let Some(uri) = source.uri() else { continue };
        for (symbol, span) in source.facts.symbols.iter().filter(|(symbol, _)| fits(&symbol.name, query)) {
            if found.len() >= MAX_SYMBOLS {
                return found;
            }
            found.push(SymbolInformation {
                deprecated: None,
                location: Location { uri: uri.clone(), range: cross_file::range(*span) },
                base_symbol_information: BaseSymbolInformation {
                    name: symbol.name.clone(),
                    kind: features::symbol_kind(symbol.kind),
                    tags: None,
                    container_name: symbol.container.clone(),
                },
            });
        }
    }
    found
}

fn fits(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query.chars().flat_map(char::to_lowercase).all(|wanted| letters.any(|letter| letter == wanted))
}
