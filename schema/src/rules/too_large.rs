//! Aliases that expand to too many values.

use crate::{
    document::{NodeRef, Pointer},
    finding::{Finding, MessageParts},
    lint_node::head,
    problem::Code,
};

/// Reports a part with nested aliases that expand to more values than the limit.
pub(crate) fn aliases(node: NodeRef<'_>) -> Finding {
    let words = MessageParts::new("these aliases expand to too many values").help("write the values out");
    Finding::stated(Code::TooLarge, words, Pointer::root(), head(node, &Pointer::root()))
}
