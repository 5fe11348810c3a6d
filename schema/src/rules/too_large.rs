use crate::{
    document::{NodeRef, Pointer},
    finding::{Finding, Location, MessageParts, Rule},
    problem::Code,
    validate::head,
};

/// Nested aliases that expand to more values than the limit.
#[derive(Debug)]
struct MultipliedAliases;

/// Reports a part with such aliases.
pub(crate) fn aliases(node: NodeRef<'_>) -> Finding {
    let range = head(node, &Pointer::root());
    Finding::new(MultipliedAliases, Pointer::root(), range)
}

impl Rule for MultipliedAliases {
    const CODE: Code = Code::TooLarge;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new("these aliases expand to too many values").help("write the values out")
    }
}
