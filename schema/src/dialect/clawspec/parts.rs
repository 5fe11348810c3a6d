//! Iterates over the values and keys of a part of a file in the order of PyYAML.

use crate::{document::NodeRef, lint_node::LintNode};

/// A value or a key.
pub(crate) enum Part<'s, 'd> {
    /// A value.
    Value(&'s LintNode<'d>),
    /// The key of a member of a mapping.
    Key { mapping: &'s LintNode<'d>, member: &'s LintNode<'d>, key: NodeRef<'d> },
}

/// Visits every value and key of a node, except for the values of some keys.
pub(crate) fn each<'d>(lint_node: &LintNode<'d>, without: &[&str], visit: &mut impl FnMut(Part<'_, 'd>)) {
    if lint_node.node.alias().is_some() {
        return;
    }
    visit(Part::Value(lint_node));
    for (index, node) in lint_node.node.items().enumerate() {
        each(&LintNode { node, key: None, at: lint_node.at.index(index) }, &[], visit);
    }
    for entry in lint_node.node.entries() {
        let name = entry.key.key_name();
        let member = LintNode { node: entry.value, key: Some(entry.key), at: lint_node.at.key(&name) };
        visit(Part::Key { mapping: lint_node, member: &member, key: entry.key });
        if !without.contains(&&*name) {
            each(&member, &[], visit);
        }
    }
}
