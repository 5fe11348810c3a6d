//! Assertions that formats propose.

use serde_json::Value;

use crate::quoting::show;

/// An assertion that a format proposes about what was observed.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposal {
    /// Keys from the test to the list that gets an item, or to the entry that is added.
    pub path: &'static [&'static str],
    pub value: Value,
    /// Whether the value is an item of a list; otherwise it is the value of the last key.
    pub is_item: bool,
}

impl Proposal {
    pub fn item(path: &'static [&'static str], value: Value) -> Proposal {
        Proposal { path, value, is_item: true }
    }

    /// Returns the distinct items of a list.
    pub fn items(path: &'static [&'static str], values: Vec<Value>) -> Vec<Proposal> {
        let mut items: Vec<Proposal> = Vec::new();
        for item in values.into_iter().map(|value| Proposal::item(path, value)) {
            if !items.contains(&item) {
                items.push(item);
            }
        }
        items
    }

    pub fn entry(path: &'static [&'static str], value: Value) -> Proposal {
        Proposal { path, value, is_item: false }
    }

    pub(crate) fn title(&self) -> String {
        let value = show(&self.value);
        match self.path {
            [holder @ .., key] if !self.is_item && !holder.is_empty() => {
                format!("add `{key}: {value}` to `{}`", holder.join("."))
            }
            [key] if !self.is_item => format!("add `{key}: {value}`"),
            path => format!("add `{value}` to `{}`", path.join(".")),
        }
    }
}
