//! Values that cannot be read because they lack quotes, or because their quotes or brackets are damaged.

use std::ops::Range;

use super::{Advice, Fault, FaultKind, Rewrite, RewriteKind, indent_at, is_key, reading::Reading};
use crate::{
    ScalarRules,
    events::parse,
    layout::{Head, head_shape, is_dash, line_at, trimmed},
};

impl Fault {
    /// Returns the fault of an unquoted value that continues over several lines, if that is unreadable.
    pub(crate) fn of_lines(text: &str, at: usize) -> Option<Fault> {
        let (owner, value) = plain_lines(text, at)?;
        let words = &text[value.clone()];
        let Reason { mark, kind: fault, is_certain, is_template } = Reason::of(words)?;
        let rewritten = quoted_lines(words);
        let before = &text[owner.start..value.start];
        let reads = |value: &str| parse(&format!("{before}{value}\n"), ScalarRules::Yaml12).is_ok();
        // Lines that look like entries most likely are.
        let is_text = words.lines().skip(1).all(|line| {
            let line = line.trim();
            let key = line.split(':').next().unwrap_or_default();
            !is_dash(line) && !line.starts_with('#') && (matches!(head_shape(line), Head::Other) || !is_key(key))
        });
        if !is_text || reads(words) || !reads(&rewritten) {
            return None;
        }
        let kind = if is_template { RewriteKind::Template } else { RewriteKind::Text };
        let rewrite = Rewrite { range: value.clone(), text: rewritten, is_certain, kind };
        Some(Fault::new(value.start + mark.start..value.start + mark.end, fault).with_rewrite(rewrite))
    }

    /// Returns the fault of a value on one line, if the line is readable once the value is corrected.
    pub(crate) fn of_line(text: &str, blamed: &Range<usize>) -> Option<Fault> {
        let line = line_at(text, blamed.start);
        if blamed.end > line.end {
            return None;
        }
        let value = value_of(text, &line)?;
        // If the text continues below, quotes around its first line would leave the rest behind.
        let goes_on = plain_lines(text, value.start).is_some_and(|(owner, _)| owner == line);
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
        // A block scalar whose first line is next to its indicator.
        if text[value.clone()].starts_with(['|', '>']) && end_of_lines(text, &line).is_some() {
            return Some(Fault::new(range, fault).with_advice(Advice::BeginBelow));
        }
        if goes_on {
            return Some(Fault::new(range, fault).with_advice(Advice::QuoteAllLines));
        }
        // `{a: 1}tasks:` and `never tasks:` lack a line break rather than quotes.
        let written = &text[value.clone()];
        let is_whole = rewritten.starts_with(['"', '\'']) && !written.starts_with(['"', '\'']);
        let has_more = written.starts_with('{') || written.trim_end().ends_with(':');
        let is_certain = is_certain && (!is_whole || !has_more || is_template);
        Some(Fault::new(range, fault).with_rewrite(Rewrite { range: value, text: rewritten, is_certain, kind }))
    }
}

/// Returns an unquoted value that continues below its line, and the line where it begins. `at`: a position in it.
fn plain_lines(text: &str, at: usize) -> Option<(Range<usize>, Range<usize>)> {
    let mut owner = line_at(text, at);
    let value = loop {
        let words = text[owner.clone()].trim_start_matches(' ');
        let is_begin = is_dash(words)
            || matches!(head_shape(words), Head::KeyWithValue { key, .. } if !words[..key].contains(' '));
        let value = value_of(text, &owner).filter(|_| is_begin);
        let goes_on =
            value.filter(|value| end_of_lines(text, &owner).is_some_and(|end| at <= end && value.start < end));
        if goes_on.is_some() || owner.start == 0 || at - owner.start > 4096 {
            break goes_on?;
        }
        owner = line_at(text, owner.start - 1);
    };
    let end = end_of_lines(text, &owner)?;
    let is_plain = !text[value.start..].starts_with(['"', '\'', '|', '>', '#']);
    is_plain.then_some((owner, value.start..end))
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

/// The reason why a string of several lines needs quotes.
struct Reason {
    mark: Range<usize>,
    kind: FaultKind,
    is_certain: bool,
    is_template: bool,
}

impl Reason {
    fn of(words: &str) -> Option<Reason> {
        let first = words.lines().next().unwrap_or_default().trim_end();
        let reserved = words.starts_with(['*', '&', '!', '%', '@', '`', '{', '[', '?', '-']);
        if reserved
            && let Some(Reading { mark, kind, is_template, extent, rewritten, .. }) = Reading::of(first)
            && rewritten.starts_with(['"', '\''])
            && extent == first.len()
        {
            return Some(Reason { mark, kind, is_certain: true, is_template });
        }
        // Brackets or braces that are damaged are not meant as text.
        if words.starts_with(['{', '[']) && !words.starts_with("{{") {
            return None;
        }
        let is_end = |at: usize| words[at + 1..].chars().next().is_none_or(char::is_whitespace);
        let colon = words.match_indices(':').map(|(at, _)| at).find(|at| is_end(*at));
        let comment = words.match_indices('#').map(|(at, _)| at).find(|at| words[..*at].ends_with([' ', '\t']));
        let (at, kind, is_certain) = match (colon, comment) {
            (Some(colon), None) => (colon, FaultKind::ColonWithoutQuotes, true),
            (Some(colon), Some(_)) => (colon, FaultKind::ColonWithoutQuotes, false),
            (None, comment) => (comment?, FaultKind::HashWithoutQuotes, false),
        };
        Some(Reason { mark: at..at + 1, kind, is_certain, is_template: false })
    }
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
