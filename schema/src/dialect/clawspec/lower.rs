//! From the tree to what can be run and judged.

use crate::{
    dialect::{Dialect, Gates},
    document::{Document, NodeRef, Pointer},
    files::Files,
    json_schema::SpecFile,
    settings::Settings,
    suite::{Case, Suite},
};

/// What a scenario needs to know of the rest of the file. When it changes, every scenario is lowered again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RootContext {}

impl RootContext {
    /// Collects it from the root of a document.
    pub fn of(_file: SpecFile, _document: &Document, _files: &dyn Files) -> RootContext {
        RootContext {}
    }
}

/// Everything of a suite but the cases of its list: a handoff or a pipeline is lowered as a whole.
pub fn lower_root(
    _file: SpecFile,
    _document: &Document,
    _context: &RootContext,
    _files: &dyn Files,
    _settings: &Settings,
) -> Suite {
    Suite { dialect: Dialect::ClawSpec, name: None, cases: Vec::new(), gates: Gates::None, concurrency: 1 }
}

/// Lowers one scenario. `at` is the place that it has in the document.
pub fn lower_item(_item: NodeRef<'_>, _at: &Pointer, _context: &RootContext, _files: &dyn Files) -> Vec<Case> {
    Vec::new()
}
