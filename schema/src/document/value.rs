//! A node as a JSON value: aliases expanded, scalars resolved by the dialect's rules.

use serde_json::{Map, Value};

use crate::check::json;

use super::{
    scalar::Scalar,
    view::{NodeRef, Shape},
};

/// A value may have as many nodes after its aliases are expanded.
const NODE_LIMIT: usize = 2_000_000;

/// A base that is merged counts as so many nodes.
const MERGE_COST: usize = 500;

/// Aliases may lead this deep.
const DEPTH_LIMIT: usize = 400;

/// How the three numbers that JSON lacks are written down.
#[derive(Clone, Copy)]
enum Special {
    /// `.nan` is [`json::NAN`], which is equal to nothing; `.inf` is the largest number.
    Compared,
    /// `.nan` is nothing, which no field that wants a number, a text or a boolean accepts; `.inf` is a large
    /// number with a fraction, which no field that wants a whole number accepts.
    Checked,
}

/// The expanded value would be too large: aliases that multiply each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl NodeRef<'_> {
    /// The node as a JSON value. Whole numbers are integers however they are written (`2.0` is 2), as
    /// for the tools that read these files; `.inf` is the largest number, `.nan` one that is equal to
    /// nothing. Of a repeated key the last one counts.
    pub fn to_value(self) -> Result<Value, TooLarge> {
        Conversion { left: NODE_LIMIT, special: Special::Compared }.convert(self, 0)
    }

    /// The same for a schema to check, with another limit on the number of nodes: `.nan` is then nothing, and
    /// `.inf` no whole number.
    pub fn to_checked_value(self, nodes: usize) -> Result<Value, TooLarge> {
        Conversion { left: nodes.min(NODE_LIMIT), special: Special::Checked }.convert(self, 0)
    }
}

struct Conversion {
    /// As many nodes may still come.
    left: usize,
    special: Special,
}

impl Conversion {
    fn convert(&mut self, node: NodeRef<'_>, depth: usize) -> Result<Value, TooLarge> {
        self.left = self.left.checked_sub(1).ok_or(TooLarge)?;
        if depth > DEPTH_LIMIT {
            return Err(TooLarge);
        }
        Ok(match node.shape() {
            Shape::Scalar => self.scalar(node),
            Shape::Dangling => Value::Null,
            Shape::Sequence => {
                Value::Array(node.items().map(|item| self.convert(item, depth + 1)).collect::<Result<_, _>>()?)
            }
            Shape::Mapping => {
                let mut map = Map::with_capacity(node.entries().size_hint().0);
                for entry in node.entries() {
                    if entry.is_merge() {
                        self.merge(entry.value, &mut map, depth)?;
                    }
                }
                for entry in node.entries() {
                    if !entry.is_merge() {
                        map.insert(entry.key.key_text(), self.convert(entry.value, depth + 1)?);
                    }
                }
                Value::Object(map)
            }
        })
    }

    /// `<<: *base` or `<<: [*a, *b]`: earlier bases win over later ones, the mapping's own keys over all.
    fn merge(&mut self, value: NodeRef<'_>, map: &mut Map<String, Value>, depth: usize) -> Result<(), TooLarge> {
        let bases: Vec<_> = if value.shape() == Shape::Sequence { value.items().collect() } else { vec![value] };
        for base in bases {
            // Bases that are merged twice multiply, however few keys they have.
            self.left = self.left.checked_sub(MERGE_COST).ok_or(TooLarge)?;
            if let Value::Object(found) = self.convert(base, depth + 1)? {
                for (key, value) in found {
                    map.entry(key).or_insert(value);
                }
            }
        }
        Ok(())
    }

    fn scalar(&self, node: NodeRef<'_>) -> Value {
        /// Beyond any bound of a format, below the numbers that cannot have a fraction.
        const LARGE: f64 = 4_503_599_627_370_495.5;
        match (node.scalar(), self.special) {
            (None | Some(Scalar::Null), _) => Value::Null,
            (Some(Scalar::Bool(value)), _) => Value::Bool(value),
            (Some(Scalar::Int(value)), _) => Value::from(value),
            (Some(Scalar::Float(value)), Special::Checked) if value.is_nan() => Value::Null,
            (Some(Scalar::Float(value)), Special::Compared) if value.is_nan() => json::NAN.into(),
            (Some(Scalar::Float(value)), Special::Checked) if value.is_infinite() => Value::from(LARGE.copysign(value)),
            (Some(Scalar::Float(value)), _) => json::number(value),
            (Some(Scalar::Text | Scalar::Timestamp), _) => Value::from(node.text().unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        check::json,
        dialect::ScalarRules,
        document::{Document, Pointer},
    };

    #[test]
    fn the_numbers_that_json_lacks() {
        let document = Document::read("a: .nan\nb: .NaN\nc: .inf\nd: 1e300\n", ScalarRules::Yaml12);
        let value = document.root().unwrap().to_value().unwrap();
        let object = value.as_object().unwrap();
        assert!(!json::same(&object["a"], &object["b"]) && !json::matches(&object["a"], &object["a"]));
        assert_eq!(json::differences(&value, &value).len(), 2);
        assert_eq!(json::text(&object["a"]), "null");
        let checked = document.root().unwrap().to_checked_value(100).unwrap();
        assert!(checked["a"].is_null() && checked["c"].as_f64().is_some_and(|it| it.fract() != 0.0), "{checked}");
        assert!(document.find(&Pointer::parse("/a")).unwrap().as_str().is_none());
    }
}
