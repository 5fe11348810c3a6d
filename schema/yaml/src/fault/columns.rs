//! Lines that begin in a wrong column.

use std::ops::Range;

use super::{Fault, FaultKind, Rewrite, RewriteKind};
use crate::layout::{Head, head_shape, is_dash, line_at, trimmed};

/// Maximum number of lines that are searched for open columns.
const MAX_LINES_ABOVE: usize = 256;

impl Fault {
    /// Returns the fault of a line that begins between the columns of entries.
    pub(crate) fn misplaced(text: &str, offset: usize) -> Option<Fault> {
        let line = line_at(text, offset);
        let indent = indent_at(text, &line);
        let words = &text[line.start + indent..line.end];
        let is_item = is_dash(words);
        if !is_item && !matches!(head_shape(words), Head::Key { .. } | Head::KeyWithValue { .. }) {
            return None;
        }
        let columns = open_columns(text, line.start, indent);
        // A key goes beside keys, a dash beside dashes, or below a key.
        let fitting: Vec<usize> =
            columns.iter().filter(|open| is_item || !open.is_dash).map(|open| open.column).collect();
        if columns.iter().any(|open| open.column == indent) {
            return None;
        }
        let is_bare = matches!(head_shape(words), Head::Key { .. });
        let nearest = fitting.iter().map(|column| column.abs_diff(indent)).min().filter(|distance| *distance <= 1)?;
        let (inner, outer) = (indent + nearest, indent.checked_sub(nearest));
        let column = match outer.filter(|outer| fitting.contains(outer)) {
            // Between two columns the next line decides: it is below this key, or beside it.
            Some(outer) if fitting.contains(&inner) => {
                let next = next_line(text, line.end);
                let is_inner = next.is_some_and(|line| {
                    let words = line.trim_start_matches(' ');
                    let is_beside = line.len() - words.len() == inner;
                    if is_bare { !is_beside } else { is_beside || is_dash(words) }
                });
                if is_inner { inner } else { outer }
            }
            Some(outer) => outer,
            None => inner,
        };
        Some(Fault::indented(text, line, column))
    }

    /// Returns the fault of a line that is indented unlike its neighbors, which begin in a column.
    pub(crate) fn indented(text: &str, line: Range<usize>, column: usize) -> Fault {
        let indent = indent_at(text, &line);
        let kind = FaultKind::Misindented { indent, column, neighbor: neighbor_in(text, &line, column) };
        let range = line.start..line.start + indent;
        let rewrite = Rewrite {
            range: range.clone(),
            text: " ".repeat(column),
            is_certain: false,
            kind: RewriteKind::IndentTo(column),
        };
        let mark = if range.is_empty() { trimmed(text, line) } else { range };
        Fault::new(mark, kind).with_rewrite(rewrite)
    }

    /// Returns the fault of lines that are indented deeper than their neighbors, which begin in a column.
    pub(crate) fn too_deep(text: &str, lines: Range<usize>, column: usize) -> Fault {
        let first = line_at(text, lines.start);
        let surplus = indent_at(text, &first).saturating_sub(column);
        // Lines below that already have the right indentation stay.
        let below =
            next_line(&text[..lines.end], first.end).map(|line| line.len() - line.trim_start_matches(' ').len());
        let moved_to = if below == Some(column + 2) { first.end } else { lines.end };
        let moved = first.start..moved_to.max(lines.start);
        let dedented = text[moved.clone()].split_inclusive('\n').map(|line| {
            let blanks = line.len() - line.trim_start_matches(' ').len();
            &line[blanks.min(surplus)..]
        });
        let new = dedented.collect();
        let rewrite = Rewrite { text: new, range: moved, is_certain: false, kind: RewriteKind::IndentTo(column) };
        Fault::indented(text, first, column).with_rewrite(rewrite)
    }

    /// Returns the fault of lines at the margin that begin too far left to belong to the item above them: the first
    /// begins with `key`.
    pub(crate) fn outdented(text: &str, lines: Range<usize>, key: Range<usize>, by: usize) -> Fault {
        let blanks = " ".repeat(by);
        let indented = text[lines.clone()].split_inclusive('\n');
        let indented =
            indented.map(|line| if line.trim().is_empty() { line.to_owned() } else { format!("{blanks}{line}") });
        let text_there = indented.collect();
        let rewrite = Rewrite { text: text_there, range: lines, is_certain: false, kind: RewriteKind::IndentBy(by) };
        let kind = FaultKind::TooFarLeft(text[key.clone()].to_owned());
        Fault::new(key, kind).with_rewrite(rewrite)
    }
}

/// Returns the nearest line above that begins in a column, with others in between; `None` if adjacent lines begin
/// there.
fn neighbor_in(text: &str, line: &Range<usize>, column: usize) -> Option<String> {
    let is_there = |line: &Range<usize>| indent_at(text, line) == column;
    let is_line =
        |line: &Range<usize>| !matches!(text[line.clone()].trim_start().chars().next(), None | Some('#' | '\r'));
    if next_line(text, line.end).is_some_and(|below| below.len() - below.trim_start_matches(' ').len() == column) {
        return None;
    }
    let before = |line: &Range<usize>| line.start.checked_sub(1).map(|end| line_at(text, end));
    let mut above = std::iter::successors(before(line), before).take(MAX_LINES_ABOVE).filter(is_line).peekable();
    if above.peek().is_none_or(is_there) {
        return None;
    }
    let found = above.find(is_there)?;
    let words = text[found].trim();
    let key = words.split(':').next().unwrap_or(words);
    (key.len() < 40).then(|| key.to_owned())
}

/// The column of an open collection.
pub(crate) struct OpenColumn {
    pub column: usize,
    pub is_dash: bool,
}

/// Returns the columns of open collections above a line, from the inside out, up to the first that is left of `indent`.
pub(crate) fn open_columns(text: &str, line_start: usize, indent: usize) -> Vec<OpenColumn> {
    let mut columns: Vec<OpenColumn> = Vec::new();
    let mut above = line_start;
    for _ in 0..MAX_LINES_ABOVE {
        if above == 0 {
            break;
        }
        let line = line_at(text, above - 1);
        above = line.start;
        let words = text[line.clone()].trim_start_matches(' ');
        if words.trim().is_empty() || words.starts_with('#') {
            continue;
        }
        let begin = indent_at(text, &line);
        let mut column = begin;
        let mut found = Vec::new();
        let mut rest = words;
        while is_dash(rest) {
            found.push(OpenColumn { column, is_dash: true });
            let behind = rest[1..].trim_start_matches(' ');
            column += rest.len() - behind.len();
            rest = behind;
        }
        found.push(OpenColumn { column, is_dash: false });
        for open in found.into_iter().rev() {
            match columns.last_mut() {
                // Keys of a list whose dashes are in the column of its key.
                Some(inner) if open.column == inner.column => inner.is_dash &= open.is_dash,
                Some(inner) if open.column > inner.column => {}
                Some(_) | None => columns.push(open),
            }
        }
        if begin < indent && !is_dash(words) {
            break;
        }
    }
    columns
}

/// Returns the number of blanks at the beginning of a line.
pub(crate) fn indent_at(text: &str, line: &Range<usize>) -> usize {
    line.len() - text[line.clone()].trim_start_matches(' ').len()
}

/// Returns the next line with content.
fn next_line(text: &str, from: usize) -> Option<&str> {
    let has_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    text[from..].split('\n').skip(1).find(has_content)
}
