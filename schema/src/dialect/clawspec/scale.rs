//! Scale of a judge's scores.

/// A scale of scores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// Lowest score.
    pub(crate) low: f64,
    /// Highest score.
    pub(crate) high: f64,
}

impl Scale {
    /// Returns the scale that a rubric names.
    pub(crate) fn in_rubric(rubric: &str) -> Option<Scale> {
        named(rubric).map(|(low, high)| Scale { low, high })
    }
}

/// Returns the scale in an instruction, such as `1-5`. Of several ranges, the one after a word for scoring counts; a
/// number of sentences is not a scale.
fn named(text: &str) -> Option<(f64, f64)> {
    const SCORING: [&str; 6] = ["score", "scale", "rate", "rating", "grade", "from"];
    let ranges = text.match_indices('-').filter_map(|(at, _)| {
        let before = text[..at].trim_end();
        let digits = before.len() - before.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
        let behind = text[at + 1..].trim_start();
        let length = behind.len() - behind.trim_start_matches(|letter: char| letter.is_ascii_digit()).len();
        let (before, low) = before.split_at(before.len() - digits);
        let (high, behind) = behind.split_at(length);
        let (low, high): (f64, f64) = (low.parse().ok()?, high.parse().ok()?);
        let is_scored = before.split_whitespace().rev().take(3).any(|word| {
            let word = word.to_lowercase();
            SCORING.iter().any(|scoring| word.starts_with(scoring))
        });
        let next = behind.trim_start().split(|letter: char| !letter.is_alphabetic()).next().unwrap_or_default();
        let counts = behind.starts_with(' ') && next.len() > 3 && next.ends_with('s') && next != "points";
        (low < high && high <= 100.0).then_some((is_scored, counts, (low, high)))
    });
    let all: Vec<_> = ranges.collect();
    let scored = all.iter().find(|(is_scored, ..)| *is_scored);
    match (scored, all.as_slice()) {
        (Some((.., range)), _) | (None, [(_, false, range)]) => Some(*range),
        (None, _) => None,
    }
}
