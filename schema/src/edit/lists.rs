//! Converts values to and from lists.

use crate::{
    document::{EntryRef, NodeRef, Shape, Style},
    problem::Edit,
    quoting::scalar,
};

use super::lines::{dash_of, next_line, shifted, span};
use crate::edit::nodes::{
    can_change_value, end_of, is_flow, is_marked, is_on_one_line, is_own, line_start, margin, one_line, source,
};

/// Replaces a value on one line with a list in flow style.
pub(crate) fn as_list(value: NodeRef<'_>, words: &[String]) -> Option<Vec<Edit>> {
    let range = value.own_range();
    let is_short = can_change_value(value) && !range.is_empty() && is_on_one_line(value, &range);
    is_short.then(|| vec![Edit::new(range, format!("[{}]", words.join(", ")))])
}

/// Makes a block mapping the only item of a list.
pub(crate) fn as_items(mapping: NodeRef<'_>) -> Option<Vec<Edit>> {
    let first = mapping.entries().next()?.key.own_range().start;
    if !can_change_value(mapping) || mapping.anchor().is_some() || !is_indent(&margin(mapping, first)?) {
        return None;
    }
    let mut lines = span(mapping, first);
    lines.next();
    let dash = Edit::new(first..first, "- ");
    Some(std::iter::once(dash).chain(shifted(mapping, lines, 2)?).collect())
}

/// Replaces a list with its only item, a mapping.
pub(crate) fn only_item(list: NodeRef<'_>) -> Option<Vec<Edit>> {
    let mut items = list.items();
    let item = items.next().filter(|item| items.next().is_none() && item.shape() == Shape::Mapping)?;
    if !is_own(list) || is_marked(list) || is_marked(item) {
        return None;
    }
    let (outer, inner) = (list.own_range(), item.own_range());
    let between = source(list, outer.start..inner.start)?;
    if between.trim() == "[" && is_flow(item) {
        return Some(vec![Edit::new(outer.start..inner.start, ""), Edit::new(inner.end..outer.end, "")]);
    }
    (between == "- ").then(|| vec![Edit::new(outer.start..inner.start, "  ")])
}

/// Replaces a list with its only item, a scalar, on the line of the key.
pub(crate) fn undashed(list: NodeRef<'_>) -> Option<Vec<Edit>> {
    let mut items = list.items();
    let item = items.next().filter(|item| items.next().is_none() && !item.is_null() && item.scalar().is_some())?;
    if !is_own(list) || is_marked(list) || is_marked(item) || is_flow(list) {
        return None;
    }
    let start = one_line(item)?.start;
    let text = list.document().text();
    let above = text.line_to_byte(text.byte_to_line(start).checked_sub(1)?);
    let before = source(list, above..start)?;
    let key = before.strip_suffix("- ")?.trim_end();
    key.ends_with(':').then(|| vec![Edit::new(above + key.len()..start, " ")])
}

/// Replaces a list in flow style with its only item, a scalar.
pub(crate) fn out_of_brackets(list: NodeRef<'_>) -> Option<Vec<Edit>> {
    let mut items = list.items();
    let item = items.next().filter(|item| items.next().is_none() && item.scalar().is_some() && !item.is_null())?;
    let range = list.own_range();
    // The text may end with a key without its colon.
    let is_short = !source(list, range.clone())?.contains(['\n', '\r']);
    if !is_short || !is_flow(list) || list.alias().is_some() || item.alias().is_some() {
        return None;
    }
    Some(vec![Edit::new(range, source(item, item.own_range())?)])
}

/// Inserts a space after the dash at the start of each key of a mapping: `-exit_code: 0` was meant as an item.
pub(crate) fn space_dashes_of_keys(mapping: NodeRef<'_>) -> Option<Vec<Edit>> {
    let text = mapping.document().text();
    let behind_dash = |entry: EntryRef<'_>| {
        let key = entry.key.range();
        let mut letters = text.byte_slice(key.clone()).chars();
        let lacks_blank = letters.next() == Some('-') && letters.next().is_some_and(char::is_alphabetic);
        lacks_blank.then_some(key.start + 1)
    };
    let places: Vec<usize> = mapping.entries().map(behind_dash).collect::<Option<_>>()?;
    let is_own = is_own(mapping) && !places.is_empty();
    is_own.then(|| places.into_iter().map(|at| Edit::new(at..at, " ")).collect())
}

/// Inserts a space after the dash at the start of each line of a plain scalar: `-smoke` was meant as an item.
pub(crate) fn space_dashes_of_lines(value: NodeRef<'_>) -> Option<Vec<Edit>> {
    if value.style() != Some(Style::Plain) || !is_own(value) {
        return None;
    }
    let (text, range) = (value.document().text(), value.own_range());
    let behind_dash = |line: usize| {
        let words = String::from(text.line(line));
        let column = words.len() - words.trim_start_matches(' ').len();
        let next = words[column..].strip_prefix('-').and_then(|rest| rest.chars().next())?;
        let at = text.line_to_byte(line) + column;
        let lacks_blank = next.is_alphabetic() || next == '/';
        let edit = || Edit::new(at + 1..at + 1, " ");
        ((lacks_blank || next == ' ') && at >= range.start).then(|| lacks_blank.then(edit))
    };
    let lines = text.byte_to_line(range.start)..=text.byte_to_line(range.end);
    let edits: Vec<Edit> = lines.map(behind_dash).collect::<Option<Vec<_>>>()?.into_iter().flatten().collect();
    (!edits.is_empty()).then_some(edits)
}

pub(crate) fn split_item(item: NodeRef<'_>) -> Option<Vec<Edit>> {
    let item = item.resolved();
    let entries: Vec<EntryRef<'_>> = item.entries().collect();
    if !is_own(item) || item.anchor().is_some() || entries.iter().any(|entry| entry.key.is_through_alias()) {
        return None;
    }
    let dash = dash_of(item);
    let mut edits = Vec::new();
    for pair in entries.windows(2) {
        let key = pair[1].key.own_range().start;
        if is_flow(item) {
            let between = pair[0].value.own_range().end..key;
            let words = match &dash {
                Some(dash) => format!(" }}\n{dash}{{ "),
                None => " }, { ".to_owned(),
            };
            edits.push(Edit::new(between, words));
        } else {
            // A key in another column is reported separately.
            let indent = margin(item, key)?;
            let dash = dash.as_ref().filter(|dash| is_indent(&indent) && dash.len() == indent.len())?;
            // The dash replaces the blanks before the key.
            let dash = dash.trim_start();
            edits.push(Edit::new(key - dash.len()..key, dash));
        }
    }
    (!edits.is_empty()).then_some(edits)
}

/// Converts a block mapping to a list with one item per key.
pub(crate) fn items_of_keys(mapping: NodeRef<'_>) -> Option<Vec<Edit>> {
    let mapping = mapping.resolved();
    if !is_own(mapping) || mapping.anchor().is_some() {
        return None;
    }
    let mut edits = Vec::new();
    for entry in mapping.entries() {
        let key = entry.key.own_range().start;
        if !is_indent(&margin(mapping, key)?) || entry.value.alias().is_some() {
            return None;
        }
        edits.push(Edit::new(key..key, "- "));
        let mut lines = span(entry.value, key);
        lines.next();
        edits.extend(shifted(mapping, lines, 2)?);
    }
    (!edits.is_empty()).then_some(edits)
}

/// Indents all entries of a block mapping except for the first, which has no value: they become its value.
pub(crate) fn indent_entries(mapping: NodeRef<'_>) -> Option<Vec<Edit>> {
    let mapping = mapping.resolved();
    let mut entries = mapping.entries();
    let owner = entries.next().filter(|owner| is_own(mapping) && !owner.key.is_through_alias())?;
    let mut edits = Vec::new();
    for entry in entries {
        let key = entry.key.own_range().start;
        let is_elsewhere = entry.value.alias().is_some() && entry.value.is_through_alias();
        if !is_indent(&margin(mapping, key)?) || is_elsewhere {
            return None;
        }
        edits.extend(shifted(mapping, span(entry.value, key), 2)?);
    }
    // With the entries below it, the key has a value. So an edit changes its bytes too.
    let end = owner.key.own_range().end + 1;
    let first = edits.first_mut()?;
    first.text.insert_str(0, &source(mapping, end..first.range.start)?.replace("\r\n", "\n"));
    first.range.start = end;
    Some(edits)
}

/// Converts a flow list of strings, the value of `key`, to a block list.
pub(crate) fn one_item_each(list: NodeRef<'_>, key: NodeRef<'_>) -> Option<Vec<Edit>> {
    let list = list.resolved();
    if !is_own(list) || list.anchor().is_some() || !is_flow(list) {
        return None;
    }
    let dash = margin(list, key.own_range().start).filter(|before| before.trim() == "-")?;
    let name = source(key, key.own_range())?;
    let text = |item: NodeRef<'_>| {
        let text = item.as_str().filter(|text| !text.contains('\n') && !text.is_empty())?;
        item.alias().is_none().then(|| scalar(text))
    };
    let texts: Vec<String> = list.items().map(text).collect::<Option<_>>()?;
    (!texts.is_empty()).then(|| vec![Edit::new(list.own_range(), texts.join(&format!("\n{dash}{name}: ")))])
}

pub(crate) fn items_with_ids(mapping: NodeRef<'_>) -> Option<Vec<Edit>> {
    let mapping = mapping.resolved();
    if !is_own(mapping) || mapping.anchor().is_some() {
        return None;
    }
    let mut edits = Vec::new();
    for entry in mapping.entries() {
        let (key, value) = (entry.key.own_range(), entry.value);
        let indent = margin(mapping, key.start)?;
        let id = source(mapping, key.clone())?;
        if !is_indent(&indent) || value.shape() != Shape::Mapping || is_marked(value) {
            return None;
        }
        let first = value.entries().next()?.key.own_range().start;
        if is_flow(value) {
            edits.push(Edit::new(key.start..first, format!("- {{ id: {id}, ")));
            continue;
        }
        let column = isize::try_from(margin(mapping, first)?.len()).ok()?;
        let wanted = isize::try_from(indent.len() + 2).ok()?;
        edits.push(Edit::new(key.start..key.end + 1, format!("- id: {id}")));
        edits.extend(shifted(mapping, span(value, first), wanted - column)?);
    }
    (!edits.is_empty()).then_some(edits)
}

pub(crate) fn unwrap_list(entry: EntryRef<'_>) -> Option<Vec<Edit>> {
    let list = entry.value.resolved();
    let (key, first) = (entry.key.own_range(), list.items().next()?);
    if is_marked(entry.value) || !margin(list, key.start)?.is_empty() {
        return None;
    }
    let column = isize::try_from(dash_of(first)?.find('-')?).ok()?;
    let next = next_line(list, key.start);
    if source(list, key.end..next)?.trim() != ":" {
        return None;
    }
    let text = list.document().text();
    let last = text.byte_to_line(end_of(list).saturating_sub(1));
    let moved = shifted(list, text.byte_to_line(next)..=last, -column)?;
    let gone = Edit::new(line_start(list, key.start)..next, "");
    Some(std::iter::once(gone).chain(moved).collect())
}

/// Whether a line begins with spaces only.
fn is_indent(before: &str) -> bool {
    before.bytes().all(|letter| letter == b' ')
}
