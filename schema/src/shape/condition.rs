//! Conditions on a node: the `if` of branches and of declared problems.

use std::cell::RefCell;

use regex::Regex;
use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::document::{NodeRef, Scalar, Shape as NodeShape};

/// Whether a node fulfils a condition. Supports only the keywords in conditions of our schemas. They mean the same as in
/// JSON Schema, except that a keyword for one type does not hold for values of other types.
pub(crate) fn holds(condition: &'static Value, node: NodeRef<'_>) -> bool {
    let Value::Object(keywords) = condition else { return condition != &Value::Bool(false) };
    let length = |shape| if node.shape() == shape { Some(node.items().count() + node.entries().count()) } else { None };
    let most = |shape, value: &Value| length(shape).is_some_and(|length| Some(length as u64) <= value.as_u64());
    keywords.iter().all(|(keyword, value)| match (keyword.as_str(), value) {
        ("required", Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).all(|name| node.get(name).is_some())
        }
        ("properties", Value::Object(members)) => {
            members.iter().all(|(name, schema)| node.get(name).is_none_or(|member| holds(schema, member)))
        }
        ("const", value) => equals(node, value),
        ("enum", Value::Array(values)) => values.iter().any(|value| equals(node, value)),
        ("contains", schema) => node.has_item(std::ptr::from_ref(schema).addr(), |item| holds(schema, item)),
        ("type", Value::String(name)) => match name.as_str() {
            "object" => node.shape() == NodeShape::Mapping,
            "array" => node.shape() == NodeShape::Sequence,
            "string" => node.as_str().is_some(),
            "number" => number(node).is_some(),
            // A missing value may still be added, so completion is offered.
            "null" => false,
            _ => true,
        },
        ("maximum", most) => number(node) <= most.as_f64() && number(node).is_some(),
        ("exclusiveMaximum", most) => number(node) < most.as_f64() && number(node).is_some(),
        ("minimum", least) => number(node) >= least.as_f64(),
        ("exclusiveMinimum", least) => number(node) > least.as_f64(),
        ("maxItems", value) => most(NodeShape::Sequence, value),
        ("maxProperties", value) => most(NodeShape::Mapping, value),
        ("pattern", Value::String(pattern)) => node.as_str().is_some_and(|text| matches(pattern, text)),
        ("not", schema) => !holds(schema, node),
        ("anyOf", Value::Array(schemas)) => schemas.iter().any(|schema| holds(schema, node)),
        _ => true,
    })
}

fn equals(node: NodeRef<'_>, value: &Value) -> bool {
    match value {
        Value::String(text) => node.as_str() == Some(text),
        Value::Number(expected) => number(node).is_some_and(|number| Some(number) == expected.as_f64()),
        Value::Bool(expected) => node.scalar() == Some(Scalar::Bool(*expected)),
        Value::Null => node.is_null(),
        Value::Array(_) | Value::Object(_) => false,
    }
}

fn number(node: NodeRef<'_>) -> Option<f64> {
    match node.scalar()? {
        Scalar::Int(value) => Some(value as f64),
        Scalar::Float(value) => Some(value),
        Scalar::Null | Scalar::Bool(_) | Scalar::Text | Scalar::Timestamp => None,
    }
}

pub(crate) fn matches(pattern: &'static str, text: &str) -> bool {
    with_pattern(pattern, |pattern| pattern.is_match(text)).unwrap_or(false)
}

/// Returns a text without the parts that match a pattern of our schemas.
pub(crate) fn without(pattern: &'static str, text: &str) -> String {
    with_pattern(pattern, |pattern| pattern.replace_all(text, "").into_owned()).unwrap_or_default()
}

/// Each pattern is compiled once.
fn with_pattern<T>(pattern: &'static str, read: impl FnOnce(&Regex) -> T) -> Option<T> {
    thread_local! {
        static COMPILED: RefCell<FxHashMap<&'static str, Option<Regex>>> = RefCell::default();
    }
    COMPILED.with_borrow_mut(|known| {
        let compiled = known.entry(pattern).or_insert_with(|| Regex::new(pattern).ok());
        compiled.as_ref().map(read)
    })
}
