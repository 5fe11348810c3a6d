//! Differences between two texts: passages of whole lines, the most different first.

use std::ops::Range;

use similar::{Algorithm, DiffOp, capture_diff_slices};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The lines of the first text, from 0; empty if it lacks them.
    pub lines: Range<usize>,
    /// The lines of the other text; empty if it lacks them.
    pub other_lines: Range<usize>,
    pub words: usize,
}

const MAX_LINES: usize = 5_000;

pub fn passages(one: &str, other: &str) -> Vec<Passage> {
    let lines = |text: &str| text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let (lines, other_lines): (Vec<String>, Vec<String>) = (lines(one), lines(other));
    let of = |range: Range<usize>, other_range: Range<usize>| {
        let (text, other_text) = (lines[range.clone()].join("\n"), other_lines[other_range.clone()].join("\n"));
        let words = text.split_whitespace().count() + other_text.split_whitespace().count();
        let alike = similarity(&text, &other_text).unwrap_or(0.0);
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

/// Maximum number of pairs of words that are compared; more would take too long.
const MAX_WORD_PAIRS: usize = 200_000_000;

/// Returns twice the longest common subsequence of words, divided by the words of both; `None` if the texts are too
/// long.
pub fn similarity(one: &str, other: &str) -> Option<f64> {
    let one: Vec<&str> = one.split_whitespace().collect();
    let other: Vec<&str> = other.split_whitespace().collect();
    if one.is_empty() || other.is_empty() {
        return Some(0.0);
    }
    // Equal words at both ends are common.
    let head = one.iter().zip(&other).take_while(|(one, other)| one == other).count();
    let (rest, other_rest) = (&one[head..], &other[head..]);
    let tail = rest.iter().rev().zip(other_rest.iter().rev()).take_while(|(one, other)| one == other).count();
    let (rest, other_rest) = (&rest[..rest.len() - tail], &other_rest[..other_rest.len() - tail]);
    if rest.len().checked_mul(other_rest.len())? > MAX_WORD_PAIRS {
        return None;
    }
    let mut row = vec![0_usize; other_rest.len() + 1];
    for word in rest {
        let mut diagonal = 0;
        for (index, candidate) in other_rest.iter().enumerate() {
            let above = row[index + 1];
            row[index + 1] = if word == candidate { diagonal + 1 } else { above.max(row[index]) };
            diagonal = above;
        }
    }
    let common = (head + tail + row.last().copied().unwrap_or(0)) as f64;
    Some(2.0 * common / (one.len() + other.len()) as f64)
}

#[cfg(test)]
mod tests {
    use super::{passages, similarity};

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

    #[test]
    fn words_in_the_same_order_count() {
        assert_eq!(similarity("a b c", "a b c"), Some(1.0));
        assert_eq!(similarity("a x b", "a b"), Some(0.8));
        assert_eq!(similarity("b a", "a b"), Some(0.5));
        assert_eq!(similarity("A", "a"), Some(0.0));
        assert_eq!(similarity("", ""), Some(0.0));
        assert_eq!(similarity("the cat sat on the mat", "the dog sat on a mat"), Some(8.0 / 12.0));
    }
}
