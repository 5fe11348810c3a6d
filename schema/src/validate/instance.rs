//! Plain values of documents as instances of the validator.

use std::{borrow::Cow, slice};

use jsonschema::{
    JsonType,
    json::{Array, Json, Node, NodeIdentity, Object, cmp},
};
use serde_json::{Number, Value};

use crate::document::{Members, Plain};

/// Documents, as the validator reads them.
#[derive(Debug)]
pub(super) enum Yaml {}

type Member<'a> = (Cow<'a, str>, Plain<'a>);

impl Json for Yaml {
    type Node<'a> = &'a Plain<'a>;
    type PreparedKey = String;
    type StringBuffer = ();

    // Few mappings have more members.
    const KEYS_PER_LOOKUP: usize = 8;

    fn prepare_key(key: &str) -> String {
        key.to_owned()
    }

    fn with_string_node<T>((): &mut (), string: &str, read: impl FnOnce(Self::Node<'_>) -> T) -> T {
        read(&Plain::Text(string))
    }
}

impl<'a> Node<'a, Yaml> for &'a Plain<'a> {
    type Object = &'a Members<'a>;
    type Array = &'a [Plain<'a>];
    type Number = &'a Number;

    fn as_object(&self) -> Option<&'a Members<'a>> {
        match self {
            Plain::Mapping(members) => Some(members),
            Plain::Null | Plain::Bool(_) | Plain::Number(_) | Plain::Text(_) | Plain::List(_) => None,
        }
    }

    fn as_array(&self) -> Option<&'a [Plain<'a>]> {
        match self {
            Plain::List(items) => Some(items),
            Plain::Null | Plain::Bool(_) | Plain::Number(_) | Plain::Text(_) | Plain::Mapping(_) => None,
        }
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        match self {
            Plain::Text(text) => Some(Cow::Borrowed(text)),
            Plain::Null | Plain::Bool(_) | Plain::Number(_) | Plain::List(_) | Plain::Mapping(_) => None,
        }
    }

    fn as_number(&self) -> Option<&'a Number> {
        match self {
            Plain::Number(number) => Some(number),
            Plain::Null | Plain::Bool(_) | Plain::Text(_) | Plain::List(_) | Plain::Mapping(_) => None,
        }
    }

    fn as_boolean(&self) -> Option<bool> {
        match self {
            Plain::Bool(value) => Some(*value),
            Plain::Null | Plain::Number(_) | Plain::Text(_) | Plain::List(_) | Plain::Mapping(_) => None,
        }
    }

    fn is_null(&self) -> bool {
        matches!(self, Plain::Null)
    }

    fn json_type(&self) -> JsonType {
        match self {
            Plain::Null => JsonType::Null,
            Plain::Bool(_) => JsonType::Boolean,
            Plain::Number(_) => JsonType::Number,
            Plain::Text(_) => JsonType::String,
            Plain::List(_) => JsonType::Array,
            Plain::Mapping(_) => JsonType::Object,
        }
    }

    fn equals_value(&self, expected: &Value) -> bool {
        match (self, expected) {
            // Nearly all expected values are strings.
            (Plain::Text(text), Value::String(expected)) => text == expected,
            _ => cmp::equal(&self.to_value(), expected),
        }
    }

    fn to_value(&self) -> Cow<'a, Value> {
        Cow::Owned(Value::from(*self))
    }

    fn identity(&self) -> Option<NodeIdentity> {
        Some(NodeIdentity::new(std::ptr::from_ref::<Plain<'_>>(self).addr()))
    }
}

impl<'a> Object<'a, Yaml> for &'a Members<'a> {
    type Node = &'a Plain<'a>;
    type MemberName = &'a str;
    type MembersIter = std::iter::Map<slice::Iter<'a, Member<'a>>, fn(&'a Member<'a>) -> (&'a str, &'a Plain<'a>)>;

    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn get(&self, key: &String) -> Option<&'a Plain<'a>> {
        Members::get(self, key)
    }

    fn members(&self) -> Self::MembersIter {
        self.as_slice().iter().map(|(name, value)| (name, value))
    }
}

impl<'a> Array<'a, Yaml> for &'a [Plain<'a>] {
    type Node = &'a Plain<'a>;
    type ElementsIter = slice::Iter<'a, Plain<'a>>;

    fn len(&self) -> usize {
        <[Plain<'_>]>::len(self)
    }

    fn elements(&self) -> slice::Iter<'a, Plain<'a>> {
        self.iter()
    }
}
