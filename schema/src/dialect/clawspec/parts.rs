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
    lint_node.items().iter().for_each(|item| each(item, &[], visit));
    for (name, member) in lint_node.entries() {
        if let Some(key) = member.key {
            visit(Part::Key { mapping: lint_node, member: &member, key });
        }
        if !without.contains(&name.as_str()) {
            each(&member, &[], visit);
        }
    }
}
