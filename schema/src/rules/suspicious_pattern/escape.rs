//! Escapes of YAML in a compared value, where a backslash was most likely meant: `"\brm\b"` contains two backspaces.

use std::ops::Range;

use crate::{
    document::Style,
    finding::{Finding, MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, Edit, Fix, Severity},
    shape::{Shape, Word, keywords::Compared},
    walk::Value,
};

/// A kind of compared value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Name,
    Text,
    Pattern,
    SecretPattern,
}

impl Use {
    fn of(value: &Value<'_, '_>) -> Option<Use> {
        if matches!(value.declared(Shape::word), Some(Word::Pattern(_))) {
            let is_secret = value.shape().is_some_and(|shape| shape.searches() == "secrets");
            return Some(if is_secret { Use::SecretPattern } else { Use::Pattern });
        }
        value.compared().map(|compared| match compared {
            Compared::Name => Use::Name,
            Compared::Text | Compared::Output => Use::Text,
        })
    }
}

/// Checks a string in double quotes.
pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    let Some(text) = value.text.filter(|_| value.node.style() == Some(Style::DoubleQuoted)) else { return };
    if !text.contains(|letter| name(letter).is_some()) {
        return;
    }
    let Some(usage) = Use::of(value) else { return };
    let lint_node = value.lint_node();
    // The escape that is most certainly a mistake.
    let found = escapes(&lint_node).into_iter().filter_map(|found| {
        let severity = found.severity(usage)?;
        Some((severity, found))
    });
    let Some((severity, found)) = found.min_by_key(|(severity, found)| (*severity, found.range.start)) else { return };
    let WrittenEscape { range, written, letter, .. } = found;
    let Some(name) = name(letter) else { return };
    // A pattern that finds nothing leaves secrets in clear.
    let is_secret = usage == Use::SecretPattern && severity == Severity::Warning;
    let severity = if is_secret { Severity::Error } else { severity };
    let words = MessageParts::new(format!("`{written}` in double quotes is {name} (U+{:04X})", u32::from(letter)));
    let words = if is_secret { words.note("this pattern masks nothing") } else { words };
    let fix = doubled(&lint_node).map(|edits| Fix::guess("double the backslashes", edits));
    let words = words.help(format!("write `\\{written}`, or use single quotes")).fix(fix);
    let finding = Finding::stated(Code::SuspiciousPattern, words, lint_node.at.clone(), range);
    report.push(finding.with_severity(severity));
}

/// Returns the name, with its article, of a character that is unlikely in a compared value.
fn name(letter: char) -> Option<&'static str> {
    Some(match letter {
        '\0' => "a null character",
        '\u{7}' => "a bell",
        '\u{8}' => "a backspace",
        '\u{b}' => "a vertical tab",
        '\u{c}' => "a form feed",
        '\r' => "a carriage return",
        '\u{1b}' => "an escape character",
        '\u{85}' => "a line break",
        '\u{2028}' => "a line separator",
        '\u{2029}' => "a paragraph separator",
        '\t' | '\n' => return None,
        letter if letter.is_control() => "a control character",
        _ => return None,
    })
}

struct WrittenEscape {
    range: Range<usize>,
    written: String,
    letter: char,
    next: Option<char>,
}

impl WrittenEscape {
    /// Whether the character is written as its number, which is rarely an accident.
    fn is_number(&self) -> bool {
        self.written.len() > 2
    }

    /// Returns the severity in a kind of compared value. `None` if the character is probably meant.
    fn severity(&self, usage: Use) -> Option<Severity> {
        name(self.letter)?;
        let is_meant = match self.letter {
            // Ends of lines in other systems.
            '\r' => self.next.is_none_or(|next| next == '\n'),
            // Colors of a terminal.
            '\u{1b}' => self.next.is_some_and(|next| "[](\\".contains(next)),
            _ => false,
        };
        if is_meant {
            return None;
        }
        let may_be_meant = self.is_number()
            || match usage {
                Use::Name => false,
                Use::Text => matches!(self.letter, '\0' | '\r'),
                // The regular expression would mean the same.
                Use::Pattern | Use::SecretPattern => matches!(self.letter, '\0' | '\r' | '\u{b}' | '\u{c}'),
            };
        Some(if may_be_meant { Severity::Hint } else { Severity::Warning })
    }
}

/// Returns the escapes of a string in double quotes whose characters have names here.
fn escapes(lint_node: &LintNode<'_>) -> Vec<WrittenEscape> {
    let range = lint_node.node.own_range();
    let source = lint_node.node.document().source(range.clone()).unwrap_or_default();
    let mut found: Vec<WrittenEscape> = Vec::new();
    let mut at = 0;
    while let Some(start) = source[at..].find('\\').map(|found| at + found) {
        let Some((letter, length)) = read(&source[start + 1..]) else { break };
        at = start + 1 + length;
        let next = source[at..].chars().next();
        // The escape `\r` before the escape `\n`.
        let next = if next == Some('\\') { read(&source[at + 1..]).map(|(letter, _)| letter) } else { next };
        let next = next.filter(|next| *next != '"' || !source[at..].starts_with('"'));
        let written = source[start..at].to_owned();
        found.push(WrittenEscape { range: range.start + start..range.start + at, written, letter, next });
    }
    found
}

/// Returns the character of an escape, and the length of the escape after its backslash.
fn read(rest: &str) -> Option<(char, usize)> {
    let first = rest.chars().next()?;
    let letter = match first {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        'x' | 'u' | 'U' => {
            let length = 1 + match first {
                'x' => 2,
                'u' => 4,
                _ => 8,
            };
            let code = u32::from_str_radix(rest.get(1..length)?, 16).ok()?;
            return Some((char::from_u32(code)?, length));
        }
        other => other,
    };
    Some((letter, first.len_utf8()))
}

/// Returns the edits that double the backslash of each escape that is a single letter.
fn doubled(lint_node: &LintNode<'_>) -> Option<Vec<Edit>> {
    let letters = escapes(lint_node).into_iter().filter(|escape| {
        let is_letter = escape.written[1..].starts_with(|letter: char| letter.is_ascii_alphanumeric() || letter == '_');
        is_letter && escape.written.len() == 2
    });
    let edits: Option<Vec<Vec<Edit>>> = letters
        .map(|escape| lint_node.with_part(&escape.range, &escape.written, format!("\\{}", escape.written)))
        .collect();
    Some(edits?.concat()).filter(|edits| !edits.is_empty())
}
