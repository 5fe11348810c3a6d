//! Converts a node to a plain value: aliases expanded, scalars resolved by the dialect's rules.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde_json::{Map, Number, Value};

use super::{
    scalar::Scalar,
    view::{NodeRef, Shape},
};

/// A node as a plain value. Strings are those of the tree.
#[derive(Clone, Debug)]
pub enum Plain<'d> {
    Null,
    Bool(bool),
    Number(Number),
    Text(&'d str),
    List(Vec<Plain<'d>>),
    Mapping(Members<'d>),
}

/// The members of a mapping, in the order of their first occurrence.
#[derive(Clone, Debug, Default)]
pub struct Members<'d> {
    list: Vec<(Cow<'d, str>, Plain<'d>)>,
    /// The places of all keys, if there are many.
    places: Option<Box<FxHashMap<Cow<'d, str>, usize>>>,
}

impl<'d> Members<'d> {
    /// Up to this number, a linear search is faster than a table.
    const MAX_LINEAR_SEARCH_ITEMS: usize = 32;

    /// Returns the members.
    pub fn as_slice(&self) -> &[(Cow<'d, str>, Plain<'d>)] {
        &self.list
    }

    pub fn get(&self, key: &str) -> Option<&Plain<'d>> {
        self.place(key).map(|place| &self.list[place].1)
    }

    pub fn set(&mut self, key: Cow<'d, str>, value: Plain<'d>) {
        match self.place(&key) {
            Some(place) => self.list[place].1 = value,
            None => self.push(key, value),
        }
    }

    pub fn keep(&mut self, key: Cow<'d, str>, value: Plain<'d>) {
        if self.place(&key).is_none() {
            self.push(key, value);
        }
    }

    fn place(&self, key: &str) -> Option<usize> {
        match &self.places {
            Some(places) => places.get(key).copied(),
            None => self.list.iter().position(|(known, _)| known == key),
        }
    }

    fn push(&mut self, key: Cow<'d, str>, value: Plain<'d>) {
        let count = self.list.len();
        if count == Members::MAX_LINEAR_SEARCH_ITEMS {
            let places = self.list.iter().enumerate().map(|(place, (key, _))| (key.clone(), place));
            self.places = Some(Box::new(places.collect()));
        }
        if let Some(places) = &mut self.places {
            places.insert(key.clone(), count);
        }
        self.list.push((key, value));
    }
}

impl<'d> IntoIterator for Members<'d> {
    type Item = (Cow<'d, str>, Plain<'d>);
    type IntoIter = std::vec::IntoIter<(Cow<'d, str>, Plain<'d>)>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

impl From<&Plain<'_>> for Value {
    fn from(plain: &Plain<'_>) -> Value {
        match plain {
            Plain::Null => Value::Null,
            Plain::Bool(value) => Value::Bool(*value),
            Plain::Number(number) => Value::Number(number.clone()),
            Plain::Text(text) => Value::from(*text),
            Plain::List(items) => Value::Array(items.iter().map(Value::from).collect()),
            Plain::Mapping(members) => {
                let members = members.as_slice().iter();
                Value::Object(
                    members.map(|(key, value)| (key.clone().into_owned(), value.into())).collect::<Map<_, _>>(),
                )
            }
        }
    }
}

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
    Number::from_f64(value.clamp(f64::MIN, f64::MAX)).map_or(Value::Null, Value::Number)
}

/// Maximum number of nodes that aliases add to those of the document: each takes time, at every key.
const MAX_EXPANSION: usize = 20_000;

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

impl<'d> NodeRef<'d> {
    /// Returns the node as a JSON value. Whole numbers are integers however they are written (`2.0` is 2), as in the
    /// tools that read these files; `.inf` is the largest number, `.nan` one that is equal to nothing. Of a repeated
    /// key the last one counts.
    pub fn to_value(self) -> Result<Value, TooLarge> {
        Conversion { left: self.max_nodes(), special: Special::Compared }.convert(self, 0).map(|plain| (&plain).into())
    }

    /// Returns the same for checking against a schema, with another limit on the number of nodes: `.nan` is then null,
    /// and `.inf` is not an integer.
    pub fn to_checked_value(self, nodes: usize) -> Result<Value, TooLarge> {
        self.to_plain(nodes).map(|plain| (&plain).into())
    }

    /// Returns the value of [`NodeRef::to_checked_value`] without copies of its strings.
    pub fn to_plain(self, nodes: usize) -> Result<Plain<'d>, TooLarge> {
        Conversion { left: nodes.min(self.max_nodes()), special: Special::Checked }.convert(self, 0)
    }

    /// Returns the maximum number of nodes of its value. A node takes at least one byte.
    fn max_nodes(self) -> usize {
        self.document().text().len_bytes().saturating_add(MAX_EXPANSION)
    }

    /// Returns [`NodeRef::key_text`], without a copy of a string.
    pub fn key_name(self) -> Cow<'d, str> {
        self.as_str().map_or_else(|| self.key_text().into(), Cow::Borrowed)
    }
}

struct Conversion {
    /// Number of nodes that may still be added.
    left: usize,
    special: Special,
}

impl Conversion {
    fn convert<'d>(&mut self, node: NodeRef<'d>, depth: usize) -> Result<Plain<'d>, TooLarge> {
        self.left = self.left.checked_sub(1).ok_or(TooLarge)?;
        if depth > MAX_DEPTH {
            return Err(TooLarge);
        }
        Ok(match node.shape() {
            Shape::Scalar => self.scalar(node),
            Shape::Dangling => Plain::Null,
            Shape::Sequence => {
                Plain::List(node.items().map(|item| self.convert(item, depth + 1)).collect::<Result<_, _>>()?)
            }
            Shape::Mapping => {
                let mut members =
                    Members { list: Vec::with_capacity(node.entries().size_hint().0), ..Members::default() };
                for base in node.bases() {
                    // Bases that are merged twice multiply, even with few keys.
                    self.left = self.left.checked_sub(MERGE_COST).ok_or(TooLarge)?;
                    if let Plain::Mapping(found) = self.convert(base, depth + 1)? {
                        found.into_iter().for_each(|(key, value)| members.keep(key, value));
                    }
                }
                for entry in node.entries() {
                    if !entry.is_merge() {
                        members.set(entry.key.key_name(), self.convert(entry.value, depth + 1)?);
                    }
                }
                Plain::Mapping(members)
            }
        })
    }

    fn scalar<'d>(&self, node: NodeRef<'d>) -> Plain<'d> {
        /// Beyond any bound of a format, below the numbers that cannot have a fraction.
        const LARGE: f64 = 4_503_599_627_370_495.5;
        let number = |value: Value| match value {
            Value::Number(number) => Plain::Number(number),
            _ => Plain::Null,
        };
        match (node.scalar(), self.special) {
            (None | Some(Scalar::Null), _) => Plain::Null,
            (Some(Scalar::Bool(value)), _) => Plain::Bool(value),
            (Some(Scalar::Int(value)), _) => Plain::Number(value.into()),
            (Some(Scalar::Float(value)), Special::Checked) if value.is_nan() => Plain::Null,
            (Some(Scalar::Float(value)), Special::Compared) if value.is_nan() => Plain::Number(NAN.into()),
            (Some(Scalar::Float(value)), Special::Checked) if value.is_infinite() => {
                number(Value::from(LARGE.copysign(value)))
            }
            (Some(Scalar::Float(value)), _) => number(self::number(value)),
            (Some(Scalar::Text | Scalar::Timestamp), _) => Plain::Text(node.text().unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::{Document, Plain, ScalarRules};

    #[test]
    fn last_value_of_a_repeated_key_counts_at_the_place_of_the_first() {
        for count in [3, 32, 33, 100] {
            let entries: String = (0..count).map(|number| format!("k{number}: {number}\n")).collect();
            let document = Document::read(&format!("{entries}k1: again\n{entries}"), ScalarRules::Yaml12);
            let root = document.root().unwrap();
            let value = root.to_value().unwrap();
            let expected = (0..count).map(|number| (format!("k{number}"), json!(number))).collect();
            assert_eq!(value.to_string(), serde_json::Value::Object(expected).to_string());
            let Plain::Mapping(members) = root.to_plain(1000).unwrap() else { panic!("a mapping") };
            assert!(matches!(members.get("k2"), Some(Plain::Number(two)) if two.as_u64() == Some(2)));
            assert!(members.get("k").is_none());
        }
    }

    #[test]
    fn own_keys_and_earlier_bases_count_before_merged_ones() {
        let text = "a: &a {x: 1, y: 1}\nb: &b {y: 2, z: 2}\nc: {<<: [*a, *b], x: 3}\n";
        let document = Document::read(text, ScalarRules::Yaml11);
        let merged = document.root().unwrap().get("c").unwrap().to_value().unwrap();
        assert_eq!(merged, json!({"x": 3, "y": 1, "z": 2}));
    }

    #[test]
    fn keys_are_merged_once_a_merge_key_is_typed() {
        let text = "a: &a {x: 1}\nc:\n  y: 2\n";
        for (rules, merged) in [(ScalarRules::Yaml11, Some("1")), (ScalarRules::Yaml12, None)] {
            let mut document = Document::read(text, rules);
            let of_c = |document: &Document| Some(document.root()?.get("c")?.get("x")?.text()?.to_owned());
            assert_eq!(of_c(&document), None);
            document.edit(text.len()..text.len(), "  <<: *a\n");
            document.refresh();
            assert_eq!(of_c(&document).as_deref(), merged);
            // An edit elsewhere.
            document.edit(0..0, "b: 1\n");
            document.refresh();
            assert_eq!(of_c(&document).as_deref(), merged);
            document.edit(document.text().len_bytes() - "  <<: *a\n".len()..document.text().len_bytes(), "");
            document.refresh();
            assert_eq!(of_c(&document), None);
        }
    }
}
