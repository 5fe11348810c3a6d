//! Run results as LSP diagnostics.

use std::{
    fs,
    path::{Path, PathBuf},
};

use speclens_runner::{files::lexical, gateway::Gateway, report::plain};
use speclens_schema::{
    document::{Document, Encoding, LineColumn},
    format::Dialect,
    gateway::workspace,
    problem::Severity,
    verdict::{FilePlace, LinePart, Status},
};
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    convert, limit,
    world::{DocumentPlace, Snapshot},
};
use crate::{
    ide::run_problems::{RunPlace, RunProblem},
    job,
};

/// The data that the diagnostics of results in one document depend on.
pub(super) struct Converter<'s> {
    pub document: &'s Document,
    pub uri: &'s lsp::Uri,
    /// The byte where the last edit ends: diagnostics near it take precedence.
    pub edited_at: usize,
    pub encoding: Encoding,
    /// The severity of a failure; `None` if results are not shown.
    pub severity: Option<Severity>,
    /// The directory that the paths of the suite are relative to.
    pub directory: &'s Path,
    /// The folders of the workspace: files outside of them are not linked.
    pub folders: &'s [PathBuf],
    /// The scope of the document.
    pub place: &'s DocumentPlace,
}

impl<'s> Converter<'s> {
    /// Returns the converter for an open document.
    pub(super) fn of(snapshot: &'s Snapshot, uri: &'s lsp::Uri, folders: &'s [PathBuf]) -> Converter<'s> {
        Converter {
            document: &snapshot.document,
            uri,
            edited_at: snapshot.edited_at,
            encoding: snapshot.abilities.encoding,
            severity: snapshot.display.run_severity,
            directory: &snapshot.place.directory,
            folders,
            place: &snapshot.place,
        }
    }

    /// Returns the diagnostics, up to the limit for one document.
    pub(super) fn diagnostics(&self, problems: &[RunProblem]) -> Vec<lsp::Diagnostic> {
        let Some(severity) = self.severity else { return Vec::new() };
        let shown = limit::chosen(problems, self.edited_at, |problem| {
            (severity_of(problem.status, Severity::Error), problem.range.clone())
        });
        let mut diagnostics: Vec<_> = shown.iter().map(|problem| self.diagnostic(problem, severity)).collect();
        let count = problems.len() - shown.len();
        diagnostics.extend(convert::left_out(count, convert::RUN_SOURCE, "speclens run --recorded"));
        diagnostics
    }

    fn diagnostic(&self, problem: &RunProblem, severity: Severity) -> lsp::Diagnostic {
        let related = problem.related.iter().filter_map(|related| {
            let location = match &related.at {
                RunPlace::Here(range) => lsp::Location {
                    uri: self.uri.clone(),
                    range: convert::range(self.document, self.encoding, range.clone()),
                },
                RunPlace::File(place) => self.location(place)?,
            };
            Some(lsp::DiagnosticRelatedInformation { location, message: plain::block(&related.message) })
        });
        let related: Vec<_> = related.collect();
        lsp::Diagnostic {
            range: convert::range(self.document, self.encoding, problem.range.clone()),
            severity: Some(convert::severity(severity_of(problem.status, severity))),
            code: problem.code.map(|code| lsp::Code::String(code.to_owned())),
            source: Some(convert::RUN_SOURCE.to_owned()),
            message: plain::block(&problem.message).into(),
            related_information: (!related.is_empty()).then_some(related),
            ..lsp::Diagnostic::default()
        }
    }

    /// Returns the directory of the gateway log, which need not be in the workspace.
    fn logs(&self) -> Option<PathBuf> {
        if self.place.dialect() != Some(Dialect::CLAWSPEC) {
            return None;
        }
        let settings = workspace::settings(self.place.files.as_ref());
        let log = PathBuf::from(Gateway::of(&settings, job::variable, None).log_pattern);
        log.parent().filter(|directory| directory.is_absolute()).map(Path::to_path_buf)
    }

    /// Returns the location of a place in another file that exists, and that is in the workspace without any symbolic
    /// link, or next to the gateway log.
    pub(super) fn location(&self, place: &FilePlace) -> Option<lsp::Location> {
        let path = lexical(&self.directory.join(&place.path));
        let real = fs::canonicalize(&path).ok().filter(|real| real.is_file())?;
        let is_in = |folder: &PathBuf| fs::canonicalize(folder).is_ok_and(|folder| real.starts_with(folder));
        let is_ours =
            if self.folders.is_empty() { is_in(&self.directory.to_owned()) } else { self.folders.iter().any(is_in) };
        let range = place.line_part.as_ref().map(|line_part| range_of(line_part, self.encoding)).unwrap_or_default();
        let is_log = || self.logs().is_some_and(|logs| fs::canonicalize(logs).ok().as_deref() == real.parent());
        (is_ours || is_log()).then(|| Some(lsp::Location { uri: convert::uri(&path)?, range })).flatten()
    }
}

/// Returns the severity of a result, where `failing` is that of a failed claim.
fn severity_of(status: Status, failing: Severity) -> Severity {
    match status {
        Status::Fail | Status::Error => failing,
        // An uncertain result has a lower severity.
        Status::Warn => failing.max(Severity::Warning),
        Status::Unknown | Status::Pass | Status::Skip => failing.max(Severity::Information),
    }
}

fn range_of(line_part: &LinePart, encoding: Encoding) -> lsp::Range {
    let bytes = line_part.range();
    let columns = match encoding {
        Encoding::Utf16 => line_part.columns.clone(),
        Encoding::Utf8 => bytes,
        Encoding::Utf32 => {
            let letters = |end: usize| line_part.text[..end].chars().count();
            letters(bytes.start)..letters(bytes.end)
        }
    };
    let position = |column| convert::position(LineColumn { line: line_part.line, column });
    lsp::Range { start: position(columns.start), end: position(columns.end) }
}
