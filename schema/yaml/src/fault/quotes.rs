//! Values that begin with a quote and cannot be read: how their quotes were meant, and their correction.

use super::{
    FaultKind,
    reading::{Reading, comment_starts, end_of_quoted, escape_forbidden, first_forbidden, quoted},
};

/// Maximum number of `#` in a line that are considered as the beginning of its comment.
const MAX_COMMENTS: usize = 16;

impl Reading {
    /// Reads a value that begins with a quote.
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
        let comments = comment_starts(value).filter(|at| *at >= end);
        for extent in comments.clone().take(MAX_COMMENTS).chain([value.len()]) {
            let text = value[..extent].trim_end();
            if let Some(meaning) = Meaning::of(text, quote) {
                return Some(meaning.reading(text, end));
            }
        }
        let text = value[..comments.clone().next().unwrap_or(value.len())].trim_end();
        Some(Meaning::guess(text, quote).reading(text, end))
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
        let mut wrong = Vec::new();
        let mut has_escapes = false;
        // `\b` beside `\d` is part of a pattern, and not a backspace.
        let mut letters = Vec::new();
        let mut at = 1;
        while let Some(found) = string[at..].find('\\').map(|found| at + found) {
            match escape_length(&string[found + 1..]) {
                Some(length) => {
                    match string.as_bytes().get(found + 1) {
                        Some(b'a' | b'b' | b'v' | b'f' | b'e' | b'N' | b'_' | b'L' | b'P') => letters.push(found),
                        _ => has_escapes = true,
                    }
                    at = found + 1 + length;
                }
                None => {
                    wrong.push(found);
                    at = found + 1;
                }
            }
        }
        let Some(first) = wrong.first() else { return forbidden };
        let length = string[first + 1..].chars().next().map_or(0, char::len_utf8);
        let escape = &string[*first..first + 1 + length];
        let mut doubled = string.to_owned();
        let mut meant = [wrong.as_slice(), &letters].concat();
        meant.sort_unstable();
        meant.iter().rev().for_each(|at| doubled.insert(*at, '\\'));
        let is_single = !has_escapes && !inner.contains('\'') && forbidden.is_none();
        Some(Reading {
            mark: *first..first + 1 + length,
            kind: FaultKind::InvalidEscape(escape.to_owned()),
            rewritten: if is_single { format!("'{inner}'") } else { escape_forbidden(&doubled) },
            extent: string.len(),
            is_certain: !has_escapes && letters.is_empty(),
            is_template: false,
        })
    }
}

/// The intention of the quotes in a text that begins with a quote.
struct Meaning {
    form: Form,
    is_certain: bool,
}

enum Form {
    /// The first and the last quote delimit one string, and the others are part of it: `'it's fine'`.
    One,
    /// The same without the last quote: `'it's fine`.
    OneUnclosed,
    /// The quotes delimit parts of an unquoted text, and belong to it: `'./my prog' --flag 'x'`.
    Parts,
}

/// The role that the surroundings of a quote suggest.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Opens,
    Closes,
    /// An apostrophe.
    WithinWord,
    Unclear,
}

impl Meaning {
    /// Returns the only plausible intention of a text, or the one that its form suggests. `None` if there are several.
    fn of(text: &str, quote: char) -> Option<Meaning> {
        let mut roles = roles(text, quote);
        let ends = text.len() > 1 && text.ends_with(quote);
        *roles.first_mut()? = Role::Opens;
        if let Some(last) = roles.last_mut().filter(|_| ends) {
            *last = Role::Closes;
        } else if let [_, second @ Role::Unclear] = &mut roles[..] {
            // `"a " b`: no other quote ends the first string.
            *second = Role::Closes;
        }
        let apostrophes = roles.iter().filter(|role| **role == Role::WithinWord).count();
        let delimiters: Vec<Role> = roles.iter().copied().filter(|role| *role != Role::WithinWord).collect();
        let in_pairs = |roles: &[Role]| {
            let (pairs, rest) = roles.as_chunks::<2>();
            rest.is_empty() && pairs.iter().all(|pair| *pair == [Role::Opens, Role::Closes])
        };
        if ends && delimiters.len() == 2 {
            // An odd number of quotes cannot delimit several strings.
            return (apostrophes > 0).then_some(Meaning { form: Form::One, is_certain: apostrophes % 2 == 1 });
        }
        if ends && delimiters.len() > 2 && in_pairs(&delimiters[1..delimiters.len() - 1]) {
            return Some(Meaning { form: Form::One, is_certain: true });
        }
        // Strings without words between them may be the items of a list.
        let is_certain = !text.contains('\\') && !text.contains("''") && has_words_outside(text, quote);
        in_pairs(&delimiters).then_some(Meaning { form: Form::Parts, is_certain })
    }

    /// Returns one of several intentions.
    fn guess(text: &str, quote: char) -> Meaning {
        let roles = roles(text, quote);
        let form = match text.ends_with(quote) {
            true => Form::One,
            false if roles.iter().skip(1).all(|role| *role == Role::WithinWord) => Form::OneUnclosed,
            false => Form::Parts,
        };
        Meaning { form, is_certain: false }
    }

    /// Returns the reading of a text. `end`: the end of its first string, as YAML reads it.
    fn reading(&self, text: &str, end: usize) -> Reading {
        let (quote, first) = (&text[..1], end - 1..end);
        let (mark, kind) = match self.form {
            Form::One | Form::OneUnclosed => (first, FaultKind::QuoteWithinText(if quote == "'" { '\'' } else { '"' })),
            Form::Parts => (end..text.len(), FaultKind::TextBehindQuote(if quote == "'" { '\'' } else { '"' })),
        };
        let rewritten = match self.form {
            Form::One => as_one(&text[1..text.len() - 1], quote),
            Form::OneUnclosed => as_one(&text[1..], quote),
            Form::Parts => quoted(text),
        };
        let is_certain = self.is_certain;
        Reading { mark, kind, rewritten, extent: text.len(), is_certain, is_template: false }
    }
}

/// Returns the roles of the quotes in a text, without the escaped ones.
fn roles(text: &str, quote: char) -> Vec<Role> {
    let mut roles = Vec::new();
    let mut is_escaped = false;
    for (at, letter) in text.char_indices() {
        if letter == quote && !is_escaped {
            // In `'say 'hi''`, both of the last quotes close a string.
            let before = text[..at].trim_end_matches(quote).chars().next_back();
            let behind = text[at..].trim_start_matches(quote).chars().next();
            roles.push(Role::of(quote, before, behind));
        }
        is_escaped = quote == '"' && letter == '\\' && !is_escaped;
    }
    roles
}

impl Role {
    fn of(quote: char, before: Option<char>, behind: Option<char>) -> Role {
        let is_word = |letter: Option<char>| letter.is_some_and(char::is_alphanumeric);
        let is_blank = |letter: Option<char>| letter.is_none_or(char::is_whitespace);
        let opens = !is_blank(behind) && before.is_none_or(|it| it.is_whitespace() || "([{<>=:,;|&".contains(it));
        let closes = !is_blank(before) && behind.is_none_or(|it| it.is_whitespace() || ")]}<>,;.:!?|&".contains(it));
        match (opens, closes) {
            (true, false) => Role::Opens,
            (false, true) => Role::Closes,
            _ if quote == '\'' && is_word(before) && is_word(behind) => Role::WithinWord,
            _ => Role::Unclear,
        }
    }
}

/// Returns whether words that are not in quotes are between or beside the strings of a text.
fn has_words_outside(text: &str, quote: char) -> bool {
    let is_within_word = |at: usize| {
        let before = text[..at].chars().next_back();
        let behind = text[at + 1..].chars().next();
        Role::of(quote, before, behind) == Role::WithinWord
    };
    let mut is_inside = false;
    text.char_indices().any(|(at, letter)| {
        is_inside ^= letter == quote && !is_within_word(at);
        !is_inside && letter.is_alphanumeric()
    })
}

/// Returns a string that contains the quotes that delimited it. `inner`: what was between them.
fn as_one(inner: &str, quote: &str) -> String {
    if quote == "'" {
        return quoted(&inner.replace("''", "'"));
    }
    if !inner.contains('\\') {
        return quoted(inner);
    }
    // Its escapes keep their meaning.
    let mut is_escaped = false;
    let mut string = String::from('"');
    for letter in inner.chars() {
        if letter == '"' && !is_escaped {
            string.push('\\');
        }
        string.push(letter);
        is_escaped = letter == '\\' && !is_escaped;
    }
    string.push('"');
    escape_forbidden(&string)
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
    use super::super::{Fault, FaultKind};

    /// Checks what is made of a value, in the places where values are, and its kind of fault.
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
            ("\"./my prog\" --flag \"x\"", r#"'"./my prog" --flag "x"'"#),
            ("'echo' a", r#""'echo' a""#),
            ("\"echo\" a", r#"'"echo" a'"#),
            ("\"a \" b", r#"'"a " b'"#),
            ("'echo' it's", r#""'echo' it's""#),
            ("'a', and ('b')", r#""'a', and ('b')""#),
        ] {
            let kind = check(value, rewritten, true);
            assert!(matches!(kind, FaultKind::TextBehindQuote(_)), "{value}: {kind:?}");
        }
    }

    #[test]
    fn quotes_within_one_string_are_kept_and_its_delimiters_are_not() {
        for (value, rewritten) in [
            ("'it's a'", r#""it's a""#),
            ("'it's #1'", r#""it's #1""#),
            ("'say 'hi' a'", r#""say 'hi' a""#),
            ("'say 'hi''", r#""say 'hi'""#),
            ("\"say \"hi\" a\"", r#"'say "hi" a'"#),
            ("\"say \"hi\"\"", r#"'say "hi"'"#),
            (r#""say "hi" \n""#, r#""say \"hi\" \n""#),
        ] {
            let kind = check(value, rewritten, true);
            assert!(matches!(kind, FaultKind::QuoteWithinText(_)), "{value}: {kind:?}");
        }
    }

    #[test]
    fn quotes_that_may_be_meant_in_several_ways_are_not_changed_for_certain() {
        for (value, rewritten) in [
            ("'a' 'b' 'c'", r#""'a' 'b' 'c'""#),
            ("\"a\", \"b\"", r#"'"a", "b"'"#),
            ("'the users' file'", r#""the users' file""#),
            ("'a'b'c'", r#""a'b'c""#),
            ("'it's a", r#""it's a""#),
            ("\"a\"\"b\"", r#"'a""b'"#),
            (r#""a\n" b"#, r#"'"a\n" b'"#),
        ] {
            check(value, rewritten, false);
        }
    }

    #[test]
    fn hash_within_one_string_begins_no_comment() {
        check("\"say \"hi # there\" a\"", r#"'say "hi # there" a'"#, true);
        check("'it's # a'", r#""it's # a""#, true);
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
    fn empty_items_are_reported_at_their_comma() {
        for (value, rewritten) in [
            ("[a,, b]", "[a, b]"),
            ("[a, , b]", "[a, b]"),
            ("[, a]", "[a]"),
            ("[[a],, {b: c}]", "[[a], {b: c}]"),
            ("{k: [a,,b]}", "{k: [a,b]}"),
            ("[a, b,,]", "[a, b,]"),
        ] {
            assert_eq!(check(value, rewritten, false), FaultKind::EmptyItem, "{value}");
        }
        assert_eq!(check("{a: 1,, b: 2}", "{a: 1, b: 2}", false), FaultKind::ExpectedEntry);
    }

    #[test]
    fn empty_items_of_lists_on_several_lines_are_reported_at_their_comma() {
        for eol in ["\n", "\r\n"] {
            for (text, comma, corrected) in [
                ("k: [a,,\n  b]\nl: 1\n", 6, "k: [a,\n  b]\nl: 1\n"),
                ("k: {o: {c: [a,,\n  b]}}\nl: 1\n", 14, "k: {o: {c: [a,\n  b]}}\nl: 1\n"),
                ("k: [a,\n  , b]\nl: 1\n", 9, "k: [a,\n  b]\nl: 1\n"),
                ("k: [a, b,\n  c, ,\n  d]\nl: 1\n", 15, "k: [a, b,\n  c,\n  d]\nl: 1\n"),
                ("k: {o: {c: ['a, [',\n  , \"b\"]}}\nl: 1\n", 22, "k: {o: {c: ['a, [',\n  \"b\"]}}\nl: 1\n"),
                ("k: [a, # one,\n  # two\n  , b]\nl: 1\n", 24, "k: [a, # one,\n  # two\n  b]\nl: 1\n"),
                ("k: [a,\n  ,\n  b]\nl: 1\n", 9, "k: [a,\n  b]\nl: 1\n"),
                ("k: [\n  , a,\n  b\n]\nl: 1\n", 7, "k: [\n  a,\n  b\n]\nl: 1\n"),
                ("k:\n  [a,\n  , b]\nl: 1\n", 11, "k:\n  [a,\n  b]\nl: 1\n"),
                ("k:\n  [a,,\n  b]\nl: 1\n", 8, "k:\n  [a,\n  b]\nl: 1\n"),
                ("k:\n  - [a,\n    , b]\nl: 1\n", 15, "k:\n  - [a,\n    b]\nl: 1\n"),
                ("- k: [a,\n    , b]\n- l: 1\n", 13, "- k: [a,\n    b]\n- l: 1\n"),
            ] {
                let written = text.replace('\n', eol);
                let document = crate::Document::read(&written, crate::ScalarRules::Yaml12);
                let faults = document.faults();
                let found: Vec<_> = faults.iter().map(|fault| (&fault.kind, fault.range.start)).collect();
                let comma = comma + text[..comma].matches('\n').count() * (eol.len() - 1);
                assert_eq!(found, [(&FaultKind::EmptyItem, comma)], "{text}");
                let rewrite = faults[0].rewrite.as_ref().unwrap();
                let mut fixed = written.clone();
                fixed.replace_range(rewrite.range.clone(), &rewrite.text);
                assert_eq!((fixed, rewrite.is_certain), (corrected.replace('\n', eol), false), "{text}");
            }
        }
    }

    #[test]
    fn strings_in_brackets_keep_their_quotes() {
        check("[\"a\", x{{b}}]", r#"["a", "x{{b}}"]"#, true);
        let comma = FaultKind::ExpectedSeparator { close: ']' };
        assert_eq!(check("[\"a\"\"b\"]", r#"["a", "b"]"#, false), comma);
        assert_eq!(check("['a' 'b', [\"c\"  'd']]", r#"['a', 'b', ["c", 'd']]"#, false), comma);
    }
}
