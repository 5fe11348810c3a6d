//! Text as JavaScript trims, measures and compares it, and the line that a missing text may have meant.

use std::collections::HashMap;

/// White space and line ends of ECMAScript. Rust's own set differs at U+0085 and U+FEFF.
pub fn is_space(character: char) -> bool {
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

/// `String.prototype.trim`.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// `String.prototype.trimStart`.
pub fn trim_start(text: &str) -> &str {
    text.trim_start_matches(is_space)
}

/// The length in UTF-16 units.
pub fn length(text: &str) -> usize {
    text.encode_utf16().count()
}

/// A text that is searched again and again without regard to case.
#[derive(Clone, Debug)]
pub struct Folded(String);

impl Folded {
    /// Lower-cases the text, final sigma included.
    pub fn new(text: &str) -> Folded {
        Folded(text.to_lowercase())
    }

    /// Whether a text occurs in it, whatever its case.
    pub fn contains(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        memchr::memmem::find(self.0.as_bytes(), text.as_bytes()).is_some()
    }
}

/// A line that resembles a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseLine {
    /// Its number, from 1.
    pub number: usize,
    /// The line, shortened when it is long.
    pub text: String,
}

/// As much of a text is searched for a close line, in bytes.
const SEARCHED: usize = 1 << 18;

/// As many characters of one line count.
const LINE_LENGTH: usize = 400;

/// The line of a text that shares the most with a text that is not in it. Only the beginning of a long text is looked
/// at, so the cost is bounded.
pub fn closest_line(text: &str, missing: &str) -> Option<CloseLine> {
    let wanted = trim(missing).lines().find(|line| !trim(line).is_empty())?;
    let wanted: Vec<char> = wanted.to_lowercase().chars().take(LINE_LENGTH).collect();
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
        if start > SEARCHED {
            break;
        }
        start += line.len() + 1;
        let mut shared = 0;
        let mut previous = None;
        let mut length = 0;
        for character in line.chars().take(LINE_LENGTH).flat_map(char::to_lowercase) {
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
    (shared * 2 >= numbers.len()).then(|| CloseLine { number: index + 1, text: shortened(line, LINE_LENGTH) })
}

/// A text in at most so many characters, the cut marked.
pub fn shortened(text: &str, length: usize) -> String {
    match text.char_indices().nth(length) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Folded, closest_line, length, trim};

    #[test]
    fn trimming_takes_what_javascript_takes() {
        assert_eq!(trim("\u{feff}\u{a0} a\u{85} \u{2028}\n"), "a\u{85}");
    }

    #[test]
    fn lengths_are_utf16_units() {
        assert_eq!(length("aé😀"), 4);
    }

    #[test]
    fn case_does_not_count() {
        let text = Folded::new("ΟΔΟΣ Straße");
        assert!(text.contains("οδος") && text.contains("STRAßE") && text.contains(""));
        assert!(!text.contains("STRASSE"));
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
