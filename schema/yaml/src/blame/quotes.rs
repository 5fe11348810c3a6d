//! Values that begin with a quote and cannot be read.

use super::reading::{Reading, comment_starts, end_of_quoted, escape_forbidden, first_forbidden, quoted};
use crate::fault::FaultKind;

impl Reading {
    pub(super) fn of_quoted(value: &str) -> Option<Reading> {
        let quote = value.chars().next()?;
        let Some(end) = end_of_quoted(value) else {
            return Some(Reading {
                mark: 0..value.len(),
                kind: FaultKind::Unclosed(quote),
                rewritten: format!("{value}{quote}"),
                extent: value.len(),
                is_certain: false,
                is_template: false,
            });
        };
        let behind = &value[end..];
        if behind.trim().is_empty() || comment_starts(behind).any(|at| behind[..at].trim().is_empty()) {
            return Reading::of_string(&value[..end]);
        }
        let own = &behind[..comment_starts(behind).next().unwrap_or(behind.len())];
        if own.trim() == "," {
            return Reading::with_comma(value[..end + own.len()].trim_end());
        }
        let text = value[..end + own.len()].trim_end();
        Reading::of_parts(text, quote, end)
    }

    /// Reads a text with words after its first string, which ends at `end`: `'it's fine'`, or `'./a b' --flag`.
    fn of_parts(text: &str, quote: char, end: usize) -> Option<Reading> {
        let is_one = text[end..].starts_with(char::is_alphanumeric);
        let (mark, kind, rewritten) = if is_one {
            let inner = text[1..].strip_suffix(quote).unwrap_or(&text[1..]);
            // Escapes keep their meaning only in the quotes where they are.
            if quote == '"' && inner.contains('\\') {
                return None;
            }
            let inner = if quote == '\'' { inner.replace("''", "'") } else { inner.to_owned() };
            (end - 1..end, FaultKind::QuoteWithinText(quote), quoted(&inner))
        } else {
            (end..text.len(), FaultKind::TextBehindQuote(quote), quoted(text))
        };
        Some(Reading { mark, kind, rewritten, extent: text.len(), is_certain: false, is_template: false })
    }

    /// Reads a string from its opening to its closing quote. `None` if nothing is wrong in it.
    pub(super) fn of_string(string: &str) -> Option<Reading> {
        let inner = &string[1..string.len() - 1];
        let forbidden = first_forbidden(string).map(|at| {
            let length = string[at..].chars().next().map_or(0, char::len_utf8);
            let is_double = string.starts_with('"');
            Reading {
                mark: at..at + length,
                kind: FaultKind::ForbiddenCharacter,
                rewritten: if is_double { escape_forbidden(string) } else { quoted(&inner.replace("''", "'")) },
                extent: string.len(),
                is_certain: true,
                is_template: false,
            }
        });
        if string.starts_with('\'') {
            return forbidden;
        }
        let mut wrong = None;
        // `\b` beside `\d` is part of a pattern, and not a backspace.
        let (mut has_escapes, mut has_letters) = (false, false);
        let mut at = 1;
        while let Some(found) = string[at..].find('\\').map(|found| at + found) {
            match escape_length(&string[found + 1..]) {
                Some(length) => {
                    match string.as_bytes().get(found + 1) {
                        Some(b'a' | b'b' | b'v' | b'f' | b'e' | b'N' | b'_' | b'L' | b'P') => has_letters = true,
                        _ => has_escapes = true,
                    }
                    at = found + 1 + length;
                }
                None => {
                    wrong.get_or_insert(found);
                    at = found + 1;
                }
            }
        }
        let Some(first) = wrong else { return forbidden };
        // In single quotes, the other escapes would lose their meaning.
        if has_escapes || inner.contains('\'') || forbidden.is_some() {
            return None;
        }
        let length = string[first + 1..].chars().next().map_or(0, char::len_utf8);
        let mark = first..first + 1 + length;
        Some(Reading {
            kind: FaultKind::InvalidEscape(string[mark.clone()].to_owned()),
            mark,
            rewritten: format!("'{inner}'"),
            extent: string.len(),
            is_certain: !has_letters,
            is_template: false,
        })
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

#[cfg(test)]
mod tests {
    use crate::fault::{Fault, FaultKind};

    #[track_caller]
    fn check(value: &str, rewritten: &str, is_certain: bool) -> FaultKind {
        let mut kinds = Vec::new();
        for (before, after) in
            [("key: ", ""), ("- ", ""), ("  - key: ", ""), ("key: ", " # a note"), ("- ", "\t# don't \"")]
        {
            let line = format!("{before}{value}{after}");
            let fault = Fault::of_line(&line, &(before.len()..line.len())).expect("the line is not YAML");
            let rewrite = fault.rewrite.expect("it is known how to write it");
            let mut new = line.clone();
            new.replace_range(rewrite.range.clone(), &rewrite.text);
            assert_eq!((new, rewrite.is_certain), (format!("{before}{rewritten}{after}"), is_certain), "{line}");
            kinds.push(fault.kind);
        }
        assert!(kinds.iter().all(|kind| *kind == kinds[0]), "{kinds:?}");
        kinds.remove(0)
    }

    #[test]
    fn quotes_around_parts_of_a_text_are_kept() {
        for (value, rewritten) in [
            ("'./my prog' --flag 'x'", r#""'./my prog' --flag 'x'""#),
            ("\"./my prog\" --flag", r#"'"./my prog" --flag'"#),
            ("'echo' a", r#""'echo' a""#),
            ("'echo' it's", r#""'echo' it's""#),
            (r#""a\n" b"#, r#"'"a\n" b'"#),
        ] {
            let kind = check(value, rewritten, false);
            assert!(matches!(kind, FaultKind::TextBehindQuote(_)), "{value}: {kind:?}");
        }
    }

    #[test]
    fn quotes_within_one_string_are_kept_and_its_delimiters_are_not() {
        for (value, rewritten) in [
            ("'it's a'", r#""it's a""#),
            ("'it's a", r#""it's a""#),
            ("'say 'hi' a'", r#""say 'hi' a""#),
            ("\"say \"hi\" a\"", r#"'say "hi" a'"#),
        ] {
            let kind = check(value, rewritten, false);
            assert!(matches!(kind, FaultKind::QuoteWithinText(_)), "{value}: {kind:?}");
        }
    }

    #[test]
    fn characters_that_yaml_does_not_allow_are_escaped() {
        for (value, rewritten) in [
            ("\"a\u{7}b\"", r#""a\u0007b""#),
            ("'a\u{7}b'", r#""a\u0007b""#),
            ("'a\u{7f}''b'", r#""a\u007f'b""#),
            ("\"a\\n\u{1b}[1m\"", r#""a\n\u001b[1m""#),
            ("a\u{7}b", r#""a\u0007b""#),
            ("[\"a\u{7}b\", 'c']", r#"["a\u0007b", 'c']"#),
        ] {
            assert_eq!(check(value, rewritten, true), FaultKind::ForbiddenCharacter, "{value}");
        }
    }

    #[test]
    fn strings_in_brackets_keep_their_quotes() {
        check("[\"a\", x{{b}}]", r#"["a", "x{{b}}"]"#, true);
    }
}
