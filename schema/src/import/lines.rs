//! The JSON values of a file: one document, an array, or one value per line.

use serde_json::Value;

use crate::words::plural;

#[derive(Debug, Default)]
pub(super) struct Lines {
    /// The values, each with its line, counted from 1.
    pub(super) values: Vec<(usize, Value)>,
    /// The last line, if it is not complete.
    pub(super) cut: Option<usize>,
    /// Other lines that are not valid JSON.
    damaged: Vec<usize>,
}

/// Reads a file. The error is a sentence.
pub(super) fn read(text: &str) -> Result<Lines, String> {
    let text = text.trim_start_matches('\u{feff}');
    if text.trim().is_empty() {
        return Err("it is empty".to_owned());
    }
    if let Some(whole) = parse(text) {
        return Ok(Lines { values: flat(1, whole), ..Lines::default() });
    }
    let mut lines = Lines::default();
    let filled: Vec<(usize, &str)> =
        text.lines().enumerate().map(|(at, line)| (at + 1, line)).filter(|(_, line)| !line.trim().is_empty()).collect();
    let last = filled.last().map_or(0, |(number, _)| *number);
    for (number, line) in filled {
        match parse(line) {
            Some(value) => lines.values.extend(flat(number, value)),
            None if number == last => lines.cut = Some(number),
            None => lines.damaged.push(number),
        }
    }
    if lines.values.is_empty() {
        let error = serde_json::from_str::<Value>(text).err();
        let place = error.map(|error| format!("line {}: {error}", error.line())).unwrap_or_default();
        return Err(format!("not valid JSON, {place}"));
    }
    Ok(lines)
}

/// Reads one value. Python writes numbers that JSON does not have, such as `NaN`: they are read as null.
fn parse(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok().or_else(|| serde_json::from_str(&without_constants(text)?).ok())
}

fn without_constants(text: &str) -> Option<String> {
    const CONSTANTS: [&str; 3] = ["-Infinity", "Infinity", "NaN"];
    if !CONSTANTS.iter().any(|constant| text.contains(constant)) {
        return None;
    }
    let (mut changed, mut rest, mut in_string) = (String::with_capacity(text.len()), text, false);
    while let Some(letter) = rest.chars().next() {
        let constant = CONSTANTS.into_iter().find(|constant| !in_string && rest.starts_with(constant));
        let length = match (constant, letter) {
            (Some(constant), _) => {
                changed.push_str("null");
                rest = &rest[constant.len()..];
                continue;
            }
            (None, '\\') => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            (None, letter) => letter.len_utf8(),
        };
        in_string ^= letter == '"';
        changed.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    Some(changed)
}

/// Returns the items of an array, or a value itself.
fn flat(line: usize, value: Value) -> Vec<(usize, Value)> {
    match value {
        Value::Array(items) => items.into_iter().map(|item| (line, item)).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => vec![(line, value)],
    }
}

impl Lines {
    /// Whether a line other than the last one was not read.
    pub(super) fn has_damaged(&self) -> bool {
        !self.damaged.is_empty()
    }

    pub(super) fn notes(&self) -> Vec<String> {
        let damaged = self.damaged.first().map(|first| {
            let (count, verb) = (self.damaged.len(), if self.damaged.len() == 1 { "is" } else { "are" });
            let lines = plural(count, "line");
            format!(
                "{lines} {verb} not valid JSON, the first one is line {first}, so it is unknown what did not happen"
            )
        });
        let cut = self.cut.map(|line| format!("line {line} is cut off, so the end of the conversation is unknown"));
        damaged.into_iter().chain(cut).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_python_are_read_as_null() {
        let lines = read(r#"{"a": NaN, "b": "NaN \" -Infinity", "c": [-Infinity, Infinity]}"#).unwrap();
        let expected = serde_json::json!({ "a": null, "b": "NaN \" -Infinity", "c": [null, null] });
        assert_eq!(lines.values, [(1, expected)]);
    }

    #[test]
    fn damaged_and_cut_lines_are_named() {
        let lines = read("{\"a\": 1}\noops\n\n[2, 3]\n{\"b\":").unwrap();
        assert_eq!(lines.values.len(), 3);
        let notes = lines.notes();
        assert_eq!(notes[0], "1 line is not valid JSON, the first one is line 2, so it is unknown what did not happen");
        assert_eq!(notes[1], "line 5 is cut off, so the end of the conversation is unknown");
    }
}
