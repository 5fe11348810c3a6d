//! The parts of regular expressions, as far as their syntax is the same in every flavour.

use std::ops::Range;

use super::TokenKind;

/// Returns the parts of a pattern from left to right, without gaps. An invalid pattern has parts as well.
pub(crate) fn parts(pattern: &str) -> Vec<(Range<usize>, TokenKind)> {
    let mut parts: Vec<(Range<usize>, TokenKind)> = Vec::new();
    let mut at = 0;
    while let Some(letter) = pattern[at..].chars().next() {
        let (length, kind) = part(&pattern[at..], letter);
        parts.push((at..at + length, kind));
        at += length;
    }
    parts
}

/// Returns the kind of the first part of a text, and its length.
fn part(text: &str, first: char) -> (usize, TokenKind) {
    match first {
        '\\' => escape(text),
        '[' => (class_length(text), TokenKind::Class),
        '.' => (1, TokenKind::Class),
        '(' => (group_length(text), TokenKind::Group),
        ')' | '|' => (1, TokenKind::Group),
        '^' | '$' => (1, TokenKind::Anchor),
        '*' | '+' | '?' => (1 + usize::from(text[1..].starts_with(['?', '+'])), TokenKind::Quantifier),
        '{' => match counted_length(text) {
            Some(length) => (length + usize::from(text[length..].starts_with(['?', '+'])), TokenKind::Quantifier),
            None => (1, TokenKind::Pattern),
        },
        other => (other.len_utf8(), TokenKind::Pattern),
    }
}

fn escape(text: &str) -> (usize, TokenKind) {
    let Some(letter) = text[1..].chars().next() else { return (1, TokenKind::Pattern) };
    let length = 1 + letter.len_utf8();
    let until = |close: char| {
        let name = text[length + 1..].find(|letter| !is_name(letter)).map_or(text.len(), |end| length + 1 + end);
        if text[name..].starts_with(close) { name + 1 } else { length }
    };
    match letter {
        'd' | 'D' | 'w' | 'W' | 's' | 'S' => (length, TokenKind::Class),
        'p' | 'P' if text[length..].starts_with('{') => (until('}'), TokenKind::Class),
        'b' | 'B' | 'A' | 'Z' | 'z' => (length, TokenKind::Anchor),
        'k' if text[length..].starts_with('<') => (until('>'), TokenKind::Group),
        '1'..='9' => (length, TokenKind::Group),
        _ => (length, TokenKind::Pattern),
    }
}

/// Returns the length of `[…]`; that of the rest if it is not closed.
pub(crate) fn class_length(text: &str) -> usize {
    let mut letters = text.char_indices().skip(1).peekable();
    if letters.peek().is_some_and(|(_, letter)| *letter == '^') {
        letters.next();
    }
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            ']' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the length of `(`, `(?:`, `(?<name>` and the like.
pub(crate) fn group_length(text: &str) -> usize {
    let Some(rest) = text.strip_prefix("(?") else { return 1 };
    let named = |rest: &str| {
        let name = rest.find('<')? + 1;
        let end = name + rest[name..].find(|letter| !is_name(letter))?;
        rest[end..].starts_with('>').then_some(end + 1)
    };
    let looks = ["<=", "<!", "=", "!", ":", ">"].into_iter().find(|look| rest.starts_with(look)).map(str::len);
    let flags = || {
        let letters = rest.find(|letter: char| !(letter.is_ascii_alphabetic() || letter == '-'))?;
        (letters > 0 && rest[letters..].starts_with([':', ')'])).then_some(letters + 1)
    };
    let is_named = rest.starts_with('<') || rest.starts_with("P<");
    2 + looks.or_else(|| is_named.then(|| named(rest)).flatten()).or_else(flags).unwrap_or(0)
}

/// Returns the length of `{2}`, `{2,}` or `{2,3}`.
pub(crate) fn counted_length(text: &str) -> Option<usize> {
    let end = 1 + text[1..].find(|letter: char| !matches!(letter, ',' | '0'..='9'))?;
    if !text[end..].starts_with('}') {
        return None;
    }
    let inner = &text[1..end];
    let (least, most) = inner.split_once(',').unwrap_or((inner, ""));
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(least) && is_number(most) && !(least.is_empty() && most.is_empty())).then_some(end + 1)
}

/// Whether a character is valid in the name of a group or of a class.
fn is_name(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '_' | '=')
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    #[test]
    fn a_pattern_has_parts() {
        let patterns = [
            r"^git (push|pull)$", r"a\d+\.[^\]x]{2,3}?b*", r"(?<id>\w)\k<id>(?:x)(?i)y", r"(?P<id>x)(?=a)(?<!b)",
            r"a{b}{,}\", "ä😀+", "[open", "(?", "{", "",
        ];
        let shown = patterns.map(|pattern| {
            let marks = parts(pattern).into_iter().flat_map(|(range, kind)| {
                let mark = match kind {
                    TokenKind::Class => 'c',
                    TokenKind::Group => 'g',
                    TokenKind::Quantifier => 'q',
                    TokenKind::Anchor => 'a',
                    TokenKind::Pattern => '.',
                    other => panic!("{other:?} in a pattern"),
                };
                std::iter::repeat_n(mark, pattern[range].chars().count())
            });
            format!("{pattern}\n{}\n", marks.collect::<String>())
        });
        expect![[r#"
            ^git (push|pull)$
            a....g....g....ga
            a\d+\.[^\]x]{2,3}?b*
            .ccq..ccccccqqqqqq.q
            (?<id>\w)\k<id>(?:x)(?i)y
            ggggggccgggggggggg.ggggg.
            (?P<id>x)(?=a)(?<!b)
            ggggggg.gggg.ggggg.g
            a{b}{,}\
            ........
            ä😀+
            ..q
            [open
            ccccc
            (?
            gg
            {
            .


        "#]]
        .assert_eq(&shown.concat());
    }

    #[test]
    fn long_patterns_take_no_time() {
        for part in ["(?<a", "\\p{L", "{1", "[a", "(", "\\"] {
            assert!(!parts(&part.repeat(100_000)).is_empty());
        }
    }
}
