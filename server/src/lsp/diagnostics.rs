//! The diagnostics of a document's text.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use speclens_schema::analysis::Problems;
use tower_lsp_server::gen_lsp_types as lsp;

use super::{
    convert::{self, Converter, Ranges},
    limit,
    world::Snapshot,
};

/// Returns the diagnostics of the text of a document: all of them, or the most important.
pub(super) fn of_text(snapshot: &Snapshot, problems: &Problems) -> Vec<lsp::Diagnostic> {
    let ranges = Ranges::new(&snapshot.document, snapshot.abilities.encoding);
    let converter = Converter { ranges, uri: &snapshot.uri, directory: &snapshot.place.directory };
    let chosen = limit::chosen(problems, snapshot.edited_at, |problem| (problem.severity, problem.range.clone()));
    let left_out = problems.len() - chosen.len();
    let mut diagnostics: Vec<_> = chosen.into_iter().map(|problem| converter.diagnostic(problem)).collect();
    diagnostics.extend(convert::left_out(left_out, convert::SOURCE, "speclens check"));
    diagnostics
}

/// Returns the report for a client that pulls diagnostics and has those of a previous result.
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
