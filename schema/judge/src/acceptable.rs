//! What an assertion could expect instead of what it does: the observed value, or a limit around it.

use serde_json::{Number, Value};

use crate::check::amount::is_close;

/// A value that an assertion could expect instead: what was observed, or a limit around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Acceptable {
    pub value: Value,
    /// The side on which it limits; `None` if it is compared as it is.
    pub limit: Option<Limit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Most,
    Least,
}

impl Acceptable {
    /// Returns the value that would hold for both observations; `None` if there is none.
    pub fn and(&self, other: &Acceptable) -> Option<Acceptable> {
        let is_greater = || self.value.as_f64() >= other.value.as_f64();
        let keeps_own = match (self.limit, other.limit) {
            (Some(Limit::Most), Some(Limit::Most)) => is_greater(),
            (Some(Limit::Least), Some(Limit::Least)) => !is_greater(),
            (None, None) if self.value == other.value => true,
            (Some(Limit::Most | Limit::Least) | None, Some(Limit::Most | Limit::Least) | None) => return None,
        };
        Some(if keeps_own { self.clone() } else { other.clone() })
    }
}

impl<T: Into<Value>> From<T> for Acceptable {
    fn from(observed: T) -> Acceptable {
        Acceptable { value: observed.into(), limit: None }
    }
}

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

#[cfg(test)]
mod tests {
    use super::{Amount, Limit, limit};

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
}
