//! Ours ⇄ LSP's: the only place where bytes meet lines and UTF-16 columns.

use std::{ops::Range, path::PathBuf};

use speclens_schema::{
    document::{Document, Encoding, LineColumn, Lines},
    problem::{Edit, Problem, Severity},
};
use tower_lsp_server::gen_lsp_types as lsp;

/// The source of problems of the text.
pub(super) const SOURCE: &str = "speclens";

/// The source of results of runs.
pub(super) const RUN_SOURCE: &str = "speclens run";

/// As many diagnostics are sent for one file.
pub(super) const DIAGNOSTIC_LIMIT: usize = 1000;

pub(super) fn position(place: LineColumn) -> lsp::Position {
    lsp::Position { line: clamp(place.line), character: clamp(place.column) }
}

pub(super) fn range(document: &Document, encoding: Encoding, range: Range<usize>) -> lsp::Range {
    let places = Lines::new(document.text(), encoding).places(range);
    lsp::Range { start: position(places.start), end: position(places.end) }
}

pub(super) fn offset(document: &Document, encoding: Encoding, position: lsp::Position) -> usize {
    let place = LineColumn { line: position.line as usize, column: position.character as usize };
    Lines::new(document.text(), encoding).offset(place)
}

fn clamp(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

pub(super) fn severity(severity: Severity) -> lsp::DiagnosticSeverity {
    match severity {
        Severity::Error => lsp::DiagnosticSeverity::Error,
        Severity::Warning => lsp::DiagnosticSeverity::Warning,
        Severity::Information => lsp::DiagnosticSeverity::Information,
        Severity::Hint => lsp::DiagnosticSeverity::Hint,
    }
}

pub(super) fn text_edit(document: &Document, encoding: Encoding, edit: &Edit) -> lsp::TextEdit {
    lsp::TextEdit { range: range(document, encoding, edit.range.clone()), new_text: edit.text.clone() }
}

/// Problems as diagnostics: the first thousand, and one that says how many more there are.
pub(super) fn diagnostics(
    document: &Document,
    encoding: Encoding,
    uri: &lsp::Uri,
    problems: &[Problem],
) -> Vec<lsp::Diagnostic> {
    let shown = problems.iter().take(DIAGNOSTIC_LIMIT);
    let mut found: Vec<_> = shown.map(|problem| diagnostic(document, encoding, uri, problem)).collect();
    cap(&mut found, problems.len());
    found
}

/// Ends a list that was cut with a line that says so.
pub(super) fn cap(diagnostics: &mut Vec<lsp::Diagnostic>, all: usize) {
    diagnostics.truncate(DIAGNOSTIC_LIMIT);
    let hidden = all - diagnostics.len();
    if hidden > 0 {
        let message = format!("and {hidden} more problems; `speclens check` lists them all");
        diagnostics.push(lsp::Diagnostic {
            range: lsp::Range::default(),
            severity: Some(lsp::DiagnosticSeverity::Information),
            source: Some(SOURCE.to_owned()),
            message: message.into(),
            ..lsp::Diagnostic::default()
        });
    }
}

fn diagnostic(document: &Document, encoding: Encoding, uri: &lsp::Uri, problem: &Problem) -> lsp::Diagnostic {
    let related = problem.related.iter().map(|related| lsp::DiagnosticRelatedInformation {
        location: lsp::Location { uri: uri.clone(), range: range(document, encoding, related.range.clone()) },
        message: related.message.clone(),
    });
    let related: Vec<_> = related.collect();
    let unused = problem.code == speclens_schema::problem::Code::Unused;
    lsp::Diagnostic {
        range: range(document, encoding, problem.range.clone()),
        severity: Some(severity(problem.severity)),
        code: Some(lsp::Code::String(problem.code.as_str().to_owned())),
        code_description: None,
        source: Some(SOURCE.to_owned()),
        message: problem.message.clone().into(),
        tags: unused.then(|| vec![lsp::DiagnosticTag::Unnecessary]),
        related_information: (!related.is_empty()).then_some(related),
        data: None,
    }
}

/// The path of a file that a client names; nothing for anything that is no local file.
pub(super) fn path(uri: &str) -> Option<PathBuf> {
    let url = url::Url::parse(uri).ok().filter(|url| url.scheme() == "file")?;
    url.to_file_path().ok()
}

pub(super) fn markdown(value: String) -> lsp::MarkupContent {
    lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value }
}
