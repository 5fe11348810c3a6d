//! JSON in Python's style: sorted keys, a space after `,` and `:`, only ASCII.

use std::fmt::Write;

use crate::check::python::PythonValue;

/// Returns a value as `json.dumps(value, sort_keys=True)` writes it.
pub(super) fn text(value: &PythonValue) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
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

fn write_value(value: &PythonValue, out: &mut String) {
    match value {
        PythonValue::None => out.push_str("null"),
        PythonValue::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        PythonValue::Int(digits) => out.push_str(digits),
        PythonValue::Float(value) => out.push_str(&float(*value)),
        PythonValue::Text(text) | PythonValue::Date(text) => write_string(text, out),
        PythonValue::List(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write_value(item, out);
            }
            out.push(']');
        }
        PythonValue::Map(members) => {
            out.push('{');
            for (index, (name, value)) in sorted(members).into_iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write_string(&key(name), out);
                out.push_str(": ");
                write_value(value, out);
            }
            out.push('}');
        }
    }
}

/// Returns the members in the order of their keys: numbers by value, everything else as written.
fn sorted(members: &[(PythonValue, PythonValue)]) -> Vec<&(PythonValue, PythonValue)> {
    let mut sorted: Vec<_> = members.iter().collect();
    match sorted.iter().map(|(key, _)| number(key)).collect::<Option<Vec<f64>>>() {
        Some(_) => sorted.sort_by(|(one, _), (other, _)| {
            number(one).unwrap_or_default().total_cmp(&number(other).unwrap_or_default())
        }),
        None => sorted.sort_by_cached_key(|(name, _)| key(name)),
    }
    sorted
}

fn number(key: &PythonValue) -> Option<f64> {
    match key {
        PythonValue::Bool(value) => Some(f64::from(u8::from(*value))),
        PythonValue::Int(digits) => digits.parse().ok(),
        PythonValue::Float(value) => Some(*value),
        PythonValue::None
        | PythonValue::Text(_)
        | PythonValue::Date(_)
        | PythonValue::List(_)
        | PythonValue::Map(_) => None,
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            ' '..='~' => out.push(letter),
            _ => {
                for unit in letter.encode_utf16(&mut [0; 2]) {
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
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
