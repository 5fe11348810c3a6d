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
mod remove;
mod reshape;

use std::ops::Range;

use serde_json::Value;

use crate::{
    document::{NodeRef, Shape, quoted},
    problem::Edit,
    shape::scalar,
};

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

/// Returns the bytes of a value that is on one line, unless they belong to an anchor.
pub(crate) fn one_line(value: NodeRef<'_>) -> Option<Range<usize>> {
    let range = value.own_range();
    (!range.is_empty() && is_on_one_line(value, &range) && can_change_value(value)).then_some(range)
}

/// Whether the bytes of a node belong to the node itself, not to an anchor elsewhere.
pub(crate) fn is_own(node: NodeRef<'_>) -> bool {
    !node.resolved().is_through_alias()
}

pub(crate) fn is_flow(node: NodeRef<'_>) -> bool {
    let own = node.own_range();
    let written = source(node, own.start..own.end.min(own.start + 512)).unwrap_or_default();
    let mut rest = written.trim_start();
    while rest.starts_with(['&', '!']) {
        rest = rest.find(char::is_whitespace).map_or("", |at| rest[at..].trim_start());
    }
    rest.starts_with(['[', '{'])
}

/// Whether a node or one of its descendants has an anchor, and may be used elsewhere.
pub(crate) fn has_anchor(node: NodeRef<'_>) -> bool {
    node.alias().is_none()
        && (node.anchor().is_some()
            || node.entries().any(|entry| has_anchor(entry.key) || has_anchor(entry.value))
            || node.items().any(has_anchor))
}

/// Whether a descendant of a node has an anchor or is an alias, and so cannot be moved.
fn has_names(node: NodeRef<'_>) -> bool {
    is_marked(node)
        || node.entries().any(|entry| has_names(entry.key) || has_names(entry.value))
        || node.items().any(has_names)
}

/// Whether a node has an anchor or is an alias, which an edit of its content would remove.
fn is_marked(node: NodeRef<'_>) -> bool {
    node.alias().is_some() || node.anchor().is_some()
}

/// Whether the value can be changed without changing anything else or removing its anchor. A tag determines the type
/// of its value: `!!str` would not allow a list.
fn can_change_value(value: NodeRef<'_>) -> bool {
    is_own(value) && value.alias().is_none() && value.tag().is_none()
}

/// Whether the bytes of a collection are its own and not shared.
fn can_change(collection: NodeRef<'_>) -> bool {
    !collection.is_through_alias() && !is_marked(collection)
}

fn is_on_one_line(node: NodeRef<'_>, range: &Range<usize>) -> bool {
    let text = node.document().text();
    text.byte_to_line(range.start) == text.byte_to_line(range.end)
}

fn source(node: NodeRef<'_>, range: Range<usize>) -> Option<String> {
    node.document().text().get_byte_slice(range).map(String::from)
}

fn line_start(node: NodeRef<'_>, at: usize) -> usize {
    let text = node.document().text();
    text.line_to_byte(text.byte_to_line(at))
}

/// Returns the text between the start of a line and an offset in it, without a byte order mark.
fn margin(node: NodeRef<'_>, at: usize) -> Option<String> {
    let before = source(node, line_start(node, at)..at)?;
    Some(before.trim_start_matches('\u{feff}').to_owned())
}

/// Returns the end of the last content of a node. The range of a block may include blank lines and
/// comments.
fn end_of(node: NodeRef<'_>) -> usize {
    if node.alias().is_some() {
        return node.range().end;
    }
    let own = node.own_range();
    if !is_flow(node) {
        let last = match node.shape() {
            Shape::Mapping => node.entries().last().map(|entry| end_of(entry.value).max(entry.key.own_range().end)),
            Shape::Sequence => node.items().last().map(end_of),
            Shape::Scalar | Shape::Dangling => None,
        };
        if let Some(last) = last {
            return last;
        }
    }
    let written = source(node, own.clone()).unwrap_or_default();
    own.start + written.trim_end().len()
}

/// Returns the edits in document order.
fn sorted(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| edit.range.start);
    edits
}

#[cfg(test)]
mod tests;
