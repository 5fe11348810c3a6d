//! A value that cannot be read as written: its intention and its correction.

use std::{borrow::Cow, ops::Range};

use serde_json::Value;

use crate::{fault::FaultKind, layout::trimmed};

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

/// Returns whether a text can only be meant as a string: no quote or bracket is missing, and it is not a value behind a
/// character that does not belong there.
pub(crate) fn is_only_text(text: &str) -> bool {
    let text = text.trim();
    let lacks_quote = |quote: char| text.ends_with(quote) && text.matches(quote).count() % 2 == 1;
    let is_paired = |open: char, close: char| text.matches(open).count() == text.matches(close).count();
    let value = text.trim_start_matches(['*', '&', '!', '%', '@', '`', '?']);
    let is_value = value.starts_with(['"', '\'', '[']) || value.starts_with('{') && !value.starts_with("{{");
    let is_scalar = value.parse::<f64>().is_ok() || matches!(value, "" | "true" | "false" | "null");
    let has_sign = value.len() < text.len();
    !(has_sign && (is_value || is_scalar))
        && !['"', '\''].into_iter().any(lacks_quote)
        && is_paired('[', ']')
        && is_paired('{', '}')
}

impl Reading {
    pub(super) fn of(value: &str) -> Option<Reading> {
        let in_quotes = |kind: FaultKind| {
            // Text after a blank and `#` remains a comment.
            let extent = value[..comment_starts(value).next().unwrap_or(value.len())].trim_end().len();
            Some(Reading {
                mark: 0..extent,
                kind,
                rewritten: quoted(&value[..extent]),
                extent,
                is_certain: is_only_text(&value[..extent]),
                is_template: value.starts_with("{{"),
            })
        };
        let first = value.chars().next()?;
        match first {
            '"' | '\'' => Reading::of_quoted(value),
            '{' | '[' if !value.starts_with("{{") && Reading::of_flow(value).is_some() => Reading::of_flow(value),
            '{' if value.starts_with("{{") && value.contains("}}") => in_quotes(FaultKind::TemplateWithoutQuotes),
            '[' | '{' => {
                let close = if first == '[' { ']' } else { '}' };
                let is_closed = value.matches(first).count() == value.matches(close).count();
                let text = &value[..comment_starts(value).next().unwrap_or(value.len())];
                let goes_on = !text.trim_end().ends_with(close);
                let with_comma = Reading::with_comma(text.trim_end()).filter(|it| it.rewritten.ends_with(close));
                if let Some(reading) = with_comma.filter(|_| is_closed) {
                    return Some(reading);
                }
                (is_closed && goes_on).then(|| in_quotes(FaultKind::TextBehindBrackets { open: first }))?
            }
            '*' => Reading::with_colon_in_alias(value).or_else(|| {
                // Only the author knows whether a name is that of an anchor.
                let is_certain = !is_name(value[1..].split([' ', '\t']).next().unwrap_or_default());
                let reading = in_quotes(FaultKind::AliasSign)?;
                Some(Reading { is_certain: is_certain && reading.is_certain, ..reading })
            }),
            '&' => in_quotes(FaultKind::AnchorSign),
            // Only the author knows whether the character belongs to the text.
            '|' | '>' => {
                in_quotes(FaultKind::BlockTextSign(first)).map(|reading| Reading { is_certain: false, ..reading })
            }
            '%' | '@' | '`' => in_quotes(FaultKind::ReservedSign(first)),
            '-' => None,
            '?' => in_quotes(FaultKind::KeySign),
            _ => {
                let colon = value.match_indices(':').map(|(at, _)| at).find(|at| {
                    let rest = &value[at + 1..];
                    rest.is_empty() || rest.starts_with([' ', '\t'])
                });
                let (at, kind) = match first_forbidden(value) {
                    Some(at) => (at, FaultKind::ForbiddenCharacter),
                    None => (colon?, FaultKind::ColonWithoutQuotes),
                };
                let length = value[at..].chars().next().map_or(0, char::len_utf8);
                in_quotes(kind)
                    .filter(|reading| at < reading.extent)
                    .map(|reading| Reading { mark: at..at + length, ..reading })
            }
        }
    }

    pub(super) fn with_comma(text: &str) -> Option<Reading> {
        let value = text.strip_suffix(',')?.trim_end();
        Some(Reading {
            mark: text.len() - 1..text.len(),
            kind: FaultKind::TrailingComma,
            rewritten: value.to_owned(),
            extent: text.len(),
            is_certain: false,
            is_template: false,
        })
    }

    /// Reads an alias as a key: `*name: value`. YAML takes the colon as a part of the name.
    fn with_colon_in_alias(value: &str) -> Option<Reading> {
        let text = value[..comment_starts(value).next().unwrap_or(value.len())].trim_end();
        let (name, rest) = text[1..].split_once(':')?;
        let is_key = is_name(name) && (rest.is_empty() || rest.starts_with([' ', '\t']));
        is_key.then(|| Reading {
            mark: 1 + name.len()..2 + name.len(),
            kind: FaultKind::ColonInAlias,
            rewritten: format!("*{name} :{rest}"),
            extent: text.len(),
            is_certain: false,
            is_template: false,
        })
    }

    /// Reads a collection in brackets or braces whose strings lack quotes, or have the wrong ones.
    fn of_flow(value: &str) -> Option<Reading> {
        let mut rewritten = String::new();
        let mut first: Option<Reading> = None;
        let (mut copied, mut begin, mut at) = (0, 0, 0);
        let (mut keyed, mut is_certain) = (false, true);
        let mut open = Vec::new();
        while let Some(letter) = value[at..].chars().next() {
            let rest = &value[at..];
            let next = at + letter.len_utf8();
            let is_start = value[begin..at].trim().is_empty();
            let wrong = match letter {
                '"' | '\'' if is_start => {
                    let end = at + end_of_quoted(rest)?;
                    match Reading::of_string(&value[at..end]) {
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
                is_certain &= reading.is_certain;
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
            match letter {
                '{' | '[' => open.push(letter),
                '}' | ']' => _ = open.pop(),
                _ => {}
            }
            // What follows is a comment, or does not belong to the collection.
            if open.is_empty() {
                break;
            }
        }
        rewritten.push_str(&value[copied..at]);
        Some(Reading { rewritten, extent: at, is_certain, ..first? })
    }

    fn unquoted(value: &str, text: Range<usize>, kind: FaultKind, is_template: bool) -> (Range<usize>, Reading) {
        let rewritten = quoted(&value[text.clone()]);
        let mark = 0..text.len();
        let reading = Reading { mark, kind, rewritten, extent: text.len(), is_certain: true, is_template };
        (text, reading)
    }
}

fn is_name(word: &str) -> bool {
    !word.is_empty() && word.chars().all(|letter| letter.is_alphanumeric() || "_-".contains(letter))
}

/// Returns whether bracketed words are a key with a colon that lacks the space after it.
fn is_key_of_flow(words: &str) -> bool {
    let is_name = |name: &str| {
        name.starts_with(|first: char| first.is_alphabetic() || first == '_')
            && name.chars().all(|letter| letter.is_alphanumeric() || "_-.".contains(letter))
    };
    words.trim_start().strip_suffix(':').is_some_and(is_name)
}

pub(super) fn end_of_quoted(text: &str) -> Option<usize> {
    let quote = text.chars().next()?;
    let mut is_escaped = false;
    text.char_indices().skip(1).find_map(|(at, letter)| {
        // Two single quotes are one that belongs to the string.
        let is_doubled = quote == '\'' && text[at + letter.len_utf8()..].starts_with('\'');
        let ends = letter == quote && !is_escaped && !is_doubled;
        let escapes = if quote == '"' { letter == '\\' } else { letter == '\'' && is_doubled };
        is_escaped = escapes && !is_escaped;
        ends.then_some(at + 1)
    })
}

/// Returns the positions where a comment begins if no quotes are around them.
pub(super) fn comment_starts(value: &str) -> impl Iterator<Item = usize> + Clone + '_ {
    value.match_indices('#').map(|(at, _)| at).filter(|at| value[..*at].ends_with([' ', '\t']))
}

/// Returns the position of the first character that YAML allows only as an escape.
pub(super) fn first_forbidden(text: &str) -> Option<usize> {
    text.char_indices().find(|(_, letter)| is_forbidden(*letter)).map(|(at, _)| at)
}

fn is_forbidden(letter: char) -> bool {
    let is_control = letter.is_control() && !matches!(letter, '\t' | '\n' | '\r' | '\u{85}');
    is_control || matches!(letter, '\u{fffe}' | '\u{ffff}')
}

/// Returns a text in double quotes whose forbidden characters are written as escapes.
pub(super) fn escape_forbidden(string: &str) -> String {
    let escape = |letter: char| match is_forbidden(letter) {
        true => format!("\\u{:04x}", u32::from(letter)),
        false => letter.to_string(),
    };
    string.chars().map(escape).collect()
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

/// Returns a text in the quotes that require the fewest escapes.
pub fn quoted(text: &str) -> String {
    let plain = |text: &str| !text.chars().any(char::is_control) && first_forbidden(text).is_none();
    if text.contains(['"', '\\']) && plain(text) {
        let inner: Cow<'_, str> = if text.contains('\'') { text.replace('\'', "''").into() } else { text.into() };
        return format!("'{inner}'");
    }
    escape_forbidden(&Value::from(text).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ScalarRules, events::parse, fault::Fault};

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
