//! What is wrong in a text that is not YAML: in words that help, and, where one line shows what was meant, with the line
//! as it should be written.

use std::{borrow::Cow, ops::Range};

use serde_json::Value;

use super::{
    events::{SyntaxError, parse},
    recover::{Head, head_shape, is_dash, line_at, trimmed},
    tree::{Node, NodeKind},
};
use crate::dialect::ScalarRules;

/// As many lines are looked at to find out which columns are open.
const LINES_ABOVE: usize = 256;

/// A mistake in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    /// The bytes to blame.
    pub range: Range<usize>,
    /// What is wrong and what to do.
    pub message: String,
    /// Whether it is a limit of ours rather than a mistake.
    pub too_large: bool,
    /// How the value should be written.
    pub cure: Option<Box<Rewrite>>,
}

/// A value as it should be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rewrite {
    /// The value as it is written.
    pub range: Range<usize>,
    /// What should stand there.
    pub text: String,
    /// Whether nothing else can be meant.
    pub is_certain: bool,
    /// Whether a placeholder in braces was taken for a mapping.
    pub is_template: bool,
}

impl Rewrite {
    /// The node that is meant, where the value stands.
    pub(super) fn node(&self) -> Option<Node> {
        let meant = parse(&self.text, ScalarRules::Yaml12).ok()?.root?;
        matches!(meant.kind, NodeKind::Scalar { .. }).then(|| Node { range: self.range.clone(), ..meant })
    }
}

impl Fault {
    /// A mistake that a person has to look at.
    pub(crate) fn new(range: Range<usize>, message: impl Into<String>) -> Fault {
        Fault { range, message: message.into(), too_large: false, cure: None }
    }

    /// A limit of ours.
    pub(crate) fn too_large(range: Range<usize>, message: impl Into<String>) -> Fault {
        Fault { too_large: true, ..Fault::new(range, message) }
    }

    /// A line where an entry should stand, and that is none. `words`: the line, `at`: where it begins.
    pub(super) fn no_entry(words: &str, at: usize) -> Fault {
        let range = at..at + words.len();
        match words.split_once(':') {
            Some((key, value)) if is_key(key) && !value.is_empty() && !value.starts_with("//") => {
                let text = format!("{key}: {value}");
                let message = format!("a blank is missing behind the colon: write `{text}`");
                let cure = Rewrite { range: range.clone(), text, is_certain: true, is_template: false };
                Fault { cure: Some(Box::new(cure)), ..Fault::new(range, message) }
            }
            _ if words.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter)) => {
                Fault::new(range, format!("`{words}` has no colon: write `{words}:`"))
            }
            Some(_) | None => Fault::new(range, "expected `key: value` here"),
        }
    }

    /// Tabs before a line, if there are any.
    pub(super) fn tabs(text: &str, at: usize) -> Option<Fault> {
        let line = line_at(text, at);
        let blanks = &text[line.clone()];
        let blanks = &blanks[..blanks.len() - blanks.trim_start_matches([' ', '\t']).len()];
        let range = line.start..line.start + blanks.len();
        blanks.contains('\t').then(|| Fault::new(range, "a tab cannot indent: use spaces"))
    }

    /// A line that begins between the columns where entries may begin.
    pub(super) fn misplaced(text: &str, offset: usize) -> Option<Fault> {
        let line = line_at(text, offset);
        let begin = |line: &Range<usize>| line.len() - text[line.clone()].trim_start_matches(' ').len();
        let indent = begin(&line);
        let words = &text[line.start + indent..line.end];
        if !is_dash(words) && !matches!(head_shape(words), Head::Key { .. } | Head::KeyWithValue { .. }) {
            return None;
        }
        // The columns of what is open above, from the inside out.
        let mut columns: Vec<usize> = Vec::new();
        let mut above = line.start;
        for _ in 0..LINES_ABOVE {
            if above == 0 {
                break;
            }
            let line = line_at(text, above - 1);
            above = line.start;
            let words = text[line.clone()].trim_start_matches(' ');
            if words.is_empty() || words.starts_with('#') {
                continue;
            }
            let mut column = begin(&line);
            let mut found = vec![column];
            let mut rest = words;
            while is_dash(rest) {
                let behind = rest[1..].trim_start_matches(' ');
                column += rest.len() - behind.len();
                rest = behind;
                found.push(column);
            }
            for column in found.into_iter().rev() {
                if columns.last().is_none_or(|inner| column < *inner) {
                    columns.push(column);
                }
            }
            if column < indent {
                break;
            }
        }
        let nearest =
            columns.iter().copied().filter(|column| *column != indent).min_by_key(|column| column.abs_diff(indent))?;
        if columns.contains(&indent) || nearest.abs_diff(indent) > 1 {
            return None;
        }
        let spaces = |count: usize| format!("{count} {}", if count == 1 { "space" } else { "spaces" });
        let message = format!("this line is indented by {}, and its neighbours by {nearest}", spaces(indent));
        let range = line.start..line.start + indent;
        let cure = Rewrite { range: range.clone(), text: " ".repeat(nearest), is_certain: false, is_template: false };
        let mark = if range.is_empty() { trimmed(text, line) } else { range };
        Some(Fault { cure: Some(Box::new(cure)), ..Fault::new(mark, message) })
    }

    /// A mistake that the parser found; `range` is what to blame as far as the reader knows.
    pub(super) fn of_error(text: &str, range: Range<usize>, error: &SyntaxError) -> Fault {
        if error.at_line {
            let range = trimmed(text, line_at(text, error.offset));
            return Fault::new(range, error.message.clone());
        }
        if let Some(fault) = of_line(text, &range) {
            return fault;
        }
        let blamed = text.get(range.clone()).unwrap_or_default();
        let opening = |open: char, close: char| blamed.matches(open).count() > blamed.matches(close).count();
        let value = blamed.split_once(": ").map_or(blamed, |(_, value)| value).trim_start();
        if let Some(fault) = Fault::tabs(text, error.offset).or_else(|| Fault::misplaced(text, error.offset)) {
            return fault;
        }
        let message = if value.starts_with('"') && value.matches('"').count() == 1 {
            "the text has no closing `\"`".to_owned()
        } else if value.starts_with('\'') && value.matches('\'').count() % 2 == 1 {
            "the text has no closing `'`".to_owned()
        } else if value.starts_with('[') && opening('[', ']') {
            "the list has no closing `]`".to_owned()
        } else if value.starts_with('{') && opening('{', '}') {
            "the mapping has no closing `}`".to_owned()
        } else {
            format!("not YAML: {}", error.message)
        };
        Fault::new(range, message)
    }
}

/// What is wrong with the value of one line, if that is what makes it unreadable, and if the line can be read once the
/// value is written in another way.
fn of_line(text: &str, blamed: &Range<usize>) -> Option<Fault> {
    let line = line_at(text, blamed.start);
    if blamed.end > line.end {
        return None;
    }
    let value = value_of(text, &line)?;
    let Reading { mark, message, rewritten, extent, is_certain } = Reading::of(&text[value.clone()])?;
    let value = value.start..value.start + extent;
    let before = &text[line.start..value.start];
    let behind = &text[value.end..line.end];
    // A text that seems to lack its end may find it further below.
    let ends_below = |quote: char| text[line.end..].lines().take(64).any(|line| line.contains(quote));
    let is_open =
        matches!(&text[value.clone()].chars().next(), Some(quote @ ('"' | '\'')) if !is_certain && ends_below(*quote));
    if is_open {
        return None;
    }
    let reads = |value: &str| parse(&format!("{before}{value}{behind}"), ScalarRules::Yaml12).is_ok();
    if reads(&text[value.clone()]) || !reads(&rewritten) {
        return None;
    }
    let range = value.start + mark.start..value.start + mark.end;
    let is_template = text[value.clone()].starts_with("{{");
    let cure = Rewrite { range: value, text: rewritten, is_certain, is_template };
    Some(Fault { cure: Some(Box::new(cure)), ..Fault::new(range, message) })
}

/// The value in a line: behind its key, or behind its dash.
fn value_of(text: &str, line: &Range<usize>) -> Option<Range<usize>> {
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

/// A value that cannot be read, understood all the same.
struct Reading {
    /// What is to blame, in bytes of the value.
    mark: Range<usize>,
    message: String,
    rewritten: String,
    /// How much of the value is rewritten: the rest is a comment.
    extent: usize,
    is_certain: bool,
}

impl Reading {
    fn of(value: &str) -> Option<Reading> {
        let in_quotes = |message: String| {
            // What follows a blank and `#` is a comment, and stays one.
            let extent = value.find(" #").map_or(value.len(), |at| value[..at].trim_end().len());
            Some(Reading { mark: 0..extent, message, rewritten: quoted(&value[..extent]), extent, is_certain: true })
        };
        let first = value.chars().next()?;
        match first {
            '"' => Reading::of_double_quoted(value),
            '\'' => Reading::of_single_quoted(value),
            '{' if value.starts_with("{{") && value.contains("}}") => {
                in_quotes("a text that begins with `{{` must stand in quotes: without them it is a mapping".to_owned())
            }
            '[' | '{' => {
                let (close, what) = if first == '[' { (']', "a list") } else { ('}', "a mapping") };
                let is_closed = value.matches(first).count() == value.matches(close).count();
                let goes_on = !value.split(" #").next().unwrap_or_default().trim_end().ends_with(close);
                (is_closed && goes_on).then(|| {
                    in_quotes(format!("`{first}` begins {what}, and more follows behind its end: put a text in quotes"))
                })?
            }
            '*' => in_quotes("`*` begins the name of an alias: put a text in quotes".to_owned()),
            '&' => in_quotes("`&` begins the name of an anchor: put a text in quotes".to_owned()),
            '|' | '>' => in_quotes(format!(
                "behind `{first}` a text begins on the next line: put it in quotes, or write it below, indented"
            )),
            '%' | '@' | '`' => in_quotes(format!("a text cannot begin with {first:?}: put it in quotes")),
            '-' | '?' => in_quotes(format!("`{first} ` begins a part of its own: put a text in quotes")),
            _ => {
                let colon = value.match_indices(':').map(|(at, _)| at).find(|at| {
                    let rest = &value[at + 1..];
                    rest.is_empty() || rest.starts_with([' ', '\t'])
                })?;
                let message = "a colon and a blank end a key: put a text that holds them in quotes".to_owned();
                in_quotes(message)
                    .filter(|reading| colon < reading.extent)
                    .map(|reading| Reading { mark: colon..colon + 1, ..reading })
            }
        }
    }

    fn of_double_quoted(value: &str) -> Option<Reading> {
        let mut wrong = Vec::new();
        let mut has_escapes = false;
        let mut end = None;
        let mut at = 1;
        while let Some(letter) = value.get(at..).and_then(|rest| rest.chars().next()) {
            match letter {
                '"' => {
                    end = Some(at);
                    break;
                }
                '\\' => {
                    let escape = escape_length(&value[at + 1..]);
                    match escape {
                        Some(length) => {
                            has_escapes = true;
                            at += 1 + length;
                        }
                        None => {
                            wrong.push(at);
                            at += 1;
                        }
                    }
                }
                letter => at += letter.len_utf8(),
            }
        }
        let Some(end) = end else {
            return Some(Reading {
                mark: 0..value.len(),
                message: "the text has no closing `\"`".to_owned(),
                rewritten: format!("{value}\""),
                extent: value.len(),
                is_certain: false,
            });
        };
        let inner = &value[1..end];
        if let Some(first) = wrong.first() {
            let length = value[first + 1..].chars().next().map_or(0, char::len_utf8);
            let escape = &value[*first..first + 1 + length];
            let mut doubled = value[..=end].to_owned();
            wrong.iter().rev().for_each(|at| doubled.insert(*at, '\\'));
            let single = !has_escapes && !inner.contains('\'');
            let rewritten = if single { format!("'{inner}'") } else { doubled };
            return Some(Reading {
                mark: *first..first + 1 + length,
                message: format!(
                    "`{escape}` means nothing between double quotes: write `\\{escape}`, or use single quotes"
                ),
                rewritten,
                extent: end + 1,
                // Beside `\d`, a `\b` is most likely that of a pattern, too, and no backspace.
                is_certain: !has_escapes,
            });
        }
        let message = "the text goes on behind its closing `\"`: put all of it in quotes".to_owned();
        let (mark, extent) = (end + 1..value.len(), value.len());
        Some(Reading { mark, message, rewritten: quoted(value), extent, is_certain: true })
    }

    fn of_single_quoted(value: &str) -> Option<Reading> {
        let quotes = value[1..].matches('\'').count();
        if quotes == 0 {
            return Some(Reading {
                mark: 0..value.len(),
                message: "the text has no closing `'`".to_owned(),
                rewritten: format!("{value}'"),
                extent: value.len(),
                is_certain: false,
            });
        }
        // `'it's fine'`: the quotes around it are clear, the one within is not meant to end it.
        if let Some(inner) = value[1..].strip_suffix('\'') {
            let apostrophe = value[1..].find('\'').map(|at| at + 1)?;
            return Some(Reading {
                mark: apostrophe..apostrophe + 1,
                message: "a `'` between single quotes must be written twice, or the text put in double quotes"
                    .to_owned(),
                rewritten: quoted(&inner.replace("''", "'")),
                extent: value.len(),
                is_certain: true,
            });
        }
        let end = value[1..].find('\'').map(|at| at + 1)?;
        let message = "the text goes on behind its closing `'`: put all of it in quotes".to_owned();
        let (mark, extent) = (end + 1..value.len(), value.len());
        Some(Reading { mark, message, rewritten: quoted(value), extent, is_certain: true })
    }
}

/// Whether a word can be a key, and no drive or time of the day.
fn is_key(word: &str) -> bool {
    word.len() > 1
        && word.starts_with(|first: char| first.is_alphabetic() || first == '_')
        && word.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter))
}

/// How long an escape is, without its backslash; none where YAML has no such escape.
fn escape_length(rest: &str) -> Option<usize> {
    let first = rest.chars().next()?;
    let digits = match first {
        '0' | 'a' | 'b' | 't' | '\t' | 'n' | 'v' | 'f' | 'r' | 'e' | ' ' | '"' | '/' | '\\' | 'N' | '_' | 'L' | 'P' => {
            0
        }
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => return None,
    };
    let number = rest.get(1..1 + digits)?;
    let fits = number.chars().all(|digit| digit.is_ascii_hexdigit())
        && (digits == 0 || u32::from_str_radix(number, 16).is_ok_and(|code| char::from_u32(code).is_some()));
    fits.then_some(1 + digits)
}

/// A text in the quotes that need the least within.
pub(crate) fn quoted(text: &str) -> String {
    let plain = |text: &str| !text.chars().any(char::is_control);
    if text.contains(['"', '\\']) && plain(text) {
        let inner: Cow<'_, str> = if text.contains('\'') { text.replace('\'', "''").into() } else { text.into() };
        return format!("'{inner}'");
    }
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(line: &str, expected: Expect) {
        let error = parse(line, ScalarRules::Yaml12).expect_err("the line is not YAML");
        let fault = Fault::of_error(line, trimmed(line, 0..line.len()), &error);
        let mut shown = format!("{} <- {}", fault.message, &line[fault.range.clone()]);
        if let Some(cure) = fault.cure {
            let mut new = line.to_owned();
            new.replace_range(cure.range, &cure.text);
            assert!(parse(&new, ScalarRules::Yaml12).is_ok(), "{new}");
            shown.push_str(&format!("\n{}{new}", if cure.is_certain { "" } else { "perhaps " }));
        }
        expected.assert_eq(&shown);
    }

    #[test]
    fn quotes_are_put_around_a_text_that_needs_them() {
        check(
            "  - intent: Show this: the history",
            expect![[r#"
                a colon and a blank end a key: put a text that holds them in quotes <- :
                  - intent: "Show this: the history""#]],
        );
        check(
            "a: \"b\": c # d",
            expect![[r#"
                the text goes on behind its closing `"`: put all of it in quotes <- : c # d
                a: '"b": c # d'"#]],
        );
        check(
            "command: {{bin}} run --id 1 # the usual",
            expect![[r#"
                a text that begins with `{{` must stand in quotes: without them it is a mapping <- {{bin}} run --id 1
                command: "{{bin}} run --id 1" # the usual"#]],
        );
        check(
            "- *.md files",
            expect![[r#"
                `*` begins the name of an alias: put a text in quotes <- *.md files
                - "*.md files""#]],
        );
        check(
            "pattern: [a-z]+$ matches",
            expect![[r#"
                `[` begins a list, and more follows behind its end: put a text in quotes <- [a-z]+$ matches
                pattern: "[a-z]+$ matches""#]],
        );
        check(
            "key: @ada says \"hi\"",
            expect![[r#"
                a text cannot begin with '@': put it in quotes <- @ada says "hi"
                key: '@ada says "hi"'"#]],
        );
        check(
            "- Say this: the answer: 42",
            expect![[r#"
                a colon and a blank end a key: put a text that holds them in quotes <- :
                - "Say this: the answer: 42""#]],
        );
    }

    #[test]
    fn escapes_of_patterns_do_not_belong_between_double_quotes() {
        check(
            r#"pattern: "^\d+$""#,
            expect![[r#"
                `\d` means nothing between double quotes: write `\\d`, or use single quotes <- \d
                pattern: '^\d+$'"#]],
        );
        check(
            r#"pattern: "\bit's \d+\b""#,
            expect![[r#"
                `\d` means nothing between double quotes: write `\\d`, or use single quotes <- \d
                perhaps pattern: "\bit's \\d+\b""#]],
        );
        check(
            r#"path: "C:\Users""#,
            expect![[r#"
                `\U` means nothing between double quotes: write `\\U`, or use single quotes <- \U
                path: 'C:\Users'"#]],
        );
    }

    #[test]
    fn quotes_that_do_not_end_where_they_should() {
        check(
            "a: 'it's fine'",
            expect![[r#"
                a `'` between single quotes must be written twice, or the text put in double quotes <- '
                a: "it's fine""#]],
        );
        check(
            "a: \"open",
            expect![[r#"
                the text has no closing `"` <- "open
                perhaps a: "open""#]],
        );
        check("a: [b, c", expect!["the list has no closing `]` <- a: [b, c"]);
        check(
            "a: [b: c: d]",
            expect!["not YAML: while parsing a flow mapping, did not find expected ',' or '}' <- a: [b: c: d]"],
        );
    }
}
