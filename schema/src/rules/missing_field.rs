use crate::{
    document::{NodeRef, Pointer},
    finding::{Finding, Location, MessageParts, Rule},
    problem::{Code, Fix},
    shape::Shape,
    validate::{Context, as_fragment, fix, head},
    words::listed,
};

pub(crate) mod script;

/// A missing required key.
#[derive(Debug)]
struct Missing {
    key: String,
    /// Owner of the key: a key, or the form of an assertion. `None` for an item of a list.
    owner: Option<String>,
    /// Schema of the mapping.
    shape: Option<Shape>,
}

/// None of several keys of which one is required.
#[derive(Debug)]
struct NoneOf {
    /// Form of the assertion.
    owner: Option<&'static str>,
    keys: Vec<&'static str>,
    shape: Option<Shape>,
}

/// Reports a missing key.
pub(crate) fn of(context: &Context<'_>, at: Pointer, key: String) -> Finding {
    let parent = at.parent().unwrap_or_default();
    let shape = context.shape(&parent);
    let tag = context.variant(&parent).and_then(|variant| variant.tag);
    let owner = context.key_at(&parent).or_else(|| tag.map(|(_, tag)| tag.to_owned()));
    let range = head(context.node, &parent);
    Finding::new(Missing { key, owner, shape }, at, range)
}

/// Reports a mapping without any of several keys of which one is required.
pub(crate) fn none_of(context: &Context<'_>, at: Pointer) -> Finding {
    let shape = context.shape(&at);
    let keys = shape.as_ref().map(Shape::one_of_needed).unwrap_or_default();
    let owner = context.variant(&at).and_then(|variant| variant.tag).map(|(_, tag)| tag);
    let range = head(context.node, &at);
    Finding::new(NoneOf { owner, keys, shape }, at, range)
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

impl Rule for Missing {
    const CODE: Code = Code::MissingField;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let (key, mapping) = (&self.key, location.parent());
        let words = MessageParts::new(match &self.owner {
            Some(owner) => format!("`{owner}` is missing `{key}`"),
            None => format!("missing `{key}`"),
        });
        let member = self.shape.as_ref().and_then(|shape| shape.step(key, mapping));
        let docs = || {
            let docs = as_fragment(member.as_ref()?.summary()?);
            (!repeats(&docs, key)).then(|| format!("`{key}`: {docs}"))
        };
        let note = member.as_ref().and_then(Shape::needed_because).map(str::to_owned).or_else(docs);
        let words = note.into_iter().fold(words, MessageParts::note);
        let fix = mapping.zip(self.shape.as_ref()).and_then(|(mapping, shape)| insertion(mapping, shape, key, &[]));
        words.fix(fix).help(format!("add `{key}`"))
    }
}

impl Rule for NoneOf {
    const CODE: Code = Code::MissingField;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let keys = listed(self.keys.iter().copied());
        let words = match self.owner {
            Some(owner) => MessageParts::new(format!("`{owner}` is missing {keys}"))
                .note("without one of them, nothing is checked"),
            None => MessageParts::new(format!("missing {keys}")),
        };
        let place = location.node().zip(self.shape.as_ref());
        let fix = |key: &&'static str| place.and_then(|(mapping, shape)| insertion(mapping, shape, key, &[]));
        words.fix(self.keys.iter().filter_map(fix)).help("add one of them")
    }
}
