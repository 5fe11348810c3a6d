//! The similarity of two texts: ROUGE-L over words.

/// Maximum number of pairs of words that are compared; more would take too long.
const MAX_WORD_PAIRS: usize = 200_000_000;

/// Returns twice the longest common subsequence of words, divided by the words of both; `None` if the texts are too
/// long.
pub fn score(one: &str, other: &str) -> Option<f64> {
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
    use super::score;

    #[test]
    fn words_in_the_same_order_count() {
        assert_eq!(score("a b c", "a b c"), Some(1.0));
        assert_eq!(score("a x b", "a b"), Some(0.8));
        assert_eq!(score("b a", "a b"), Some(0.5));
        assert_eq!(score("A", "a"), Some(0.0));
        assert_eq!(score("", ""), Some(0.0));
        assert_eq!(score("the cat sat on the mat", "the dog sat on a mat"), Some(8.0 / 12.0));
    }
}
