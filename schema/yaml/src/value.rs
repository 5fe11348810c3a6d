//! Converts a node to a JSON value: aliases expanded, scalars resolved by the dialect's rules.

use serde_json::{Map, Value};

use super::{
    scalar::Scalar,
    view::{NodeRef, Shape},
};

/// Represents `.nan` in an expectation: it is equal to nothing, not even itself. No text is read as this number: one
/// that large becomes a double.
pub const NAN: u64 = u64::MAX;

/// Returns a double as a JSON value: an integer if it is one, so 2.0 is 2. JSON has no infinity: the largest double
/// represents it.
pub fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT && !(value == 0.0 && value.is_sign_negative()) {
        return Value::from(value as i64);
    }
    serde_json::Number::from_f64(value.clamp(f64::MIN, f64::MAX)).map_or(Value::Null, Value::Number)
}

/// Maximum number of nodes of a value after its aliases are expanded.
const MAX_NODES: usize = 2_000_000;

/// Number of nodes that a merged base counts as.
const MERGE_COST: usize = 500;

/// Maximum nesting of aliases.
const MAX_DEPTH: usize = 400;

/// The representation of the three numbers that JSON lacks.
#[derive(Clone, Copy)]
enum Special {
    /// `.nan` is [`NAN`], which is equal to nothing; `.inf` is the largest number.
    Compared,
    /// `.nan` is null, which no field for a number, a string or a boolean accepts; `.inf` is a large number with a
    /// fraction, which no field for an integer accepts.
    Checked,
}

/// The expanded value would be too large: aliases multiply each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl NodeRef<'_> {
    /// Returns the node as a JSON value. Whole numbers are integers however they are written (`2.0` is 2), as in the
    /// tools that read these files; `.inf` is the largest number, `.nan` one that is equal to nothing. Of a repeated
    /// key the last one counts.
    pub fn to_value(self) -> Result<Value, TooLarge> {
        Conversion { left: MAX_NODES, special: Special::Compared }.convert(self, 0)
    }

    /// Returns the same for checking against a schema, with another limit on the number of nodes: `.nan` is then null,
    /// and `.inf` is not an integer.
    pub fn to_checked_value(self, nodes: usize) -> Result<Value, TooLarge> {
        Conversion { left: nodes.min(MAX_NODES), special: Special::Checked }.convert(self, 0)
    }
}

struct Conversion {
    /// Number of nodes that may still be added.
    left: usize,
    special: Special,
}

impl Conversion {
    fn convert(&mut self, node: NodeRef<'_>, depth: usize) -> Result<Value, TooLarge> {
        self.left = self.left.checked_sub(1).ok_or(TooLarge)?;
        if depth > MAX_DEPTH {
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

    /// Merges `<<: *base` or `<<: [*a, *b]`: earlier bases override later ones, the mapping's own keys override all.
    fn merge(&mut self, value: NodeRef<'_>, map: &mut Map<String, Value>, depth: usize) -> Result<(), TooLarge> {
        let bases: Vec<_> = if value.shape() == Shape::Sequence { value.items().collect() } else { vec![value] };
        for base in bases {
            // Bases that are merged twice multiply, even with few keys.
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
            (Some(Scalar::Float(value)), Special::Compared) if value.is_nan() => NAN.into(),
            (Some(Scalar::Float(value)), Special::Checked) if value.is_infinite() => Value::from(LARGE.copysign(value)),
            (Some(Scalar::Float(value)), _) => number(value),
            (Some(Scalar::Text | Scalar::Timestamp), _) => Value::from(node.text().unwrap_or_default()),
        }
    }
}
