//! Sets of characters in the syntax of the engines, and equality of letters if case is ignored.

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

use crate::evidence::MASK_CHARACTER;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Language {
    /// ECMAScript without the `u` flag, Annex B included, over UTF-16 units.
    Ecmascript,
    /// Python's `re`.
    Python,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    pub(super) ascii: bool,
    pub(super) ignore_case: bool,
    pub(super) lines: bool,
    pub(super) dot_all: bool,
}

pub(super) const ANY: &str = r"[\x{0}-\x{10FFFF}]";

const NEVER: &str = r"[^\x{0}-\x{10FFFF}]";

/// The hidden characters: a masked one, and a byte that is not UTF-8.
const HIDDEN: [char; 2] = [MASK_CHARACTER, char::REPLACEMENT_CHARACTER];

const ASCII_WORD: &str = "A-Za-z0-9_";
const UNICODE_WORD: &str = r"\p{L}\p{N}_";

#[derive(Debug, Default)]
pub(super) struct Set {
    body: String,
    takes_hidden: bool,
}

impl Set {
    pub(super) fn add(&mut self, language: Language, flags: Flags, low: u32, high: u32) {
        // Halves of surrogate pairs are elsewhere.
        for (first, last) in [(0, 0xD7FF), (0xD800, 0xDFFF), (0xE000, 0x10_FFFF)] {
            let (low, high) = (low.max(first), high.min(last));
            if low > high {
                continue;
            }
            let range = ClassUnicodeRange::new(character(low), character(high));
            let class = match flags.ignore_case {
                true => folded(range, language, flags),
                false => ClassUnicode::new([range]),
            };
            for range in class.ranges() {
                self.body.push_str(&literal(range.start()));
                if range.start() != range.end() {
                    self.body.push('-');
                    self.body.push_str(&literal(range.end()));
                }
                self.takes_hidden |= HIDDEN.iter().any(|hidden| (range.start()..=range.end()).contains(hidden));
            }
        }
    }

    /// Adds `\d`, `\s`, `\w` or their opposites.
    pub(super) fn add_category(&mut self, language: Language, flags: Flags, letter: char) {
        let body = match (letter.to_ascii_lowercase(), language) {
            ('d', _) if flags.ascii => "0-9",
            ('d', _) => r"\p{Nd}",
            ('s', Language::Ecmascript) => {
                r"\t-\r\x20\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}\x{FEFF}"
            }
            ('s', Language::Python) if flags.ascii => r"\t-\r\x20",
            ('s', Language::Python) => r"\s\x{1C}-\x{1F}",
            _ if flags.ascii => ASCII_WORD,
            _ => UNICODE_WORD,
        };
        if letter.is_ascii_uppercase() {
            self.takes_hidden = true;
            self.body.push_str(&format!("[^{body}]"));
        } else {
            self.body.push_str(body);
        }
    }

    /// Returns the set in the syntax of the engines. It takes a hidden character only if it takes every character of a
    /// line, so whatever is hidden.
    pub(super) fn written(&self, is_inverted: bool) -> String {
        let Set { body, takes_hidden, .. } = self;
        let hidden: String = HIDDEN.map(literal).concat();
        match (body.as_str(), is_inverted) {
            ("", true) => ANY.to_owned(),
            ("", false) => NEVER.to_owned(),
            (_, true) if !takes_line(&format!("[^{body}]")) => format!("[^{body}{hidden}]"),
            (_, true) => format!("[^{body}]"),
            (_, false) if *takes_hidden && !takes_line(&format!("[{body}]")) => format!("[[{body}]&&[^{hidden}]]"),
            (_, false) => format!("[{body}]"),
        }
    }
}

fn takes_line(set: &str) -> bool {
    let Ok(parsed) = regex_syntax::parse(set) else { return false };
    let HirKind::Class(Class::Unicode(class)) = parsed.kind() else { return false };
    let mut class = class.clone();
    class.union(&ClassUnicode::new(['\n', '\r', '\u{2028}', '\u{2029}'].map(|end| ClassUnicodeRange::new(end, end))));
    class.negate();
    class.ranges().is_empty()
}

pub(super) fn literal(letter: char) -> String {
    // Letters and digits mean themselves everywhere, and are read much faster than escapes.
    let is_plain = letter.is_ascii_alphanumeric() || letter == ' ';
    if is_plain { letter.to_string() } else { format!(r"\x{{{:X}}}", u32::from(letter)) }
}

/// Returns the character of the searched text for a code: itself, or a private one for half of a surrogate pair.
pub(super) fn character(code: u32) -> char {
    char::from_u32(code)
        .or_else(|| char::from_u32(0xF_0000 + code.checked_sub(0xD800)?))
        .unwrap_or(char::REPLACEMENT_CHARACTER)
}

pub(super) fn code(letter: char) -> u32 {
    match u32::from(letter) {
        half @ 0xF_0000..=0xF_07FF => half - 0xF_0000 + 0xD800,
        code => code,
    }
}

fn folded(range: ClassUnicodeRange, language: Language, flags: Flags) -> ClassUnicode {
    let members = range.start()..=range.end();
    let mut class = ClassUnicode::new([range]);
    class.case_fold_simple();
    let others = class.ranges().iter().flat_map(|range| range.start()..=range.end());
    let mut same: Vec<char> = others
        .filter(|other| !members.contains(other))
        .filter(|other| {
            let mut forms = ClassUnicode::new([ClassUnicodeRange::new(*other, *other)]);
            forms.case_fold_simple();
            let mut forms = forms.ranges().iter().flat_map(|range| range.start()..=range.end());
            forms.any(|form| members.contains(&form) && is_same(form, *other, language, flags))
        })
        .collect();
    // Python converts single letters, so it knows the dotted and the dotless one.
    const LETTERS_I: [char; 4] = ['i', 'I', 'ı', 'İ'];
    if language == Language::Python && !flags.ascii && LETTERS_I.iter().any(|letter| members.contains(letter)) {
        same.extend(LETTERS_I);
    }
    let same = same.into_iter().map(|letter| ClassUnicodeRange::new(letter, letter));
    ClassUnicode::new(same.chain([range]))
}

fn is_same(one: char, other: char, language: Language, flags: Flags) -> bool {
    match language {
        Language::Python => !flags.ascii || one.is_ascii() && other.is_ascii(),
        Language::Ecmascript => canonical(one) == canonical(other),
    }
}

/// Returns the specification's `Canonicalize` without the `u` flag: upper case if that is one unit, except that no
/// letter outside ASCII becomes one of ASCII.
fn canonical(letter: char) -> char {
    let mut upper = letter.to_uppercase();
    match (upper.next(), upper.next()) {
        (Some(only), None) if letter.is_ascii() || !only.is_ascii() => only,
        _ => letter,
    }
}

pub(super) const BOUNDARIES: [(&str, &str, &str); 2] =
    [(r"(?-u:\b)", r"(?-u:\B)", ASCII_WORD), (r"(?:\b)", r"(?:\B)", UNICODE_WORD)];

/// Replaces word boundaries with look-around: the backtracking engine has other ones.
pub(super) fn exact_boundaries(pattern: &str) -> String {
    BOUNDARIES.iter().fold(pattern.to_owned(), |pattern, (boundary, opposite, word)| {
        pattern
            .replace(boundary, &format!("(?:(?<=[{word}])(?![{word}])|(?<![{word}])(?=[{word}]))"))
            .replace(opposite, &format!("(?:(?<=[{word}])(?=[{word}])|(?<![{word}])(?![{word}]))"))
    })
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::{ClassUnicodeRange, Flags, Language, canonical, folded};

    #[test]
    fn letters_are_equal_as_in_ecmascript() {
        // The standard library may know a newer version of Unicode.
        let known = regex::Regex::new(r"\p{Alphabetic}").unwrap();
        let is_known = |letter: char| known.is_match(letter.encode_utf8(&mut [0; 4]));
        let letters = || ('\0'..='\u{FFFF}').filter(|letter| is_known(*letter) && is_known(canonical(*letter)));
        let mut groups: BTreeMap<char, BTreeSet<char>> = BTreeMap::new();
        for letter in letters() {
            groups.entry(canonical(letter)).or_default().extend([letter, canonical(letter)]);
        }
        for letter in letters() {
            let class = folded(ClassUnicodeRange::new(letter, letter), Language::Ecmascript, Flags::default());
            let same: BTreeSet<char> = class.ranges().iter().flat_map(|range| range.start()..=range.end()).collect();
            assert_eq!(same, groups[&canonical(letter)], "{letter}");
        }
    }
}
