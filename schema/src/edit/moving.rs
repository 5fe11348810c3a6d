//! Moves entries to where they belong, with everything below them and the comments after them.

use std::ops::Range;

use crate::{
    document::{EntryRef, NodeRef, Shape, Style},
    problem::Edit,
    quoting::scalar,
};

use super::{
    insert::lines_at_end,
    lines::{self, as_item, column_of, end_of_entry, end_of_line, indented, keeps_blank_lines, next_line},
    remove_entry,
};
use crate::edit::nodes::{can_change, can_change_value, end_of, has_names, is_flow, line_start, sorted, source};

#[derive(Clone, Copy)]
enum Destination<'d> {
    Mapping(EntryRef<'d>),
    /// Below a key without a value.
    Empty(EntryRef<'d>),
    /// Below a new key in its place.
    New(&'d str),
    /// As a new item of the list at a key.
    Item(EntryRef<'d>),
    /// As an item of a list below a new key in its place.
    NewItem(&'d str),
    /// In an enclosing mapping, after the entry that contains it.
    Behind(EntryRef<'d>),
    /// In an enclosing mapping, before the entry that contains it.
    Before(EntryRef<'d>),
}

struct Cut {
    /// Bytes of the entry: in block style, whole lines without the text before its key.
    range: Range<usize>,
    column: usize,
    /// Lines of the entry, as if its key began a line.
    lines: Vec<String>,
    /// Text of the entry for a mapping in flow style, if it fits.
    words: Option<String>,
}

impl Cut {
    fn rename(&mut self, key: NodeRef<'_>, name: &str) -> Option<()> {
        let length = key.own_range().len();
        for line in self.lines.first_mut().into_iter().chain(&mut self.words) {
            let rest = line.get(length..)?;
            *line = format!("{}{rest}", scalar(name));
        }
        Some(())
    }
}

/// Moves an entry below `child`, a key of the same mapping, which is added if necessary. `None` if the key
/// already exists there, because one of the two would be lost.
pub(crate) fn below(mapping: NodeRef<'_>, key: &str, child: &str) -> Option<Vec<Edit>> {
    below_as(mapping, key, child, key)
}

/// Like [`below`], but renames the key.
pub(crate) fn below_as(mapping: NodeRef<'_>, key: &str, child: &str, name: &str) -> Option<Vec<Edit>> {
    let mapping = mapping.resolved();
    let destination = match mapping.entry(child) {
        None => Destination::New(child),
        Some(entry) if entry.key.is_through_alias() => return None,
        Some(entry) if entry.value.is_null() && entry.value.own_range().is_empty() => Destination::Empty(entry),
        Some(entry) if entry.value.shape() == Shape::Mapping && entry.value.entry(name).is_none() => {
            Destination::Mapping(entry)
        }
        Some(_) => return None,
    };
    place(mapping, key, name, destination)
}

/// Makes an entry an item of the list at `child`, a key of the same mapping, which is added if necessary.
pub(crate) fn into_list(mapping: NodeRef<'_>, key: &str, child: &str) -> Option<Vec<Edit>> {
    let mapping = mapping.resolved();
    let destination = match mapping.entry(child) {
        None => Destination::NewItem(child),
        Some(entry) if !entry.key.is_through_alias() && entry.value.shape() == Shape::Sequence => {
            Destination::Item(entry)
        }
        Some(_) => return None,
    };
    place(mapping, key, key, destination)
}

/// Moves an entry into the mapping `outer`; `holder` is the key that contains the entry now.
pub(crate) fn beside(from: NodeRef<'_>, key: &str, outer: NodeRef<'_>, holder: &str) -> Option<Vec<Edit>> {
    let outer = outer.resolved();
    let holder = outer.entry(holder).filter(|_| can_change(outer) && outer.entry(key).is_none())?;
    place(from.resolved(), key, key, Destination::Behind(holder))
}

/// Moves an entry to the top level, before `holder`, the key that contains it now.
pub(crate) fn to_top(from: NodeRef<'_>, key: &str, root: NodeRef<'_>, holder: &str) -> Option<Vec<Edit>> {
    let holder = root.entry(holder).filter(|_| can_change(root) && root.entry(key).is_none())?;
    place(from.resolved(), key, key, Destination::Before(holder))
}

/// Moves an entry and renames its key.
fn place(from: NodeRef<'_>, key: &str, name: &str, destination: Destination<'_>) -> Option<Vec<Edit>> {
    let mut same = from.entries().filter(|entry| entry.key.key_text() == key);
    let entry = same.next().filter(|_| same.next().is_none())?;
    if from.is_through_alias() || entry.key.is_through_alias() || has_names(entry.value) {
        return None;
    }
    let mut cut = if is_flow(from) { cut_from_braces(entry)? } else { cut_lines(from, entry)? };
    if name != key {
        cut.rename(entry.key, name)?;
    }
    let added = match destination {
        Destination::New(child) if is_flow(from) => {
            return Some(vec![Edit::new(cut.range.clone(), format!("{child}: {{ {} }}", cut.words?))]);
        }
        Destination::New(child) => {
            let text = format!("{child}:\n{}", indented(&cut.lines, cut.column + 2));
            return Some(vec![Edit::new(cut.range.clone(), text)]);
        }
        Destination::Mapping(holder) | Destination::Item(holder) if !can_change(holder.value) => return None,
        Destination::Mapping(holder) if is_flow(holder.value) => match (&cut.words, holder.value.entries().last()) {
            (Some(words), None) => Edit::new(holder.value.own_range(), format!("{{ {words} }}")),
            (Some(words), Some(last)) => {
                let end = end_of_entry(last);
                Edit::new(end..end, format!(", {words}"))
            }
            (None, _) => unfolded(holder, &cut.lines)?,
        },
        Destination::Mapping(holder) => {
            let mapping = holder.value;
            let (first, last) = (mapping.entries().next()?, mapping.entries().last()?);
            let column = column_of(first.key)?;
            let end = lines::entry(mapping, last).filter(|_| !keeps_blank_lines(last.value))?.range.end;
            Edit::new(end..end, format!("\n{}", indented(&cut.lines, column)))
        }
        Destination::NewItem(child) if is_flow(from) => {
            return Some(vec![Edit::new(cut.range.clone(), format!("{child}: [{{ {} }}]", cut.words?))]);
        }
        Destination::NewItem(child) => {
            let text = format!("{child}:\n{}", indented(&as_item(&cut.lines), cut.column + 2));
            return Some(vec![Edit::new(cut.range.clone(), text)]);
        }
        Destination::Item(holder) if is_flow(holder.value) => match (&cut.words, holder.value.items().last()) {
            (Some(words), None) => Edit::new(holder.value.own_range(), format!("[{{ {words} }}]")),
            (Some(words), Some(last)) => Edit::new(end_of(last)..end_of(last), format!(", {{ {words} }}")),
            (None, _) => unfolded(holder, &as_item(&cut.lines))?,
        },
        Destination::Item(holder) => lines_at_end(holder.value, &as_item(&cut.lines))?.pop()?,
        Destination::Empty(holder) => {
            let column = column_of(holder.key)?;
            let end = end_of_line(from, holder.key.own_range().start)?;
            Edit::new(end..end, format!("\n{}", indented(&cut.lines, column + 2)))
        }
        Destination::Behind(holder) => {
            let column = column_of(holder.key)?;
            let end = end_of_lines(holder)?;
            if keeps_blank_lines(holder.value) {
                return None;
            }
            // The last entry of its parent is dedented in place.
            if end == cut.range.end && !is_flow(from) {
                let start = line_start(from, cut.range.start);
                let margin = source(from, start..cut.range.start)?;
                if margin.contains('-') || from.entries().nth(1).is_none() {
                    return None;
                }
                return Some(vec![Edit::new(start..end, indented(&cut.lines, column))]);
            }
            Edit::new(end..end, format!("\n{}", indented(&cut.lines, column)))
        }
        Destination::Before(holder) => {
            if column_of(holder.key)? != 0 {
                return None;
            }
            let at = above_comments(holder.key);
            Edit::new(at..at, format!("{}\n", indented(&cut.lines, 0)))
        }
    };
    let mut edits = remove_entry(from, entry)?;
    edits.push(added);
    Some(sorted(edits))
}

/// Returns the edit that expands a one-line flow collection to several lines and appends more.
fn unfolded(holder: EntryRef<'_>, more: &[String]) -> Option<Edit> {
    let column = column_of(holder.key)?;
    let list = holder.value;
    let range = holder.key.own_range().end..end_of(list);
    let text = list.document().text();
    let written = source(list, range.clone())?;
    let behind = source(list, range.end..end_of_lines(holder)?)?;
    // Only the colon precedes the bracket.
    if written.contains(['\n', '\r'])
        || !behind.trim().is_empty()
        || !written.trim_start_matches(':').trim_start().starts_with(['[', '{'])
    {
        return None;
    }
    let words = |range: Range<usize>| text.get_byte_slice(range).map(String::from);
    let mut lines: Vec<String> = match list.shape() {
        Shape::Mapping => list
            .entries()
            .map(|entry| words(entry.key.own_range().start..end_of_entry(entry)))
            .collect::<Option<_>>()?,
        Shape::Sequence => list
            .items()
            .map(|item| Some(format!("- {}", words(item.own_range().start..end_of(item))?)))
            .collect::<Option<_>>()?,
        Shape::Scalar | Shape::Dangling => return None,
    };
    if list.items().any(|item| item.anchor().is_some() || item.alias().is_some()) {
        return None;
    }
    lines.extend(more.iter().cloned());
    Some(Edit::new(range, format!(":\n{}", indented(&lines, column + 2))))
}

/// Returns the end of the last line of an entry if only a comment follows on it.
fn end_of_lines(entry: EntryRef<'_>) -> Option<usize> {
    let end = end_of_entry(entry);
    let stop = end_of_line(entry.key, end)?;
    let behind = source(entry.key, end..stop)?;
    let behind = behind.trim_start();
    (behind.is_empty() || behind.starts_with('#')).then_some(stop)
}

/// Joins a list to the one immediately before it, which is under another key: the line of the second key is removed.
pub(crate) fn joined(mapping: NodeRef<'_>, first: EntryRef<'_>, second: EntryRef<'_>) -> Option<Vec<Edit>> {
    if !can_change_value(first.value) || !can_change_value(second.value) {
        return None;
    }
    let (one, other) = (lines::entry(mapping, first)?, lines::entry(mapping, second)?);
    let start = |list: EntryRef<'_>| lines::item(list.value, list.value.items().next()?);
    let (above, below) = (start(first)?, start(second)?);
    let between = source(mapping, one.range.end..other.range.start)?;
    let next = next_line(mapping, other.range.start);
    let key = source(mapping, second.key.own_range().end..next)?;
    let is_together = above.before == below.before && between.trim().is_empty() && key.trim() == ":";
    (is_together && below.range.start >= next)
        .then(|| vec![Edit::new(line_start(mapping, other.range.start)..next, "")])
}

fn cut_lines(from: NodeRef<'_>, entry: EntryRef<'_>) -> Option<Cut> {
    if keeps_blank_lines(entry.value) {
        return None;
    }
    let lines = lines::entry(from, entry)?;
    let column = lines.column();
    let written = source(from, lines.range.clone())?;
    // Text at the column of its key would no longer belong to it after indenting.
    let must_be_deeper = entry.value.scalar().is_some() || is_flow(entry.value);
    let mut all = Vec::new();
    for (index, line) in written.lines().enumerate() {
        let blanks = line.bytes().take_while(|byte| *byte == b' ').count();
        let content = &line[blanks..];
        let is_outside = content.starts_with('#') && blanks < column;
        if index == 0 || content.is_empty() || is_outside {
            all.push(content.to_owned());
        } else if blanks < column || must_be_deeper && blanks == column {
            return None;
        } else {
            all.push(line[column..].to_owned());
        }
    }
    let words = match all.as_slice() {
        [only] => {
            let written = source(from, entry.key.own_range().start..end_of_entry(entry))?;
            let plain = entry.value.style() == Some(Style::Plain);
            let fits = !plain || !entry.value.text().is_some_and(|text| text.contains([',', '[', ']', '{', '}']));
            (fits && written.len() == only.trim_end().len()).then_some(written)
        }
        _ => None,
    };
    Some(Cut { range: lines.range, column, lines: all, words })
}

fn cut_from_braces(entry: EntryRef<'_>) -> Option<Cut> {
    let range = entry.key.own_range().start..end_of_entry(entry);
    let words = source(entry.key, range.clone()).filter(|words| !words.contains(['\n', '\r']))?;
    Some(Cut { range, column: 0, lines: vec![words.clone()], words: Some(words) })
}

/// Returns the start of the line of a key, or of the comments directly above it; comments at the top of a file belong
/// to the file.
fn above_comments(key: NodeRef<'_>) -> usize {
    let text = key.document().text();
    let line = text.byte_to_line(key.own_range().start);
    let comment = |line: usize| String::from(text.line(line)).trim_start_matches('\u{feff}').starts_with('#');
    let first = (0..line).rev().take_while(|line| comment(*line)).last().unwrap_or(line);
    let at = text.line_to_byte(if first == 0 { line } else { first });
    // A byte order mark stays at the beginning.
    if at == 0 { key.own_range().start } else { at }
}
