//! Differences between two texts: passages of whole lines, the most different first.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::rouge;

/// Lines that two texts do not share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The lines of the first text, from 0; empty if it lacks them.
    pub lines: Range<usize>,
    /// The lines of the other text; empty if it lacks them.
    pub other_lines: Range<usize>,
    /// The number of words that differ in both.
    pub words: usize,
}

/// Maximum number of lines of texts that are compared beyond the first difference.
const MAX_LINES: usize = 5_000;

/// Returns the passages in which two texts have different words, the most different first.
pub fn passages(one: &str, other: &str) -> Vec<Passage> {
    let lines = |text: &str| text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let (lines, other_lines): (Vec<String>, Vec<String>) = (lines(one), lines(other));
    let of = |range: Range<usize>, other_range: Range<usize>| {
        let (text, other_text) = (lines[range.clone()].join("\n"), other_lines[other_range.clone()].join("\n"));
        let words = text.split_whitespace().count() + other_text.split_whitespace().count();
        let alike = rouge::score(&text, &other_text).unwrap_or(0.0);
        let (range, other_range) = (without_blanks(&lines, range), without_blanks(&other_lines, other_range));
        // A share of a number of words, rounded to words again.
        Passage { lines: range, other_lines: other_range, words: (words as f64 * (1.0 - alike)).round() as usize }
    };
    let mut found: Vec<Passage> = if lines.len().max(other_lines.len()) > MAX_LINES {
        let same = lines.iter().zip(&other_lines).take_while(|(one, other)| one == other).count();
        vec![of(same..lines.len(), same..other_lines.len())]
    } else {
        let operations = capture_diff_slices(Algorithm::Myers, &lines, &other_lines);
        operations
            .iter()
            .filter(|operation| !matches!(operation, DiffOp::Equal { .. }))
            .map(|operation| of(operation.old_range(), operation.new_range()))
            .collect()
    };
    found.retain(|passage| passage.words > 0);
    // Stable: of equals, the first in the text comes first.
    found.sort_by_key(|passage| std::cmp::Reverse(passage.words));
    found
}

/// Returns a range of lines without blank ones at its ends.
fn without_blanks(lines: &[String], mut range: Range<usize>) -> Range<usize> {
    let (is_blank, whole) = (|line: usize| lines[line].is_empty(), range.clone());
    while range.start < range.end && is_blank(range.start) {
        range.start += 1;
    }
    while range.start < range.end && is_blank(range.end - 1) {
        range.end -= 1;
    }
    if range.is_empty() { whole.start..whole.start } else { range }
}

#[cfg(test)]
mod tests {
    use super::passages;

    #[test]
    fn passage_with_most_different_words_comes_first() {
        let golden = "# Hook\n\nSpring is here\n\nBuy now, it is good for you\n\nBye\n";
        let text = "# Hook\r\n\r\nSummer is here\r\n\r\nNothing to see in this place at all\r\n\r\nBye\r\nPS\r\n";
        let found: Vec<_> = passages(text, golden).into_iter().map(|it| (it.lines, it.other_lines, it.words)).collect();
        assert_eq!(found, [(4..5, 4..5, 15), (2..3, 2..3, 2), (7..8, 7..7, 1)]);
        assert_eq!(passages(golden, &golden.replace('\n', "\r\n")), []);
        assert_eq!(passages("a\n\n\nb", "a  \n\n\n  b"), []);
    }

    #[test]
    fn long_texts_differ_from_their_first_difference_on() {
        let text = "line\n".repeat(6_000);
        let found = passages(&format!("{text}one"), &format!("{text}two"));
        assert_eq!((found.len(), found[0].lines.clone(), found[0].words), (1, 6_000..6_001, 2));
    }
}
