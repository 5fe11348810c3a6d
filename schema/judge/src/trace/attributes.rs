//! Access to attributes: by name, as text or number.

use serde_json::Value;

use super::otlp::{AnyValue, KeyValue, OtelValue};

/// Attributes of a span, an event or a program.
#[derive(Clone, Copy, Debug)]
pub struct Attributes<'a>(pub &'a [KeyValue]);

impl<'a> Attributes<'a> {
    /// Returns the value of an attribute.
    pub fn get(self, key: &str) -> Option<&'a OtelValue> {
        self.0.iter().find(|it| it.key == key)?.value.as_ref()?.held.as_ref()
    }

    /// Returns the text of an attribute that is not empty.
    pub fn text(self, key: &str) -> Option<&'a str> {
        match self.get(key)? {
            OtelValue::Text(text) => Some(text.as_str()).filter(|text| !text.is_empty()),
            OtelValue::Truth(_)
            | OtelValue::Whole(_)
            | OtelValue::Fraction(_)
            | OtelValue::List(_)
            | OtelValue::Mapping(_)
            | OtelValue::Bytes(_) => None,
        }
    }

    /// Returns the first non-empty text under one of several names.
    pub(crate) fn first_text(self, keys: &[&str]) -> Option<&'a str> {
        keys.iter().find_map(|key| self.text(key))
    }

    /// Returns the number in an attribute, even if it is written as text.
    pub fn number(self, key: &str) -> Option<f64> {
        let number = match self.get(key)? {
            OtelValue::Whole(number) => Some(*number as f64),
            OtelValue::Fraction(number) => Some(*number),
            OtelValue::Text(text) => text.trim().parse().ok(),
            OtelValue::Truth(_) | OtelValue::List(_) | OtelValue::Mapping(_) | OtelValue::Bytes(_) => None,
        };
        number.filter(|number: &f64| number.is_finite())
    }

    /// Returns the first number under one of several names.
    pub(crate) fn first_number(self, keys: &[&str]) -> Option<f64> {
        keys.iter().find_map(|key| self.number(key))
    }

    /// Returns the first count under one of several names.
    pub fn first_count(self, keys: &[&str]) -> Option<u64> {
        // Counts are far below what a double counts exactly.
        self.first_number(keys).filter(|number| *number >= 0.0).map(|number| number as u64)
    }

    /// Returns the names and values.
    pub fn iter(self) -> impl Iterator<Item = (&'a str, &'a OtelValue)> {
        self.0.iter().filter_map(|it| Some((it.key.as_str(), it.value.as_ref()?.held.as_ref()?)))
    }

    /// Returns the value of an attribute as JSON. A text that is JSON is parsed: exporters that support only flat
    /// attributes write nested ones that way.
    pub fn json(self, key: &str) -> Option<Value> {
        Some(match self.get(key)? {
            OtelValue::Text(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.clone())),
            other => as_json(other),
        })
    }
}

/// Returns a value as JSON. Bytes are omitted.
pub(super) fn as_json(held: &OtelValue) -> Value {
    match held {
        OtelValue::Text(text) => Value::String(text.clone()),
        OtelValue::Truth(truth) => Value::Bool(*truth),
        OtelValue::Whole(number) => Value::from(*number),
        OtelValue::Fraction(number) => Value::from(*number),
        OtelValue::List(list) => Value::Array(list.values.iter().map(any_as_json).collect()),
        OtelValue::Mapping(mapping) => {
            let members = mapping.values.iter();
            Value::Object(
                members.map(|it| (it.key.clone(), it.value.as_ref().map_or(Value::Null, any_as_json))).collect(),
            )
        }
        OtelValue::Bytes(_) => Value::Null,
    }
}

pub(super) fn any_as_json(value: &AnyValue) -> Value {
    value.held.as_ref().map_or(Value::Null, as_json)
}

/// Returns a value as text for comparisons; `None` if it is not a single value.
pub fn as_text(held: &OtelValue) -> Option<String> {
    match held {
        OtelValue::Text(text) => Some(text.clone()),
        OtelValue::Truth(truth) => Some(truth.to_string()),
        OtelValue::Whole(number) => Some(number.to_string()),
        OtelValue::Fraction(number) => Some(crate::check::json::number_text(*number)),
        OtelValue::List(_) | OtelValue::Mapping(_) | OtelValue::Bytes(_) => None,
    }
}
