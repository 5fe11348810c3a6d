//! Merge keys whose value cannot be merged.

use crate::{
    document::{NodeRef, Shape},
    finding::{MessageParts, Report},
    lint_node::LintNode,
    problem::Code,
    validate::describe,
};

/// Checks the merge keys of a mapping. Few have one, so its location is made on request.
pub(crate) fn check<'d>(mapping: NodeRef<'d>, place: &dyn Fn() -> LintNode<'d>, report: &mut Report) {
    let is_mapping = |node: NodeRef<'_>| matches!(node.shape(), Shape::Mapping | Shape::Dangling);
    for entry in mapping.entries().filter(|entry| entry.is_merge()) {
        let value = entry.value;
        if !(is_mapping(value) || value.shape() == Shape::Sequence && value.items().all(is_mapping)) {
            let words = MessageParts::new(format!("expected a mapping for `<<`, found {}", describe(value)));
            let words = words.help("name the mapping to merge, as in `<<: *base`");
            let merge = LintNode { node: value, key: Some(entry.key), at: place().at.key("<<") };
            report.push(merge.problem(Code::WrongType, words));
        }
    }
}
