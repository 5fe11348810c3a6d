//! Writes what was observed in place of what a failed claim expected.

use serde_json::{Number, Value};

use crate::{
    document::{Document, NodeRef, Pointer},
    edit,
    problem::Edit,
    quoting::scalar,
};

/// Maximum number of characters of a text that is written.
const MAX_CHARACTERS: usize = 200;

/// Returns the observed value as it would be written, and the edits that write it. `None` if it is no short value on one
/// line, or the expected one is not written there, or is that of several tests.
pub fn accepted(document: &Document, at: &Pointer, observed: &Value) -> Option<(String, Vec<Edit>)> {
    let words = match observed {
        Value::String(text) if text.chars().count() <= MAX_CHARACTERS && !text.contains(['\n', '\r']) => scalar(text),
        Value::Number(number) => number_words(number),
        Value::Bool(_) | Value::Null => observed.to_string(),
        Value::String(_) | Value::Array(_) | Value::Object(_) => return None,
    };
    let node = written(document.find(at).filter(|_| !edit::nodes::is_shared(document, at))?)?;
    (node.text().is_some()).then_some(())?;
    Some((words.clone(), edit::replace(node, words)?))
}

/// Returns a number without an exponent, which some readers of YAML take for a string.
fn number_words(number: &Number) -> String {
    let words = number.to_string();
    match number.as_f64().filter(|_| words.contains('e')) {
        Some(value) => value.to_string(),
        None => words,
    }
}

/// Returns the value of an assertion that is a mapping of its type to it.
fn written(node: NodeRef<'_>) -> Option<NodeRef<'_>> {
    let mut entries = node.entries();
    match (entries.next(), entries.next()) {
        (None, _) => Some(node),
        (Some(only), None) => Some(only.value),
        (Some(_), Some(_)) => None,
    }
}
