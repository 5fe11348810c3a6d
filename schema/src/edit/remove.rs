//! Removes entries and items, or comments them out.

use crate::{
    document::{EntryRef, NodeRef, Pointer, Shape},
    problem::Edit,
};

use super::lines::{self, Lines, end_of_entry, next_line};
use crate::edit::nodes::{has_anchor, is_flow, is_own, line_start, source};

/// Maximum number of entries of a mapping for which to offer commenting out.
const MAX_ENTRIES: usize = 256;

/// Removes an entry of a mapping, with its lines. `None` if it is the only one, or is used elsewhere.
pub(crate) fn remove_entry(mapping: NodeRef<'_>, entry: EntryRef<'_>) -> Option<Vec<Edit>> {
    let mapping = mapping.resolved();
    if !is_own(mapping) || entry.key.is_through_alias() || has_anchor(entry.value) {
        return None;
    }
    Some(vec![if is_flow(mapping) { from_braces(mapping, entry)? } else { from_lines(mapping, entry)? }])
}

fn from_lines(mapping: NodeRef<'_>, entry: EntryRef<'_>) -> Option<Edit> {
    let lines = lines::entry(mapping, entry)?;
    if !lines.before.contains('-') {
        return whole_lines(mapping, &lines).filter(|_| mapping.entries().nth(1).is_some());
    }
    // The next entry moves to its place after the dash.
    let next = mapping.entries().find(|entry| entry.key.own_range().start > lines.range.start)?;
    let next = next.key.own_range().start;
    let between = source(mapping, end_of_entry(entry)..next)?;
    between.trim().is_empty().then(|| Edit::new(lines.range.start..next, ""))
}

/// Removes an entry of a flow mapping, with one adjacent comma.
fn from_braces(mapping: NodeRef<'_>, entry: EntryRef<'_>) -> Option<Edit> {
    let start = entry.key.own_range().start;
    let entries: Vec<EntryRef<'_>> = mapping.entries().collect();
    let index = entries.iter().position(|other| other.key.own_range().start == start)?;
    let range = match (index.checked_sub(1), entries.get(index + 1)) {
        (_, Some(next)) => start..next.key.own_range().start,
        (Some(previous), None) => end_of_entry(entries[previous])..end_of_entry(entry),
        (None, None) => return None,
    };
    // A comment between the two would be removed too.
    let gone = source(mapping, range.clone())?;
    (!gone.contains(['\n', '\r', '#'])).then(|| Edit::new(range, ""))
}

/// Removes an item of a list. `None` if it is the only one, or is used elsewhere.
pub(crate) fn remove_item(list: NodeRef<'_>, index: usize) -> Option<Vec<Edit>> {
    let list = list.resolved();
    let item = list.item_at(index)?;
    if !is_own(list) || list.items().nth(1).is_none() || has_anchor(item) {
        return None;
    }
    if !is_flow(list) {
        return Some(vec![whole_lines(list, &lines::item(list, item)?)?]);
    }
    // In flow style, the comma is removed too.
    let end = |item: NodeRef<'_>| super::nodes::end_of(item);
    let start = |item: NodeRef<'_>| if item.alias().is_some() { item.range().start } else { item.own_range().start };
    let range = match index.checked_sub(1) {
        Some(previous) => end(list.item_at(previous)?)..end(item),
        None => start(item)..start(list.item_at(1)?),
    };
    let gone = source(list, range.clone())?;
    (!gone.contains('#')).then(|| vec![Edit::new(range, "")])
}

/// Removes lines. `None` if they begin with the dash of an enclosing item, which would be removed too.
fn whole_lines(node: NodeRef<'_>, lines: &Lines) -> Option<Edit> {
    let range = line_start(node, lines.range.start)..next_line(node, lines.range.end);
    (!lines.before.contains('-')).then(|| Edit::new(range, ""))
}

/// Comments out the entry or item at `at` below `root`. Its effect is lost, so the mapping or list must have at least
/// one other.
pub(crate) fn comment_out(root: NodeRef<'_>, at: &Pointer) -> Option<Vec<Edit>> {
    let (parent, last) = (root.find(&at.parent()?)?, at.last()?);
    match parent.shape() {
        Shape::Mapping => {
            // With thousands of problems, one such fix for each would be too expensive.
            if parent.entries().take(MAX_ENTRIES).count() == MAX_ENTRIES || parent.entries().nth(1).is_none() {
                return None;
            }
            let mut same = parent.entries().filter(|entry| entry.key.key_text() == last);
            let entry = same.next().filter(|entry| same.next().is_none() && !has_anchor(entry.value))?;
            comment_entry(parent, entry)
        }
        Shape::Sequence => {
            let item = parent.item_at(at.last_step()?.index()?).filter(|item| !has_anchor(*item))?;
            let lines = lines::item(parent, item).filter(|_| parent.items().nth(1).is_some())?;
            Some(as_comment(root, &lines))
        }
        Shape::Scalar | Shape::Dangling => None,
    }
}

/// Comments out an entry, even if another one has the same key.
pub(crate) fn comment_entry(mapping: NodeRef<'_>, entry: EntryRef<'_>) -> Option<Vec<Edit>> {
    Some(as_comment(mapping, &lines::entry(mapping, entry)?))
}

fn as_comment(node: NodeRef<'_>, lines: &Lines) -> Vec<Edit> {
    let text = node.document().text();
    let (first, last) = (text.byte_to_line(lines.range.start), text.byte_to_line(lines.range.end));
    let mut edits = vec![Edit::new(lines.range.start..lines.range.start, "# ")];
    for line in first + 1..=last {
        let start = text.line_to_byte(line);
        let whole = String::from(text.line(line));
        let content = whole.trim_end_matches(['\n', '\r']);
        if !content.trim().is_empty() {
            let indent = content.bytes().take_while(|byte| *byte == b' ').count().min(lines.column());
            edits.push(Edit::new(start + indent..start + indent, "# "));
        }
    }
    edits
}
