//! What an analysis depends on besides the document, and what is found in a part of it alone.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::{
    document::{Block, Document, NodeRef},
    files::Files,
    finding::Report,
    format::{Dialect, Format},
    json_schema::SpecFile,
    problem::Problem,
    rules::duplicate_name,
    validate::{self, Definition, is_damaged},
    walk,
};

/// Analyses documents of one kind, and caches the findings of each block.
#[derive(Clone, Copy, Debug)]
pub struct Analyzer {
    pub(super) file: SpecFile,
    /// Number of file changes so far. Findings that depend on files are valid for one epoch only.
    epoch: u64,
    pub(super) is_guess: bool,
    /// Whether documents are in a directory, so other files can be next to them.
    pub(super) is_saved: bool,
}

impl Analyzer {
    /// Returns an analyzer with empty caches.
    pub fn new(file: SpecFile) -> Analyzer {
        Analyzer { file, epoch: 0, is_guess: false, is_saved: true }
    }

    /// Sets whether the kind of the documents is only a guess. If it is, no fix is safe, since the documents may
    /// belong to another tool.
    pub fn guessing(self, is_guess: bool) -> Analyzer {
        Analyzer { is_guess, ..self }
    }

    /// Sets whether the documents are saved. No file is reported as missing for an unsaved document.
    pub fn saved(self, is_saved: bool) -> Analyzer {
        Analyzer { is_saved, ..self }
    }

    /// Invalidates the findings that depend on files.
    pub fn files_changed(&mut self) {
        self.epoch += 1;
    }

    /// Returns the number of file changes so far.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns the format of the documents; `None` for settings and scripts.
    pub fn dialect(&self) -> Option<Dialect> {
        self.file.dialect()
    }

    pub(super) fn format(&self) -> Option<&'static dyn Format> {
        self.dialect().map(Dialect::format)
    }

    /// Returns the violations of the schema, as the format explains them.
    pub(super) fn validate(&self, node: NodeRef<'_>, definition: Definition, files: &dyn Files) -> Vec<Problem> {
        let mut report = Report::default();
        validate::check(node, definition, files, &mut report);
        if !self.file.is_settings() {
            duplicate_name::check(node, definition, &mut report);
        }
        walk::check(node, definition, self.format(), files, &mut report);
        if let Some(format) = self.format() {
            format.report(node, definition, files, &mut report);
        }
        report.resolve(is_damaged(node)).problems()
    }

    /// Returns a hash of everything that a result about a block depends on.
    pub(super) fn key(&self, document: &Document, start: usize, block: &Block, more: impl Hash) -> u64 {
        let aliases = block.has_aliases().then(|| document.fingerprint_at(start));
        let mut hasher = FxHasher::default();
        (aliases, self.epoch, more).hash(&mut hasher);
        hasher.finish()
    }
}
