//! The values and keys of a part of a file, as PyYAML meets them.

use crate::{document::NodeRef, spot::Spot};

/// A value or a key.
pub(crate) enum Part<'s, 'd> {
    /// A value that is written where it is.
    Value(&'s Spot<'d>),
    /// The key of a member of a mapping.
    Key { mapping: &'s Spot<'d>, member: &'s Spot<'d>, key: NodeRef<'d> },
}

/// Visits every value and key from a node on, the values of some of its keys omitted.
pub(crate) fn each<'d>(spot: &Spot<'d>, without: &[&str], visit: &mut impl FnMut(Part<'_, 'd>)) {
    if spot.node.alias().is_some() {
        return;
    }
    visit(Part::Value(spot));
    spot.items().iter().for_each(|item| each(item, &[], visit));
    for (name, member) in spot.entries() {
        if let Some(key) = member.key {
            visit(Part::Key { mapping: spot, member: &member, key });
        }
        if !without.contains(&name.as_str()) {
            each(&member, &[], visit);
        }
    }
}
