//! JSON as JavaScript reads, compares and writes it.
//!
//! The original tool reads output with `JSON.parse`: lone surrogates are accepted, the last of repeated members counts,
//! every number is a double. Nesting is bounded, because every use of a [`Value`] (even dropping it) takes stack space
//! for each level of nesting.

use std::{
    borrow::Cow,
    fmt::{self, Write},
    sync::LazyLock,
};

use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::Value;
use speclens_yaml::Pointer;

pub use speclens_yaml::{NAN, number};

fn is_nan(value: &Value) -> bool {
    value.as_u64() == Some(NAN)
}

/// The reason why a text cannot be read as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    pub kind: JsonErrorKind,
    pub line: usize,
    /// The byte in the line, from 1.
    pub column: usize,
    /// The problem, as a lower-case sentence without a final period.
    pub message: String,
}

/// Kinds of reasons why a text cannot be read as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonErrorKind {
    Syntax,
    /// It may be JSON, and is nested too deeply, or has a number that is too large, to be read here.
    Limit,
}

impl fmt::Display for JsonError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} at line {}, column {}", self.message, self.line, self.column)
    }
}

impl std::error::Error for JsonError {}

/// Maximum nesting of a value. What reads values by recursion needs a bounded stack.
const MAX_DEPTH: usize = 1000;

/// Reads one JSON value, surrounded by white space at most.
pub fn parse(text: &str) -> Result<Value, JsonError> {
    let text = without_lone_surrogates(text);
    let text = within_doubles(&text);
    let mut reader = serde_json::Deserializer::from_str(&text);
    if depth(&text) <= MAX_DEPTH {
        reader.disable_recursion_limit();
    }
    let read = Value::deserialize(&mut reader).and_then(|value| reader.end().map(|()| value));
    let mut value = read.map_err(|error| {
        let message = error.to_string();
        let message = message.rsplit_once(" at line ").map_or(message.as_str(), |(message, _)| message);
        let kind = match message {
            "recursion limit exceeded" => JsonErrorKind::Limit,
            _ => JsonErrorKind::Syntax,
        };
        JsonError { kind, line: error.line(), column: error.column().max(1), message: message.to_owned() }
    })?;
    round_numbers(&mut value);
    Ok(value)
}

fn depth(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            // What is in a string nests nothing.
            b'"' => while bytes.next().is_some_and(|byte| byte != b'"' && (byte != b'\\' || bytes.next().is_some())) {},
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Replaces each escaped surrogate without its other half by U+FFFD.
fn without_lone_surrogates(text: &str) -> Cow<'_, str> {
    static ESCAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        let pair = r"u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}";
        Regex::new(&format!(r"(?s)\\(?:{pair}|(?<lone>u[dD][89a-fA-F][0-9a-fA-F]{{2}})|.)")).ok()
    });
    let replacement = |escape: &Captures<'_>| match escape.name("lone") {
        Some(_) => r"\ufffd".to_owned(),
        None => escape[0].to_owned(),
    };
    match ESCAPE.as_ref().filter(|_| text.contains(r"\ud") || text.contains(r"\uD")) {
        Some(escape) => escape.replace_all(text, replacement),
        None => Cow::Borrowed(text),
    }
}

/// Replaces each number beyond the largest double by that: JavaScript reads it as infinity, which JSON lacks.
fn within_doubles(text: &str) -> Cow<'_, str> {
    static TOKEN: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r#"(?s)"(?:\\.|[^"\\])*"|(?<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?)"#).ok()
    });
    let is_beyond = |number: &str| number.parse::<f64>().is_ok_and(f64::is_infinite);
    let replacement = |token: &Captures<'_>| match token.name("number").filter(|number| is_beyond(number.as_str())) {
        Some(number) if number.as_str().starts_with('-') => format!("{:e}", f64::MIN),
        Some(_) => format!("{:e}", f64::MAX),
        None => token[0].to_owned(),
    };
    // Only an exponent of three digits, or as many digits, lead there.
    let may_be_beyond = |bytes: &[u8]| bytes.iter().filter(|byte| byte.is_ascii_digit()).count() > 3;
    match TOKEN.as_ref().filter(|_| may_be_beyond(text.as_bytes()) && text.contains(['e', 'E']) || text.len() > 300) {
        Some(token) => token.replace_all(text, replacement),
        None => Cow::Borrowed(text),
    }
}

fn round_numbers(value: &mut Value) {
    match value {
        Value::Number(read) => *value = number(read.as_f64().unwrap_or_default()),
        Value::Array(items) => items.iter_mut().for_each(round_numbers),
        Value::Object(members) => members.values_mut().for_each(round_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

/// Returns a value as JavaScript writes it: without white space, with keys that are list positions first and in
/// ascending order.
pub fn text(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Number(_) if is_nan(value) => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) => out.push_str(&number_text(number.as_f64().unwrap_or_default())),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_value(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut positions: Vec<(u32, &Value)> =
                members.iter().filter_map(|(key, value)| Some((position(key)?, value))).collect();
            positions.sort_unstable_by_key(|&(position, _)| position);
            let positions = positions.into_iter().map(|(position, value)| (position.to_string(), value));
            let others = members.iter().filter(|(key, _)| position(key).is_none());
            out.push('{');
            for (index, (key, value)) in positions.chain(others.map(|(key, value)| (key.clone(), value))).enumerate() {
                if index > 0 {
                    out.push(',');
                }
                write_string(&key, out);
                out.push(':');
                write_value(value, out);
            }
            out.push('}');
        }
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push_str(&serde_json::to_string(text).unwrap_or_default());
}

/// Returns a key that JavaScript treats as a list position: `7`, not `07`.
fn position(key: &str) -> Option<u32> {
    let canonical = key == "0" || key.starts_with(|first: char| ('1'..='9').contains(&first));
    key.parse().ok().filter(|&position| canonical && position < u32::MAX)
}

/// Returns a number as JavaScript writes it: the shortest digits that give the same double, with an exponent from 1e21
/// on and below 1e-6; `null` if it is not finite, as in JSON.
pub fn number_text(value: f64) -> String {
    if !value.is_finite() {
        return "null".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{:e}", value.abs());
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let digits = mantissa.replace('.', "");
    let point = exponent.parse::<i32>().unwrap_or_default() + 1;
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let mut out = String::from(if value < 0.0 { "-" } else { "" });
    match point {
        22.. | ..=-6 => {
            out.push_str(mantissa);
            let _ = write!(out, "e{:+}", point - 1);
        }
        _ if point >= count => {
            out.push_str(&digits);
            out.extend(std::iter::repeat_n('0', usize::try_from(point - count).unwrap_or_default()));
        }
        1.. => {
            let (whole, fraction) = digits.split_at(usize::try_from(point).unwrap_or_default());
            let _ = write!(out, "{whole}.{fraction}");
        }
        _ => {
            out.push_str("0.");
            out.extend(std::iter::repeat_n('0', usize::try_from(-point).unwrap_or_default()));
            out.push_str(&digits);
        }
    }
    out
}

#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub at: Pointer,
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
mod tests;
