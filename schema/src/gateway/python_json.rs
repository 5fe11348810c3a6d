//! JSON in Python's style: sorted keys, a space after `,` and `:`, only ASCII.

use std::cmp::Ordering;

use crate::check::python::PythonValue;

/// Returns a value as `json.dumps(value, sort_keys=True)` writes it.
pub(super) fn text(value: &PythonValue) -> String {
    match value {
        PythonValue::None => "null".to_owned(),
        PythonValue::Bool(value) => value.to_string(),
        PythonValue::Int(digits) => digits.clone(),
        PythonValue::Float(value) => float(*value),
        PythonValue::Text(text) | PythonValue::Date(text) => quoted(text),
        PythonValue::List(items) => format!("[{}]", items.iter().map(text).collect::<Vec<_>>().join(", ")),
        PythonValue::Map(members) => {
            let member =
                |(name, value): &(PythonValue, PythonValue)| format!("{}: {}", quoted(&key(name)), text(value));
            format!("{{{}}}", sorted(members).into_iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns a key of a mapping as `json.dumps` writes it, without quotes.
pub(super) fn key(key: &PythonValue) -> String {
    match key {
        PythonValue::Text(text) | PythonValue::Date(text) => text.clone(),
        PythonValue::None
        | PythonValue::Bool(_)
        | PythonValue::Int(_)
        | PythonValue::Float(_)
        | PythonValue::List(_)
        | PythonValue::Map(_) => text(key),
    }
}

/// Returns the members in the order of their keys: numbers by value, everything else as written.
fn sorted(members: &[(PythonValue, PythonValue)]) -> Vec<&(PythonValue, PythonValue)> {
    let number = |name: &PythonValue| match name {
        PythonValue::Bool(value) => Some(f64::from(u8::from(*value))),
        PythonValue::Int(digits) => digits.parse().ok(),
        PythonValue::Float(value) => Some(*value),
        PythonValue::None
        | PythonValue::Text(_)
        | PythonValue::Date(_)
        | PythonValue::List(_)
        | PythonValue::Map(_) => None,
    };
    let mut sorted: Vec<_> = members.iter().collect();
    if sorted.iter().all(|(name, _)| number(name).is_some()) {
        sorted.sort_by(|(one, _), (other, _)| number(one).partial_cmp(&number(other)).unwrap_or(Ordering::Equal));
    } else {
        sorted.sort_by_cached_key(|(name, _)| key(name));
    }
    sorted
}

/// Returns a string in quotes, in which everything but printable ASCII is escaped.
fn quoted(text: &str) -> String {
    let mut ascii = String::new();
    for letter in serde_json::Value::from(text).to_string().chars() {
        match letter {
            ' '..='~' => ascii.push(letter),
            _ => ascii.extend(letter.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}"))),
        }
    }
    ascii
}

/// Returns the shortest digits that represent the number, with an exponent from `1e16` and below `1e-4`.
fn float(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "Infinity".to_owned() } else { "-Infinity".to_owned() };
    }
    let written = format!("{value:e}");
    let (digits, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    match exponent.parse::<i32>().unwrap_or_default() {
        exponent if (-4..16).contains(&exponent) || value == 0.0 => {
            let plain = value.to_string();
            if plain.contains('.') { plain } else { format!("{plain}.0") }
        }
        exponent => format!("{digits}e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs()),
    }
}

#[cfg(test)]
mod tests {
    use crate::check::python::PythonValue;

    use super::text;

    #[test]
    fn values_are_written_as_python_writes_them() {
        for (yaml, expected) in [
            (
                "{b: [1, true, null], a: {z: é\u{1F600}, y: \"\\u0001\\u007f\\\"\\\\\\n\"}}",
                r#"{"a": {"y": "\u0001\u007f\"\\\n", "z": "\u00e9\ud83d\ude00"}, "b": [1, true, null]}"#,
            ),
            (
                "[1.0, 0.1, -0.0, 1.0e+15, 1.0e+16, 1.5e-5, 0.0001, 1.0e+300]",
                "[1.0, 0.1, -0.0, 1000000000000000.0, 1e+16, 1.5e-05, 0.0001, 1e+300]",
            ),
            (
                "[9223372036854775808, -123456789012345678901, 0x10, 1_000]",
                "[9223372036854775808, -123456789012345678901, 16, 1000]",
            ),
            ("[.nan, .inf, -.inf, !!float 2, !!int '3']", "[NaN, Infinity, -Infinity, 2.0, 3]"),
            ("{10: a, 9: b}", r#"{"9": "b", "10": "a"}"#),
            ("{yes: a, ~: b, 1.50: c, x: d}", r#"{"1.5": "c", "null": "b", "true": "a", "x": "d"}"#),
            ("{}", "{}"),
            ("[]", "[]"),
        ] {
            assert_eq!(text(&PythonValue::of_yaml(yaml).unwrap()), expected, "{yaml}");
        }
    }
}
