//! Compares JSON values: equality, partial matches, and differences.

use serde_json::Value;

use speclens_yaml::Pointer;

use super::{is_nan, text};

/// A difference between an expectation and an observation.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// The place in the expectation.
    pub at: Pointer,
    /// The expected value.
    pub expected: Value,
    /// The observed value; `None` if it is missing.
    pub received: Option<Value>,
    /// The reason why they differ, if the values alone do not show it.
    pub note: Option<String>,
}

/// Returns whether two values are equal: numbers as doubles, with 0 and -0 distinguished; objects regardless of the
/// order of their members.
pub fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::String(left), Value::String(right)) => left == right,
        (Value::Number(_), Value::Number(_)) if is_nan(left) || is_nan(right) => false,
        (Value::Number(left), Value::Number(right)) => match (left.as_f64(), right.as_f64()) {
            (Some(left), Some(right)) => left == right && left.is_sign_negative() == right.is_sign_negative(),
            (None, _) | (_, None) => left == right,
        },
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(left, right)| same(left, right))
        }
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().all(|(key, value)| right.get(key).is_some_and(|other| same(value, other)))
        }
        (
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Number(_) | Value::Array(_) | Value::Object(_),
            _,
        ) => false,
    }
}

/// Returns whether a value matches an expectation: objects may have further members at every depth, lists must have the
/// same length, everything else must be equal.
pub fn matches(expected: &Value, actual: &Value) -> bool {
    match (expected, actual) {
        (Value::Object(expected), Value::Object(actual)) => {
            expected.iter().all(|(key, value)| actual.get(key).is_some_and(|other| matches(value, other)))
        }
        (Value::Array(expected), Value::Array(actual)) => {
            expected.len() == actual.len() && expected.iter().zip(actual).all(|(left, right)| matches(left, right))
        }
        (
            Value::Null | Value::Bool(_) | Value::String(_) | Value::Number(_) | Value::Array(_) | Value::Object(_),
            _,
        ) => same(expected, actual),
    }
}

/// Returns every place where [`matches`] fails, in the order of the expectation; empty if it holds.
pub fn differences(expected: &Value, actual: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    collect(expected, Some(actual), &Pointer::root(), &mut found);
    found
}

fn collect(expected: &Value, actual: Option<&Value>, at: &Pointer, found: &mut Vec<Difference>) {
    match (expected, actual) {
        (Value::Object(expected), Some(Value::Object(actual))) => {
            for (key, value) in expected {
                collect(value, actual.get(key), &at.key(key), found);
            }
        }
        (Value::Array(wanted), Some(Value::Array(items))) if wanted.len() == items.len() => {
            for (index, (wanted, item)) in wanted.iter().zip(items).enumerate() {
                collect(wanted, Some(item), &at.index(index), found);
            }
        }
        (_, Some(actual)) if matches(expected, actual) => {}
        (_, received) => found.push(Difference {
            at: at.clone(),
            expected: expected.clone(),
            received: received.cloned(),
            note: received.and_then(|received| note(expected, received)),
        }),
    }
}

fn note(expected: &Value, received: &Value) -> Option<String> {
    if let (Value::Array(expected), Value::Array(received)) = (expected, received) {
        return Some(format!("a list of length {} instead of {}", received.len(), expected.len()));
    }
    if let (Value::String(expected), Value::String(received)) = (expected, received) {
        return (expected.to_lowercase() == received.to_lowercase()).then(|| "only the case differs".to_owned());
    }
    if is_nan(expected) {
        return Some("`.nan` is not equal to any value".to_owned());
    }
    let (wanted, got) = (kind(expected), kind(received));
    (wanted != got).then(|| format!("{got} instead of {wanted}"))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

impl Difference {
    /// Returns one line: `order_id: expected "12345", found 12345 (a number instead of a string)`.
    pub fn line(&self) -> String {
        let place: Vec<_> = self.at.steps().map(|step| step.to_string()).collect();
        let received = match &self.received {
            Some(received) => format!("found {}", text(received)),
            None => "but it is missing".to_owned(),
        };
        let note = self.note.as_ref().map(|note| format!(" ({note})")).unwrap_or_default();
        let place = if place.is_empty() { String::new() } else { format!("{}: ", place.join(".")) };
        format!("{place}expected {}, {received}{note}", text(&self.expected))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{differences, matches};

    #[track_caller]
    fn check(expected: Value, actual: Value, lines: &[&str]) {
        let found: Vec<String> = differences(&expected, &actual).iter().map(super::Difference::line).collect();
        assert_eq!(found, lines);
        assert_eq!(matches(&expected, &actual), lines.is_empty());
    }

    #[test]
    fn objects_match_in_part_and_lists_as_a_whole() {
        check(json!({"a": {"b": 1}}), json!({"a": {"b": 1, "c": 2}, "d": 3}), &[]);
        check(json!({}), json!({"a": 1}), &[]);
        check(json!({"l": [{"a": 1}, {}]}), json!({"l": [{"a": 1, "b": 2}, {"c": 3}]}), &[]);
        check(
            json!({"l": [1, 2]}),
            json!({"l": [1, 2, 3]}),
            &["l: expected [1,2], found [1,2,3] (a list of length 3 instead of 2)"],
        );
        check(
            json!({"l": {"0": 1}}),
            json!({"l": [1]}),
            &["l: expected {\"0\":1}, found [1] (a list instead of an object)"],
        );
    }

    #[test]
    fn nothing_is_converted() {
        check(json!({"a": "1"}), json!({"a": 1}), &["a: expected \"1\", found 1 (a number instead of a string)"]);
        check(json!({"a": null}), json!({}), &["a: expected null, but it is missing"]);
        check(json!({"a": 0}), json!({"a": -0.0}), &["a: expected 0, found 0"]);
        check(json!({"a": 1}), json!({"a": 1.0}), &[]);
        check(json!({"a": 9007199254740992_u64}), json!({"a": 9007199254740993_u64}), &[]);
        check(
            json!({"a": {"b": "X"}}),
            json!({"a": {"b": "x"}}),
            &["a.b: expected \"X\", found \"x\" (only the case differs)"],
        );
        check(json!({"__proto__": {}}), json!({}), &["__proto__: expected {}, but it is missing"]);
    }
}
