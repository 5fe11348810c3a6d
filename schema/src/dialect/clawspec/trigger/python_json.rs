//! JSON in Python's style: sorted keys, a space after `,` and `:`, only ASCII.

use std::fmt::Write;

use serde_json::Value;

/// Returns a value as `json.dumps(value, sort_keys=True)` writes it.
pub(super) fn text(value: &Value) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

fn write_value(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(number) if number.is_f64() => out.push_str(&float(number.as_f64().unwrap_or_default())),
        Value::Number(number) => out.push_str(&number.to_string()),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write_value(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            let mut sorted: Vec<_> = members.iter().collect();
            sorted.sort_unstable_by_key(|(key, _)| *key);
            out.push('{');
            for (index, (key, value)) in sorted.into_iter().enumerate() {
                out.push_str(if index > 0 { ", " } else { "" });
                write_string(key, out);
                out.push_str(": ");
                write_value(value, out);
            }
            out.push('}');
        }
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
    use serde_json::json;

    use super::text;

    #[test]
    fn values_are_written_as_python_writes_them() {
        for (value, expected) in [
            (
                json!({ "b": [1, true, null], "a": { "z": "é\u{1F600}", "y": "\u{1}\u{7f}\"\\\n" } }),
                r#"{"a": {"y": "\u0001\u007f\"\\\n", "z": "\u00e9\ud83d\ude00"}, "b": [1, true, null]}"#,
            ),
            (
                json!([1.0, 0.1, -0.0, 1e15, 1e16, 1.5e-5, 0.0001, 1e300]),
                "[1.0, 0.1, -0.0, 1000000000000000.0, 1e+16, 1.5e-05, 0.0001, 1e+300]",
            ),
            (json!({}), "{}"),
            (json!([]), "[]"),
        ] {
            assert_eq!(text(&value), expected);
        }
    }
}
