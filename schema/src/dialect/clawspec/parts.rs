//! Iterates over the values and keys of a part of a file in the order of PyYAML.

use crate::{
    document::{NodeRef, Way},
    lint_node::LintNode,
};

/// A value, with its key and its path. Few are named by a finding, so their pointers are made on request.
pub(crate) struct Member<'s, 'd> {
    pub(crate) node: NodeRef<'d>,
    key: Option<NodeRef<'d>>,
    way: Way<'s>,
}

impl<'d> Member<'_, 'd> {
    /// Returns the node with its location.
    pub(crate) fn lint_node(&self) -> LintNode<'d> {
        LintNode { node: self.node, key: self.key, at: self.way.pointer() }
    }
}

/// A value or a key.
pub(crate) enum Part<'s, 'd> {
    /// A value.
    Value(&'s Member<'s, 'd>),
    /// The key of a member of a mapping.
    Key { mapping: &'s Member<'s, 'd>, member: &'s Member<'s, 'd>, key: NodeRef<'d> },
}

/// Visits every value and key of a node, except for the values of some of its keys.
pub(crate) fn each<'d>(node: NodeRef<'d>, without: &[&str], visit: &mut impl FnMut(Part<'_, 'd>)) {
    each_below(&Member { node, key: None, way: Way::Root }, without, visit);
}

fn each_below<'d>(member: &Member<'_, 'd>, without: &[&str], visit: &mut impl FnMut(Part<'_, 'd>)) {
    if member.node.alias().is_some() {
        return;
    }
    visit(Part::Value(member));
    for (index, node) in member.node.items().enumerate() {
        each_below(&Member { node, key: None, way: Way::Item(&member.way, index) }, &[], visit);
    }
    for entry in member.node.entries() {
        let name = entry.key.key_name();
        let below = Member { node: entry.value, key: Some(entry.key), way: Way::Entry(&member.way, &name) };
        visit(Part::Key { mapping: member, member: &below, key: entry.key });
        if !without.contains(&&*name) {
            each_below(&below, &[], visit);
        }
    }
}
