//! The additional data of a request that starts a target.

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use super::python_json;
use crate::{
    check::python::{self, PythonValue},
    document::NodeRef,
    template::NoValue,
};

/// Members of `when.params`, exactly as ClawSpec's YAML reader reads them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Params(Vec<(PythonValue, PythonValue)>);

impl Params {
    /// Reads a node. `None` if it is not a mapping, and an error if ClawSpec cannot read it.
    pub(crate) fn of_node(node: NodeRef<'_>) -> Result<Option<Params>, python::NoValue> {
        let PythonValue::Map(members) = PythonValue::of_node(node)? else { return Ok(None) };
        Ok(Some(Params(members)))
    }

    pub(crate) fn of_pipeline() -> Params {
        Params(vec![(PythonValue::Text("test_mode".to_owned()), PythonValue::Bool(true))])
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get(&self, name: &str) -> Option<&PythonValue> {
        let is_name = |key: &PythonValue| matches!(key, PythonValue::Text(key) if key == name);
        self.0.iter().find(|(key, _)| is_name(key)).map(|(_, value)| value)
    }

    pub(super) fn to_value(&self) -> PythonValue {
        PythonValue::Map(self.0.clone())
    }

    /// Expands the templates of all values.
    pub(super) fn filled(&self, fill: &impl Fn(&str) -> Result<String, NoValue>) -> Result<Params, NoValue> {
        let members = self.0.iter().map(|(key, value)| Ok((key.clone(), value.try_map_texts(fill)?)));
        Ok(Params(members.collect::<Result<_, NoValue>>()?))
    }
}

/// Serializes the data for the key of a recording: different data has different forms.
impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        for_key(&self.to_value()).serialize(serializer)
    }
}

fn for_key(value: &PythonValue) -> Value {
    match value {
        PythonValue::None => Value::Null,
        PythonValue::Bool(value) => Value::Bool(*value),
        PythonValue::Int(digits) => digits.parse::<i64>().map_or_else(|_| json!({ "!!int": digits }), Value::from),
        PythonValue::Float(value) if value.is_finite() => Value::from(*value),
        PythonValue::Float(value) => json!({ "!!float": value.to_string() }),
        PythonValue::Text(text) | PythonValue::Date(text) => Value::from(text.as_str()),
        PythonValue::List(items) => items.iter().map(for_key).collect(),
        PythonValue::Map(members) => {
            let members = members.iter().map(|(key, value)| (python_json::key(key), for_key(value)));
            Value::Object(members.collect::<Map<_, _>>())
        }
    }
}
