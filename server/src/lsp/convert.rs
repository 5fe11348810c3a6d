//! Converts between our types and LSP's: the only module that maps bytes to lines and columns.

use std::{
    ops::Range,
    path::{Path, PathBuf},
};

use ropey::Rope;
use speclens_runner::{files::lexical, report::plain};
use speclens_schema::{
    document::{Document, Encoding, LineColumn, Lines},
    problem::{Edit, OtherFile, Problem, Severity},
    words::plural,
};
use tower_lsp_server::gen_lsp_types as lsp;

/// The source of diagnostics about the text.
pub(super) const SOURCE: &str = "speclens";

/// The source of diagnostics about run results.
pub(super) const RUN_SOURCE: &str = "speclens run";

/// The code of the diagnostic that reports that others are omitted.
const LEFT_OUT: &str = "not-shown";

pub(super) fn position(place: LineColumn) -> lsp::Position {
    lsp::Position { line: clamp(place.line), character: clamp(place.column) }
}

pub(super) fn range(document: &Document, encoding: Encoding, bytes: Range<usize>) -> lsp::Range {
    let places = Lines::new(document.text(), encoding).places(bytes);
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

/// Returns the diagnostic that ends a list from which others are omitted. `command` lists them all.
pub(super) fn left_out(count: usize, source: &str, command: &str) -> Option<lsp::Diagnostic> {
    (count > 0).then(|| lsp::Diagnostic {
        range: lsp::Range::default(),
        severity: Some(lsp::DiagnosticSeverity::Information),
        code: Some(lsp::Code::String(LEFT_OUT.to_owned())),
        source: Some(source.to_owned()),
        message: format!("{} not shown\nhelp: list all problems with `{command}`", plural(count, "more problem"))
            .into(),
        ..lsp::Diagnostic::default()
    })
}

/// The data that the diagnostics of a document's text depend on.
pub(super) struct Converter<'s> {
    pub document: &'s Document,
    pub encoding: Encoding,
    pub uri: &'s lsp::Uri,
    /// The directory that paths of other files are relative to.
    pub directory: &'s Path,
}

impl Converter<'_> {
    pub(super) fn diagnostic(&self, problem: &Problem) -> lsp::Diagnostic {
        let related = problem.related.iter().map(|related| lsp::DiagnosticRelatedInformation {
            location: match &related.file {
                None => lsp::Location { uri: self.uri.clone(), range: self.range(related.range.clone()) },
                Some(file) => self.elsewhere(file, related.range.clone()),
            },
            message: plain::block(&related.message),
        });
        let related: Vec<_> = related.collect();
        let is_unnecessary = problem.code.is_about_unnecessary();
        lsp::Diagnostic {
            range: self.range(problem.range.clone()),
            severity: Some(severity(problem.severity)),
            code: Some(lsp::Code::String(problem.code.as_str().to_owned())),
            code_description: super::reference::page_of(problem.code).map(|href| lsp::CodeDescription { href }),
            source: Some(SOURCE.to_owned()),
            message: plain::block(&problem.text()).into(),
            tags: is_unnecessary.then(|| vec![lsp::DiagnosticTag::Unnecessary]),
            related_information: (!related.is_empty()).then_some(related),
            data: None,
        }
    }

    fn range(&self, bytes: Range<usize>) -> lsp::Range {
        range(self.document, self.encoding, bytes)
    }

    fn elsewhere(&self, file: &OtherFile, range: Range<usize>) -> lsp::Location {
        let places = Lines::new(&Rope::from_str(&file.text()), self.encoding).places(range);
        lsp::Location {
            uri: uri(&lexical(&self.directory.join(&file.path))).unwrap_or_else(|| self.uri.clone()),
            range: lsp::Range { start: position(places.start), end: position(places.end) },
        }
    }
}

pub(super) fn uri(path: &Path) -> Option<lsp::Uri> {
    Some(lsp::Uri(url::Url::from_file_path(path).ok()?.into()))
}

/// Returns the path of a file URI; `None` for anything that is not a local file.
pub(super) fn path(uri: &str) -> Option<PathBuf> {
    let url = url::Url::parse(uri).ok().filter(|url| url.scheme() == "file")?;
    url.to_file_path().ok()
}

pub(super) fn beside(uri: &lsp::Uri, path: &str) -> Option<lsp::Uri> {
    self::uri(&lexical(&self::path(&uri.0)?.parent()?.join(path)))
}

pub(super) fn markdown(value: String) -> lsp::MarkupContent {
    lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value }
}
