use crate::{
    document::{NodeRef, Pointer, Scalar},
    finding::{Finding, Location, MessageParts, Rule},
    problem::{Code, Fix},
    shape::{Shape, Type},
    validate::{Context, fix, place},
    words::listed,
};

/// A number outside of its bounds.
#[derive(Debug)]
struct Number {
    name: String,
    shape: Option<Shape>,
}

/// An empty string that is not allowed.
#[derive(Debug)]
enum EmptyText {
    Field {
        name: String,
        /// Reason why it is needed, where only some mappings need it.
        note: Option<&'static str>,
    },
    ItemOf(String),
    Item,
}

/// An empty list or mapping that is not allowed.
#[derive(Debug)]
enum Empty {
    List(String),
    Mapping(String),
    File {
        is_list: bool,
    },
    /// An item of a list that requires one of these keys.
    Item(Vec<&'static str>),
}

/// Returns a number as it is written, for a message that names the expected type.
fn as_written(location: &Location<'_>) -> String {
    location.node().and_then(|node| node.text()).map(|text| format!("`{text}`")).unwrap_or_default()
}

/// Reports a number outside of its bounds.
pub(crate) fn number(context: &Context<'_>, at: Pointer) -> Finding {
    let rule = Number { name: at.last().unwrap_or_default(), shape: context.shape(&at) };
    let range = place(context.node, &at);
    Finding::new(rule, at, range)
}

/// Reports an empty string.
pub(crate) fn empty_text(context: &Context<'_>, at: Pointer) -> Finding {
    let rule = match (context.list_of(&at), at.last()) {
        (Some(list), _) => EmptyText::ItemOf(list),
        (None, Some(name)) => {
            EmptyText::Field { name, note: context.shape(&at).as_ref().and_then(Shape::needed_because) }
        }
        (None, None) => EmptyText::Item,
    };
    let range = place(context.node, &at);
    Finding::new(rule, at, range)
}

/// Reports an empty list or mapping.
pub(crate) fn empty(context: &Context<'_>, at: Pointer) -> Finding {
    let shape = context.shape(&at);
    let is_list = shape.as_ref().is_some_and(|shape| shape.kind() == Type::List);
    let rule = match context.key_at(&at) {
        Some(name) if is_list => Empty::List(name),
        Some(name) => Empty::Mapping(name),
        None if at.is_root() && context.base.is_root() => Empty::File { is_list },
        None => Empty::Item(shape.map(|shape| shape.alternatives()).unwrap_or_default()),
    };
    let range = place(context.node, &at);
    Finding::new(rule, at, range)
}

impl Rule for Number {
    const CODE: Code = Code::OutOfRange;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let node = location.node();
        let number = node.and_then(NodeRef::scalar).map_or(0.0, |scalar| match scalar {
            Scalar::Int(value) => value as f64,
            Scalar::Float(value) => value,
            Scalar::Null | Scalar::Bool(_) | Scalar::Text | Scalar::Timestamp => 0.0,
        });
        let shape = self.shape.as_ref();
        let bounds =
            shape.and_then(Shape::bounds).unwrap_or_else(|| "a number that can be represented exactly".to_owned());
        let most = shape.and_then(Shape::maximum).filter(|most| number > *most);
        let bounds = match most {
            Some(most) if !bounds.contains(&most.to_string()) => format!("at most {most}"),
            Some(_) | None => bounds,
        };
        let kind = match shape.map(Shape::kind) {
            Some(Type::Integer) => "an integer",
            Some(Type::Number | Type::Any | Type::Text | Type::Boolean | Type::List | Type::Mapping) | None => {
                "a number"
            }
        };
        let expected = match &bounds {
            // It names the type itself.
            it if it.starts_with("a ") => bounds.clone(),
            it if it.starts_with("above") => format!("{kind} {}", bounds.replace(", at most", " and at most")),
            it if it.starts_with("at ") => format!("{kind} of {bounds}"),
            _ => format!("{kind} from {bounds}"),
        };
        let words =
            MessageParts::new(format!("expected {expected} for `{}`, found {}", self.name, as_written(location)));
        // A share that was written as a percentage.
        let share = node.filter(|_| bounds == "0 to 1");
        match share.and_then(|node| Some((node, node.text()?.parse::<u32>().ok()?))) {
            Some((node, percent @ 10..=100)) => {
                let text = (f64::from(percent) / 100.0).to_string();
                words.fix_with_help(fix::written(node, text, Fix::guess))
            }
            Some(_) | None => words,
        }
    }
}

impl Rule for EmptyText {
    const CODE: Code = Code::OutOfRange;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let words = MessageParts::new(match self {
            EmptyText::Field { name, .. } => format!("`{name}` must not be empty"),
            EmptyText::ItemOf(list) => format!("an item of `{list}` must not be empty"),
            EmptyText::Item => "this item must not be empty".to_owned(),
        });
        match self {
            EmptyText::Field { note, .. } => note.iter().fold(words, MessageParts::note).help("write a value"),
            EmptyText::ItemOf(_) | EmptyText::Item => words.help("write a value, or remove the item"),
        }
    }
}

impl Rule for Empty {
    const CODE: Code = Code::OutOfRange;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let (item, key) = ("add an item", "add a key");
        match self {
            Empty::List(name) => MessageParts::new(format!("`{name}` must not be empty")).help(item),
            Empty::Mapping(name) => MessageParts::new(format!("`{name}` must not be empty")).help(key),
            Empty::File { is_list } => {
                MessageParts::new("the file must not be empty").help(if *is_list { item } else { key })
            }
            Empty::Item(alternatives) => MessageParts::new("the mapping must not be empty")
                .help(format!("add {}", listed(alternatives.iter().copied()))),
        }
    }
}
