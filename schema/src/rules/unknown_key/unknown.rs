//! An unknown key, and what it is compared by.

use std::rc::Rc;

use crate::{
    document::{NodeRef, Pointer},
    json_schema::SpecFile,
    lint_node::LintNode,
    shape::Shape,
    validate::{Context, Mapping, unit::Unit},
};

/// An unknown key of a mapping.
pub(super) struct Unknown<'c, 'd> {
    pub(super) context: &'c Context<'d>,
    pub(super) at: &'c Pointer,
    pub(super) parent: Pointer,
    pub(super) key: &'c str,
    pub(super) known: Rc<Mapping<'d>>,
    /// Its value; of duplicate keys, the underlined one.
    pub(super) value: Option<LintNode<'d>>,
}

impl<'c, 'd> Unknown<'c, 'd> {
    /// `start`: offset of the underlined key.
    pub(super) fn new(context: &'c Context<'d>, at: &'c Pointer, key: &'c str, start: usize) -> Unknown<'c, 'd> {
        let parent = at.parent().unwrap_or_default();
        let value = LintNode::root(context.node).around(at, start);
        Unknown { context, at, key, known: context.mapping(&parent), parent, value }
    }

    pub(super) fn file(&self) -> SpecFile {
        self.context.file
    }

    pub(super) fn node(&self) -> Option<NodeRef<'d>> {
        Some(self.value.as_ref()?.node)
    }

    pub(super) fn member(&self, name: &str) -> Option<Shape> {
        self.known.shape.as_ref()?.step(name, self.known.node)
    }
}

/// Whether a key is about another unit than the key `name`, whose unit is `wanted`.
pub(super) fn is_of_other_unit(key: &str, name: &str, wanted: Option<Unit>) -> bool {
    let own = wanted.map(Unit::as_written).or_else(|| Unit::in_name(name));
    Unit::in_name(key).zip(own).is_some_and(|(written, own)| written != own) || counts_by_another_number(key, name)
}

/// Whether both names end with different units of a price: `input_per_1m`, `input_per_1k`.
fn counts_by_another_number(key: &str, name: &str) -> bool {
    let number =
        |text: &str| text.rsplit_once("per").map(|(_, number)| number.trim_start_matches(['_', '-']).to_lowercase());
    number(key).zip(number(name)).is_some_and(|(one, other)| {
        let is_number = |text: &str| text.starts_with(|letter: char| letter.is_ascii_digit());
        is_number(&one) && is_number(&other) && one != other
    })
}
