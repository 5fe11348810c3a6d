//! What several texts have in common.

use crate::evidence::MASK_CHARACTER;

/// Maximum number of words of the first text that are tried.
const MAX_WORDS: usize = 2_000;

/// Maximum number of bytes of a text that are searched.
const MAX_BYTES: usize = 1 << 16;

const MIN_CHARACTERS: usize = 3;

/// Returns the longest sequence of whole words on one line of the first text that is in all texts. `None` if they share
/// next to nothing.
pub fn shared_fragment<'t>(texts: &[&'t str]) -> Option<&'t str> {
    let (first, others) = texts.split_first()?;
    let others: Vec<&str> = others.iter().map(|text| &text[..text.floor_char_boundary(MAX_BYTES)]).collect();
    let is_shared = |part: &str| !part.contains(MASK_CHARACTER) && others.iter().all(|text| text.contains(part));
    let mut best: Option<&str> = None;
    let mut tried = 0;
    for line in first.lines() {
        let words: Vec<(usize, usize)> = words(line).collect();
        // If a sequence is shared, each part of it is: its end never moves back.
        let mut end = 0;
        for start in 0..words.len() {
            end = end.max(start);
            while end < words.len() && is_shared(&line[words[start].0..words[end].1]) {
                end += 1;
            }
            if end > start {
                let part = &line[words[start].0..words[end - 1].1];
                if best.is_none_or(|best| best.chars().count() < part.chars().count()) {
                    best = Some(part);
                }
            }
        }
        tried += words.len();
        if tried > MAX_WORDS {
            break;
        }
    }
    best.filter(|best| best.chars().count() >= MIN_CHARACTERS)
}

/// Returns the start and the end of each word of a line.
fn words(line: &str) -> impl Iterator<Item = (usize, usize)> {
    line.split_whitespace().map(|word| {
        let start = word.as_ptr() as usize - line.as_ptr() as usize;
        (start, start + word.len())
    })
}

#[cfg(test)]
mod tests {
    use super::shared_fragment;

    #[test]
    fn longest_sequence_of_words_in_all_texts_is_found() {
        for (texts, expected) in [
            (vec!["done in 3 ms", "it is done in 45 ms"], Some("done in")),
            (vec!["a\nuser: alice  ok\nb", "x user: alice  ok"], Some("user: alice  ok")),
            (vec!["one", "two"], None),
            (vec!["a b", "b a"], None),
            (vec!["only this"], Some("only this")),
            (vec!["", "x"], None),
            (vec!["token \u{fdd0}\u{fdd0} kept", "token \u{fdd0}\u{fdd0} kept"], Some("token")),
        ] {
            assert_eq!(shared_fragment(&texts), expected, "{texts:?}");
        }
    }
}
