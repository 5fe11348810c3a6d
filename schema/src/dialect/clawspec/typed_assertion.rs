//! An assertion with its type, which most rules ask for.

use std::ops::Deref;

use super::assertion::{Assertion, TypeInfo};
use crate::lint_node::LintNode;

/// An item of a list of assertions.
pub(crate) struct TypedAssertion<'d> {
    lint_node: LintNode<'d>,
    /// Its type. `None` for an unknown type.
    pub(crate) info: Option<&'static TypeInfo>,
}

impl<'d> TypedAssertion<'d> {
    /// Returns the assertions of a list.
    pub(crate) fn all_of(list: &LintNode<'d>) -> Vec<TypedAssertion<'d>> {
        let typed = |lint_node: LintNode<'d>| {
            let info = lint_node.text_at("type").and_then(Assertion::type_info);
            TypedAssertion { lint_node, info }
        };
        list.items().into_iter().map(typed).collect()
    }
}

impl<'d> Deref for TypedAssertion<'d> {
    type Target = LintNode<'d>;

    fn deref(&self) -> &LintNode<'d> {
        &self.lint_node
    }
}
