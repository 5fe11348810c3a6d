//! Compares sums and averages with limits, and shows them so that unequal numbers look unequal.

/// Share of a number by which a sum of it may differ from its exact value. Far more than the rounding of any sum, and
/// far less than any difference that matters.
const TOLERANCE: f64 = 1e-9;

/// Returns whether a sum is greater than a limit, by more than rounding: `0.1 + 0.1 + 0.1` does not exceed `0.3`.
pub fn exceeds(sum: f64, limit: f64) -> bool {
    sum > limit && !is_close(sum, limit)
}

pub fn is_below(sum: f64, limit: f64) -> bool {
    sum < limit && !is_close(sum, limit)
}

pub(crate) fn is_close(one: f64, other: f64) -> bool {
    let largest = one.abs().max(other.abs());
    largest.is_finite() && (one - other).abs() <= TOLERANCE * largest
}

/// Returns both numbers as text, with as many decimals as they need to look different if they are, and at least
/// `decimals`.
pub fn shown_apart(one: f64, other: f64, decimals: usize, show: impl Fn(f64, usize) -> String) -> (String, String) {
    const MAX_DECIMALS: usize = 20;
    let mut decimals = decimals;
    loop {
        let (text, other_text) = (show(one, decimals), show(other, decimals));
        if text != other_text || is_close(one, other) || decimals >= MAX_DECIMALS {
            return (text, other_text);
        }
        decimals += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{exceeds, is_below, shown_apart};

    #[test]
    fn rounding_does_not_exceed_a_limit() {
        for (sum, limit, expected) in [
            (0.1 + 0.1 + 0.1, 0.3, false),
            (0.300_001, 0.3, true),
            (0.3, 0.300_001, false),
            (1e-12, 0.0, true),
            (0.0, 0.0, false),
            (f64::INFINITY, 1.0, true),
            (1.0, f64::INFINITY, false),
            (f64::NAN, 1.0, false),
        ] {
            assert_eq!(exceeds(sum, limit), expected, "{sum} and {limit}");
        }
        assert!(!is_below((0.7 + 0.7 + 0.7) / 3.0, 0.7) && is_below(0.699_999, 0.7) && !is_below(0.8, 0.7));
    }

    #[test]
    fn unequal_numbers_look_unequal() {
        let show = |number: f64, decimals: usize| format!("{number:.decimals$}");
        let shown = |one, other| shown_apart(one, other, 4, show);
        assert_eq!(shown(0.3, 0.5), ("0.3000".to_owned(), "0.5000".to_owned()));
        assert_eq!(shown(0.300_001, 0.3), ("0.300001".to_owned(), "0.300000".to_owned()));
        assert_eq!(shown(0.1 + 0.1 + 0.1, 0.3), ("0.3000".to_owned(), "0.3000".to_owned()));
    }
}
