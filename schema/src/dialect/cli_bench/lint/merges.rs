//! Merge keys: the value of `<<` is a mapping, or a list of mappings.

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
                let message = format!("expected a mapping for `<<`, found {}", crate::validate::describe(member.node));
                let help = "name the mapping to merge, as in `<<: *base`";
                problems.push(member.problem(Code::WrongType, message).with_help(help));
            }
        } else if !without.contains(&key.as_str()) {
            lint(&member, &[], problems);
        }
    }
}
