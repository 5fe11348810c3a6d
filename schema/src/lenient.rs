//! Deserialization of partially valid values: an invalid member does not affect the others.
//!
//! Types are read from `&Value` only: code is generated for each kind of input that a type is read from.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::document::{NodeRef, Shape};

/// Deserializes a value; for an object that is not valid as a whole, its valid members.
pub(crate) fn lenient<T: DeserializeOwned>(value: &Value) -> Option<T> {
    if let Ok(read) = T::deserialize(value) {
        return Some(read);
    }
    let Value::Object(members) = value else { return None };
    let readable = |(key, value): &(&String, &Value)| {
        let alone = Value::Object(Map::from_iter([((*key).clone(), (*value).clone())]));
        // A member is valid if the only error is that others are missing.
        T::deserialize(&alone).err().is_none_or(|error| error.to_string().starts_with("missing field"))
    };
    let kept = members.iter().filter(readable).map(|(key, value)| (key.clone(), value.clone())).collect();
    T::deserialize(&Value::Object(kept)).ok()
}

/// Returns the value of a node. `None` if it has none, or one that is not valid.
pub(crate) fn value_of(node: NodeRef<'_>) -> Option<Value> {
    (node.shape() != Shape::Dangling).then(|| node.to_value().ok())?
}
