//! How a kind of file is recognised by its content, where its name is not enough.

use super::outline::{Entry, Outline};
use crate::{
    json_schema::SpecFile,
    shape::{Shape, Type},
    words::nearest,
};

/// How much a content says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strength {
    /// The format calls itself by its name.
    Name,
    /// Two keys that no other tool has like that.
    Keys,
    /// Keys that other tools may have as well.
    Hint,
}

impl Strength {
    /// Returns what keys say that are telling, or not.
    pub(crate) fn of_keys(are_telling: bool) -> Strength {
        if are_telling { Strength::Keys } else { Strength::Hint }
    }
}

/// How a kind of file is recognised by its content.
pub trait Signs: Sync {
    /// Returns the keys at the root by one of which a file is of this kind, once its format is known.
    fn root_keys(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns how much the content says for this kind, under any name; `None` if it does not look like one.
    fn content(&self, _sight: &Sight<'_>) -> Option<Strength> {
        None
    }

    /// Whether two keys are as only this kind of file has them. What says so under any name is known already.
    fn has_two_of_its_own(&self, _sight: &Sight<'_>) -> bool {
        false
    }

    /// Whether a key is as only this kind of file has it, or nothing is in it yet.
    fn has_one_of_its_own(&self, _sight: &Sight<'_>) -> bool {
        false
    }

    /// Whether the content is that of another tool, whatever keys there are.
    fn is_of_another_tool(&self, _sight: &Sight<'_>) -> bool {
        false
    }

    /// Whether little of the content is enough in a place that no other tool looks at.
    fn is_clear_in_its_place(&self, _sight: &Sight<'_>) -> Option<bool> {
        None
    }

    /// Whether a file of this name may be one, although the name is not a usual one.
    fn may_be_named(&self, _path: &str) -> bool {
        false
    }

    /// Whether the settings of a workspace name such files by patterns.
    fn is_named_by_patterns(&self) -> bool {
        false
    }
}

/// The signs of a kind of file that is recognised by its name alone.
#[derive(Clone, Copy, Debug)]
pub struct NoSigns;

impl Signs for NoSigns {}

/// The outline of a file that may be of a kind.
#[derive(Clone, Copy)]
pub struct Sight<'a> {
    pub(crate) file: SpecFile,
    pub(crate) outline: &'a Outline<'a>,
}

impl<'a> Sight<'a> {
    /// Whether a key of the root is there, and holds what it must hold in this kind of file.
    pub fn has(&self, key: &str) -> bool {
        self.outline.has(key) && self.agrees(key)
    }

    /// Whether a key is one of this kind of file, or nearly so, and holds what it must hold there.
    pub(crate) fn agrees(&self, key: &str) -> bool {
        let fields = Shape::of(self.file).all_fields();
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

    /// Returns how many of the keys of the root agree.
    pub(super) fn known(&self) -> usize {
        self.outline.keys.iter().filter(|entry| self.agrees(entry.key)).count()
    }

    /// Returns the first key of the root that is this one, or nearly so, and agrees.
    pub(crate) fn near(&self, key: &str) -> Option<&'a Entry<'a>> {
        let mut meant =
            self.outline.keys.iter().filter(|entry| entry.key == key || nearest(entry.key, [key]).is_some());
        meant.find(|entry| self.agrees(entry.key))
    }

    /// Whether a key of the root holds nothing yet.
    pub(crate) fn is_unfilled(&self, key: &str) -> bool {
        self.is_empty_list(key) && self.outline.members(key).next().is_none()
    }

    /// Whether a key of the root holds nothing yet, and no item.
    pub(crate) fn is_empty_list(&self, key: &str) -> bool {
        let is_empty = |entry: &Entry<'_>| matches!(entry.value, "" | "[]" | "{}");
        self.outline.entry(key).is_some_and(is_empty) && self.outline.of_items(key).next().is_none()
    }

    /// Returns how many of these keys are in the mapping at a key of the root.
    pub(crate) fn members(&self, key: &str, known: &[&str]) -> usize {
        known.iter().filter(|known| self.outline.members(key).any(|entry| entry.key == **known)).count()
    }

    /// Whether an item of the list at a key of the root has one of these keys.
    pub fn has_in_items(&self, key: &str, known: &[&str]) -> bool {
        self.outline.of_items(key).any(|entry| known.contains(&entry.key))
    }
}
