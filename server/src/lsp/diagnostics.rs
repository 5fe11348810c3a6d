//! Diagnostics: of a document's text, and of run results.

use std::{
    fs,
    hash::{Hash, Hasher},
    ops::Range,
    path::{Path, PathBuf},
};

use rustc_hash::FxHasher;
use speclens_runner::{files::lexical, gateway::Gateway, report::plain};
use speclens_schema::{
    analysis::Problems,
    document::{Document, Encoding, LineColumn},
    format::Dialect,
    gateway::workspace,
    problem::Severity,
    verdict::{FilePlace, LinePart, Status},
};
use tower_lsp_server::gen_lsp_types as lsp;

use crate::{
    ide::run_problems::{RunPlace, RunProblem},
    job,
    lsp::{
        convert,
        world::{DocumentPlace, Snapshot},
    },
};

/// Returns the diagnostics of the text of a document: all of them, or the most important.
pub(super) fn of_text(snapshot: &Snapshot, problems: &Problems) -> Vec<lsp::Diagnostic> {
    let converter = snapshot.converter();
    let chosen = chosen(problems, snapshot.edited_at, |problem| (problem.severity, problem.range.clone()));
    let left_out = problems.len() - chosen.len();
    let mut diagnostics: Vec<_> = chosen.into_iter().map(|problem| converter.diagnostic(problem)).collect();
    snapshot.typing.calm(&snapshot.document, snapshot.abilities.encoding, &mut diagnostics);
    diagnostics.extend(convert::left_out(left_out, convert::SOURCE, "speclens check"));
    diagnostics
}

pub(super) fn report(items: Vec<lsp::Diagnostic>, known: Option<&str>) -> lsp::DocumentDiagnosticReport {
    let mut hasher = FxHasher::default();
    items.hash(&mut hasher);
    let result_id = format!("{:016x}", hasher.finish());
    if known == Some(result_id.as_str()) {
        return lsp::RelatedUnchangedDocumentDiagnosticReport {
            related_documents: None,
            unchanged_document_diagnostic_report: lsp::UnchangedDocumentDiagnosticReport { result_id },
        }
        .into();
    }
    lsp::RelatedFullDocumentDiagnosticReport {
        related_documents: None,
        full_document_diagnostic_report: lsp::FullDocumentDiagnosticReport { result_id: Some(result_id), items },
    }
    .into()
}

/// Maximum number of diagnostics of one source that are sent for one file, besides errors, which are all sent. Each
/// keystroke sends all of them; `speclens check` lists the rest.
const MAX_DIAGNOSTICS: usize = 500;

/// Number of bytes on either side of the last edit that are probably visible.
const NEAR_BYTES: usize = 2048;

/// Order in which problems are chosen: by class, then by severity, then by distance from the last edit.
type Rank = (Class, Severity, usize);

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Error,
    Near,
    Far,
}

fn rank(severity: Severity, distance: usize) -> Rank {
    let class = match severity {
        Severity::Error => Class::Error,
        Severity::Warning | Severity::Information | Severity::Hint if distance <= NEAR_BYTES => Class::Near,
        Severity::Warning | Severity::Information | Severity::Hint => Class::Far,
    };
    (class, severity, distance)
}

/// Chooses the diagnostics to send, in the order of `all`: errors, then those near the last edit, then by severity, and
/// within one severity by distance.
pub(super) fn chosen<T>(
    all: &[T],
    edited_at: usize,
    severity_and_range: impl Fn(&T) -> (Severity, Range<usize>),
) -> Vec<&T> {
    let rank = |index: &usize| {
        let (severity, range) = severity_and_range(&all[*index]);
        (rank(severity, distance(edited_at, &range)), *index)
    };
    let errors = all.iter().filter(|one| severity_and_range(one).0 == Severity::Error).count();
    let mut indices: Vec<usize> = (0..all.len()).collect();
    indices.sort_by_key(rank);
    indices.truncate(MAX_DIAGNOSTICS.max(errors));
    indices.sort_unstable();
    indices.into_iter().map(|index| &all[index]).collect()
}

fn distance(from: usize, range: &Range<usize>) -> usize {
    from.saturating_sub(range.end).max(range.start.saturating_sub(from))
}

/// The data that the diagnostics of results in one document depend on.
pub(super) struct RunConverter<'s> {
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
    pub place: &'s DocumentPlace,
}

impl<'s> RunConverter<'s> {
    pub(super) fn of(snapshot: &'s Snapshot, uri: &'s lsp::Uri, folders: &'s [PathBuf]) -> RunConverter<'s> {
        RunConverter {
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

    pub(super) fn diagnostics(&self, problems: &[RunProblem]) -> Vec<lsp::Diagnostic> {
        let Some(severity) = self.severity else { return Vec::new() };
        let shown = chosen(problems, self.edited_at, |problem| {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the choice from `count` problems, one every 100 bytes, of which some are not hints.
    fn check(count: usize, edited_at: usize, others: &[(usize, Severity)]) -> Vec<usize> {
        let severity = |index| others.iter().find(|other| other.0 == index).map_or(Severity::Hint, |other| other.1);
        let all: Vec<_> = (0..count).map(|index| (severity(index), index * 100..index * 100 + 10)).collect();
        let chosen = chosen(&all, edited_at, |(severity, range)| (*severity, range.clone()));
        chosen.into_iter().map(|(_, range)| range.start / 100).collect()
    }

    #[test]
    fn few_problems_are_all_sent() {
        assert_eq!(check(MAX_DIAGNOSTICS, 0, &[]), (0..MAX_DIAGNOSTICS).collect::<Vec<_>>());
    }

    #[test]
    fn diagnostics_nearest_to_last_edit_are_sent() {
        assert_eq!(check(3000, 0, &[]), (0..MAX_DIAGNOSTICS).collect::<Vec<_>>());
        assert_eq!(check(3000, 300_000, &[]), (3000 - MAX_DIAGNOSTICS..3000).collect::<Vec<_>>());
        assert_eq!(
            check(3000, 150_005, &[]),
            (1500 - MAX_DIAGNOSTICS / 2..1500 + MAX_DIAGNOSTICS / 2).collect::<Vec<_>>()
        );
    }

    #[test]
    fn errors_come_before_what_is_near_and_warnings_before_what_is_far() {
        let chosen = check(3000, 0, &[(2900, Severity::Warning), (2999, Severity::Error)]);
        assert_eq!(chosen, (0..MAX_DIAGNOSTICS - 2).chain([2900, 2999]).collect::<Vec<_>>());
    }

    #[test]
    fn a_hint_at_the_cursor_is_sent_with_many_warnings() {
        let warnings: Vec<_> = (0..2000).map(|index| (index, Severity::Warning)).collect();
        assert!(check(3000, 299_905, &warnings).contains(&2999));
    }

    #[test]
    fn errors_are_all_sent() {
        let errors: Vec<_> = (500..2500).map(|index| (index, Severity::Error)).collect();
        for edited_at in [0, 300_000] {
            assert_eq!(check(3000, edited_at, &errors), (500..2500).collect::<Vec<_>>());
        }
    }
}
