//! Trims, measures and compares text as JavaScript does, and finds the closest line to a missing text.

use std::{borrow::Cow, collections::HashMap, ops::Range, sync::LazyLock};

use icu_normalizer::{ComposingNormalizerBorrowed, properties::CanonicalCombiningClassMapBorrowed};

/// White space and line ends of ECMAScript. Rust's own set differs at U+0085 and U+FEFF.
pub(crate) fn is_space(character: char) -> bool {
    matches!(
        character,
        '\u{9}'..='\u{d}'
            | ' '
            | '\u{a0}'
            | '\u{1680}'
            | '\u{2000}'..='\u{200a}'
            | '\u{2028}'
            | '\u{2029}'
            | '\u{202f}'
            | '\u{205f}'
            | '\u{3000}'
            | '\u{feff}'
    )
}

pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

pub fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

pub fn trim_end(text: &str) -> &str {
    text.trim_end_matches(is_space)
}

pub fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// Returns a text without case differences, as Python's `str.casefold` makes it: `Straße` becomes `strasse`.
pub fn case_folded(text: &str) -> String {
    let lower = text.to_lowercase();
    if lower.is_ascii() {
        return lower;
    }
    lower.chars().fold(String::with_capacity(lower.len()), |mut folded, letter| {
        match letter {
            'ß' => folded.push_str("ss"),
            'ς' => folded.push('σ'),
            'ſ' => folded.push('s'),
            'ŉ' => folded.push_str("ʼn"),
            'ﬀ' => folded.push_str("ff"),
            'ﬁ' => folded.push_str("fi"),
            'ﬂ' => folded.push_str("fl"),
            'ﬃ' => folded.push_str("ffi"),
            'ﬄ' => folded.push_str("ffl"),
            'ﬅ' | 'ﬆ' => folded.push_str("st"),
            letter => folded.push(letter),
        }
        folded
    })
}

/// Whether nobody sees a character: a soft hyphen, a joiner, a space without width, a mark of direction, a variant.
fn is_invisible(letter: char) -> bool {
    matches!(
        letter,
        '\0' | '\u{ad}'
            | '\u{34f}'
            | '\u{61c}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// Whether a character belongs to the letter before it: an accent, or a part of a Korean syllable.
fn is_accent(letter: char) -> bool {
    CanonicalCombiningClassMapBorrowed::new().get32_u8(letter.into()) != 0 || matches!(letter, '\u{1160}'..='\u{11ff}')
}

/// Returns a text as a reader sees it: without invisible characters, without the commands of a terminal, such as colors,
/// and with each letter and its accent as one character.
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && !text.contains(['\u{1b}', '\0']) {
        return Cow::Borrowed(text);
    }
    let composed = ComposingNormalizerBorrowed::new_nfc().normalize(text);
    if !composed.contains(|letter| letter == '\u{1b}' || is_invisible(letter)) {
        return composed;
    }
    Cow::Owned(without_invisible(&composed))
}

fn without_invisible(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '\u{1b}' if letters.next_if_eq(&'[').is_some() => {
                letters.by_ref().find(|letter| matches!(letter, '@'..='~'));
            }
            // The title of a window, or a link.
            '\u{1b}' if letters.next_if_eq(&']').is_some() => {
                letters.by_ref().find(|letter| matches!(letter, '\u{7}' | '\u{1b}'));
                letters.next_if_eq(&'\\');
            }
            '\u{1b}' => {}
            _ if is_invisible(letter) => {}
            _ => seen.push(letter),
        }
    }
    seen
}

/// A text folded by [`case_folded`], with line feeds as line ends and the positions in the original text.
#[derive(Clone, Debug)]
pub struct CaseFolded {
    text: String,
    /// The position of each letter here and in the original text; empty if they are the same.
    letters: Vec<(usize, usize)>,
    length: usize,
}

impl CaseFolded {
    pub fn new(text: &str) -> CaseFolded {
        let length = text.len();
        if text.is_ascii() && !text.contains('\r') {
            return CaseFolded { text: text.to_ascii_lowercase(), letters: Vec::new(), length };
        }
        let mut folded = CaseFolded { text: String::with_capacity(length), letters: Vec::new(), length };
        let composed = ComposingNormalizerBorrowed::new_nfc();
        let mut letters = text.char_indices().peekable();
        while let Some((at, letter)) = letters.next() {
            if letter == '\r' && text[at + 1..].starts_with('\n') || is_invisible(letter) {
                continue;
            }
            folded.letters.push((folded.text.len(), at));
            let mut end = at + letter.len_utf8();
            while let Some((at, accent)) = letters.next_if(|(_, next)| is_accent(*next)) {
                end = at + accent.len_utf8();
            }
            let letter = if letter == '\r' { "\n" } else { &text[at..end] };
            // A capital may be the only form of a letter that has no composed one.
            folded.text.push_str(&composed.normalize(&case_folded(letter)));
        }
        folded
    }

    /// Returns the byte range in the original text of the first occurrence of another text, ignoring case and what
    /// nobody sees.
    pub fn find(&self, wanted: &str) -> Option<Range<usize>> {
        let wanted = visible(&case_folded(wanted)).into_owned();
        if wanted.is_empty() {
            return None;
        }
        let start = memchr::memmem::find(self.text.as_bytes(), wanted.as_bytes())?;
        Some(self.original(start..start + wanted.len()))
    }

    /// Returns the byte range in the original text of the first occurrence of a phrase, ignoring case. Any white space
    /// may be between its words, such as the end of a line.
    pub fn find_phrase(&self, wanted: &str) -> Option<Range<usize>> {
        let wanted = visible(&case_folded(wanted)).into_owned();
        let words: Vec<String> = wanted.split(char::is_whitespace).map(regex::escape).collect();
        let is_phrase = words.len() > 1 && words.iter().any(|word| !word.is_empty());
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        match regex::Regex::new(&words.join(r"\s+")).ok().filter(|_| is_phrase) {
            Some(pattern) => pattern.find(&self.text).map(|found| self.original(found.range())),
            None => self.find(&wanted),
        }
    }

    fn original(&self, Range { start, end }: Range<usize>) -> Range<usize> {
        if self.letters.is_empty() {
            return start..end;
        }
        let first = self.letters.partition_point(|(here, _)| *here <= start).saturating_sub(1);
        let behind = self.letters.partition_point(|(here, _)| *here < end);
        let there = |letter: usize| self.letters.get(letter).map_or(self.length, |(_, there)| *there);
        there(first)..there(behind)
    }
}

/// A text with line feeds as line ends, as Python reads a file, with the positions in the original text.
#[derive(Clone, Debug)]
pub struct LineFeeds<'t> {
    pub text: Cow<'t, str>,
    /// The positions here of the line feeds that replace two characters.
    shortened: Vec<usize>,
}

impl<'t> LineFeeds<'t> {
    pub fn of(text: &'t str) -> LineFeeds<'t> {
        if !text.contains('\r') {
            return LineFeeds { text: Cow::Borrowed(text), shortened: Vec::new() };
        }
        let (mut replaced, mut shortened) = (String::with_capacity(text.len()), Vec::new());
        let mut rest = text;
        while let Some(at) = memchr::memchr(b'\r', rest.as_bytes()) {
            replaced.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(next) = rest.strip_prefix('\n') {
                shortened.push(replaced.len());
                rest = next;
            }
            replaced.push('\n');
        }
        replaced.push_str(rest);
        LineFeeds { text: Cow::Owned(replaced), shortened }
    }

    pub fn original(&self, at: usize) -> usize {
        at + self.shortened.partition_point(|feed| *feed < at)
    }
}

/// An observed text that is similar to a missing one, and a note about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    pub text: String,
    pub note: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseLine {
    pub number: usize,
    pub text: String,
}

impl CloseLine {
    pub fn near(self) -> Near {
        Near { note: format!("line {} is the closest match: {}", self.number, self.text), text: self.text }
    }
}

const MAX_SEARCHED_BYTES: usize = 1 << 18;

const MAX_LINE_CHARACTERS: usize = 400;

/// Returns the line of a text that shares the most with a missing text. Only the beginning of a long text is searched,
/// so the cost is bounded.
pub fn closest_line(text: &str, missing: &str) -> Option<CloseLine> {
    let wanted = trim(missing).lines().find(|line| !trim(line).is_empty())?;
    let wanted: Vec<char> = wanted.to_lowercase().chars().take(MAX_LINE_CHARACTERS).collect();
    if wanted.len() < 3 {
        return None;
    }
    let mut numbers: HashMap<(char, char), usize> = HashMap::new();
    for pair in wanted.windows(2) {
        let next = numbers.len();
        numbers.entry((pair[0], pair[1])).or_insert(next);
    }
    let mut best: Option<(usize, usize, usize, &str)> = None;
    let mut seen = vec![0_usize; numbers.len()];
    let mut start = 0;
    for (index, line) in text.lines().enumerate() {
        if start > MAX_SEARCHED_BYTES {
            break;
        }
        start += line.len() + 1;
        let mut shared = 0;
        let mut previous = None;
        let mut length = 0;
        for character in line.chars().take(MAX_LINE_CHARACTERS).flat_map(char::to_lowercase) {
            length += 1;
            if let Some(number) = previous.and_then(|previous| numbers.get(&(previous, character)))
                && seen[*number] != index + 1
            {
                seen[*number] = index + 1;
                shared += 1;
            }
            previous = Some(character);
        }
        let distance = wanted.len().abs_diff(length);
        let better = best.is_none_or(|(most, least, ..)| shared > most || shared == most && distance < least);
        if shared > 0 && better {
            best = Some((shared, distance, index, line));
        }
    }
    let (shared, _, index, line) = best?;
    (shared * 2 >= numbers.len()).then(|| CloseLine { number: index + 1, text: shortened(line, MAX_LINE_CHARACTERS) })
}

pub fn uncolored(text: &str) -> Cow<'_, str> {
    static COLOR: LazyLock<regex::Regex> =
        LazyLock::new(|| regex::Regex::new("\u{1b}\\[[0-9;:]*[mK]").expect("a valid expression"));
    COLOR.replace_all(text, "")
}

/// Returns a text of at most this many characters, with a mark where it was cut.
pub fn shortened(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Returns bytes in hexadecimal, as ids and digests are shown.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        for digit in [byte >> 4, byte & 0xf] {
            text.extend(char::from_digit(u32::from(digit), 16));
        }
        text
    })
}

#[cfg(test)]
mod tests {
    use super::{CaseFolded, LineFeeds, closest_line, length, trim, uncolored};

    #[test]
    fn folded_text_knows_where_its_parts_come_from() {
        for (text, wanted, found) in [
            ("An URGENT word", "urgent", Some("URGENT")),
            ("Die Straße, die STRASSE", "strasse", Some("Straße")),
            ("é İstanbul ŉ b", "B", Some("b")),
            ("ΟΔΟΣ und mehr", "οδος", Some("ΟΔΟΣ")),
            ("ﬁne", "i", Some("ﬁ")),
            ("a\u{1dca}\u{301}!", "á\u{1dca}", Some("a\u{1dca}\u{301}")),
            ("J\u{30c}!", "ǰ", Some("J\u{30c}")),
            ("\u{1112}\u{1161}\u{11ab}!", "한", Some("\u{1112}\u{1161}\u{11ab}")),
            ("ab\u{202e}\u{fe0f}cd", "bc", Some("b\u{202e}\u{fe0f}c")),
            ("é", "x", None),
            ("x", "", None),
            ("a limited\r\ntime", "LIMITED\nTIME", Some("limited\r\ntime")),
        ] {
            assert_eq!(CaseFolded::new(text).find(wanted).map(|range| &text[range]), found, "{text}");
        }
    }

    #[test]
    fn phrase_is_found_across_any_white_space() {
        for (text, wanted, found) in [
            ("a Limited\n  time offer", "limited time", Some("Limited\n  time")),
            ("Größe und\r\nFORM", "größe und form", Some("Größe und\r\nFORM")),
            ("unlimited times", "limited time", Some("limited time")),
            ("limitedtime", "limited time", None),
            ("a.b c", "a.b\tc", Some("a.b c")),
            ("axb c", "a.b c", None),
            ("this is ai\n", " ai ", Some(" ai\n")),
            ("word", "word", Some("word")),
        ] {
            assert_eq!(CaseFolded::new(text).find_phrase(wanted).map(|range| &text[range]), found, "{text:?}");
        }
    }

    #[test]
    fn colors_are_removed_and_nothing_else() {
        assert_eq!(uncolored("\u{1b}[1;33mwarning\u{1b}[0m: [33m \u{1b}[2J"), "warning: [33m \u{1b}[2J");
    }

    #[test]
    fn line_ends_are_line_feeds_and_know_where_they_come_from() {
        let text = "a\r\nb\rc\n\r\r\nd";
        let feeds = LineFeeds::of(text);
        assert_eq!(feeds.text, "a\nb\nc\n\n\nd");
        let original: Vec<usize> = (0..=feeds.text.len()).map(|at| feeds.original(at)).collect();
        assert_eq!(original, [0, 1, 3, 4, 5, 6, 7, 8, 10, 11]);
    }

    #[test]
    fn trimming_takes_what_javascript_takes() {
        assert_eq!(trim("\u{feff}\u{a0} a\u{85} \u{2028}\n"), "a\u{85}");
    }

    #[test]
    fn lengths_are_utf16_units() {
        assert_eq!(length("aé😀"), 4);
    }

    #[test]
    fn the_closest_line_shares_most() {
        let text = "Starting\nOrder found: #12345, status: delivred\nDone\n";
        let close = closest_line(text, "status: delivered").unwrap();
        assert_eq!((close.number, close.text.as_str()), (2, "Order found: #12345, status: delivred"));
        assert_eq!(closest_line(text, "zebra crossing"), None);
        assert_eq!(closest_line("", "abc"), None);
        assert_eq!(closest_line("a long line of text", "é"), None);
    }

    #[test]
    fn a_long_text_is_looked_at_in_part() {
        let text = format!("{}\nneedle in a haystack", "x".repeat(3_000_000));
        assert_eq!(closest_line(&text, "needle in a haystack!"), None);
    }
}
