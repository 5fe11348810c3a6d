//! `JSON.parse`.

use std::{borrow::Cow, fmt, sync::LazyLock};

use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::Value;

use super::number;

/// The reason why a text cannot be read as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// The kind of reason.
    pub kind: JsonErrorKind,
    /// The line, from 1.
    pub line: usize,
    /// The byte in the line, from 1.
    pub column: usize,
    /// The problem, as a lower-case sentence without a final period.
    pub message: String,
}

/// Kinds of reasons why a text cannot be read as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JsonErrorKind {
    /// It is not JSON.
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

/// Returns the nesting of a value.
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

/// Makes every number a double.
fn round_numbers(value: &mut Value) {
    match value {
        Value::Number(read) => *value = number(read.as_f64().unwrap_or_default()),
        Value::Array(items) => items.iter_mut().for_each(round_numbers),
        Value::Object(members) => members.values_mut().for_each(round_numbers),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{JsonErrorKind, parse};
    use crate::check::json::{matches, same, text};

    #[test]
    fn json_accepted_by_javascript_is_accepted() {
        assert_eq!(parse(r#" {"a":1,"b":[true,null,"x"],"a":2} "#).unwrap(), json!({"a": 2, "b": [true, null, "x"]}));
        assert_eq!(parse(r#""\ud83d\ude00 \ud83d \ude00 \u0041""#).unwrap(), json!("😀 \u{fffd} \u{fffd} A"));
        assert_eq!(parse(r#""\\ud800 \"\ud800""#).unwrap(), json!("\\ud800 \"\u{fffd}"));
        assert_eq!(parse("12345678901234567890").unwrap(), json!(12345678901234567890.0));
        assert!(parse("-0").unwrap().as_f64().unwrap().is_sign_negative());
        assert_eq!(parse("2.0").unwrap(), json!(2));
        assert_eq!(parse(r#"[1e400,-1e400,"1e400"]"#).unwrap(), json!([f64::MAX, f64::MIN, "1e400"]));
    }

    #[test]
    fn json_is_read_to_a_thousand_levels() {
        let nested = |levels: usize| format!(r#"{}"a\"]["{}"#, "[".repeat(levels), "]".repeat(levels));
        assert!(parse(&nested(1_000)).is_ok());
        assert_eq!(parse(&nested(1_001)).unwrap_err().kind, JsonErrorKind::Limit);
    }

    #[test]
    fn json_refused_by_javascript_is_refused_with_place() {
        for (text, message) in [
            ("", "EOF while parsing a value at line 1, column 1"),
            ("{\"a\":\n  é}", "expected value at line 2, column 3"),
            ("[1,]", "trailing comma at line 1, column 4"),
            ("{a:1}", "key must be a string at line 1, column 2"),
            ("01", "invalid number at line 1, column 2"),
            ("1.", "EOF while parsing a value at line 1, column 2"),
            ("\"a\nb\"", "control character (\\u0000-\\u001F) found while parsing a string at line 2, column 1"),
            ("\"a", "EOF while parsing a string at line 1, column 2"),
            ("\u{a0}1", "expected value at line 1, column 1"),
            ("NaN", "expected value at line 1, column 1"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), message, "{text:?}");
        }
    }

    #[test]
    fn json_beyond_the_limits_may_be_valid() {
        let in_strings = r#"["]", "#.repeat(200_000);
        for text in ["[".repeat(200_000), "{\"a\":".repeat(1_001), in_strings] {
            assert_eq!(parse(&text).unwrap_err().kind, JsonErrorKind::Limit);
        }
        let nested = format!("{}1{}", "[".repeat(100), "]".repeat(100));
        let value = parse(&nested).unwrap();
        assert!(same(&value, &value.clone()) && matches(&value, &value) && text(&value) == nested);
    }

    fn ordinary() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-1_000_000_000_i64..1_000_000_000).prop_map(Value::from),
            (-1e9..1e9_f64).prop_filter("not whole", |it| it.fract() != 0.0).prop_map(Value::from),
            "[a-zé\\n\"\\\\\u{1}😀]{0,6}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 30, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::vec(("[a-c]{1,2}", inner), 0..5)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn ordinary_values_are_read_as_serde_json_reads_them(value in ordinary(), pretty: bool) {
            let written = if pretty { format!("{value:#}") } else { value.to_string() };
            prop_assert_eq!(parse(&written).unwrap(), value);
        }

        #[test]
        fn both_refuse_the_same_texts(text in r#"[\[\]{}",:0-9a-e.\\ntrufals -]{0,16}"#) {
            prop_assert_eq!(parse(&text).is_ok(), serde_json::from_str::<Value>(&text).is_ok(), "{}", text);
        }
    }
}
