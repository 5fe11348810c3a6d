//! Lines that begin in a wrong column.

use std::ops::Range;

use super::{
    fault::{Fault, FaultKind, Rewrite, RewriteKind},
    layout::{Head, head_shape, is_dash, line_at, trimmed},
};

/// Maximum number of lines that are searched for open columns.
const MAX_LINES_ABOVE: usize = 256;

impl Fault {
    /// Returns the fault of a line that begins next to the column of entries or dashes above it.
    pub(crate) fn misplaced(text: &str, offset: usize) -> Option<Fault> {
        let line = line_at(text, offset);
        let indent = indent_at(text, &line);
        let words = &text[line.start + indent..line.end];
        let is_item = is_dash(words);
        if !is_item && !matches!(head_shape(words), Head::Key { .. } | Head::KeyWithValue { .. }) {
            return None;
        }
        let columns = open_columns(text, line.start, indent);
        if columns.iter().any(|open| open.column == indent) {
            return None;
        }
        // A key goes beside keys, a dash beside dashes, or below a key.
        let fitting = columns.iter().filter(|open| is_item || !open.is_dash).map(|open| open.column);
        let column = fitting.min_by_key(|column| column.abs_diff(indent))?;
        (column.abs_diff(indent) <= 1).then(|| Fault::indented(text, line, column))
    }

    /// Returns the fault of a line whose neighbors begin in another column.
    pub(crate) fn indented(text: &str, line: Range<usize>, column: usize) -> Fault {
        let indent = indent_at(text, &line);
        let range = line.start..line.start + indent;
        let words = &text[line.start + indent..line.end];
        let is_item = is_dash(words);
        let below = next_line(text, line.end).map(crate::layout::indent).filter(|below| *below > indent);
        let has_value = !is_item && matches!(head_shape(words), Head::KeyWithValue { .. });
        let has_lines = !has_value && below.is_some_and(|below| is_item || below <= column);
        let mark = if range.is_empty() { trimmed(text, line) } else { range.clone() };
        let fault = Fault::new(mark, FaultKind::Misindented { indent, column });
        // The lines below it may belong to it.
        if has_lines {
            return fault;
        }
        let (text, kind) = (" ".repeat(column), RewriteKind::IndentTo(column));
        fault.with_rewrite(Rewrite { range, text, is_certain: false, kind })
    }
}

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

fn next_line(text: &str, from: usize) -> Option<&str> {
    let has_content = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    text[from..].split('\n').skip(1).find(has_content)
}
