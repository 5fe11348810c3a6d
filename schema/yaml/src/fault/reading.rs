//! A value that cannot be read as written: its intention and its correction.

use std::{borrow::Cow, ops::Range};

use serde_json::Value;

use super::FaultKind;
use crate::layout::trimmed;

/// The interpretation of an unreadable value.
pub(super) struct Reading {
    /// The wrong part, in bytes of the value.
    pub(super) mark: Range<usize>,
    pub(super) kind: FaultKind,
    pub(super) rewritten: String,
    /// The length of the replaced part: the rest is a comment.
    pub(super) extent: usize,
    pub(super) is_certain: bool,
    pub(super) is_template: bool,
}

impl Reading {
    pub(super) fn of(value: &str) -> Option<Reading> {
        let in_quotes = |kind: FaultKind| {
            // Text after a blank and `#` remains a comment.
            let extent = value.find(" #").map_or(value.len(), |at| value[..at].trim_end().len());
            Some(Reading {
                mark: 0..extent,
                kind,
                rewritten: quoted(&value[..extent]),
                extent,
                is_certain: true,
                is_template: value.starts_with("{{"),
            })
        };
        let first = value.chars().next()?;
        match first {
            '"' => Reading::of_double_quoted(value),
            '\'' => Reading::of_single_quoted(value),
            '{' | '[' if !value.starts_with("{{") && Reading::of_flow(value).is_some() => Reading::of_flow(value),
            '{' if value.starts_with("{{") && value.contains("}}") => in_quotes(FaultKind::TemplateWithoutQuotes),
            '[' | '{' => {
                let close = if first == '[' { ']' } else { '}' };
                let is_closed = value.matches(first).count() == value.matches(close).count();
                let goes_on = !value.split(" #").next().unwrap_or_default().trim_end().ends_with(close);
                (is_closed && goes_on).then(|| in_quotes(FaultKind::TextBehindBrackets { open: first }))?
            }
            '*' => in_quotes(FaultKind::AliasSign),
            '&' => in_quotes(FaultKind::AnchorSign),
            // Only the author knows whether the character belongs to the text.
            '|' | '>' => {
                in_quotes(FaultKind::BlockTextSign(first)).map(|reading| Reading { is_certain: false, ..reading })
            }
            '%' | '@' | '`' => in_quotes(FaultKind::ReservedSign(first)),
            '-' => Reading::of_item(value),
            '?' => in_quotes(FaultKind::KeySign),
            _ => {
                let colon = value.match_indices(':').map(|(at, _)| at).find(|at| {
                    let rest = &value[at + 1..];
                    rest.is_empty() || rest.starts_with([' ', '\t'])
                })?;
                in_quotes(FaultKind::ColonWithoutQuotes)
                    .filter(|reading| colon < reading.extent)
                    .map(|reading| Reading { mark: colon..colon + 1, ..reading })
            }
        }
    }

    /// Reads an item on the line of its key, or of another dash.
    fn of_item(value: &str) -> Option<Reading> {
        let item = value.strip_prefix('-')?.trim();
        let is_plain = !item.is_empty() && !item.contains([',', '[', ']', '{', '}', '#', '"', '\'']);
        let rewritten = if is_plain && !item.contains(": ") { format!("[{item}]") } else { quoted(value) };
        Some(Reading {
            mark: 0..1,
            kind: FaultKind::ListOnKeyLine,
            rewritten,
            extent: value.len(),
            is_certain: false,
            is_template: false,
        })
    }

    /// Reads a collection in brackets or braces whose strings lack quotes, or have the wrong ones.
    fn of_flow(value: &str) -> Option<Reading> {
        let mut rewritten = String::new();
        let mut first: Option<Reading> = None;
        let (mut copied, mut begin, mut at) = (0, 0, 0);
        let mut keyed = false;
        while let Some(letter) = value[at..].chars().next() {
            let rest = &value[at..];
            let next = at + letter.len_utf8();
            let is_start = value[begin..at].trim().is_empty();
            let wrong = match letter {
                '"' | '\'' if is_start => {
                    let end = at + end_of_quoted(rest)?;
                    let reading = (letter == '"').then(|| Reading::of_double_quoted(&value[at..end])).flatten();
                    match reading.filter(|reading| reading.extent == end - at) {
                        Some(reading) => Some((at..end, reading)),
                        None => {
                            at = end;
                            continue;
                        }
                    }
                }
                '"' | '\'' | '{' | '[' if !keyed && !rest.starts_with("{{") && is_key_of_flow(&value[begin..at]) => {
                    let key = trimmed(value, begin..at);
                    let reading = Reading {
                        mark: key.len() - 1..key.len(),
                        kind: FaultKind::MissingSpaceBehindColon,
                        rewritten: format!("{} ", &value[key.clone()]),
                        extent: key.len(),
                        is_certain: true,
                        is_template: false,
                    };
                    rewritten.push_str(&value[copied..key.start]);
                    rewritten.push_str(&reading.rewritten);
                    (copied, begin, keyed) = (at, at, true);
                    let mark = key.end - 1..key.end;
                    first.get_or_insert(Reading { mark, ..reading });
                    continue;
                }
                '{' if rest.starts_with("{{") && rest.contains("}}") => {
                    let text = trimmed(value, begin..end_of_item(value, at));
                    Some(Reading::unquoted(value, text, FaultKind::TemplateInBrackets, true))
                }
                ':' if keyed && value[next..].starts_with([' ', '\t']) => {
                    let text = trimmed(value, begin..end_of_item(value, at));
                    Some(Reading::unquoted(value, text, FaultKind::ColonWithoutQuotes, false))
                }
                _ => None,
            };
            if let Some((text, reading)) = wrong {
                rewritten.push_str(&value[copied..text.start]);
                rewritten.push_str(&reading.rewritten);
                (copied, at, begin) = (text.end, text.end, text.end);
                let mark = text.start + reading.mark.start..text.start + reading.mark.end;
                first.get_or_insert(Reading { mark, ..reading });
                continue;
            }
            match letter {
                '{' | '[' | ',' | '}' | ']' => (begin, keyed) = (next, false),
                ':' if value[next..].starts_with([' ', '\t']) => (begin, keyed) = (next, true),
                _ => {}
            }
            at = next;
        }
        rewritten.push_str(&value[copied..]);
        Some(Reading { rewritten, extent: value.len(), ..first? })
    }

    /// Reads an unquoted string within a value.
    fn unquoted(value: &str, text: Range<usize>, kind: FaultKind, is_template: bool) -> (Range<usize>, Reading) {
        let rewritten = quoted(&value[text.clone()]);
        let mark = 0..text.len();
        let reading = Reading { mark, kind, rewritten, extent: text.len(), is_certain: true, is_template };
        (text, reading)
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
                kind: FaultKind::Unclosed('"'),
                rewritten: format!("{value}\""),
                extent: value.len(),
                is_certain: false,
                is_template: false,
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
                kind: FaultKind::InvalidEscape(escape.to_owned()),
                rewritten,
                extent: end + 1,
                // Beside `\d`, `\b` is most likely part of a pattern, too, rather than a backspace.
                is_certain: !has_escapes,
                is_template: false,
            });
        }
        let kind = FaultKind::TextBehindQuote('"');
        let (mark, extent) = (end + 1..value.len(), value.len());
        Some(Reading { mark, kind, rewritten: quoted(value), extent, is_certain: true, is_template: false })
    }

    fn of_single_quoted(value: &str) -> Option<Reading> {
        let quotes = value[1..].matches('\'').count();
        if quotes == 0 {
            return Some(Reading {
                mark: 0..value.len(),
                kind: FaultKind::Unclosed('\''),
                rewritten: format!("{value}'"),
                extent: value.len(),
                is_certain: false,
                is_template: false,
            });
        }
        // `'it's fine'`: the outer quotes are clear, the inner one is not meant to end the string.
        if let Some(inner) = value[1..].strip_suffix('\'') {
            let apostrophe = value[1..].find('\'').map(|at| at + 1)?;
            return Some(Reading {
                mark: apostrophe..apostrophe + 1,
                kind: FaultKind::QuoteWithinText,
                rewritten: quoted(&inner.replace("''", "'")),
                extent: value.len(),
                is_certain: true,
                is_template: false,
            });
        }
        let end = value[1..].find('\'').map(|at| at + 1)?;
        let kind = FaultKind::TextBehindQuote('\'');
        let (mark, extent) = (end + 1..value.len(), value.len());
        Some(Reading { mark, kind, rewritten: quoted(value), extent, is_certain: true, is_template: false })
    }
}

/// Returns whether bracketed words are a key with a colon that lacks the space after it.
fn is_key_of_flow(words: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && name.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter))
    };
    words.trim_start().strip_suffix(':').is_some_and(is_name)
}

/// Returns the end of a quoted string, after the closing quote.
fn end_of_quoted(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut is_escaped = false;
    text.char_indices().skip(1).find_map(|(at, letter)| {
        let ends = letter == quote && !is_escaped;
        is_escaped = quote == '"' && letter == '\\' && !is_escaped;
        ends.then_some(at + 1)
    })
}

/// Returns the end of an item in brackets or braces, skipping placeholders. `at`: a position in it.
fn end_of_item(value: &str, at: usize) -> usize {
    let mut end = at;
    loop {
        let stop = value[end..].find([',', '}', ']', '{']).map_or(value.len(), |stop| end + stop);
        match value[stop..].strip_prefix("{{").and_then(|inner| inner.find("}}")) {
            Some(length) => end = stop + 2 + length + 2,
            None => return stop,
        }
    }
}

/// Returns the length of an escape without its backslash; `None` if it is not valid in YAML.
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

/// Returns a text in the quotes that require the fewest escapes.
pub fn quoted(text: &str) -> String {
    let plain = |text: &str| !text.chars().any(char::is_control);
    if text.contains(['"', '\\']) && plain(text) {
        let inner: Cow<'_, str> = if text.contains('\'') { text.replace('\'', "''").into() } else { text.into() };
        return format!("'{inner}'");
    }
    Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::super::{Fault, FaultKind, parse};
    use super::*;
    use crate::ScalarRules;

    #[test]
    fn item_with_words_before_its_colon_is_a_text() {
        let line = "- Say this: the answer: 42";
        let error = parse(line, ScalarRules::Yaml12).expect_err("the line is not YAML");
        let fault = Fault::of_error(line, trimmed(line, 0..line.len()), &error);
        let rewrite = fault.rewrite.expect("it is known how to write it");
        assert_eq!((fault.kind, &line[fault.range]), (FaultKind::ColonWithoutQuotes, ":"));
        assert_eq!((rewrite.text.as_str(), rewrite.is_certain), ("\"Say this: the answer: 42\"", true));
    }
}
