//! Recognizes a kind of file by its content, if its name is not sufficient.

use std::cell::LazyCell;

use super::outline::{Entry, Outline};
use crate::{
    shape::{Shape, Type},
    words::nearest,
};

/// Strength of the evidence in the content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// The content names the format.
    Name,
    /// Two keys that no other tool uses in this way.
    Keys,
    /// Keys that other tools may also use.
    Hint,
}

impl Strength {
    pub(crate) fn of_keys(are_telling: bool) -> Strength {
        if are_telling { Strength::Keys } else { Strength::Hint }
    }
}

/// Recognizes a kind of file by its content.
pub trait Signs: Sync {
    /// Returns the root keys that identify this kind once the format is known.
    fn root_keys(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns the strength of the content for this kind, under any name; `None` if it does not match.
    fn content(&self, _candidate: &Candidate<'_>) -> Option<Strength> {
        None
    }

    /// Whether two keys are specific to this kind of file. Content that is sufficient under any name is already known.
    fn has_two_of_its_own(&self, _candidate: &Candidate<'_>) -> bool {
        false
    }

    /// Whether a key is specific to this kind of file, or the file has no content yet.
    fn has_one_of_its_own(&self, _candidate: &Candidate<'_>) -> bool {
        false
    }

    /// Whether the content belongs to another tool, regardless of its keys.
    fn is_of_another_tool(&self, _candidate: &Candidate<'_>) -> bool {
        false
    }

    /// Whether the content is sufficient in a location that no other tool uses.
    fn is_clear_in_its_place(&self, _candidate: &Candidate<'_>) -> Option<bool> {
        None
    }

    /// Whether a file with this unusual name may be of this kind.
    fn may_be_named(&self, _path: &str) -> bool {
        false
    }

    /// Whether the settings of a workspace define patterns for such files.
    fn is_named_by_patterns(&self) -> bool {
        false
    }
}

/// Signs of a kind of file that is recognized only by its name.
#[derive(Clone, Copy, Debug)]
pub struct NoSigns;

impl Signs for NoSigns {}

/// Outline of a file that may be of a kind.
pub struct Candidate<'a> {
    /// Schema of the kind. Few candidates need it.
    pub(crate) shape: LazyCell<Shape, Box<dyn FnOnce() -> Shape>>,
    pub(crate) outline: &'a Outline<'a>,
}

impl<'a> Candidate<'a> {
    pub(super) fn new(outline: &'a Outline<'a>, shape: impl FnOnce() -> Shape + 'static) -> Candidate<'a> {
        Candidate { shape: LazyCell::new(Box::new(shape)), outline }
    }

    /// Whether a root key exists and has a value of the type that this kind requires.
    pub fn has(&self, key: &str) -> bool {
        self.outline.has(key) && self.agrees(key)
    }

    /// Whether a key is one of this kind of file, or similar to one, and has a value of the required type.
    pub(crate) fn agrees(&self, key: &str) -> bool {
        let fields = self.shape.all_fields();
        let names = || fields.iter().map(|field| field.name);
        let Some(name) = names().find(|name| *name == key).or_else(|| nearest(key, names())) else { return false };
        let is_version = |entry: &Entry<'_>| ["", "1", "1.0"].contains(&entry.text());
        let Some(shape) = fields.iter().find(|field| field.name == name).map(|field| &field.shape) else {
            return false;
        };
        let value = self.outline.entry(key).map_or("", |entry| entry.value);
        let is_mapping = |value: &str| value.is_empty() || value.starts_with(['{', '&', '*']);
        match shape.kind() {
            _ if name == "version" => self.outline.entry(key).is_some_and(is_version),
            Type::List => !value.starts_with('{') && self.outline.members(key).next().is_none(),
            Type::Mapping => {
                let holds_mappings = shape.map_value().is_some_and(|inner| inner.kind() == Type::Mapping);
                let are_mappings = || self.outline.members(key).all(|entry| is_mapping(entry.value));
                is_mapping(value) && self.outline.of_items(key).next().is_none() && (!holds_mappings || are_mappings())
            }
            Type::Text | Type::Integer | Type::Number | Type::Boolean | Type::Any => true,
        }
    }

    /// Whether the only word is the beginning of a key, which has no colon yet.
    pub(super) fn begins_a_key(&self) -> bool {
        let begins = |typed: &str| self.shape.all_fields().iter().any(|field| field.name.starts_with(typed));
        self.outline.typed.is_some_and(begins)
    }

    /// Whether all keys of the root, and of the items of its lists, are those of this kind of file, or similar.
    pub(super) fn has_only_known(&self) -> bool {
        let root = &self.shape;
        let is_known_in_items = |entry: &Entry<'_>| {
            let item = root.any_field(entry.key).and_then(|(_, list)| list.item());
            let known: Vec<&str> = item.iter().flat_map(Shape::all_fields).map(|field| field.name).collect();
            let mut keys = self.outline.of_items(entry.key).map(|entry| entry.key);
            // A key that is being typed has no colon yet.
            let mut typed = self.outline.plain_items(entry.key);
            keys.all(|key| known.contains(&key) || nearest(key, known.iter().copied()).is_some())
                && typed.all(|begun| known.iter().any(|key| key.starts_with(begun)))
        };
        let is_known_below = |entry: &Entry<'_>| {
            let known = root.any_field(entry.key).map(|(_, mapping)| mapping.all_fields()).unwrap_or_default();
            let is_known = |below: &Entry<'_>| known.is_empty() || known.iter().any(|field| field.name == below.key);
            self.outline.members(entry.key).all(is_known)
        };
        self.outline
            .keys
            .iter()
            .all(|entry| self.agrees(entry.key) && is_known_in_items(entry) && is_known_below(entry))
    }

    /// Returns the number of root keys that agree.
    pub(super) fn known(&self) -> usize {
        self.outline.keys.iter().filter(|entry| self.agrees(entry.key)).count()
    }

    /// Returns the first root key that is this one, or similar to it, and agrees.
    pub(crate) fn near(&self, key: &str) -> Option<&'a Entry<'a>> {
        let mut meant =
            self.outline.keys.iter().filter(|entry| entry.key == key || nearest(entry.key, [key]).is_some());
        meant.find(|entry| self.agrees(entry.key))
    }

    /// Whether a root key has no content yet.
    pub(crate) fn is_unfilled(&self, key: &str) -> bool {
        self.is_empty_list(key) && self.outline.members(key).next().is_none()
    }

    /// Whether a root key has neither a value nor items yet.
    pub(crate) fn is_empty_list(&self, key: &str) -> bool {
        let is_empty = |entry: &Entry<'_>| matches!(entry.value, "" | "[]" | "{}");
        self.outline.entry(key).is_some_and(is_empty)
            && self.outline.of_items(key).next().is_none()
            && self.outline.plain_items(key).next().is_none()
    }

    /// Returns how many of these keys are in the mapping at a root key.
    pub(crate) fn members(&self, key: &str, known: &[&str]) -> usize {
        known.iter().filter(|known| self.outline.members(key).any(|entry| entry.key == **known)).count()
    }

    pub fn has_in_items(&self, key: &str, known: &[&str]) -> bool {
        self.outline.of_items(key).any(|entry| known.contains(&entry.key))
    }
}
