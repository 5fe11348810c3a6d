//! What is wrong with a line that the parser refuses, and the corrected line if only a blank, a dash, quotes or a comma
//! make the difference.

mod quotes;
mod reading;
mod value;

use std::ops::Range;

use super::{
    events::SyntaxError,
    fault::{Fault, FaultKind, Rewrite, RewriteKind},
    layout::{Head, head_shape, is_key, line_at, trimmed},
};

pub use reading::quoted;

impl Fault {
    /// Returns the fault of a parser error; `range` is the wrong part as far as the reader knows.
    pub(super) fn of_error(text: &str, range: Range<usize>, error: &SyntaxError) -> Fault {
        if error.at_line {
            let range = trimmed(text, line_at(text, error.offset));
            return Fault::new(range, error.kind.clone());
        }
        if let Some(comma) = empty_item(text, error.offset) {
            return Fault::new(comma, FaultKind::EmptyItem);
        }
        let of_line = Fault::of_line(text, &range).or_else(|| Fault::comma_behind_bracket(text, error.offset));
        if let Some(fault) = of_line {
            return fault;
        }
        let line = line_at(text, range.start);
        let is_line = range.end <= line.end;
        let words = trimmed(text, line.clone());
        if is_line && matches!(head_shape(&text[words.clone()]), Head::Other) {
            let no_entry = Fault::no_entry(&text[words.clone()], words.start);
            if no_entry.rewrite.is_some() || is_key(&text[words]) {
                return no_entry;
            }
        }
        if let Some(fault) = Fault::tabs(text, error.offset).or_else(|| Fault::misplaced(text, error.offset)) {
            return fault;
        }
        // If it is one line, the value is wrong.
        let is_value = is_line && !matches!(error.kind, FaultKind::ExpectedEntry | FaultKind::ExpectedItem);
        let value = is_value.then(|| value::value_of(text, &line)).flatten();
        let range = value.filter(|value| value.start > range.start).unwrap_or(range);
        let blamed = text.get(range.clone()).unwrap_or_default();
        let kind = match unclosed(blamed) {
            Some(close) => FaultKind::Unclosed(close),
            None if error.kind == FaultKind::TextBehindQuotes
                && let Some(close) = text.get(range.start..error.offset).and_then(innermost) =>
            {
                FaultKind::ExpectedSeparator { close }
            }
            None => error.kind.clone(),
        };
        Fault::new(range, kind)
    }

    /// Returns the fault of a comma after the closing bracket of a value on several lines. `at`: a position in its line.
    fn comma_behind_bracket(text: &str, at: usize) -> Option<Fault> {
        let line = line_at(text, at);
        let words = &text[line.clone()];
        let words = words[..reading::comment_starts(words).next().unwrap_or(words.len())].trim_end();
        let value = words.strip_suffix(',')?;
        let only_closes = value.trim_start().chars().all(|letter| "]} ".contains(letter)) && !value.trim().is_empty();
        let comma = line.start + value.len()..line.start + value.len() + 1;
        let rewrite =
            Rewrite { range: comma.clone(), text: String::new(), is_certain: false, kind: RewriteKind::Comma };
        only_closes.then(|| Fault::new(comma, FaultKind::TrailingComma).with_rewrite(rewrite))
    }
}

/// Returns the comma at which the parser stopped, if nothing is before it in its list.
fn empty_item(text: &str, stopped: usize) -> Option<Range<usize>> {
    let mut before = text.get(..stopped)?.trim_end();
    while !before.ends_with([',', '[']) {
        // A comment may be between them.
        let line = before.rfind('\n').map_or(0, |end| end + 1);
        let comment = before[line..].rfind('#').filter(|at| *at == 0 || before[..line + at].ends_with([' ', '\t']))?;
        before = before[..line + comment].trim_end();
    }
    text[stopped..].starts_with(',').then_some(stopped..stopped + 1)
}

/// Returns the bracket that closes the innermost list or mapping that is open at the end of a text.
fn innermost(text: &str) -> Option<char> {
    let mut open = Vec::new();
    for letter in text.chars() {
        match letter {
            '[' => open.push(']'),
            '{' => open.push('}'),
            ']' | '}' => drop(open.pop()),
            _ => {}
        }
    }
    open.pop()
}

fn unclosed(blamed: &str) -> Option<char> {
    let in_brackets = blamed.starts_with(['[', '{']);
    let value = blamed.split_once(": ").filter(|_| !in_brackets).map_or(blamed, |(_, value)| value).trim_start();
    let count = |letter: char| blamed.matches(letter).count();
    let is_open = |open: char, close: char| (in_brackets || value.starts_with(open)) && count(open) > count(close);
    if value.starts_with('"') && value.matches('"').count() == 1 {
        Some('"')
    } else if value.starts_with('\'') && value.matches('\'').count() % 2 == 1 {
        Some('\'')
    } else if is_open('[', ']') {
        Some(']')
    } else {
        is_open('{', '}').then_some('}')
    }
}
