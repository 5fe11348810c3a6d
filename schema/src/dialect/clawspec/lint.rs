//! What a schema cannot say about ClawSpec files.
//!
//! As for every dialect: what [`lint_item`] and [`item_facts`] answer depends on the item's own node and
//! on files only, so that the answers can be kept; [`lint_relations`] is asked anew after every edit.

use crate::{document::NodeRef, files::Files, json_schema::SpecFile, problem::Problem};

/// What an item says that matters to others: its name, and the names in the files that it leads to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ItemFacts {}

/// What is wrong outside of the items, each section looked at alone. Pointers and ranges are absolute.
pub fn lint_root(_file: SpecFile, _root: NodeRef<'_>, _files: &dyn Files) -> Vec<Problem> {
    Vec::new()
}

/// What is wrong in one item of a top-level list, looked at alone. Pointers are relative to it, ranges as the
/// nodes give them.
pub fn lint_item(_file: SpecFile, _list: &'static str, _item: NodeRef<'_>, _files: &dyn Files) -> Vec<Problem> {
    Vec::new()
}

/// What an item says that matters to others; nothing for items of lists that have no relations.
pub fn item_facts(_file: SpecFile, _list: &'static str, _item: NodeRef<'_>, _files: &dyn Files) -> Option<ItemFacts> {
    None
}

/// What is wrong between items and sections. Each item comes with the byte where its node begins; all
/// problems are absolute.
pub fn lint_relations(
    _file: SpecFile,
    _root: NodeRef<'_>,
    _items: &[(usize, &ItemFacts)],
    _files: &dyn Files,
) -> Vec<Problem> {
    Vec::new()
}
