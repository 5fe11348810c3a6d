//! Entries that move to where they belong: with everything that stands below them, and the comments behind them.

use std::ops::Range;

use crate::{
    document::{EntryRef, NodeRef, Shape, Style},
    problem::{Edit, Fix, Problem, Subject},
    shape::{Need, Shape as SpecShape, Word},
    validate::could_hold,
};

use super::{end_of, entry_lines, is_flow, is_margin, line_start, remove_entry, text_of};

/// Where an entry goes.
#[derive(Clone, Copy)]
enum Home<'d> {
    /// Behind the other entries of the mapping under a key.
    Mapping(EntryRef<'d>),
    /// Below a key that has no value yet.
    Empty(EntryRef<'d>),
    /// Below a key that takes its place.
    New(&'d str),
    /// A new item of the list under a key.
    Item(EntryRef<'d>),
    /// An item of a list below a key that takes its place.
    NewItem(&'d str),
    /// Into a mapping that it stands deep in, behind the entry that holds it.
    Behind(EntryRef<'d>),
    /// The same, before that entry.
    Before(EntryRef<'d>),
}

/// An entry, as it is taken out.
struct Cut {
    /// Its bytes: in block style whole lines, but for what stands before its key.
    range: Range<usize>,
    /// Where its key stands on its line.
    column: usize,
    /// Its lines, as if they began a line of their own.
    lines: Vec<String>,
    /// The same for a mapping in braces, where it can stand in one.
    words: Option<String>,
}

/// [`below`] under another name. Only for a `child` that is there.
pub(crate) fn below_as(mapping: NodeRef<'_>, key: &str, child: &str, name: &str) -> Option<Vec<Edit>> {
    let inner = mapping.get(child)?;
    if inner.entry(name).is_some() {
        return None;
    }
    let mut edits = below(mapping, key, child)?;
    let added = edits.iter_mut().find(|edit| !edit.text.is_empty())?;
    let at = added.text.find(&format!("{key}:"))?;
    added.text.replace_range(at..at + key.len(), name);
    Some(edits)
}

/// Puts an entry below `child`, a key of the same mapping, which is made where it is not there. Nothing where the key stands
/// there already: one of the two would have to go.
pub(crate) fn below(mapping: NodeRef<'_>, key: &str, child: &str) -> Option<Vec<Edit>> {
    let mapping = mapping.resolved();
    let home = match mapping.entry(child) {
        None => Home::New(child),
        Some(entry) if entry.key.is_through_alias() => return None,
        Some(entry) if entry.value.is_null() && entry.value.own_range().is_empty() => Home::Empty(entry),
        Some(entry) if entry.value.shape() == Shape::Mapping && entry.value.entry(key).is_none() => {
            Home::Mapping(entry)
        }
        Some(_) => return None,
    };
    place(mapping, key, home)
}

/// Makes an entry an item of the list under `child`, a key of the same mapping, which is made where it is not there.
pub(crate) fn into_list(mapping: NodeRef<'_>, key: &str, child: &str) -> Option<Vec<Edit>> {
    let mapping = mapping.resolved();
    let home = match mapping.entry(child) {
        None => Home::NewItem(child),
        Some(entry) if !entry.key.is_through_alias() && entry.value.shape() == Shape::Sequence => Home::Item(entry),
        Some(_) => return None,
    };
    place(mapping, key, home)
}

/// The edit that puts an item, in its lines from the dash on, behind the others of a list in block style.
pub(crate) fn append_item(list: NodeRef<'_>, lines: &[String]) -> Option<Edit> {
    let last = list.items().last().filter(|last| !keeps_blank_lines(*last) && can_change(list) && !is_flow(list))?;
    let place = super::item(list, last)?;
    let column = place.before.trim_start_matches('\u{feff}').chars().count();
    Some(Edit::new(place.range.end..place.range.end, format!("\n{}", indented(lines, column))))
}

/// The edit that puts a word behind the items of a list.
pub(crate) fn append(list: NodeRef<'_>, word: &str) -> Option<Edit> {
    if !is_flow(list) {
        return append_item(list, &[format!("- {word}")]);
    }
    match list.items().last().filter(|_| can_change(list)) {
        Some(last) => {
            let end = if last.alias().is_some() { last.range().end } else { end_of(last) };
            Some(Edit::new(end..end, format!(", {word}")))
        }
        None => can_change(list).then(|| Edit::new(list.own_range(), format!("[{word}]"))),
    }
}

/// The edit that takes an entry out of a mapping in which others remain.
pub(crate) fn take(mapping: NodeRef<'_>, key: &str) -> Option<Edit> {
    let mapping = mapping.resolved();
    let entry = mapping.entry(key).filter(|entry| !entry.key.is_through_alias() && !has_names(entry.value))?;
    if mapping.is_through_alias() {
        return None;
    }
    if is_flow(mapping) { take_from_braces(mapping, entry) } else { remove_entry(mapping, entry.key, entry.value) }
}

/// [`below`] as a fix. `child_shape` is what may be there: beside a command that runs on this machine, a person decides.
pub(crate) fn fix_below(mapping: NodeRef<'_>, key: &str, child: &str, child_shape: Option<&SpecShape>) -> Option<Fix> {
    let title = format!("move it under `{child}`");
    let edits = below(mapping, key, child)?;
    let runs = child_shape.is_some_and(|shape| shape.all_fields().iter().any(|field| field.shape.is_shell()));
    let value = mapping.resolved().entry(key)?.value;
    let member = child_shape.and_then(|shape| shape.step(key, None));
    let fits =
        value.is_null() || member.is_none_or(|member| could_hold(&member, value) && !holds_patterns(value, &member));
    // What the child needs beside it may be another key that is as wrong, and would stay behind.
    let is_new = mapping.resolved().entry(child).is_none_or(|entry| entry.value.is_null());
    let is_half = is_new
        && child_shape.is_some_and(|shape| {
            shape.fields(None).iter().any(|field| field.need == Need::Required && field.name != key)
        });
    Some(if runs || !fits || is_half { Fix::guess(title, edits) } else { Fix::safe(title, edits) })
}

/// Whether a text, or one of several, has signs that only a regular expression gives a meaning, where none is taken.
fn holds_patterns(value: NodeRef<'_>, member: &SpecShape) -> bool {
    const SIGNS: &[char] = &['\\', '^', '$', '*', '+', '?', '(', ')', '[', ']', '{', '}', '|'];
    let is_pattern = |shape: &SpecShape| matches!(shape.word(), Some(Word::Pattern(_)));
    let has_signs = |node: NodeRef<'_>| node.as_str().is_some_and(|text| text.contains(SIGNS));
    let takes_patterns = is_pattern(member) || member.item().is_some_and(|item| is_pattern(&item));
    !takes_patterns && value.items().any(has_signs)
}

/// Puts an entry into the mapping `outer`, where `holder` is the key below which the entry stands now.
pub(crate) fn beside(from: NodeRef<'_>, key: &str, outer: NodeRef<'_>, holder: &str) -> Option<Vec<Edit>> {
    let outer = outer.resolved();
    let holder = outer.entry(holder).filter(|_| can_change(outer) && outer.entry(key).is_none())?;
    place(from.resolved(), key, Home::Behind(holder))
}

/// Puts an entry at the top level, before `holder`, the key below which it stands now.
pub(crate) fn to_top(from: NodeRef<'_>, key: &str, root: NodeRef<'_>, holder: &str) -> Option<Vec<Edit>> {
    let holder = root.entry(holder).filter(|_| can_change(root) && root.entry(key).is_none())?;
    place(from.resolved(), key, Home::Before(holder))
}

/// Gives a key of an item that belongs at the top level its cure: it moves, and counts for every item then.
pub(crate) fn cure_misplaced(root: NodeRef<'_>, problem: &mut Problem) {
    let is_top = matches!(&problem.subject, Some(Subject::Home(place)) if place.0.is_empty());
    let edits = || {
        let (parent, key) = (problem.at.parent()?, problem.at.last()?);
        let holder = parent.steps().next().filter(|_| parent.steps().count() > 1)?;
        to_top(root.find(&parent)?, &key, root, &holder.text())
    };
    if is_top
        && problem.fixes.iter().all(|fix| fix.is_comment)
        && let Some(edits) = edits()
    {
        problem.fixes.insert(0, Fix::guess("move it to the top level", edits));
    }
}

/// Whether the bytes of a mapping are its own, and nobody else's.
fn can_change(mapping: NodeRef<'_>) -> bool {
    !mapping.is_through_alias() && mapping.alias().is_none() && mapping.anchor().is_none()
}

/// Whether something below a node has a name or uses one: neither may change its place.
fn has_names(node: NodeRef<'_>) -> bool {
    node.alias().is_some()
        || node.anchor().is_some()
        || node.entries().any(|entry| has_names(entry.key) || has_names(entry.value))
        || node.items().any(has_names)
}

fn place(from: NodeRef<'_>, key: &str, home: Home<'_>) -> Option<Vec<Edit>> {
    let mut same = from.entries().filter(|entry| entry.key.key_text() == key);
    let entry = same.next().filter(|_| same.next().is_none())?;
    if from.is_through_alias() || entry.key.is_through_alias() || has_names(entry.value) {
        return None;
    }
    let cut = if is_flow(from) { cut_from_braces(entry)? } else { cut_lines(from, entry)? };
    let added = match home {
        Home::New(child) if is_flow(from) => {
            return Some(vec![Edit::new(cut.range.clone(), format!("{child}: {{ {} }}", cut.words?))]);
        }
        Home::New(child) => {
            let text = format!("{child}:\n{}", indented(&cut.lines, cut.column + 2));
            return Some(vec![Edit::new(cut.range.clone(), text)]);
        }
        Home::Mapping(holder) | Home::Item(holder) if !can_change(holder.value) => return None,
        Home::Mapping(holder) if is_flow(holder.value) => match (&cut.words, holder.value.entries().last()) {
            (Some(words), None) => Edit::new(holder.value.own_range(), format!("{{ {words} }}")),
            (Some(words), Some(last)) => {
                let end = end_of(last.value).max(last.key.range().end);
                Edit::new(end..end, format!(", {words}"))
            }
            (None, _) => unfolded(holder, &cut.lines)?,
        },
        Home::Mapping(holder) => {
            let mapping = holder.value;
            let (first, last) = (mapping.entries().next()?, mapping.entries().last()?);
            let column = column_of(first.key)?;
            let end = entry_lines(mapping, last.key, last.value).filter(|_| !keeps_blank_lines(last.value))?.range.end;
            Edit::new(end..end, format!("\n{}", indented(&cut.lines, column)))
        }
        Home::NewItem(child) if is_flow(from) => {
            return Some(vec![Edit::new(cut.range.clone(), format!("{child}: [{{ {} }}]", cut.words?))]);
        }
        Home::NewItem(child) => {
            let text = format!("{child}:\n{}", indented(&as_item(&cut.lines), cut.column + 2));
            return Some(vec![Edit::new(cut.range.clone(), text)]);
        }
        Home::Item(holder) if is_flow(holder.value) => match (&cut.words, holder.value.items().last()) {
            (Some(words), None) => Edit::new(holder.value.own_range(), format!("[{{ {words} }}]")),
            (Some(words), Some(last)) => Edit::new(end_of(last)..end_of(last), format!(", {{ {words} }}")),
            (None, _) => unfolded(holder, &as_item(&cut.lines))?,
        },
        Home::Item(holder) => append_item(holder.value, &as_item(&cut.lines))?,
        Home::Empty(holder) => {
            let column = column_of(holder.key)?;
            let text = from.document().text();
            let line = text.line(text.byte_to_line(holder.key.own_range().start));
            let line = String::from(line);
            let end = line_start(from, holder.key.own_range().start) + line.trim_end_matches(['\n', '\r']).len();
            Edit::new(end..end, format!("\n{}", indented(&cut.lines, column + 2)))
        }
        Home::Behind(holder) => {
            let column = column_of(holder.key)?;
            let end = entry_lines_of(holder)?;
            if keeps_blank_lines(holder.value) {
                return None;
            }
            // What ends what holds it moves to the left where it stands.
            if end == cut.range.end && !is_flow(from) {
                let start = line_start(from, cut.range.start);
                let margin = text_of(from, start..cut.range.start)?;
                if margin.contains('-') || from.entries().nth(1).is_none() {
                    return None;
                }
                return Some(vec![Edit::new(start..end, indented(&cut.lines, column))]);
            }
            Edit::new(end..end, format!("\n{}", indented(&cut.lines, column)))
        }
        Home::Before(holder) => {
            if column_of(holder.key)? != 0 {
                return None;
            }
            let at = above_comments(holder.key);
            Edit::new(at..at, format!("{}\n", indented(&cut.lines, 0)))
        }
    };
    let removed =
        if is_flow(from) { take_from_braces(from, entry)? } else { remove_entry(from, entry.key, entry.value)? };
    let mut edits = vec![removed, added];
    edits.sort_by_key(|edit| edit.range.start);
    Some(edits)
}

/// The edit that writes what stands in brackets on one line over several lines, with more behind it.
fn unfolded(holder: EntryRef<'_>, more: &[String]) -> Option<Edit> {
    let column = column_of(holder.key)?;
    let list = holder.value;
    let range = holder.key.own_range().end..end_of(list);
    let text = list.document().text();
    let written = text_of(list, range.clone())?;
    let behind = text_of(list, range.end..entry_lines_of(holder)?)?;
    // Only the colon stands before the bracket.
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
            .map(|entry| words(entry.key.own_range().start..end_of(entry.value).max(entry.key.range().end)))
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

/// Where the last line of an entry of a block mapping ends.
fn entry_lines_of(entry: EntryRef<'_>) -> Option<usize> {
    let node = entry.key;
    let text = node.document().text();
    let end = end_of(entry.value).max(entry.key.own_range().end);
    let line = String::from(text.line(text.byte_to_line(end)));
    let stop = text.line_to_byte(text.byte_to_line(end)) + line.trim_end_matches(['\n', '\r']).len();
    let behind = text_of(node, end..stop)?;
    let behind = behind.trim_start();
    (behind.is_empty() || behind.starts_with('#')).then_some(stop)
}

/// The column of a key that begins its line, but for the dashes of items.
fn column_of(key: NodeRef<'_>) -> Option<usize> {
    let at = key.own_range().start;
    let before = text_of(key, line_start(key, at)..at)?;
    (is_margin(&before) && !key.is_through_alias()).then(|| before.trim_start_matches('\u{feff}').chars().count())
}

/// Whether blank lines belong to the last text of a node: what comes behind them would not be behind it.
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

/// Lines at a column.
fn indented(lines: &[String], column: usize) -> String {
    let margin = " ".repeat(column);
    let lines = lines.iter().map(|line| if line.is_empty() { String::new() } else { format!("{margin}{line}") });
    lines.collect::<Vec<_>>().join("\n")
}

/// The lines of an entry as those of an item.
fn as_item(lines: &[String]) -> Vec<String> {
    let line = |(index, line): (usize, &String)| match (index, line.is_empty()) {
        (0, _) => format!("- {line}"),
        (_, true) => String::new(),
        (_, false) => format!("  {line}"),
    };
    lines.iter().enumerate().map(line).collect()
}

fn cut_lines(from: NodeRef<'_>, entry: EntryRef<'_>) -> Option<Cut> {
    if keeps_blank_lines(entry.value) {
        return None;
    }
    let lines = entry_lines(from, entry.key, entry.value)?;
    let column = lines.before.trim_start_matches('\u{feff}').chars().count();
    let source = text_of(from, lines.range.clone())?;
    // What goes on at the column of its key would no longer belong to it further right.
    let must_be_deeper = entry.value.scalar().is_some() || is_flow(entry.value);
    let mut all = Vec::new();
    for (index, line) in source.lines().enumerate() {
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
            let written =
                text_of(from, entry.key.own_range().start..end_of(entry.value).max(entry.key.own_range().end))?;
            let plain = entry.value.style() == Some(Style::Plain);
            let fits = !plain || !entry.value.text().is_some_and(|text| text.contains([',', '[', ']', '{', '}']));
            (fits && written.len() == only.trim_end().len()).then_some(written)
        }
        _ => None,
    };
    Some(Cut { range: lines.range, column, lines: all, words })
}

fn cut_from_braces(entry: EntryRef<'_>) -> Option<Cut> {
    let range = entry.key.own_range().start..end_of(entry.value).max(entry.key.own_range().end);
    let words = text_of(entry.key, range.clone()).filter(|words| !words.contains(['\n', '\r']))?;
    Some(Cut { range, column: 0, lines: vec![words.clone()], words: Some(words) })
}

/// The edit that takes an entry out of braces, with one of the commas around it.
fn take_from_braces(from: NodeRef<'_>, entry: EntryRef<'_>) -> Option<Edit> {
    let end = |entry: &EntryRef<'_>| end_of(entry.value).max(entry.key.own_range().end);
    let start = entry.key.own_range().start;
    let entries: Vec<EntryRef<'_>> = from.entries().collect();
    let index = entries.iter().position(|other| other.key.own_range().start == start)?;
    let range = match (index.checked_sub(1), entries.get(index + 1)) {
        (_, Some(next)) => start..next.key.own_range().start,
        (Some(previous), None) => end(&entries[previous])..end(&entry),
        (None, None) => return None,
    };
    // A comment between the two would go, too.
    let gone = text_of(from, range.clone())?;
    (!gone.contains(['\n', '\r', '#'])).then(|| Edit::new(range, ""))
}

/// The beginning of the line of a key, or of the comments right above it; those at the head of a file are about the
/// file.
fn above_comments(key: NodeRef<'_>) -> usize {
    let text = key.document().text();
    let line = text.byte_to_line(key.own_range().start);
    let comment = |line: usize| String::from(text.line(line)).trim_start_matches('\u{feff}').starts_with('#');
    let first = (0..line).rev().take_while(|line| comment(*line)).last().unwrap_or(line);
    let at = text.line_to_byte(if first == 0 { line } else { first });
    // A byte order mark stays at the beginning.
    if at == 0 { key.own_range().start } else { at }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        cure::{adapted, replaced},
        dialect::ScalarRules,
        document::{Document, Pointer},
        faults,
    };

    /// What a move makes of a text, with both line ends.
    #[track_caller]
    fn check(text: &str, go: fn(NodeRef<'_>) -> Option<Vec<Edit>>, expected: Option<&str>) {
        for (text, expected) in [
            (text.to_owned(), expected.map(str::to_owned)),
            (text.replace('\n', "\r\n"), expected.map(|it| it.replace('\n', "\r\n"))),
        ] {
            let document = Document::read(&text, ScalarRules::Yaml12);
            let edits = go(document.root().unwrap()).map(|edits| adapted(&document, &edits));
            let new = edits.map(|edits| replaced(&text, &edits));
            assert_eq!(new, expected);
            if let Some(new) = new {
                assert_eq!(faults::problems(&Document::read(&new, ScalarRules::Yaml12)), []);
            }
        }
    }

    fn x_below_b(root: NodeRef<'_>) -> Option<Vec<Edit>> {
        below(root, "x", "b")
    }

    fn x_out_of_b(root: NodeRef<'_>) -> Option<Vec<Edit>> {
        beside(root.get("b")?, "x", root, "b")
    }

    fn x_to_top(root: NodeRef<'_>) -> Option<Vec<Edit>> {
        to_top(root.find(&Pointer::parse("/l/0"))?, "x", root, "l")
    }

    #[test]
    fn entries_go_below_a_neighbour() {
        check("a: 1\nx: 2 # why\nb:\n  c: 3\n", x_below_b, Some("a: 1\nb:\n  c: 3\n  x: 2 # why\n"));
        check("b:\n  - c\nx: 2\n", x_below_b, None);
        check(
            "b:\n    c: 3 # c\n\nx:\n- 1\n- |\n  y\n\n  z\nd: 4\n",
            x_below_b,
            Some("b:\n    c: 3 # c\n    x:\n    - 1\n    - |\n      y\n\n      z\n\nd: 4\n"),
        );
        check("b: {c: 3}\nx: [1, 2]\n", x_below_b, Some("b: {c: 3, x: [1, 2]}\n"));
        check("b: {c: 3}\nx: one, two\n", x_below_b, Some("b:\n  c: 3\n  x: one, two\n"));
        check("b: {c: 3}\nx: 1 # why\n", x_below_b, Some("b:\n  c: 3\n  x: 1 # why\n"));
        check("b: {c: [3, 4], d: 'e'}\nx:\n  y: 1\n", x_below_b, Some("b:\n  c: [3, 4]\n  d: 'e'\n  x:\n    y: 1\n"));
        check("b: {c: 3} # c\nx:\n  y: 1\n", x_below_b, None);
        check("b: {c: 3,\n  d: 4}\nx:\n  y: 1\n", x_below_b, None);
        check("b:   # to do\nx:\n  y: 1\nd: 2\n", x_below_b, Some("b:   # to do\n  x:\n    y: 1\nd: 2\n"));
        check("a: 1\nx:\n  y: |\n    z\nd: 2\n", x_below_b, Some("a: 1\nb:\n  x:\n    y: |\n      z\nd: 2\n"));
        check("{a: 1, x: 2, b: {c: 3}}\n", x_below_b, Some("{a: 1, b: {c: 3, x: 2}}\n"));
        check("{b: {}, x: 2}\n", x_below_b, Some("{b: { x: 2 }}\n"));
        check("{a: 1, x: 2}\n", x_below_b, Some("{a: 1, b: { x: 2 }}\n"));
        check("x: 1\nb: {x: 2}\n", x_below_b, None);
    }

    #[test]
    fn entries_become_items() {
        let x_into_l = |root: NodeRef<'_>| into_list(root, "x", "l");
        check(
            "l:\n- a: 1 # one\nx: |\n  y\n\n  z\nd: 2\n",
            x_into_l,
            Some("l:\n- a: 1 # one\n- x: |\n    y\n\n    z\nd: 2\n"),
        );
        check("x:\n  y: 1\nl:\n  - a\n", x_into_l, Some("l:\n  - a\n  - x:\n      y: 1\n"));
        check("x: 1\nl: [a]\n", x_into_l, Some("l: [a, { x: 1 }]\n"));
        check("x: 1\nl: []\n", x_into_l, Some("l: [{ x: 1 }]\n"));
        check("x: # why\n  y: 1\na: 2\n", x_into_l, Some("l:\n  - x: # why\n      y: 1\na: 2\n"));
        check("x:\n  y: 1\nl: [{ a: 1 }, b]\n", x_into_l, Some("l:\n  - { a: 1 }\n  - b\n  - x:\n      y: 1\n"));
        check("{a: 1, x: 2}\n", x_into_l, Some("{a: 1, l: [{ x: 2 }]}\n"));
        check("x: 1\nl: {a: 1}\n", x_into_l, None);
    }

    #[test]
    fn entries_leave_what_they_stand_in() {
        check("b:\n  c: 1\n  x:\n    - y # why\nd: 2\n", x_out_of_b, Some("b:\n  c: 1\nx:\n  - y # why\nd: 2\n"));
        check("b:\n  x: 1\n  c: 2\nd: 3", x_out_of_b, Some("b:\n  c: 2\nx: 1\nd: 3"));
        check("b: {c: 1, x: 2}\nd: 3\n", x_out_of_b, Some("b: {c: 1}\nx: 2\nd: 3\n"));
        check("b:\n  x: 1\n", x_out_of_b, None);
        check("x: 2\nb:\n  c: 1\n  x: 1\n", x_out_of_b, None);
    }

    #[test]
    fn entries_go_to_the_top_level() {
        check(
            "a: 1\n\n# the list\nl:\n  - i: 1\n    x: 2 # why\n  - i: 2\n",
            x_to_top,
            Some("a: 1\n\nx: 2 # why\n# the list\nl:\n  - i: 1\n  - i: 2\n"),
        );
        check("# the file\nl:\n  - x: 1\n    i: 2\n", x_to_top, Some("# the file\nx: 1\nl:\n  - i: 2\n"));
        check("l:\n- {i: 1, x: [2]}\n", x_to_top, Some("x: [2]\nl:\n- {i: 1}\n"));
        check("\u{feff}l:\n- i: 1\n  x: 2\n", x_to_top, Some("\u{feff}x: 2\nl:\n- i: 1\n"));
    }

    #[test]
    fn what_has_a_name_stays() {
        check("x: &n 1\nb: {c: 2}\nd: *n\n", x_below_b, None);
        check("n: &n {c: 2}\nx: 1\nb: *n\n", x_below_b, None);
        check("b: &n {c: 2}\nx: 1\nd: *n\n", x_below_b, None);
        check("b:\n  c: 1\nx: |+\n  y\n\nd: 1\n", x_below_b, None);
    }
}
