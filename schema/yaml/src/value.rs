//! A node as a JSON value: aliases expanded, scalars resolved by the dialect's rules.

use serde_json::{Map, Value};

use super::{
    scalar::Scalar,
    view::{NodeRef, Shape},
};

/// Stands for the number that is equal to nothing, not even itself, in an expectation. No text is read as this
/// number: one that large becomes a double.
pub const NAN: u64 = u64::MAX;

/// Returns a double as a JSON value: a whole number where it is one, so 2.0 is 2. JSON values have no infinity: the
/// largest double represents it.
pub fn number(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT && !(value == 0.0 && value.is_sign_negative()) {
        return Value::from(value as i64);
    }
    serde_json::Number::from_f64(value.clamp(f64::MIN, f64::MAX)).map_or(Value::Null, Value::Number)
}

/// A value may have as many nodes after its aliases are expanded.
const NODE_LIMIT: usize = 2_000_000;

/// A base that is merged counts as so many nodes.
const MERGE_COST: usize = 500;

/// Aliases may lead this deep.
const DEPTH_LIMIT: usize = 400;

/// How the three numbers that JSON lacks are written down.
#[derive(Clone, Copy)]
enum Special {
    /// `.nan` is [`NAN`], which is equal to nothing; `.inf` is the largest number.
    Compared,
    /// `.nan` is nothing, which no field that wants a number, a text or a boolean accepts; `.inf` is a large
    /// number with a fraction, which no field that wants a whole number accepts.
    Checked,
}

/// The expanded value would be too large: aliases that multiply each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

impl NodeRef<'_> {
    /// Returns the node as a JSON value. Whole numbers are integers however they are written (`2.0` is 2), as for the
    /// tools that read these files; `.inf` is the largest number, `.nan` one that is equal to nothing. Of a repeated
    /// key the last one counts.
    pub fn to_value(self) -> Result<Value, TooLarge> {
        Conversion { left: NODE_LIMIT, special: Special::Compared }.convert(self, 0)
    }

    /// Returns the same for a schema to check, with another limit on the number of nodes: `.nan` is then nothing, and
    /// `.inf` no whole number.
    pub fn to_checked_value(self, nodes: usize) -> Result<Value, TooLarge> {
        Conversion { left: nodes.min(NODE_LIMIT), special: Special::Checked }.convert(self, 0)
    }
}

struct Conversion {
    /// Maximum number of nodes that may still come.
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

    /// `<<: *base` or `<<: [*a, *b]`: earlier bases override later ones, the mapping's own keys over all.
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
            (Some(Scalar::Float(value)), Special::Compared) if value.is_nan() => NAN.into(),
            (Some(Scalar::Float(value)), Special::Checked) if value.is_infinite() => Value::from(LARGE.copysign(value)),
            (Some(Scalar::Float(value)), _) => number(value),
            (Some(Scalar::Text | Scalar::Timestamp), _) => Value::from(node.text().unwrap_or_default()),
        }
    }
}
