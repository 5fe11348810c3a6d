//! Required keys that are missing.

use crate::{
    document::{NodeRef, Pointer},
    finding::{Finding, MessageParts},
    lint_node::head,
    problem::{Code, Fix},
    shape::Shape,
    validate::{Context, as_fragment, fix},
    words::listed,
};

pub(crate) fn of(context: &Context<'_>, at: Pointer, key: String) -> Finding {
    let parent = at.parent().unwrap_or_default();
    let (shape, mapping) = (context.shape(&parent), context.node.find(&parent));
    let tag = context.variant(&parent).and_then(|variant| variant.tag);
    let words = MessageParts::new(match context.key_at(&parent).or_else(|| tag.map(|(_, tag)| tag.to_owned())) {
        Some(owner) => format!("`{owner}` is missing `{key}`"),
        None => format!("missing `{key}`"),
    });
    let member = shape.as_ref().and_then(|shape| shape.step(&key, mapping));
    let docs = || {
        let docs = as_fragment(member.as_ref()?.summary()?);
        (!repeats(&docs, &key)).then(|| format!("`{key}`: {docs}"))
    };
    let note = member.as_ref().and_then(Shape::needed_because).map(str::to_owned).or_else(docs);
    let words = note.into_iter().fold(words, MessageParts::note);
    let fix = mapping.zip(shape.as_ref()).and_then(|(mapping, shape)| insertion(mapping, shape, &key, &[]));
    let range = head(context.node, &parent);
    Finding::stated(Code::MissingField, words.fix(fix).help(format!("add `{key}`")), at, range)
}

/// Reports a mapping without any of several keys of which one is required.
pub(crate) fn none_of(context: &Context<'_>, at: Pointer) -> Finding {
    let shape = context.shape(&at);
    let keys = shape.as_ref().map(Shape::one_of_needed).unwrap_or_default();
    let names = listed(keys.iter().copied());
    let words = match context.variant(&at).and_then(|variant| variant.tag) {
        Some((_, owner)) => {
            MessageParts::new(format!("`{owner}` is missing {names}")).note("without one of them, nothing is checked")
        }
        None => MessageParts::new(format!("missing {names}")),
    };
    let place = context.node.find(&at).zip(shape.as_ref());
    let fix = |key: &&'static str| place.and_then(|(mapping, shape)| insertion(mapping, shape, key, &[]));
    let range = head(context.node, &at);
    Finding::stated(Code::MissingField, words.fix(keys.iter().filter_map(fix)).help("add one of them"), at, range)
}

/// Returns the fix that adds a key to a mapping, after the keys that precede it in its type. `known` contains values of
/// keys that replace examples.
pub(crate) fn insertion(mapping: NodeRef<'_>, shape: &Shape, key: &str, known: &[(&str, String)]) -> Option<Fix> {
    let order: Vec<&str> = shape.fields(Some(mapping)).iter().map(|field| field.name).collect();
    fix::insert(mapping, key, &shape.step(key, Some(mapping))?, &order, known)
}

/// Whether a description says no more than the key: "reason for the prohibition" for `reason`.
fn repeats(docs: &str, key: &str) -> bool {
    let rest = docs.strip_prefix(key).filter(|rest| !rest.contains([',', ';', ':', '(']));
    rest.is_some_and(|rest| rest.starts_with(" of ") || rest.starts_with(" for "))
}
