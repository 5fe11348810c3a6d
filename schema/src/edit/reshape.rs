//! Changes the form of entries and lists.

use crate::{
    document::{EntryRef, NodeRef},
    problem::Edit,
};

use super::lines::{self, indented, next_line, shifted, span};
use crate::edit::nodes::{can_change, is_flow, is_marked, is_on_one_line, is_own, line_start, margin, source};

/// Adds a value to a key without one, on its line.
pub(crate) fn fill(entry: EntryRef<'_>, words: &str) -> Option<Vec<Edit>> {
    let (key, value) = (entry.key, entry.value);
    if key.is_through_alias() || !is_own(value) || !value.is_null() || !value.own_range().is_empty() {
        return None;
    }
    let behind = key.own_range().end;
    let rest = source(key, behind..next_line(key, behind))?;
    let blanks = rest.len() - rest.trim_start_matches(' ').len();
    let colon = behind + blanks + 1;
    rest[blanks..].starts_with(':').then(|| vec![Edit::new(colon..colon, format!(" {words}"))])
}

/// Replaces an entry and everything below it with lines. `kept` is the node whose text they contain: comments outside
/// of it would be lost.
pub(crate) fn replace_entry(
    mapping: NodeRef<'_>,
    entry: EntryRef<'_>,
    new: &[String],
    kept: NodeRef<'_>,
) -> Option<Vec<Edit>> {
    let place = lines::entry(mapping, entry)?;
    keeps_comments(mapping, &place.range, kept)?;
    Some(vec![Edit::new(place.range.clone(), indented(new, place.column()).trim_start().to_owned())])
}

pub(crate) fn replace_entries(mapping: NodeRef<'_>, line: &str) -> Option<Vec<Edit>> {
    let entries: Vec<EntryRef<'_>> = mapping.entries().collect();
    let (first, last) = (entries.first()?, entries.last()?);
    let is_elsewhere = |entry: &EntryRef<'_>| entry.key.is_through_alias() || entry.value.is_through_alias();
    if !is_own(mapping) || entries.iter().any(is_elsewhere) {
        return None;
    }
    for pair in entries.windows(2) {
        let between = source(mapping, lines::end_of_entry(pair[0])..pair[1].key.own_range().start)?;
        (!between.contains('#')).then_some(())?;
    }
    Some(vec![Edit::new(first.key.own_range().start..lines::end_of_entry(*last), line)])
}

/// Puts the only entry of a block mapping in quotes, as one string. Also returns that string.
pub(crate) fn quote_entry(mapping: NodeRef<'_>) -> Option<(String, Vec<Edit>)> {
    let mut entries = mapping.entries();
    let entry = entries.next().filter(|entry| entries.next().is_none() && entry.value.scalar().is_some())?;
    // The colon of a key without a value belongs to the string.
    let range = entry.key.own_range().start..entry.value.own_range().end.max(entry.key.own_range().end + 1);
    let words = source(mapping, range.clone()).filter(|words| !words.contains(['\n', '\r']))?;
    let has_marks = [mapping, entry.key, entry.value].into_iter().any(is_marked);
    if has_marks || !is_own(mapping) || is_flow(mapping) {
        return None;
    }
    let quoted = crate::document::quoted(&words);
    Some((quoted.clone(), vec![Edit::new(range, quoted)]))
}

/// Replaces a list of one item with a mapping: the entry `line`, which contains the text of `kept`.
pub(crate) fn mapping_of_item(entry: EntryRef<'_>, line: &str, kept: NodeRef<'_>) -> Option<Vec<Edit>> {
    let list = entry.value;
    let mut items = list.items();
    let item = items.next().filter(|item| items.next().is_none() && !is_marked(*item))?;
    if !is_own(list) || list.alias().is_some() || is_marked(kept) {
        return None;
    }
    if is_flow(list) {
        let range = list.own_range();
        let is_short = is_on_one_line(list, &(range.start..range.end.saturating_sub(1).max(range.start)));
        return is_short.then(|| vec![Edit::new(range, format!("{{ {line} }}"))]);
    }
    let place = lines::item(list, item)?;
    keeps_comments(list, &place.range, kept)?;
    // Without its dash, an item would begin in the column of its key.
    let column = margin(list, entry.key.own_range().start)?.chars().count();
    let more = if place.column() > column { 0 } else { column + 2 - place.column() };
    Some(vec![Edit::new(place.range, format!("{}{line}", " ".repeat(more)))])
}

fn keeps_comments(node: NodeRef<'_>, range: &std::ops::Range<usize>, kept: NodeRef<'_>) -> Option<()> {
    let own = kept.own_range();
    let around = [source(node, range.start..own.start)?, source(node, own.end..range.end)?];
    around.iter().all(|words| !words.contains('#')).then_some(())
}

/// Replaces a key with `line`, and adds the value below the key next to it: the entries of a mapping, or a scalar as
/// the entry `member`. `None` if the key has a value and is not the only one.
pub(crate) fn split_key(
    mapping: NodeRef<'_>,
    entry: EntryRef<'_>,
    line: &str,
    member: Option<&str>,
) -> Option<Vec<Edit>> {
    let (key, value) = (entry.key, entry.value);
    if !is_own(mapping) || key.is_through_alias() || !can_change(value) {
        return None;
    }
    let (start, own) = (key.own_range().start, value.own_range());
    let column = margin(value, start)?.chars().count();
    let indent = " ".repeat(column);
    if value.is_null() && own.is_empty() {
        // In flow style, a key may have no value.
        let rest = source(value, key.own_range().end..next_line(value, key.own_range().end))?;
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let colon = if rest[blanks..].starts_with(':') { blanks + 1 } else { 0 };
        return Some(vec![Edit::new(start..key.own_range().end + colon, line)]);
    }
    if mapping.entries().nth(1).is_some() {
        return None;
    }
    let in_braces = is_flow(mapping);
    let Some(first) = value.entries().next().map(|entry| entry.key.own_range().start) else {
        let separator = if in_braces { ", ".to_owned() } else { format!("\n{indent}") };
        return Some(vec![Edit::new(start..own.end, format!("{line}{separator}{}", member?))]);
    };
    if is_flow(value) {
        let inner = source(value, first..lines::end_of_entry(value.entries().last()?))?;
        if source(value, own.clone())?.contains('\n') || inner.contains('#') {
            return None;
        }
        let words = format!("{line}, {inner}");
        let words = if in_braces { words } else { format!("{{ {words} }}") };
        return Some(vec![Edit::new(start..own.end, words)]);
    }
    let between = source(value, key.own_range().end..first)?;
    let less = (first - line_start(value, first)).checked_sub(column).filter(|_| between.trim() == ":")?;
    let mut rest = span(value, first);
    rest.next();
    let moved = shifted(value, rest, -isize::try_from(less).ok()?)?;
    let head = Edit::new(start..first, format!("{line}\n{indent}"));
    Some(std::iter::once(head).chain(moved).collect())
}
