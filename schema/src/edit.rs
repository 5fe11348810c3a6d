//! Edits of YAML text: one operation per function, each on a node. All fixes consist of them.
//!
//! Only these operations depend on the layout of the text: which bytes belong to a node itself and which to the anchor
//! of an alias, flow and block style, several nodes on one line, comments, both styles of list indentation, dashes,
//! byte order marks. Each returns `None` if the layout does not permit the edit. New lines end with `\n`;
//! [`crate::fixing::adapted`] converts them to the line endings of the document.

mod insert;
mod lines;
mod lists;
mod moving;
pub(crate) mod nodes;
mod remove;
mod reshape;

use std::ops::Range;

use serde_json::Value;

use crate::{
    document::{NodeRef, quoted},
    problem::Edit,
    quoting::scalar,
};

use nodes::{can_change_value, is_own, one_line, sorted, source};

pub(crate) use insert::{
    entries_behind, entry_at_front, entry_in_order, entry_in_place, item_at_end, item_at_front, lines_at_end,
};
pub(crate) use lists::{
    as_items, as_list, indent_entries, items_of_keys, items_with_ids, one_item_each, only_item, out_of_brackets,
    space_dashes_of_keys, space_dashes_of_lines, split_item, undashed, unwrap_list,
};
pub(crate) use moving::{below, below_as, beside, into_list, joined, to_top};
pub(crate) use remove::{comment_entry, comment_out, remove_entry, remove_item};
pub(crate) use reshape::{fill, mapping_of_item, quote_entry, replace_entries, replace_entry, split_key};

pub(crate) fn rename_key(key: NodeRef<'_>, name: &str) -> Option<Vec<Edit>> {
    (!key.is_through_alias()).then(|| vec![Edit::new(key.own_range(), scalar(name))])
}

pub(crate) fn replace(value: NodeRef<'_>, words: impl Into<String>) -> Option<Vec<Edit>> {
    Some(vec![Edit::new(one_line(value)?, words)])
}

/// Replaces a value that is on one line with a string, quoted if necessary.
pub(crate) fn replace_text(value: NodeRef<'_>, text: &str) -> Option<Vec<Edit>> {
    replace(value, scalar(text))
}

/// Replaces part of a string. `None` if the bytes of `range` differ from the part, because the string is
/// written with escapes.
pub(crate) fn replace_part(
    text: NodeRef<'_>,
    range: Range<usize>,
    part: &str,
    words: impl Into<String>,
) -> Option<Vec<Edit>> {
    let is_part = can_change_value(text) && source(text, range.clone())? == part;
    is_part.then(|| vec![Edit::new(range, words)])
}

/// Replaces a value that may span several lines.
pub(crate) fn rewrite(value: NodeRef<'_>, words: impl Into<String>) -> Option<Vec<Edit>> {
    can_change_value(value).then(|| vec![Edit::new(value.own_range(), words)])
}

pub(crate) fn quote(value: NodeRef<'_>) -> Option<Vec<Edit>> {
    rewrite(value, Value::from(value.text()?).to_string())
}

/// Puts a string in quotes, including text next to it on its line that was read as a tag or a comment. Also returns
/// the quoted text.
pub(crate) fn quote_with(text: NodeRef<'_>, whole: &Range<usize>) -> Option<(String, Vec<Edit>)> {
    let words =
        source(text, whole.clone()).filter(|words| !words.contains('\n') && is_own(text) && text.alias().is_none())?;
    let quoted = quoted(&words);
    Some((quoted.clone(), vec![Edit::new(whole.clone(), quoted)]))
}

pub(crate) fn swap(one: NodeRef<'_>, other: NodeRef<'_>) -> Option<Vec<Edit>> {
    Some(sorted([replace(one, words(other)?)?, replace(other, words(one)?)?].concat()))
}

/// Returns the source text of a value that is on one line.
pub(crate) fn words(value: NodeRef<'_>) -> Option<String> {
    source(value, one_line(value)?)
}

/// Returns the source text of a value that is on one line, for use in a flow list: there, a comma ends plain text.
pub(crate) fn words_in_brackets(value: NodeRef<'_>) -> Option<String> {
    let words = words(value)?;
    Some(match value.text() {
        Some(text) if words.contains([',', '[', ']', '{', '}', '#']) => Value::from(text).to_string(),
        _ => words,
    })
}

#[cfg(test)]
mod tests;
