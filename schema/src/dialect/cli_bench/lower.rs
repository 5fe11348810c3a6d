//! From the tree to what can be run and judged.

use crate::{
    dialect::{Dialect, Gates as AnyGates},
    document::{Document, NodeRef, Pointer},
    files::Files,
    json_schema::SpecFile,
    settings::Settings,
    suite::{Case, Suite},
};

/// What a task needs to know of the rest of the file. When it changes, every task is lowered again.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RootContext {}

impl RootContext {
    /// Collects it from the root of a document; for a task file, from the main file that names it.
    pub fn of(_file: SpecFile, _document: &Document, _files: &dyn Files) -> RootContext {
        RootContext {}
    }
}

/// Everything of a suite but its cases.
pub fn lower_root(_file: SpecFile, document: &Document, _context: &RootContext, _settings: &Settings) -> Suite {
    let name = document.root().and_then(|root| root.get("cli")?.as_str()).map(str::to_owned);
    Suite {
        dialect: Dialect::CliBench,
        name,
        cases: Vec::new(),
        gates: AnyGates::CliBench(Box::default()),
        concurrency: 1,
    }
}

/// Lowers one item of the list of tasks: a task is one case, a `file://` entry those of its files. `at` is
/// the place that the item has in the document.
pub fn lower_item(_item: NodeRef<'_>, _at: &Pointer, _context: &RootContext, _files: &dyn Files) -> Vec<Case> {
    Vec::new()
}
