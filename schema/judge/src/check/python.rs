//! Values as Python compares and shows them, read from YAML 1.1 and JSON files for tools written in Python.

use serde_json::Value;

use crate::check::time;
use speclens_yaml::{Document, FaultKind, NodeRef, Scalar, ScalarRules, Shape};

/// A value as Python sees it.
#[derive(Clone, Debug, PartialEq)]
pub enum PythonValue {
    /// `None`.
    None,
    /// `True`, `False`.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A string.
    Text(String),
    /// A date, or a date with a time, as it was written.
    Date(String),
    /// A list.
    List(Vec<PythonValue>),
    /// A mapping. Keys are always strings here.
    Map(Vec<(String, PythonValue)>),
}

/// The reason why a file has no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoValue {
    /// It is not YAML.
    Yaml(FaultKind),
    /// It is not JSON, with the reader's error message.
    Json(String),
    /// Its aliases expand to too many values.
    TooLarge,
}

/// Maximum nesting of values, and maximum number of parts with aliases expanded.
const MAX_DEPTH: usize = 100;
const MAX_PARTS: usize = 200_000;

impl PythonValue {
    /// Reads a YAML file as PyYAML does.
    pub fn of_yaml(text: &str) -> Result<PythonValue, NoValue> {
        let document = Document::read(text, ScalarRules::Yaml11);
        if let Some(fault) = document.faults().first() {
            return Err(NoValue::Yaml(fault.kind.clone()));
        }
        match document.root() {
            None => Ok(PythonValue::None),
            Some(root) => PythonValue::of_node(root).ok_or(NoValue::TooLarge),
        }
    }

    /// Reads a JSON file.
    pub fn of_json(text: &str) -> Result<PythonValue, NoValue> {
        let value: Value = serde_json::from_str(text).map_err(|error| NoValue::Json(error.to_string()))?;
        Ok(PythonValue::of_value(&value))
    }

    /// Returns a node of a document.
    pub fn of_node(node: NodeRef<'_>) -> Option<PythonValue> {
        let mut left = MAX_PARTS;
        convert(node, 0, &mut left)
    }

    fn of_value(value: &Value) -> PythonValue {
        match value {
            Value::Null => PythonValue::None,
            Value::Bool(value) => PythonValue::Bool(*value),
            Value::Number(number) => match number.as_i64() {
                Some(whole) => PythonValue::Int(whole),
                None => PythonValue::Float(number.as_f64().unwrap_or(f64::NAN)),
            },
            Value::String(text) => PythonValue::Text(text.clone()),
            Value::Array(items) => PythonValue::List(items.iter().map(PythonValue::of_value).collect()),
            Value::Object(members) => PythonValue::Map(
                members.iter().map(|(key, value)| (key.clone(), PythonValue::of_value(value))).collect(),
            ),
        }
    }

    /// Returns whether two values are equal in Python: `1`, `1.0` and `True` are; a number never equals a string.
    pub fn equals(&self, other: &PythonValue) -> bool {
        if let (Some(one), Some(other)) = (self.number(), other.number()) {
            return one == other;
        }
        match (self, other) {
            (PythonValue::None, PythonValue::None) => true,
            (PythonValue::Text(one), PythonValue::Text(other)) => one == other,
            (PythonValue::Date(one), PythonValue::Date(other)) => same_date(one, other),
            (PythonValue::List(one), PythonValue::List(other)) => {
                one.len() == other.len() && one.iter().zip(other).all(|(one, other)| one.equals(other))
            }
            (PythonValue::Map(one), PythonValue::Map(other)) => {
                one.len() == other.len()
                    && one
                        .iter()
                        .all(|(key, value)| other.iter().any(|(name, found)| name == key && value.equals(found)))
            }
            _ => false,
        }
    }

    fn number(&self) -> Option<f64> {
        match self {
            PythonValue::Bool(value) => Some(f64::from(u8::from(*value))),
            PythonValue::Int(value) => Some(*value as f64),
            PythonValue::Float(value) => Some(*value),
            PythonValue::None
            | PythonValue::Text(_)
            | PythonValue::Date(_)
            | PythonValue::List(_)
            | PythonValue::Map(_) => None,
        }
    }

    /// Returns the value of a key; `None` for null, which counts as missing.
    pub fn get(&self, key: &str) -> Option<&PythonValue> {
        let PythonValue::Map(members) = self else { return None };
        let found = members.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value);
        found.filter(|value| **value != PythonValue::None)
    }

    /// Returns the value at keys that are joined by dots.
    pub fn dotted(&self, path: &str) -> Option<&PythonValue> {
        path.split('.').try_fold(self, |value, key| value.get(key))
    }

    /// Returns whether it is a mapping.
    pub fn is_map(&self) -> bool {
        matches!(self, PythonValue::Map(_))
    }

    /// Returns a string as it is, and everything else as Python prints it.
    pub fn show(&self) -> String {
        match self {
            PythonValue::Text(text) | PythonValue::Date(text) => text.clone(),
            PythonValue::None => "None".to_owned(),
            PythonValue::Bool(true) => "True".to_owned(),
            PythonValue::Bool(false) => "False".to_owned(),
            PythonValue::Int(value) => value.to_string(),
            PythonValue::Float(value) if value.fract() == 0.0 && value.abs() < 1e16 => format!("{value:.1}"),
            PythonValue::Float(value) => value.to_string(),
            PythonValue::List(items) => {
                format!("[{}]", items.iter().map(PythonValue::quoted).collect::<Vec<_>>().join(", "))
            }
            PythonValue::Map(members) => {
                let members = members.iter().map(|(key, value)| format!("'{key}': {}", value.quoted()));
                format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
            }
        }
    }

    fn quoted(&self) -> String {
        match self {
            PythonValue::Text(text) => format!("'{text}'"),
            _ => self.show(),
        }
    }

    /// Returns the kind of value, in words.
    pub fn kind(&self) -> &'static str {
        match self {
            PythonValue::None => "null",
            PythonValue::Bool(_) => "a boolean",
            PythonValue::Int(_) | PythonValue::Float(_) => "a number",
            PythonValue::Text(_) => "a string",
            PythonValue::Date(_) => "a date",
            PythonValue::List(_) => "a list",
            PythonValue::Map(_) => "a mapping",
        }
    }
}

/// Returns whether two dates are equal. A date never equals a date with a time.
fn same_date(one: &str, other: &str) -> bool {
    let parsed = (time::parse(one), time::parse(other));
    let both_dates = (one.len() == 10) == (other.len() == 10);
    one == other || both_dates && matches!(parsed, (Some(one), Some(other)) if one == other)
}

fn convert(node: NodeRef<'_>, depth: usize, left: &mut usize) -> Option<PythonValue> {
    *left = left.checked_sub(1)?;
    if depth > MAX_DEPTH {
        return None;
    }
    Some(match node.shape() {
        Shape::Scalar => {
            let text = node.text().unwrap_or_default();
            match node.scalar() {
                None | Some(Scalar::Null) => PythonValue::None,
                Some(Scalar::Bool(value)) => PythonValue::Bool(value),
                Some(Scalar::Int(value)) => PythonValue::Int(value),
                Some(Scalar::Float(value)) => PythonValue::Float(value),
                Some(Scalar::Text) => PythonValue::Text(text.to_owned()),
                Some(Scalar::Timestamp) => PythonValue::Date(text.to_owned()),
            }
        }
        Shape::Dangling => PythonValue::None,
        Shape::Sequence => {
            PythonValue::List(node.items().map(|item| convert(item, depth + 1, left)).collect::<Option<_>>()?)
        }
        Shape::Mapping => {
            let mut members: Vec<(String, PythonValue)> = Vec::new();
            let mut merged: Vec<(String, PythonValue)> = Vec::new();
            for entry in node.entries() {
                if entry.key.text() == Some("<<") {
                    let bases: Vec<_> = match entry.value.shape() {
                        Shape::Sequence => entry.value.items().collect(),
                        Shape::Scalar | Shape::Mapping | Shape::Dangling => vec![entry.value],
                    };
                    for base in bases {
                        if let PythonValue::Map(found) = convert(base, depth + 1, left)? {
                            for (key, value) in found {
                                if !merged.iter().any(|(known, _)| *known == key) {
                                    merged.push((key, value));
                                }
                            }
                        }
                    }
                    continue;
                }
                let key = entry.key.key_text();
                let value = convert(entry.value, depth + 1, left)?;
                members.retain(|(known, _)| *known != key);
                members.push((key, value));
            }
            merged.retain(|(key, _)| !members.iter().any(|(known, _)| known == key));
            merged.extend(members);
            PythonValue::Map(merged)
        }
    })
}

#[cfg(test)]
mod tests {
    use super::PythonValue;

    fn yaml(text: &str) -> PythonValue {
        PythonValue::of_yaml(text).unwrap()
    }

    #[test]
    fn equality_is_pythons() {
        for (one, other, equal) in [
            ("1", "1.0", true),
            ("1", "yes", true),
            ("1", "'1'", false),
            ("010", "8", true),
            ("2026-05-14", "2026-05-14", true),
            ("2026-05-14", "'2026-05-14'", false),
            ("[1, a]", "[1.0, a]", true),
            ("{a: 1, b: 2}", "{b: 2, a: 1}", true),
            ("{a: 1}", "{a: 1, b: 2}", false),
        ] {
            assert_eq!(yaml(one).equals(&yaml(other)), equal, "{one} and {other}");
        }
    }

    #[test]
    fn dotted_keys_lead_through_mappings_only() {
        let state = yaml("a: {b: {c: 1}, n: null}\nl: [x]\nbase: &b {q: 1}\nd: {<<: *b, r: 2}\n");
        assert_eq!(state.dotted("a.b.c"), Some(&PythonValue::Int(1)));
        assert_eq!(state.dotted("a.n"), None);
        assert_eq!(state.dotted("l.0"), None);
        assert_eq!(state.dotted("d.q"), Some(&PythonValue::Int(1)));
    }

    #[test]
    fn unreadable_file_has_reason() {
        assert!(PythonValue::of_yaml("a: [").is_err());
        assert!(PythonValue::of_yaml("---\na: 1\n---\nb: 2\n").is_err(), "two documents");
        assert!(PythonValue::of_json("{\"a\": }").is_err());
        assert_eq!(yaml(""), PythonValue::None);
    }
}
