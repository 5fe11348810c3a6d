//! Lines of entries and items in block style.

use std::ops::{Range, RangeInclusive};

use crate::{
    document::{EntryRef, NodeRef, Shape, Style},
    problem::Edit,
};

use crate::edit::nodes::{end_of, is_flow, is_own, line_start, margin, source};

/// Lines of an entry or an item in block style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lines {
    /// From its first character, or its dash, to the end of its last line, without the line ending.
    pub(super) range: Range<usize>,
    /// Text before it on its first line: blanks, and dashes of items that begin with it.
    pub(super) before: String,
}

impl Lines {
    pub(super) fn column(&self) -> usize {
        self.before.chars().count()
    }
}

pub(super) fn entry(mapping: NodeRef<'_>, entry: EntryRef<'_>) -> Option<Lines> {
    if !is_own(mapping) || entry.key.is_through_alias() || is_flow(mapping) {
        return None;
    }
    let start = entry.key.own_range().start;
    let before = margin(mapping, start).filter(|before| is_margin(before))?;
    lines(mapping, start, end_of_entry(entry), before)
}

pub(super) fn item(list: NodeRef<'_>, item: NodeRef<'_>) -> Option<Lines> {
    if !is_own(list) || is_flow(list) {
        return None;
    }
    let first = if item.alias().is_some() { item.range().start } else { item.own_range().start };
    let head = source(list, line_start(list, first)..first)?;
    // There may be an anchor between the dash and the item.
    let dash =
        head.find("- ").filter(|dash| head[..*dash].trim_start_matches('\u{feff}').bytes().all(|it| it == b' '))?;
    let between = head[dash + 2..].trim();
    let is_anchor = between.starts_with('&') && !between.contains(' ');
    if !between.is_empty() && !is_anchor {
        return None;
    }
    let before = head[..dash].trim_start_matches('\u{feff}').to_owned();
    lines(list, line_start(list, first) + dash, end_of(item), before)
}

fn lines(node: NodeRef<'_>, start: usize, end: usize, before: String) -> Option<Lines> {
    let stop = end_of_line(node, end.min(node.document().text().len_bytes()))?;
    let behind = source(node, end.min(stop)..stop)?;
    let rest = behind.trim_start();
    (rest.is_empty() || rest.starts_with('#') && behind.len() > rest.len())
        .then_some(Lines { range: start..stop, before })
}

/// Returns the end of an entry, without comments after it.
pub(super) fn end_of_entry(entry: EntryRef<'_>) -> usize {
    end_of(entry.value).max(entry.key.own_range().end)
}

/// Returns the end of the line at an offset, without the line ending.
pub(super) fn end_of_line(node: NodeRef<'_>, at: usize) -> Option<usize> {
    let text = node.document().text();
    let line = text.byte_to_line(at);
    let start = text.line_to_byte(line);
    let whole = source(node, start..text.line_to_byte((line + 1).min(text.len_lines())))?;
    Some(start + whole.trim_end_matches(['\n', '\r']).len())
}

pub(super) fn next_line(node: NodeRef<'_>, at: usize) -> usize {
    let text = node.document().text();
    text.line_to_byte((text.byte_to_line(at) + 1).min(text.len_lines()))
}

/// Whether a text consists of blanks and dashes.
pub(super) fn is_margin(before: &str) -> bool {
    let before = before.trim_start_matches(' ');
    before.split("- ").all(|between| between.bytes().all(|it| it == b' ')) && !before.ends_with('-')
}

/// Returns the column of a key that is the first on its line, apart from dashes of items.
pub(super) fn column_of(key: NodeRef<'_>) -> Option<usize> {
    let before = margin(key, key.own_range().start)?;
    (is_margin(&before) && !key.is_through_alias()).then(|| before.chars().count())
}

/// Returns the indentation for a new line below the offset `at`, which only dashes and blanks precede.
pub(super) fn indent_of(node: NodeRef<'_>, at: usize) -> Option<String> {
    let before = margin(node, at)?;
    before.chars().all(|letter| letter == ' ' || letter == '-').then(|| " ".repeat(before.chars().count()))
}

/// Returns the indentation and the dash of an item that begins a line. `None` for items in flow style.
pub(super) fn dash_of(item: NodeRef<'_>) -> Option<String> {
    let before = margin(item, item.own_range().start)?;
    (before.trim() == "-" && before.chars().all(|sign| sign == ' ' || sign == '-')).then_some(before)
}

/// Whether trailing blank lines belong to the last scalar of a node, so nothing can be inserted after it.
pub(super) fn keeps_blank_lines(node: NodeRef<'_>) -> bool {
    match node.shape() {
        Shape::Mapping => node.entries().last().is_some_and(|entry| keeps_blank_lines(entry.value)),
        Shape::Sequence => node.items().last().is_some_and(keeps_blank_lines),
        Shape::Dangling => false,
        Shape::Scalar => {
            matches!(node.style(), Some(Style::Literal | Style::Folded))
                && node.text().is_some_and(|text| text.ends_with("\n\n"))
        }
    }
}

pub(super) fn indented(lines: &[String], column: usize) -> String {
    let margin = " ".repeat(column);
    let lines = lines.iter().map(|line| if line.is_empty() { String::new() } else { format!("{margin}{line}") });
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) fn as_item(lines: &[String]) -> Vec<String> {
    let line = |(index, line): (usize, &String)| match (index, line.is_empty()) {
        (0, _) => format!("- {line}"),
        (_, true) => String::new(),
        (_, false) => format!("  {line}"),
    };
    lines.iter().enumerate().map(line).collect()
}

pub(super) fn span(value: NodeRef<'_>, start: usize) -> RangeInclusive<usize> {
    let text = value.document().text();
    let end = value.own_range().end.max(start + 1);
    text.byte_to_line(start)..=text.byte_to_line(end - 1)
}

/// Returns the edits that indent lines, or dedent them if `by` is negative. `None` if a line has too little
/// indentation.
pub(super) fn shifted(node: NodeRef<'_>, lines: RangeInclusive<usize>, by: isize) -> Option<Vec<Edit>> {
    let text = node.document().text();
    let mut edits = Vec::new();
    for line in lines {
        let start = text.line_to_byte(line);
        let words = String::from(text.line(line));
        if words.trim().is_empty() {
            continue;
        }
        let blanks = by.unsigned_abs();
        match by {
            0 => {}
            1.. => edits.push(Edit::new(start..start, " ".repeat(blanks))),
            _ if words.starts_with(&" ".repeat(blanks)) => edits.push(Edit::new(start..start + blanks, "")),
            _ => return None,
        }
    }
    Some(edits)
}
