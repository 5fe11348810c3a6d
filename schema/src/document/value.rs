//! A node as a JSON value: aliases expanded, scalars resolved by the dialect's rules.

use serde_json::{Map, Number, Value};

use crate::dialect::ScalarRules;

use super::{
    scalar::Scalar,
    view::{NodeRef, Shape},
};

/// A value may have as many nodes after its aliases are expanded.
const NODE_LIMIT: usize = 2_000_000;

/// Aliases may lead this deep.
const DEPTH_LIMIT: usize = 400;

/// The expanded value would be too large: aliases that multiply each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl NodeRef<'_> {
    /// The node as a JSON value. Whole numbers are integers however they are written (`2.0` is 2), as
    /// for the tools that read these files; `.inf` is the largest number, `.nan` the text `.nan`, which
    /// no number field accepts. Of a repeated key the last one counts.
    pub fn to_value(self) -> Result<Value, TooLarge> {
        self.to_value_within(NODE_LIMIT)
    }

    /// The same with another limit on the number of nodes.
    pub fn to_value_within(self, nodes: usize) -> Result<Value, TooLarge> {
        let mut left = nodes;
        convert(self, &mut left, 0)
    }
}

fn convert(node: NodeRef<'_>, left: &mut usize, depth: usize) -> Result<Value, TooLarge> {
    *left = left.checked_sub(1).ok_or(TooLarge)?;
    if depth > DEPTH_LIMIT {
        return Err(TooLarge);
    }
    Ok(match node.shape() {
        Shape::Scalar => scalar_value(node),
        Shape::Dangling => Value::Null,
        Shape::Sequence => {
            Value::Array(node.items().map(|item| convert(item, left, depth + 1)).collect::<Result<_, _>>()?)
        }
        Shape::Mapping => {
            let mut map = Map::new();
            let merges = node.document().rules() == ScalarRules::Yaml11;
            for entry in node.entries() {
                if merges && entry.key.text() == Some("<<") {
                    merge(entry.value, &mut map, left, depth)?;
                }
            }
            for entry in node.entries() {
                if !(merges && entry.key.text() == Some("<<")) {
                    map.insert(entry.key.key_text(), convert(entry.value, left, depth + 1)?);
                }
            }
            Value::Object(map)
        }
    })
}

/// `<<: *base` or `<<: [*a, *b]`: earlier bases win over later ones, the mapping's own keys over all.
fn merge(value: NodeRef<'_>, map: &mut Map<String, Value>, left: &mut usize, depth: usize) -> Result<(), TooLarge> {
    let bases: Vec<_> = if value.shape() == Shape::Sequence { value.items().collect() } else { vec![value] };
    for base in bases {
        if let Value::Object(found) = convert(base, left, depth + 1)? {
            for (key, value) in found {
                map.entry(key).or_insert(value);
            }
        }
    }
    Ok(())
}

fn scalar_value(node: NodeRef<'_>) -> Value {
    match node.scalar() {
        None | Some(Scalar::Null) => Value::Null,
        Some(Scalar::Bool(value)) => Value::Bool(value),
        Some(Scalar::Int(value)) => Value::from(value),
        Some(Scalar::Float(value)) => float_value(value),
        Some(Scalar::Text | Scalar::Timestamp) => Value::from(node.text().unwrap_or_default()),
    }
}

fn float_value(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.is_nan() {
        return Value::from(".nan");
    }
    if value.fract() == 0.0 && value.abs() < EXACT && !(value == 0.0 && value.is_sign_negative()) {
        return Value::from(value as i64);
    }
    Number::from_f64(value.clamp(f64::MIN, f64::MAX)).map_or(Value::Null, Value::Number)
}
