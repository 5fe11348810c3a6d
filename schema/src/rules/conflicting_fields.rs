//! Keys that exclude each other, and list items with several assertions.

use std::ops::Range;

use crate::{
    document::{NodeRef, Pointer},
    finding::{Finding, MessageParts, Relation},
    lint_node::head,
    problem::Code,
    shape::Shape,
    validate::{Context, fix},
    words::all_of,
};

/// Reports keys that exclude each other at the last of them.
pub(crate) fn several_of(context: &Context<'_>, at: Pointer) -> Finding {
    let alternatives = context.shape(&at).map(|shape: Shape| shape.alternatives()).unwrap_or_default();
    let mut present = keys_of(context, &at);
    present.retain(|(key, _)| alternatives.contains(&key.as_str()));
    let help = if alternatives.len() == 2 { "remove one of the two" } else { "keep one of them" };
    let names = all_of(alternatives.iter().copied());
    let words = MessageParts::new(format!("{names} are mutually exclusive")).help(help);
    let (place, range) = match present.pop() {
        Some((key, range)) => (at.key(&key), range),
        None => (at.clone(), head(context.node, &at)),
    };
    let finding = Finding::stated(Code::ConflictingFields, words, place, range);
    present.into_iter().fold(finding, |finding, (key, range)| {
        let place = at.key(&key);
        finding.related(Relation::KeyHere(key), place, range)
    })
}

/// Reports an item with several assertions, at its second key.
pub(crate) fn too_many(context: &Context<'_>, at: Pointer) -> Finding {
    let keys = keys_of(context, &at);
    let words = match keys.as_slice() {
        [(key, _)] => MessageParts::new(format!("`{key}` makes several assertions one list item"))
            .note("YAML does not join lists")
            .help("write each assertion as an item"),
        keys => {
            let names = all_of(keys.iter().map(|(key, _)| key.as_str()));
            MessageParts::new(format!("{names} are in the same list item"))
                .help(fix::split_into(keys.len()))
                .fix(context.node.find(&at).and_then(fix::split))
        }
    };
    let range = keys.get(1).map_or_else(|| head(context.node, &at), |(_, range)| range.clone());
    let finding = Finding::stated(Code::ConflictingFields, words, at.clone(), range);
    match keys.into_iter().next() {
        Some((key, range)) => {
            let place = at.key(&key);
            finding.related(Relation::KeyHere(key), place, range)
        }
        None => finding,
    }
}

fn keys_of(context: &Context<'_>, at: &Pointer) -> Vec<(String, Range<usize>)> {
    let entries = context.node.find(at).into_iter().flat_map(NodeRef::entries);
    entries.map(|entry| (entry.key.key_text(), entry.key.range())).collect()
}
