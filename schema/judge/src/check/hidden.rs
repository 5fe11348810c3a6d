//! Texts and values with [hidden](MASK_CHARACTER) parts: their possible values.
//!
//! A raw text holds one hidden unit for each UTF-16 unit that was masked, none of them a line end. In a text from JSON,
//! up to six of them were one unit, because the secret was written with escapes.

use serde_json::Value;

use super::{json::same, text::length};
use crate::mask::MASK_CHARACTER;

/// Maximum number of hidden units that may have been one unit: `\u0041`.
const ESCAPE_LENGTH: usize = 6;

/// Returns whether a text fits a raw text with hidden parts.
pub fn covers(masked: &str, text: &str) -> bool {
    let mut units = text.encode_utf16();
    let mut hidden = [0; 2];
    let hidden = MASK_CHARACTER.encode_utf16(&mut hidden)[0];
    let newline = u16::from(b'\n');
    masked.encode_utf16().all(|unit| match units.next() {
        Some(there) => unit == there || unit == hidden && there != newline,
        None => false,
    }) && units.next().is_none()
}

/// Returns the least and the greatest number of UTF-16 units of a text from JSON.
pub fn lengths(masked: &str) -> (usize, usize) {
    let hidden = masked.matches(MASK_CHARACTER).count();
    let most = length(masked);
    (most - hidden + hidden.div_ceil(ESCAPE_LENGTH), most)
}

/// Returns whether a text from JSON may be this text.
pub fn may_be(masked: &str, text: &str) -> bool {
    let (Some(first), Some(last)) = (masked.find(MASK_CHARACTER), masked.rfind(MASK_CHARACTER)) else {
        return masked == text;
    };
    let (before, behind) = (&masked[..first], &masked[last + MASK_CHARACTER.len_utf8()..]);
    let Some(middle) = text.strip_prefix(before).and_then(|rest| rest.strip_suffix(behind)) else { return false };
    let (least, most) = lengths(&masked[first..last + MASK_CHARACTER.len_utf8()]);
    (least..=most).contains(&length(middle))
}

/// Returns whether a value may be this value, with its members in the same order.
pub fn may_be_value(masked: &Value, value: &Value) -> bool {
    match (masked, value) {
        (Value::String(masked), Value::String(text)) => may_be(masked, text),
        (Value::Array(masked), Value::Array(items)) => {
            masked.len() == items.len() && masked.iter().zip(items).all(|(masked, item)| may_be_value(masked, item))
        }
        (Value::Object(masked), Value::Object(members)) => {
            masked.len() == members.len()
                && masked
                    .iter()
                    .zip(members)
                    .all(|((masked_key, masked), (key, value))| may_be(masked_key, key) && may_be_value(masked, value))
        }
        (
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_),
            _,
        ) => same(masked, value),
    }
}

/// Returns whether a value may match the expected one, as [`matches`](super::json::matches) decides.
pub fn may_match(expected: &Value, masked: &Value) -> bool {
    match (expected, masked) {
        (Value::Object(expected), Value::Object(masked)) => expected.iter().all(|(key, expected)| {
            masked.get(key).is_some_and(|value| may_match(expected, value))
                || masked.iter().any(|(name, value)| {
                    name.contains(MASK_CHARACTER) && may_be(name, key) && may_match(expected, value)
                })
        }),
        (Value::Array(expected), Value::Array(masked)) => {
            expected.len() == masked.len() && expected.iter().zip(masked).all(|(left, right)| may_match(left, right))
        }
        (Value::String(expected), Value::String(masked)) => may_be(masked, expected),
        (
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) | Value::Object(_),
            _,
        ) => same(expected, masked),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MASK_CHARACTER, covers, lengths, may_be, may_match};

    /// Writes each hidden unit as `#`.
    fn masked(text: &str) -> String {
        text.replace('#', &MASK_CHARACTER.to_string())
    }

    fn masked_value(value: &Value) -> Value {
        serde_json::from_str(&masked(&value.to_string())).unwrap()
    }

    #[test]
    fn a_text_is_covered_unit_by_unit() {
        assert!(covers(&masked("a##b"), "axyb") && covers(&masked("a##b"), "a😀b"));
        for text in ["axb", "axyc", "axyzb", "ax\nb", "bxyb"] {
            assert!(!covers(&masked("a##b"), text), "{text:?}");
        }
    }

    #[test]
    fn a_text_out_of_json_may_be_shorter() {
        assert_eq!(lengths(&masked("a#######b")), (4, 9));
        for text in ["axyb", "axxxxxxxb"] {
            assert!(may_be(&masked("a#######b"), text), "{text}");
        }
        for text in ["axb", "ab", "axxxxxxxxb", "axyc"] {
            assert!(!may_be(&masked("a#######b"), text), "{text}");
        }
        assert!(may_be("a", "a") && !may_be("a", "b"));
        assert!(may_be(&masked("#-#"), "x-y") && !may_be(&masked("ab#ab"), "ab"));
    }

    #[test]
    fn values_match_where_a_filling_would() {
        let expected = json!({"key": "sk-1", "n": 1});
        for value in [json!({"key": "sk-#", "n": 1, "x": 2}), json!({"###": "sk-1", "n": 1})] {
            assert!(may_match(&expected, &masked_value(&value)), "{value}");
        }
        for value in [json!({"key": "pk-#", "n": 1}), json!({"key": "sk-#", "n": 2}), json!({"#": "sk-1", "n": 1})] {
            assert!(!may_match(&expected, &masked_value(&value)), "{value}");
        }
        assert!(may_match(&json!([["a"]]), &masked_value(&json!([["#"]]))));
    }
}
