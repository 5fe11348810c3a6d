//! Traces in files.

use std::{
    collections::BTreeMap,
    fs,
    io::{self, Read},
    path::{Path, PathBuf},
};

use speclens_schema::{
    evidence::Trace,
    trace::{
        Exported, ExportedTrace, MatchedTraces, Stored, TraceClues, TraceId, assemble, match_trace,
        opik::{self, OpikTrace},
        read_file,
    },
};

use crate::{files::open_regular, observe::files::glob::glob};

const MAX_FILE_BYTES: u64 = 256 * 1024 * 1024;

pub fn read(path: &Path) -> Result<Stored, String> {
    let shown = path.display();
    let cannot = |error: io::Error| format!("cannot read `{shown}`: {error}");
    // A pipe has an end, unlike a device such as `/dev/zero`.
    let file = match is_pipe(&fs::metadata(path).map_err(cannot)?) {
        true => fs::File::open(path).map_err(cannot)?,
        false => open_regular(path).map_err(cannot)?,
    };
    let mut text = String::new();
    file.take(MAX_FILE_BYTES + 1).read_to_string(&mut text).map_err(cannot)?;
    if text.len() as u64 > MAX_FILE_BYTES {
        return Err(format!("{shown} is larger than {} MiB", MAX_FILE_BYTES / 1024 / 1024));
    }
    read_file(&text).map_err(|error| format!("{shown}, line {}: {}", error.line, error.message))
}

#[cfg(unix)]
fn is_pipe(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&metadata.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    false
}

pub(super) fn look(patterns: &[String], directory: &Path, clues: &TraceClues) -> Result<Option<Trace>, String> {
    let mut stored = Stored::default();
    let paths: Vec<PathBuf> = patterns
        .iter()
        .flat_map(|pattern| glob(directory, pattern).paths)
        .map(|path| directory.join(path))
        .filter(|path| path.is_file())
        .collect();
    for path in paths {
        // The writer of the file may not have written its first span yet.
        if fs::metadata(&path).is_ok_and(|metadata| metadata.len() == 0) {
            continue;
        }
        stored.add(read(&path)?);
    }
    let mut by_trace: BTreeMap<&TraceId, Vec<&Exported>> = BTreeMap::new();
    for exported in &stored.signals.spans {
        by_trace.entry(&exported.span.trace_id).or_default().push(exported);
    }
    let exported: Vec<ExportedTrace<'_>> =
        by_trace.into_iter().map(|(id, spans)| ExportedTrace { id, spans, is_older: false }).collect();
    let MatchedTraces { own, by, unassigned } =
        match_trace(&exported, clues).map_err(|ambiguous| ambiguous.sentence())?;
    if !own.is_empty() {
        let spans = own.iter().flat_map(|index| exported[*index].spans.iter().copied());
        let unassigned = unassigned.len() + stored.signals.unassigned;
        return Ok(Some(Trace { joined: by, unassigned, ..assemble(spans) }));
    }
    let (traces, spans) = stored.of_opik();
    let MatchedTraces { own, by, unassigned } =
        match_trace(&traces, clues).map_err(|ambiguous| ambiguous.sentence())?;
    let spans_of = |trace: &OpikTrace| spans.get(trace.id.as_str()).map(Vec::as_slice).unwrap_or_default();
    let parts = own.into_iter().map(|index| opik::assemble(&traces[index], spans_of(&traces[index])));
    Ok(parts.reduce(Trace::and).map(|trace| Trace { joined: by, unassigned: unassigned.len(), ..trace }))
}
