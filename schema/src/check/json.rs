//! JSON as JavaScript reads, compares and writes it.
//!
//! What the original tool takes from a program it takes through `JSON.parse`: lone surrogates are accepted, of
//! repeated members the last counts, every number is a double. Nesting is bounded, because every use
//! of a [`Value`] (even dropping it) takes a level of the stack for each level of nesting.

mod compare;
mod read;
mod write;

use serde_json::Value;

pub use compare::{Difference, differences, matches, same};
pub use read::{DEPTH_LIMIT, JsonError, JsonErrorKind, parse};
pub use write::{number_text, text};

/// Stands for the number that is equal to nothing, not even itself, in an expectation. No text is read as this
/// number: one that large becomes a double.
pub const NAN: u64 = u64::MAX;

fn is_nan(value: &Value) -> bool {
    value.as_u64() == Some(NAN)
}

/// A double as a JSON value: a whole number where it is one, so that 2.0 is 2. There is no infinity in
/// JSON values: the largest double stands for it.
pub fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT && !(value == 0.0 && value.is_sign_negative()) {
        return Value::from(value as i64);
    }
    serde_json::Number::from_f64(value.clamp(f64::MIN, f64::MAX)).map_or(Value::Null, Value::Number)
}
