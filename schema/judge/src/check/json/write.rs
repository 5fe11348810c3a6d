//! `JSON.stringify` and the text of numbers.

use std::fmt::Write;

use serde_json::Value;

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
        Value::Number(_) if super::is_nan(value) => out.push_str("null"),
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{number_text, text};

    #[test]
    fn numbers_are_written_as_in_javascript() {
        for (value, expected) in [
            (1.0, "1"),
            (-0.0, "0"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1e21, "1e+21"),
            (123456789012345680000.0, "123456789012345680000"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (1.5e-10, "1.5e-10"),
            (-1234.5, "-1234.5"),
            (100.0, "100"),
            (1.2345e22, "1.2345e+22"),
            (f64::INFINITY, "null"),
        ] {
            assert_eq!(number_text(value), expected);
        }
    }

    #[test]
    fn keys_that_are_positions_come_first() {
        let value = json!({"b": [1, {"x": "a\n"}], "10": 1, "2": true, "01": null});
        assert_eq!(text(&value), r#"{"2":true,"10":1,"b":[1,{"x":"a\n"}],"01":null}"#);
    }
}
