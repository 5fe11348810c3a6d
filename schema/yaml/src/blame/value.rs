//! Values that cannot be read because they lack quotes, or because their quotes or brackets are damaged.

use std::ops::Range;

use super::reading::Reading;
use crate::{
    ScalarRules,
    columns::indent_at,
    events::parse,
    fault::{Advice, Fault, FaultKind, Rewrite, RewriteKind},
    layout::{Head, head_shape, is_dash, line_at, trimmed},
};

impl Fault {
    /// Returns the fault of a value on one line, if the line is readable once the value is corrected.
    pub(crate) fn of_line(text: &str, blamed: &Range<usize>) -> Option<Fault> {
        let line = line_at(text, blamed.start);
        if blamed.end > line.end {
            return None;
        }
        let value = value_of(text, &line)?;
        let Reading { mark, kind: fault, rewritten, extent, is_certain, is_template } =
            Reading::of(&text[value.clone()])?;

        let kind = match fault {
            FaultKind::TrailingComma => RewriteKind::Comma,
            _ if is_template => RewriteKind::Template,
            _ => RewriteKind::Text,
        };
        let value = value.start..value.start + extent;
        let before = &text[line.start..value.start];
        let behind = &text[value.end..line.end];
        // A string that seems to lack its end may end further below.
        let ends_below = |quote: char| text[line.end..].lines().take(64).any(|line| line.contains(quote));
        let is_open = matches!(fault, FaultKind::Unclosed(quote) if ends_below(quote));
        if is_open {
            return None;
        }
        let reads = |value: &str| parse(&format!("{before}{value}{behind}"), ScalarRules::Yaml12).is_ok();
        if reads(&text[value.clone()]) || !reads(&rewritten) {
            return None;
        }
        let range = value.start + mark.start..value.start + mark.end;
        // If the text continues below, quotes around its first line would leave the rest behind.
        if let Some(end) = end_of_lines(text, &line).filter(|_| !text[value.start..].starts_with(['"', '\''])) {
            if text[value.clone()].starts_with(['|', '>']) {
                return Some(Fault::new(range, fault).with_advice(Advice::BeginBelow));
            }
            let is_whole = rewritten.starts_with(['"', '\'']) && behind.trim().is_empty();
            let rewritten = quoted_lines(&text[value.start..end]);
            let is_text = |line: &str| matches!(head_shape(line.trim()), Head::Other) && !is_dash(line.trim());
            if !is_whole || !text[value.start..end].lines().skip(1).all(is_text) || !reads(&rewritten) {
                return Some(Fault::new(range, fault).with_advice(Advice::QuoteAllLines));
            }
            let rewrite = Rewrite { range: value.start..end, text: rewritten, is_certain: false, kind };
            return Some(Fault::new(range, fault).with_rewrite(rewrite));
        }
        // `{a: 1}tasks:` and `never tasks:` lack a line break rather than quotes.
        let written = &text[value.clone()];
        let is_whole = rewritten.starts_with(['"', '\'']) && !written.starts_with(['"', '\'']);
        let has_more = written.starts_with('{') || written.trim_end().ends_with(':');
        let is_certain = is_certain && (!is_whole || !has_more || is_template);
        Some(Fault::new(range, fault).with_rewrite(Rewrite { range: value, text: rewritten, is_certain, kind }))
    }
}

/// Returns the end of the lines that are deeper than the key of a line, or its dash; `None` if there are none.
fn end_of_lines(text: &str, line: &Range<usize>) -> Option<usize> {
    let mut words = text[line.clone()].trim_start_matches(' ');
    let mut column = line.len() - words.len();
    while is_dash(words) && !matches!(head_shape(words[1..].trim_start_matches(' ')), Head::Other) {
        let behind = words[1..].trim_start_matches(' ');
        column += words.len() - behind.len();
        words = behind;
    }
    let mut end = None;
    let mut next = line.end;
    while next < text.len() {
        let below = line_at(text, next + 1);
        let is_empty = text[below.clone()].trim().is_empty();
        if !is_empty && indent_at(text, &below) <= column {
            break;
        }
        next = below.end.max(next + 1);
        if !is_empty {
            end = Some(trimmed(text, below).end);
        }
    }
    end
}

/// Returns a string of several lines in quotes: its lines stay the same, and so does its meaning.
fn quoted_lines(words: &str) -> String {
    if words.contains(['"', '\\']) { format!("'{}'", words.replace('\'', "''")) } else { format!("\"{words}\"") }
}

/// Returns the value on a line: after its key, or after its dash.
pub(super) fn value_of(text: &str, line: &Range<usize>) -> Option<Range<usize>> {
    let mut start = line.start;
    let is_item = loop {
        let words = &text[start..line.end];
        let blanks = words.len() - words.trim_start_matches(' ').len();
        start += blanks;
        let dashes = start > line.start + blanks;
        if !is_dash(&text[start..line.end]) {
            break dashes || text[line.start..start].trim_end_matches(' ').ends_with('-');
        }
        start += 1;
    };
    let words = &text[start..line.end];
    let value = match head_shape(words) {
        // Words before a colon are text; a key is one word.
        Head::KeyWithValue { key, .. } if is_item && words[..key].contains(' ') => start,
        Head::KeyWithValue { colon, .. } => start + colon + 1,
        Head::Key { key, .. } if is_item && words[..key].contains(' ') => start,
        Head::Key { .. } => return None,
        Head::Other => start,
    };
    Some(trimmed(text, value..line.end)).filter(|range| !text[range.clone()].trim().is_empty())
}
