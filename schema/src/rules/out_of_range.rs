//! Numbers outside of their bounds, and values that must not be empty.

use crate::{
    document::{NodeRef, Pointer, Scalar},
    finding::{Finding, MessageParts},
    lint_node::place,
    problem::{Code, Fix},
    shape::{Shape, Type},
    validate::{Context, fix},
    words::listed,
};

fn found(context: &Context<'_>, at: Pointer, words: MessageParts) -> Finding {
    let range = place(context.node, &at);
    Finding::stated(Code::OutOfRange, words, at, range)
}

/// Reports a number outside of its bounds.
pub(crate) fn number(context: &Context<'_>, at: Pointer) -> Finding {
    let (node, shape) = (context.node.find(&at), context.shape(&at));
    let number = node.and_then(NodeRef::scalar).map_or(0.0, |scalar| match scalar {
        Scalar::Int(value) => value as f64,
        Scalar::Float(value) => value,
        Scalar::Null | Scalar::Bool(_) | Scalar::Text | Scalar::Timestamp => 0.0,
    });
    let shape = shape.as_ref();
    let bounds = shape.and_then(Shape::bounds).unwrap_or_else(|| "a number that can be represented exactly".to_owned());
    let most = shape.and_then(Shape::maximum).filter(|most| number > *most);
    let bounds = match most {
        Some(most) if !bounds.contains(&most.to_string()) => format!("at most {most}"),
        Some(_) | None => bounds,
    };
    let kind = match shape.map(Shape::kind) {
        Some(Type::Integer) => "an integer",
        Some(Type::Number | Type::Any | Type::Text | Type::Boolean | Type::List | Type::Mapping) | None => "a number",
    };
    let expected = match &bounds {
        // It names the type itself.
        it if it.starts_with("a ") => bounds.clone(),
        it if it.starts_with("above") => format!("{kind} {}", bounds.replace(", at most", " and at most")),
        it if it.starts_with("at ") => format!("{kind} of {bounds}"),
        _ => format!("{kind} from {bounds}"),
    };
    let name = at.last().unwrap_or_default();
    let written = node.and_then(NodeRef::text).map(|text| format!("`{text}`")).unwrap_or_default();
    let words = MessageParts::new(format!("expected {expected} for `{name}`, found {written}"));
    // A share that was written as a percentage.
    let share = node.filter(|_| bounds == "0 to 1");
    let words = match share.and_then(|node| Some((node, node.text()?.parse::<u32>().ok()?))) {
        Some((node, percent @ 10..=100)) => {
            let text = (f64::from(percent) / 100.0).to_string();
            words.fix_with_help(fix::written(node, text, Fix::guess))
        }
        Some(_) | None => words,
    };
    found(context, at, words)
}

/// Reports an empty string.
pub(crate) fn empty_text(context: &Context<'_>, at: Pointer) -> Finding {
    let words = match (context.list_of(&at), at.last()) {
        (Some(list), _) => MessageParts::new(format!("an item of `{list}` must not be empty"))
            .help("write a value, or remove the item"),
        (None, Some(name)) => {
            let note = context.shape(&at).as_ref().and_then(Shape::needed_because);
            let words = MessageParts::new(format!("`{name}` must not be empty")).help("write a value");
            note.iter().fold(words, MessageParts::note)
        }
        (None, None) => MessageParts::new("this item must not be empty").help("write a value, or remove the item"),
    };
    found(context, at, words)
}

/// Reports an empty list or mapping.
pub(crate) fn empty(context: &Context<'_>, at: Pointer) -> Finding {
    let shape = context.shape(&at);
    let is_list = shape.as_ref().is_some_and(|shape| shape.kind() == Type::List);
    let help = if is_list { "add an item" } else { "add a key" };
    let words = match context.key_at(&at) {
        Some(name) => MessageParts::new(format!("`{name}` must not be empty")).help(help),
        None if at.is_root() && context.base.is_root() => MessageParts::new("the file must not be empty").help(help),
        None => {
            let keys = shape.map(|shape| shape.alternatives()).unwrap_or_default();
            MessageParts::new("the mapping must not be empty").help(format!("add {}", listed(keys.iter().copied())))
        }
    };
    found(context, at, words)
}
