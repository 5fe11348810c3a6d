//! Inserts entries and items, in the layout of the existing ones.

use crate::{
    document::{EntryRef, NodeRef, Shape},
    problem::Edit,
};

use super::lines::{self, dash_of, end_of_entry, indent_of, indented, keeps_blank_lines};
use crate::edit::nodes::{can_change, end_of, is_flow, is_marked, is_own};

pub(crate) fn entries_behind(mapping: NodeRef<'_>, entry: EntryRef<'_>, new: &[String]) -> Option<Vec<Edit>> {
    let mapping = mapping.resolved();
    if new.is_empty() || !is_own(mapping) || entry.key.is_through_alias() {
        return None;
    }
    if is_flow(mapping) {
        let end = end_of_entry(entry);
        let words: String = new.iter().map(|line| format!(", {line}")).collect();
        return Some(vec![Edit::new(end..end, words)]);
    }
    let place = lines::entry(mapping, entry).filter(|_| !keeps_blank_lines(entry.value))?;
    let end = place.range.end;
    Some(vec![Edit::new(end..end, format!("\n{}", indented(new, place.column())))])
}

/// Inserts an entry before the others of a mapping. An entry of several lines requires block style.
pub(crate) fn entry_at_front(mapping: NodeRef<'_>, line: &str) -> Option<Vec<Edit>> {
    let mapping = mapping.resolved();
    if !is_own(mapping) {
        return None;
    }
    let Some(first) = mapping.entries().next() else {
        return Some(vec![Edit::new(mapping.own_range(), format!("{{ {line} }}"))]);
    };
    let at = first.key.own_range().start;
    if is_flow(mapping) {
        return (!line.contains('\n')).then(|| vec![Edit::new(at..at, format!("{line}, "))]);
    }
    let indent = indent_of(mapping, at)?;
    let text = line.replace('\n', &format!("\n{indent}"));
    Some(vec![Edit::new(at..at, format!("{text}\n{indent}"))])
}

/// Inserts an entry into a mapping, after the last existing key that precedes it in `order`.
pub(crate) fn entry_in_order(mapping: NodeRef<'_>, key: &str, line: &str, order: &[&str]) -> Option<Vec<Edit>> {
    let mapping = mapping.resolved();
    let place = |key: &str| order.iter().position(|known| *known == key);
    let own = place(key);
    let is_later = |entry: &EntryRef<'_>| place(&entry.key.key_text()).is_some_and(|it| Some(it) > own);
    // If the keys are in another order, the new one goes before the first key that follows it.
    let last = mapping.entries().filter(|entry| !entry.is_merge()).take_while(|entry| !is_later(entry)).last();
    last.and_then(|entry| entries_behind(mapping, entry, &[line.to_owned()])).or_else(|| entry_at_front(mapping, line))
}

/// Replaces an entry on one line with several entries.
pub(crate) fn entry_in_place(mapping: NodeRef<'_>, entry: EntryRef<'_>, new: &[String]) -> Option<Vec<Edit>> {
    let mapping = mapping.resolved();
    let range = entry.key.own_range().start..end_of_entry(entry);
    if !is_own(mapping) || entry.key.is_through_alias() || entry.value.is_through_alias() {
        return None;
    }
    if is_flow(mapping) {
        return Some(vec![Edit::new(range, new.join(", "))]);
    }
    let indent = indent_of(mapping, range.start)?;
    Some(vec![Edit::new(range, new.join(&format!("\n{indent}")))])
}

/// Inserts an item before the first one of a list. `words` is a mapping that fits on a line.
pub(crate) fn item_at_front(list: NodeRef<'_>, words: &str) -> Option<Vec<Edit>> {
    let list = list.resolved();
    if !is_own(list) || list.shape() != Shape::Sequence {
        return None;
    }
    let first = list.items().next().filter(|first| !is_marked(*first) && !first.is_through_alias())?;
    let at = first.own_range().start;
    let text = match dash_of(first) {
        Some(dash) => format!("{words}\n{dash}"),
        None => is_flow(list).then(|| format!("{{ {words} }}, "))?,
    };
    Some(vec![Edit::new(at..at, text)])
}

/// Appends an item, given as lines from the dash on, to a list in block style.
pub(crate) fn lines_at_end(list: NodeRef<'_>, lines: &[String]) -> Option<Vec<Edit>> {
    let last = list.items().last().filter(|last| !keeps_blank_lines(*last) && can_change(list) && !is_flow(list))?;
    let place = lines::item(list, last)?;
    let end = place.range.end;
    Some(vec![Edit::new(end..end, format!("\n{}", indented(lines, place.column())))])
}

pub(crate) fn item_at_end(list: NodeRef<'_>, word: &str) -> Option<Vec<Edit>> {
    if !is_flow(list) {
        return lines_at_end(list, &[format!("- {word}")]);
    }
    if !can_change(list) {
        return None;
    }
    Some(vec![match list.items().last() {
        Some(last) => Edit::new(end_of(last)..end_of(last), format!(", {word}")),
        None => Edit::new(list.own_range(), format!("[{word}]")),
    }])
}
