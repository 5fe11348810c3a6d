//! Merge keys: what stands behind `<<` is a mapping, or a list of them.

use crate::{
    document::Shape,
    problem::{Code, Problem},
    spot::Spot,
};

/// Every mapping below a node, the values of some keys left out.
pub(super) fn lint(spot: &Spot<'_>, without: &[&str], problems: &mut Vec<Problem>) {
    if spot.node.alias().is_some() {
        return;
    }
    spot.items().iter().for_each(|item| lint(item, &[], problems));
    for (key, member) in spot.entries() {
        if key == "<<" {
            let is_mapping = |spot: &Spot<'_>| matches!(spot.node.shape(), Shape::Mapping | Shape::Dangling);
            let fits = is_mapping(&member) || (member.is_list() && member.items().iter().all(is_mapping));
            if !fits {
                let message = "`<<` merges the entries of another mapping: name one, as in `<<: *base`";
                problems.push(member.problem(Code::WrongType, message));
            }
        } else if !without.contains(&key.as_str()) {
            lint(&member, &[], problems);
        }
    }
}
