//! Cures that change lists: items that are added, removed and split, in the layout that is there.

use std::ops::{Range, RangeInclusive};

use crate::{
    document::{EntryRef, NodeRef, Shape},
    problem::{Edit, Fix},
};

/// The text between the beginning of a line and a byte of it.
fn before(node: NodeRef<'_>, at: usize) -> Option<String> {
    let text = node.document().text();
    let start = text.line_to_byte(text.byte_to_line(at));
    text.get_byte_slice(start..at).map(String::from)
}

/// The spaces and the dash before an item that begins a line; nothing for items of lists in brackets.
fn dash_of(item: NodeRef<'_>) -> Option<String> {
    let before = before(item, item.own_range().start)?;
    (before.trim() == "-" && before.chars().all(|sign| sign == ' ' || sign == '-')).then_some(before)
}

/// The edit that puts an item before the first one of a list. `words` fits on a line.
pub(crate) fn insert_item(list: NodeRef<'_>, words: &str) -> Option<Edit> {
    let list = list.resolved();
    if list.is_through_alias() || list.shape() != Shape::Sequence {
        return None;
    }
    let first = list.items().next()?;
    if first.anchor().is_some() || first.is_through_alias() || first.alias().is_some() {
        return None;
    }
    let at = first.own_range().start;
    if let Some(dash) = dash_of(first) {
        return Some(Edit::new(at..at, format!("{words}\n{dash}")));
    }
    let text = list.document().text();
    let start = list.own_range().start;
    (text.get_byte_slice(start..start + 1)? == "[").then(|| Edit::new(at..at, format!("{{ {words} }}, ")))
}

/// The edit that takes an item out of a list in which others remain.
pub(crate) fn remove_item(list: NodeRef<'_>, index: usize) -> Option<Edit> {
    let list = list.resolved();
    if list.is_through_alias() || list.items().nth(1).is_none() {
        return None;
    }
    let item = list.item_at(index)?;
    if item.alias().is_some() || item.anchor().is_some() {
        return None;
    }
    let text = list.document().text();
    let range = item.own_range();
    if dash_of(item).is_some() {
        let start = text.line_to_byte(text.byte_to_line(range.start));
        let last = text.byte_to_line(range.end.saturating_sub(1).max(range.start));
        return Some(Edit::new(start..text.line_to_byte(last + 1), ""));
    }
    // In brackets the comma goes, too.
    match index.checked_sub(1) {
        Some(previous) => Some(Edit::new(list.item_at(previous)?.own_range().end..range.end, "")),
        None => Some(Edit::new(range.start..list.item_at(1)?.own_range().start, "")),
    }
}

/// The fix that removes an item that repeats another one. Unless `sound`, or where a comment goes along, a person decides.
pub(crate) fn remove_repetition(list: NodeRef<'_>, index: usize, sound: bool) -> Option<Fix> {
    let edit = remove_item(list, index)?;
    let removed = list.document().text().get_byte_slice(edit.range.clone()).map(String::from)?;
    let title = "remove it";
    let is_safe = sound && !removed.contains('#');
    Some(if is_safe { Fix::safe(title, vec![edit]) } else { Fix::guess(title, vec![edit]) })
}

/// The edits that make an item out of every key of an item.
pub(crate) fn split_item(item: NodeRef<'_>) -> Option<Vec<Edit>> {
    let item = item.resolved();
    if item.is_through_alias() || item.anchor().is_some() {
        return None;
    }
    let text = item.document().text();
    let start = item.own_range().start;
    let dash = dash_of(item);
    let entries: Vec<_> = item.entries().collect();
    if entries.iter().any(|entry| entry.key.is_through_alias()) {
        return None;
    }
    let in_braces = text.get_byte_slice(start..start + 1)? == "{";
    let mut edits = Vec::new();
    for pair in entries.windows(2) {
        let key = pair[1].key.own_range().start;
        if in_braces {
            let between = pair[0].value.own_range().end..key;
            let words = match &dash {
                Some(dash) => format!(" }}\n{dash}{{ "),
                None => " }, { ".to_owned(),
            };
            edits.push(Edit::new(between, words));
        } else {
            let indent = before(item, key)?;
            let dash = dash.as_ref().filter(|dash| indent.trim().is_empty() && dash.len() == indent.len())?;
            edits.push(Edit::new(key - indent.len()..key, dash.clone()));
        }
    }
    (!edits.is_empty()).then_some(edits)
}

/// The edits that make a list out of a mapping in block style: an item for every key.
pub(crate) fn list_of_keys(mapping: NodeRef<'_>) -> Option<Vec<Edit>> {
    let mapping = mapping.resolved();
    if mapping.is_through_alias() || mapping.anchor().is_some() {
        return None;
    }
    let text = mapping.document().text();
    let mut edits = Vec::new();
    for entry in mapping.entries() {
        let key = entry.key.own_range().start;
        if before(mapping, key)?.chars().any(|letter| letter != ' ') || entry.value.alias().is_some() {
            return None;
        }
        edits.push(Edit::new(key..key, "- "));
        // What stands below the key goes along.
        let end = entry.value.own_range().end.max(key + 1);
        let (first, last) = (text.byte_to_line(key), text.byte_to_line(end.saturating_sub(1)));
        for line in first + 1..=last {
            let start = text.line_to_byte(line);
            edits.push(Edit::new(start..start, "  "));
        }
    }
    (!edits.is_empty()).then_some(edits)
}

/// The lines that an entry of a block mapping takes, where its key is the first word of a line.
fn lines_of(entry: EntryRef<'_>) -> Option<RangeInclusive<usize>> {
    let text = entry.key.document().text();
    let key = entry.key.own_range().start;
    if entry.value.alias().is_some() && entry.value.is_through_alias() {
        return None;
    }
    let end = entry.value.own_range().end.max(key + 1);
    Some(text.byte_to_line(key)..=text.byte_to_line(end.saturating_sub(1)))
}

/// The edits that move lines to the right, or to the left where `by` is negative.
fn shift_lines(node: NodeRef<'_>, lines: RangeInclusive<usize>, by: isize, edits: &mut Vec<Edit>) -> Option<()> {
    let text = node.document().text();
    for line in lines {
        let start = text.line_to_byte(line);
        let words = text.get_byte_slice(start..text.line_to_byte(line + 1)).map(String::from)?;
        if words.trim().is_empty() {
            continue;
        }
        let less = by.unsigned_abs();
        match by {
            0 => {}
            1.. => edits.push(Edit::new(start..start, " ".repeat(less))),
            _ if words.starts_with(&" ".repeat(less)) => edits.push(Edit::new(start..start + less, "")),
            _ => return None,
        }
    }
    Some(())
}

/// The edits that indent all entries of a block mapping but one.
pub(crate) fn indent_entries(mapping: NodeRef<'_>, but: &str) -> Option<Vec<Edit>> {
    let mapping = mapping.resolved();
    if mapping.is_through_alias() {
        return None;
    }
    let mut edits = Vec::new();
    for entry in mapping.entries().filter(|entry| entry.key.text() != Some(but)) {
        if before(mapping, entry.key.own_range().start)?.chars().any(|letter| letter != ' ') {
            return None;
        }
        shift_lines(mapping, lines_of(entry)?, 2, &mut edits)?;
    }
    (!edits.is_empty()).then_some(edits)
}

/// The edit that makes an item out of each text of a list in brackets, which is the value of `key`.
pub(crate) fn one_item_each(list: NodeRef<'_>, key: &str) -> Option<Edit> {
    let list = list.resolved();
    if list.is_through_alias() || list.anchor().is_some() {
        return None;
    }
    let before = before(list, list.own_range().start)?;
    let dash = &before[..before.find(key)?];
    if dash.trim() != "-" {
        return None;
    }
    let texts: Option<Vec<String>> = list
        .items()
        .map(|item| {
            let text = item.as_str().filter(|text| !text.contains('\n') && !text.is_empty())?;
            (item.alias().is_none()).then(|| crate::shape::scalar(text))
        })
        .collect();
    let texts = texts.filter(|texts| !texts.is_empty())?;
    Some(Edit::new(list.own_range(), texts.join(&format!("\n{dash}{key}: "))))
}

/// The edits that make a list out of a mapping from ids to mappings.
pub(crate) fn items_with_ids(mapping: NodeRef<'_>) -> Option<Vec<Edit>> {
    let mapping = mapping.resolved();
    if mapping.is_through_alias() || mapping.anchor().is_some() {
        return None;
    }
    let text = mapping.document().text();
    let mut edits = Vec::new();
    for entry in mapping.entries() {
        let key = entry.key.own_range();
        let indent = before(mapping, key.start)?;
        let id = String::from(text.get_byte_slice(key.clone())?);
        if indent.chars().any(|letter| letter != ' ') || entry.value.shape() != Shape::Mapping || has_marks(entry.value)
        {
            return None;
        }
        let value = entry.value.own_range();
        if text.get_byte_slice(value.start..value.start + 1)? == "{" {
            let inner = entry.value.entries().next()?.key.own_range().start;
            edits.push(Edit::new(key.start..inner, format!("- {{ id: {id}, ")));
            continue;
        }
        let first = entry.value.entries().next()?.key.own_range().start;
        let column = isize::try_from(before(mapping, first)?.len()).ok()?;
        let wanted = isize::try_from(indent.len() + 2).ok()?;
        edits.push(Edit::new(key.start..key.end + 1, format!("- id: {id}")));
        let last = value.end.saturating_sub(1).max(first);
        shift_lines(mapping, text.byte_to_line(first)..=text.byte_to_line(last), wanted - column, &mut edits)?;
    }
    (!edits.is_empty()).then_some(edits)
}

/// The edits that leave a list alone, without the key that it stands under.
pub(crate) fn unwrap_list(entry: EntryRef<'_>) -> Option<Vec<Edit>> {
    let list = entry.value.resolved();
    let text = list.document().text();
    let (key, first) = (entry.key.own_range(), list.items().next()?);
    if has_marks(entry.value) || !before(list, key.start)?.is_empty() {
        return None;
    }
    let dash = dash_of(first)?;
    let column = isize::try_from(dash.find('-')?).ok()?;
    let line = text.byte_to_line(key.start);
    if String::from(text.get_byte_slice(key.end..text.line_to_byte(line + 1))?).trim() != ":" {
        return None;
    }
    let mut edits = vec![Edit::new(text.line_to_byte(line)..text.line_to_byte(line + 1), "")];
    let last = text.byte_to_line(list.own_range().end.saturating_sub(1));
    shift_lines(list, line + 1..=last, -column, &mut edits)?;
    Some(edits)
}

/// Whether a node has an anchor or is an alias, which an edit would lose.
fn has_marks(node: NodeRef<'_>) -> bool {
    node.alias().is_some() || node.anchor().is_some()
}

/// The edit that puts several entries in place of one.
pub(crate) fn beside(mapping: NodeRef<'_>, range: Range<usize>, entries: &[String]) -> Option<Edit> {
    let start = mapping.resolved().own_range().start;
    if mapping.document().text().get_byte_slice(start..start + 1)? == "{" {
        return Some(Edit::new(range, entries.join(", ")));
    }
    let indent: String = before(mapping, range.start)?.chars().map(|_| ' ').collect();
    Some(Edit::new(range, entries.join(&format!("\n{indent}"))))
}
