//! Lines that differ from their intention by a blank, a tab or a dash.

use std::ops::Range;

use super::{
    columns::{OpenColumn, indent_at, open_columns},
    fault::{BlankPlace, Fault},
    layout::{Head, head_shape, is_dash, is_foreign_blank, is_key, line_at},
    tree::{Node, NodeKind},
};

/// Maximum number of lines with content above the one where the parser stopped that may lack their dash.
const MAX_LINES_AWAY: usize = 6;

/// Maximum number of lines with content around a line that show the shape of its list.
const MAX_LINES_AROUND: usize = 64;

/// Returns the typos of a line that are visible in the line itself, other than tabs.
pub(super) fn of_line(text: &str, line: &Range<usize>) -> Vec<Fault> {
    let mut typos = Vec::new();
    let blanks = |at: usize| {
        let rest = &text[at..line.end];
        at..at + rest.len() - rest.trim_start_matches(|letter| letter == ' ' || is_foreign_blank(letter)).len()
    };
    let is_foreign = |range: &Range<usize>| text[range.clone()].contains(is_foreign_blank);
    let indentation = blanks(line.start);
    let mut at = indentation.end;
    if is_foreign(&indentation) {
        typos.push(Fault::foreign_blanks(text, indentation));
    }
    while let Some(rest) = text[at..line.end].strip_prefix('-') {
        let behind = blanks(at + 1);
        if is_foreign(&behind) {
            typos.push(Fault::foreign_blank_behind(text, behind.clone(), BlankPlace::BehindDash));
        } else if behind.is_empty() {
            if begins_item(rest) {
                let is_certain = !matches!(head_shape(rest), Head::Other) || !rest.starts_with(char::is_alphanumeric);
                typos.push(Fault::dash_without_space(at..at + 1 + word_length(rest), at + 1, is_certain));
            }
            break;
        }
        at = behind.end;
    }
    if let Some((key, _)) = text[at..line.end].split_once(':').filter(|(key, _)| is_key(key)) {
        let behind = blanks(at + key.len() + 1);
        if is_foreign(&behind) {
            typos.push(Fault::foreign_blank_behind(text, behind, BlankPlace::BehindColon));
        }
    }
    typos.retain(|_| !text[at..line.end].trim().is_empty());
    typos
}

/// Returns whether words right after a dash can be meant as its item.
fn begins_item(words: &str) -> bool {
    words.starts_with(|first: char| first.is_alphabetic() || matches!(first, '_' | '"' | '\'' | '{' | '[' | '&'))
}

fn word_length(words: &str) -> usize {
    words.find(|letter: char| letter.is_whitespace()).unwrap_or(words.len())
}

/// Returns whether a line looks as if a dash lacks the space after it: the lines below belong to an item.
pub(super) fn is_dash_without_space(words: &str) -> bool {
    words.strip_prefix('-').is_some_and(|rest| {
        let is_entry = || matches!(head_shape(rest), Head::Key { .. } | Head::KeyWithValue { .. });
        rest.starts_with(is_foreign_blank) || (begins_item(rest) && is_entry())
    })
}

/// Consecutive lines with tabs in their indentation.
pub(super) struct TabRun {
    /// The indentation of each.
    blanks: Vec<Range<usize>>,
    end: usize,
}

impl TabRun {
    pub(super) fn around(text: &str, line: &Range<usize>) -> Option<TabRun> {
        let mut blanks = vec![tabs(text, line)?];
        let mut start = line.start;
        while let Some(above) = start.checked_sub(1).map(|end| line_at(text, end)) {
            start = above.start;
            match tabs(text, &above) {
                Some(range) => blanks.insert(0, range),
                None if text[above].trim().is_empty() => {}
                None => break,
            }
        }
        let mut end = line.end;
        while end < text.len() {
            let below = line_at(text, end + 1);
            match tabs(text, &below) {
                Some(range) => blanks.push(range),
                None if text[below.clone()].trim().is_empty() && below.end > end => {}
                None => break,
            }
            end = below.end;
        }
        Some(TabRun { blanks, end })
    }

    /// Returns the start of its first line.
    pub(super) fn start(&self) -> usize {
        self.blanks.first().map_or(0, |blanks| blanks.start)
    }

    /// Returns the end of its last line.
    pub(super) fn end(&self) -> usize {
        self.end
    }

    /// Returns the faults, each with spaces in place of its tabs: one list for every possible indentation, the
    /// likeliest first.
    pub(super) fn readings(&self, text: &str) -> Vec<Vec<Fault>> {
        let Some(first) = self.blanks.first() else { return Vec::new() };
        let is_item = is_dash(&text[first.end..]);
        let open = open_columns(text, first.start, 0);
        let step = step_above(text, first.start);
        let mut columns = Vec::new();
        if let Some(OpenColumn { column, .. }) = open.first()
            && opens_block(text, first.start)
        {
            let indented = column + step;
            columns.extend(if is_item && has_flat_lists(text) { [*column, indented] } else { [indented, *column] });
            // The line below the dash shows its column.
            let next = below(text, &line_at(text, self.end)).filter(|_| is_item);
            columns.extend(next.and_then(|next| indent_at(text, &next).checked_sub(2)));
        }
        columns.extend(open.iter().filter(|open| is_item || !open.is_dash).map(|open| open.column));
        if is_item {
            // Beside items that begin with the same key it is most likely one of them.
            let key = words_of(text, &(first.end..line_at(text, first.end).end)).split(':').next().unwrap_or_default();
            columns.sort_by_key(|column| !has_item_like(text, &line_at(text, first.end), *column, key));
        }
        let width = |blanks: &Range<usize>, tab: usize| {
            text[blanks.clone()].chars().map(|letter| if letter == '\t' { tab } else { 1 }).sum::<usize>()
        };
        let mut readings: Vec<Vec<usize>> = Vec::new();
        for column in columns {
            for tab in [step, 2, 4, 8] {
                let meant: Option<Vec<usize>> = self
                    .blanks
                    .iter()
                    .map(|blanks| (column + width(blanks, tab)).checked_sub(width(first, tab)))
                    .collect();
                readings.extend(meant.filter(|meant| !readings.contains(meant)));
            }
        }
        let fault = |(blanks, column): (&Range<usize>, &usize)| Fault::tab_for(text, blanks.clone(), *column);
        readings.iter().map(|columns| self.blanks.iter().zip(columns).map(fault).collect()).collect()
    }
}

/// Returns the indentation of a line with content, if it contains tabs.
fn tabs(text: &str, line: &Range<usize>) -> Option<Range<usize>> {
    let words = &text[line.clone()];
    let blanks = words.len() - words.trim_start_matches([' ', '\t']).len();
    let has_content = !words[blanks..].trim().is_empty();
    (has_content && words[..blanks].contains('\t')).then_some(line.start..line.start + blanks)
}

/// Returns the lines with content above a position, from below, without comments.
fn lines_above(text: &str, at: usize) -> impl Iterator<Item = Range<usize>> + '_ {
    let mut start = at;
    std::iter::from_fn(move || {
        let line = line_at(text, start.checked_sub(1)?);
        start = line.start;
        Some(line)
    })
    .filter(|line| {
        let words = text[line.clone()].trim_start();
        !words.is_empty() && !words.starts_with('#')
    })
}

/// Returns whether the line above a position is a key whose value is on the lines below.
fn opens_block(text: &str, at: usize) -> bool {
    lines_above(text, at).next().is_some_and(|line| matches!(head_shape(words_of(text, &line)), Head::Key { .. }))
}

/// Returns a line without its indentation and its dashes.
fn words_of<'t>(text: &'t str, line: &Range<usize>) -> &'t str {
    let mut words = text[line.clone()].trim_start_matches(' ');
    while is_dash(words) {
        words = words[1..].trim_start_matches(' ');
    }
    words.trim_end()
}

/// Returns the indentation step below a key, as the lines above a position show it.
fn step_above(text: &str, at: usize) -> usize {
    let lines: Vec<Range<usize>> = lines_above(text, at).take(32).collect();
    let steps = lines.windows(2).filter_map(|pair| {
        let [below, above] = pair else { return None };
        let opens = matches!(head_shape(text[above.clone()].trim()), Head::Key { .. });
        let is_item = is_dash(text[below.clone()].trim_start_matches(' '));
        let step = indent_at(text, below).checked_sub(indent_at(text, above)).filter(|step| *step > 0)?;
        (opens && !is_item && !text[above.clone()].trim_start().starts_with('-')).then_some(step)
    });
    steps.min().unwrap_or(2)
}

/// Returns whether the first list below a key has its dashes in the column of the key.
fn has_flat_lists(text: &str) -> bool {
    let mut key: Option<usize> = None;
    for line in text.lines() {
        let words = line.trim_start_matches(' ');
        if words.trim().is_empty() || words.starts_with(['#', '\t']) {
            continue;
        }
        let indent = line.len() - words.len();
        if let Some(key) = key.filter(|_| is_dash(words)) {
            return indent == key;
        }
        let content = words_of(line, &(0..line.len()));
        let column = line.trim_end().len() - content.len();
        key = matches!(head_shape(content), Head::Key { .. }).then_some(column);
    }
    false
}

/// Returns the number of keys of a node that are repeated in their mapping, or have no value: the fewer, the likelier
/// the reading.
pub(super) fn oddities(node: &Node) -> usize {
    match &node.kind {
        NodeKind::Scalar { .. } | NodeKind::Alias(_) => 0,
        NodeKind::Sequence(items) => items.iter().map(oddities).sum(),
        NodeKind::Mapping(entries) => {
            let mut names: Vec<&str> = entries
                .iter()
                .filter_map(|entry| match &entry.key.kind {
                    NodeKind::Scalar { value, .. } => Some(&**value),
                    NodeKind::Sequence(_) | NodeKind::Mapping(_) | NodeKind::Alias(_) => None,
                })
                .collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            let is_empty = |node: &Node| node.range().is_empty() && matches!(node.kind, NodeKind::Scalar { .. });
            let empty = entries.iter().filter(|entry| is_empty(&entry.value)).count();
            count - names.len() + empty + entries.iter().map(|entry| oddities(&entry.value)).sum::<usize>()
        }
    }
}

/// Returns the lines near the one where the parser stopped that may lack their dash, with their unlikelihood.
pub(super) fn readings_near(text: &str, stop: usize) -> Vec<(Fault, usize)> {
    let stopped = line_at(text, stop);
    let mut lines = vec![stopped.clone()];
    lines.extend(lines_above(text, stopped.start).take(MAX_LINES_AWAY));
    lines.extend(first_of_siblings(text, &stopped).filter(|line| !lines.contains(line)));
    let mut readings = Vec::new();
    for (distance, line) in lines.iter().enumerate() {
        let indent = indent_at(text, line);
        let words = &text[line.start + indent..line.end];
        let is_item = is_dash(words);
        let is_entry = matches!(head_shape(words), Head::Key { .. } | Head::KeyWithValue { .. });
        if !is_item && !is_entry {
            readings.extend(bare_item(text, line).map(|fault| (fault, distance)));
            continue;
        }
        if !is_item {
            let found = with_dash(text, line, indent, words).into_iter();
            readings.extend(found.map(|(fault, cost)| (fault, cost + distance)));
        }
    }
    readings.sort_by_key(|(_, cost)| *cost);
    readings
}

/// Returns whether a line is a single word: neither an item nor an entry.
pub(super) fn is_bare(text: &str, at: usize) -> bool {
    let line = line_at(text, at);
    let words = text[line].trim();
    let is_entry = matches!(head_shape(words), Head::Key { .. } | Head::KeyWithValue { .. });
    !words.is_empty() && !is_dash(words) && !is_entry && !words.contains(char::is_whitespace)
}

pub(super) fn below(text: &str, line: &Range<usize>) -> Option<Range<usize>> {
    let mut end = line.end;
    while end < text.len() {
        let below = line_at(text, end + 1);
        let words = text[below.clone()].trim_start();
        if !words.is_empty() && !words.starts_with('#') {
            return Some(below);
        }
        end = below.end.max(end + 1);
    }
    None
}

/// Returns the first line of the entries that are deeper than a line, and above it: their list may lack its first dash.
fn first_of_siblings(text: &str, line: &Range<usize>) -> Option<Range<usize>> {
    let indent = indent_at(text, line);
    let mut first = None;
    for above in lines_above(text, line.start) {
        if indent_at(text, &above) <= indent {
            return first;
        }
        first = Some(above);
    }
    first
}

/// Returns a line with the dash that it may lack: before its words, or in place of two blanks. It lacks one if the
/// items beside it begin with its key, or if it may be the only one of its list.
fn with_dash(text: &str, line: &Range<usize>, indent: usize, words: &str) -> Vec<(Fault, usize)> {
    let key = words.split(':').next().unwrap_or_default();
    let is_first = opens_block(text, line.start);
    let likeness = |column: usize| has_item_like(text, line, column, key).then_some(0);
    let is_above_items = is_first && has_item(text, line, indent);
    // Lines that are deeper than a value on its line are the other keys of an item.
    let is_headed = below(text, line).is_some_and(|below| indent_at(text, &below) == indent + 2);
    let before = likeness(indent)
        .or(is_above_items.then_some(1))
        .or(is_first.then_some(if is_headed { 3 } else { 20 }))
        .map(|cost| (Fault::without_dash(text, line.start + indent, cost == 0), cost));
    let within = indent
        .checked_sub(2)
        .and_then(|column| {
            let is_listed = is_first && has_item(text, line, column);
            likeness(column).or(is_listed.then_some(2)).or(is_first.then_some(20))
        })
        .map(|cost| (Fault::dash_in_blanks(text, line.start + indent, cost == 0), cost + 1));
    before.into_iter().chain(within).collect()
}

/// Returns a line of a list of strings with the dash that it lacks. The lines next to it show the list.
pub(super) fn bare_item(text: &str, line: &Range<usize>) -> Option<Fault> {
    let indent = indent_at(text, line);
    let words = text[line.clone()].trim();
    let is_text = words.starts_with(|first: char| first.is_alphanumeric() || "\"'/_.".contains(first));
    let dash_at = |other: &Range<usize>| {
        let column = indent_at(text, other);
        is_dash(&text[other.start + column..other.end]).then_some(column)
    };
    let above = lines_above(text, line.start).next();
    let below = below(text, line).as_ref().and_then(dash_at);
    let is_first = || opens_block(text, line.start);
    let is_beside_key =
        open_columns(text, line.start, indent).iter().any(|open| open.column == indent && !open.is_dash);
    let column = match above.as_ref().and_then(dash_at) {
        // Beside the key of its list, a last word may be the next key.
        Some(column) => Some(column).filter(|column| below == Some(*column) || (!is_beside_key && below.is_none())),
        None => below.filter(|_| is_first()),
    };
    let column = column.filter(|column| is_text && (*column == indent || *column + 2 == indent))?;
    Some(match column == indent {
        true => Fault::without_dash(text, line.start + indent, true),
        false => Fault::dash_in_blanks(text, line.start + indent, true),
    })
}

/// Returns whether an item whose dash is in a column follows a line, before anything further left.
fn has_item(text: &str, line: &Range<usize>, column: usize) -> bool {
    let following = std::iter::successors(below(text, line), |line| below(text, line));
    let first = following.take(MAX_LINES_AROUND).find(|line| indent_at(text, line) <= column);
    first.is_some_and(|line| indent_at(text, &line) == column && is_dash(&text[line.start + column..line.end]))
}

fn has_item_like(text: &str, line: &Range<usize>, column: usize, key: &str) -> bool {
    let is_alike = |line: &Range<usize>| {
        indent_at(text, line) == column
            && is_dash(&text[line.start + column..line.end])
            && words_of(text, line).split(':').next() == Some(key)
    };
    let following = std::iter::successors(below(text, line), |line| below(text, line));
    following.take(MAX_LINES_AROUND).take_while(|line| indent_at(text, line) >= column).any(|line| is_alike(&line))
        || lines_above(text, line.start).take(MAX_LINES_AROUND).any(|line| is_alike(&line))
}
