//! Numbers with a unit, such as `5s` or `95%`, for fields that require a number in a fixed unit.

use crate::{
    document::NodeRef,
    problem::Fix,
    shape::{Shape, Type},
};

use super::fix;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    Milliseconds,
    Seconds,
    Share,
    Percent,
    /// An amount of money.
    Dollars,
}

/// Unit after a number or in a name.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Suffix {
    /// A duration: the factor to milliseconds.
    Time(f64),
    Percent,
    /// An amount of money: the factor to dollars.
    Money(f64),
}

impl Unit {
    /// Returns the unit of a field, as its schema declares it, or according to its name or its bounds.
    pub(crate) fn of(key: &str, shape: &Shape) -> Option<Unit> {
        let kind = shape.kind();
        if !matches!(kind, Type::Integer | Type::Number | Type::Any) {
            return None;
        }
        match shape.maximum() {
            _ if shape.is_in_seconds() || key.ends_with("_seconds") => Some(Unit::Seconds),
            _ if key == "ms" || key.ends_with("Ms") || key.ends_with("_ms") => Some(Unit::Milliseconds),
            _ if key.ends_with("Usd") || key.ends_with("_usd") => Some(Unit::Dollars),
            Some(1.0) if kind == Type::Number => Some(Unit::Share),
            Some(100.0) if kind == Type::Number => Some(Unit::Percent),
            Some(_) | None => None,
        }
    }

    /// Returns the unit at the end of a name: `maxSec`, `timeout_ms`. `None` if there is none.
    pub(crate) fn in_name(name: &str) -> Option<Suffix> {
        let start = name.rfind(|letter: char| letter == '_' || letter == '-' || letter.is_ascii_uppercase())?;
        let word = name[start..].trim_start_matches(['_', '-']).to_ascii_lowercase();
        // `min` is a minimum.
        suffix(&word).filter(|_| word != "min")
    }

    /// Returns the unit as it is written after a number.
    pub(crate) fn as_written(self) -> Suffix {
        match self {
            Unit::Milliseconds => Suffix::Time(1.0),
            Unit::Seconds => Suffix::Time(1000.0),
            Unit::Share | Unit::Percent => Suffix::Percent,
            Unit::Dollars => Suffix::Money(1.0),
        }
    }

    /// Returns the name of the unit.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Unit::Milliseconds => "a number of milliseconds",
            Unit::Seconds => "a number of seconds",
            Unit::Share => "a number from 0 to 1",
            Unit::Percent => "a number from 0 to 100",
            Unit::Dollars => "an amount in US dollars",
        }
    }

    /// Returns the number that a string with a unit of the same kind represents.
    fn number(self, text: &str) -> Option<f64> {
        let text = text.trim();
        let end = text.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let number: f64 = text[..end].parse().ok()?;
        match (self, suffix(text[end..].trim())?) {
            (Unit::Milliseconds, Suffix::Time(ms)) => Some(number * ms),
            (Unit::Seconds, Suffix::Time(ms)) => Some(number * ms / 1000.0),
            (Unit::Share, Suffix::Percent) => Some(number / 100.0),
            (Unit::Percent, Suffix::Percent) => Some(number),
            (Unit::Dollars, Suffix::Money(dollars)) => Some(number * dollars),
            (Unit::Milliseconds | Unit::Seconds, Suffix::Percent | Suffix::Money(_))
            | (Unit::Share | Unit::Percent, Suffix::Time(_) | Suffix::Money(_))
            | (Unit::Dollars, Suffix::Percent | Suffix::Time(_)) => None,
        }
    }
}

fn suffix(word: &str) -> Option<Suffix> {
    Some(match word {
        "%" | "percent" => Suffix::Percent,
        "ms" | "msec" | "msecs" | "millis" | "millisecond" | "milliseconds" => Suffix::Time(1.0),
        "s" | "sec" | "secs" | "second" | "seconds" => Suffix::Time(1000.0),
        "m" | "min" | "mins" | "minute" | "minutes" => Suffix::Time(60_000.0),
        "h" | "hour" | "hours" => Suffix::Time(3_600_000.0),
        "usd" | "dollar" | "dollars" => Suffix::Money(1.0),
        "cent" | "cents" => Suffix::Money(0.01),
        _ => return None,
    })
}

/// Intended value of a string with a unit.
pub(crate) struct IntendedValue {
    pub(crate) unit: Unit,
    /// The same amount in the unit of the field, if it is valid there.
    pub(crate) fix: Option<Fix>,
}

/// Returns the intended value of a string with a unit instead of a number. `None` for other values.
pub(crate) fn intended_value(key: &str, node: NodeRef<'_>, shape: &Shape) -> Option<IntendedValue> {
    let unit = Unit::of(key, shape)?;
    let number = unit.number(node.as_str()?)?;
    let fits = |number: f64| shape.admits_number(number) && (shape.kind() != Type::Integer || number.fract() == 0.0);
    Some(IntendedValue { unit, fix: written(node, number, fits) })
}

/// Returns the fix for a duration with a unit instead of a number of seconds. `None` for other values.
pub(crate) fn in_seconds(node: NodeRef<'_>) -> Option<Fix> {
    written(node, Unit::Seconds.number(node.as_str()?)?, |_| true)
}

fn written(node: NodeRef<'_>, number: f64, fits: impl Fn(f64) -> bool) -> Option<Fix> {
    // Binary fractions differ only in digits that nobody writes.
    let number = (number * 1e6).round() / 1e6;
    fits(number).then(|| fix::written(node, number.to_string(), Fix::safe))?
}
