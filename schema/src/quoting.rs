//! Values as they are written in YAML: in quotes where that is necessary.

use serde_json::Value;

/// Returns a number without trailing zeros.
pub(crate) fn plain(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number:.0}"),
        _ => value.to_string(),
    }
}

/// Returns a value as YAML in flow style.
pub fn show(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Number(_) => plain(value),
        Value::Array(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", ")),
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("{}: {}", scalar(key), show(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Null | Value::Bool(_) => value.to_string(),
    }
}

/// Returns a string as the value of a key with this indentation: a text of several lines as a block.
pub(crate) fn text(text: &str, indent: usize) -> String {
    let is_plain =
        |letter: char| letter == '\n' || !letter.is_control() && !"\u{feff}\u{85}\u{2028}\u{2029}".contains(letter);
    let is_block = text.contains('\n')
        && text.chars().all(is_plain)
        && !text.starts_with([' ', '\n'])
        && !text.ends_with(['\n', ' ']);
    if !is_block {
        return scalar(text);
    }
    let margin = " ".repeat(indent + 2);
    let line = |line: &str| if line.is_empty() { "\n".to_owned() } else { format!("\n{margin}{line}") };
    format!("|-{}", text.split('\n').map(line).collect::<String>())
}

/// Returns an allowed value for a message. `off` is shown without the quotes that only YAML 1.1 requires: no ClawSpec
/// field has it.
pub(crate) fn choice_label(value: &Value) -> String {
    match value.as_str() {
        Some(off @ "off") => off.to_owned(),
        Some(_) | None => show(value),
    }
}

/// Returns a string as YAML: plain if every YAML version reads it as a string, otherwise in double quotes.
pub fn scalar(text: &str) -> String {
    let plain = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./ ".contains(letter))
        && !text.ends_with(' ')
        && !["true", "false", "yes", "no", "on", "off", "null", "y", "n"].contains(&text.to_lowercase().as_str());
    if plain { text.to_owned() } else { Value::from(text).to_string() }
}
