//! Conditional branches of a schema: which of them apply to a node.

use std::{cell::RefCell, rc::Rc};

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::document::NodeRef;

use super::{Keywords, condition::holds};

/// An `if` with its branches.
#[derive(Clone, Copy, Debug)]
pub(super) struct Branch {
    condition: &'static Value,
    /// Key and value that the condition requires.
    pub(super) tag: Option<(&'static str, &'static str)>,
    /// Schema that applies if the condition holds.
    pub(super) then: Option<&'static Value>,
    /// Schema that applies if the condition does not hold.
    pub(super) otherwise: Option<&'static Value>,
}

/// Key of the last lookup, and its text. Nearly all conditions test the same key.
pub(super) type Tag<'d> = Option<(&'static str, Option<Option<&'d str>>)>;

impl Branch {
    fn of(conditional: &'static Keywords) -> Option<Branch> {
        let condition = conditional.get("if")?;
        let (then, otherwise) = (conditional.get("then"), conditional.get("else"));
        Some(Branch { condition, tag: tag_of(condition), then, otherwise })
    }

    /// Whether it only allows null, which is not a separate form.
    pub(super) fn is_about_null(&self) -> bool {
        self.condition.get("type").and_then(Value::as_str) == Some("null")
    }

    pub(super) fn holds<'d>(&self, node: NodeRef<'d>, known: &mut Tag<'d>) -> bool {
        if let Some((key, wanted)) = self.tag {
            let found = match known {
                Some((last, found)) if *last == key => *found,
                _ => known.insert((key, node.get(key).map(NodeRef::as_str))).1,
            };
            if found.is_some_and(|text| text != Some(wanted)) {
                return false;
            }
        }
        holds(self.condition, node)
    }
}

/// Returns the branches of a schema: its own, and those in its `allOf`. Cached, because some schemas have dozens, and
/// they are queried at every node.
pub(super) fn of(part: &'static Keywords) -> Rc<[Branch]> {
    thread_local! {
        static KNOWN: RefCell<FxHashMap<*const Keywords, Rc<[Branch]>>> = RefCell::default();
    }
    let read = || {
        let all = part.get("allOf").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
        std::iter::once(part).chain(all).filter_map(Branch::of).collect()
    };
    KNOWN.with_borrow_mut(|known| Rc::clone(known.entry(std::ptr::from_ref(part)).or_insert_with(read)))
}

fn tag_of(condition: &'static Value) -> Option<(&'static str, &'static str)> {
    let properties = condition.get("properties")?.as_object()?;
    properties.iter().find_map(|(name, schema)| Some((name.as_str(), schema.get("const")?.as_str()?)))
}
