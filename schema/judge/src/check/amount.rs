//! Compares sums and averages with limits, and shows them so that unequal numbers look unequal.

use serde_json::{Number, Value};

use crate::verdict::{Acceptable, Limit};

/// How much a number varies between runs that are equally good.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A count or a length: the limit is the number itself.
    Counted,
    /// A score or a share: the limit is rounded.
    Scored,
    /// A duration, a cost or tokens: the limit is rounded and leaves room.
    Measured,
}

/// Share of a measured number that its limit leaves as room.
const HEADROOM: f64 = 0.2;

/// Returns a limit that an observed number keeps; `None` if each number would keep it.
pub fn limit(side: Limit, seen: f64, amount: Amount) -> Option<Acceptable> {
    let (is_most, room) = match side {
        Limit::Most => (true, 1.0 + HEADROOM),
        Limit::Least => (false, 1.0 - HEADROOM),
    };
    let value = match amount {
        Amount::Counted => seen,
        Amount::Scored => rounded(seen, is_most),
        Amount::Measured => rounded(seen * room, is_most),
    };
    let is_limit = value.is_finite() && (is_most || value > 0.0);
    // A whole number is written without decimals.
    let whole = (value.fract() == 0.0 && value.abs() < 1e15).then(|| Number::from(value as i64));
    let value = whole.or_else(|| Number::from_f64(value)).filter(|_| is_limit)?;
    Some(Acceptable { value: Value::Number(value), limit: Some(side) })
}

/// Rounds a number to two significant digits.
fn rounded(number: f64, up: bool) -> f64 {
    if number == 0.0 || !number.is_finite() {
        return number;
    }
    let exponent = number.abs().log10().floor() as i32 - 1;
    let digits = number / 10_f64.powi(exponent);
    // A product such as 10 * 1.2 is not exact.
    let near = digits.round();
    let digits = match is_close(digits, near) {
        true => near,
        false if up => digits.ceil(),
        false => digits.floor(),
    };
    format!("{digits}e{exponent}").parse().unwrap_or(number)
}

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

fn is_close(one: f64, other: f64) -> bool {
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
    use super::{Amount, exceeds, is_below, limit, shown_apart};
    use crate::verdict::Limit;

    #[test]
    fn limit_is_kept_by_what_was_seen_and_has_two_digits() {
        for (side, seen, amount, expected) in [
            (Limit::Most, 812.3, Amount::Measured, "980"),
            (Limit::Most, 10.0, Amount::Measured, "12"),
            (Limit::Most, 0.0012, Amount::Measured, "0.0015"),
            (Limit::Most, 0.0, Amount::Measured, "0"),
            (Limit::Most, 123_456.0, Amount::Measured, "150000"),
            (Limit::Least, 10.0, Amount::Measured, "8"),
            (Limit::Most, 1234.0, Amount::Counted, "1234"),
            (Limit::Most, 0.3333, Amount::Scored, "0.34"),
            (Limit::Least, 0.6666, Amount::Scored, "0.66"),
            (Limit::Least, 3.0, Amount::Scored, "3"),
        ] {
            let found = limit(side, seen, amount).expect("a limit").value;
            assert_eq!(found.to_string(), expected, "{seen}");
            let kept = found.as_f64().expect("a number");
            assert!(if side == Limit::Most { seen <= kept } else { seen >= kept }, "{seen}");
        }
        // Such a limit checks nothing.
        assert_eq!(limit(Limit::Least, 0.0, Amount::Counted), None);
        assert_eq!(limit(Limit::Most, f64::INFINITY, Amount::Measured), None);
    }

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
