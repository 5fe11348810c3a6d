//! Problems in words: what the findings are, and what is known about the place where they were made. The words
//! themselves are in the parts, by topic.

mod bounds;
mod keys;
mod values;

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use crate::{
    document::{NodeRef, Pointer, Scalar, Shape as NodeShape},
    json_schema::SpecFile,
    problem::{Code, Problem},
    shape::{self, Place, Shape, Variant},
};

pub(crate) use keys::{could_hold, is_claim, rename_key};

use super::place;

/// A problem at a node, before it is put into words.
pub(super) struct Finding {
    /// The node; for a key that is missing, where it would be.
    pub(super) at: Pointer,
    /// What is wrong.
    pub(super) wrong: Wrong,
}

/// The kinds of problem that a schema finds. Of several at one node, the first one here is reported.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    /// A key that the mapping does not have.
    UnknownKey(String),
    /// A key that must be there.
    Missing(String),
    /// A value of another type.
    Type,
    /// A value that is not among those allowed.
    Value,
    /// None of several keys of which one must be there.
    NoneOf,
    /// More than one of them.
    SeveralOf,
    /// A number outside of its bounds.
    Number,
    /// An empty text.
    EmptyText,
    /// An empty list or mapping.
    Empty,
    /// A mapping with more keys than it may have.
    TooMany,
    /// A text that does not have the form that it must have.
    Pattern,
    /// Something else.
    Other(String),
}

impl Finding {
    pub(super) fn rank(&self) -> (Wrong, Pointer) {
        (self.wrong.clone(), self.at.clone())
    }
}

/// Where the findings were made.
pub(super) struct Context<'d> {
    pub(super) node: NodeRef<'d>,
    file: SpecFile,
    /// Where the node stands in the file, list items counted as the first.
    base: Pointer,
    /// What the schema says of the node.
    shape: Shape,
    /// What is known about the mappings in which something is wrong: one may have thousands of wrong keys.
    mappings: RefCell<HashMap<Pointer, Rc<Mapping<'d>>>>,
    /// Unknown keys that stand for the only one that is missing beside them.
    stand_ins: RefCell<HashMap<Pointer, &'static str>>,
}

/// What an unknown key is compared with.
struct Mapping<'d> {
    node: Option<NodeRef<'d>>,
    shape: Option<Shape>,
    /// Its place in the kind of file.
    here: Option<Place>,
    /// The keys that it may have.
    fields: Vec<&'static str>,
    /// Those of them that are not there yet.
    free: Vec<&'static str>,
    /// Those that must be there, alone or in place of another one, and are not.
    missing: Vec<&'static str>,
    /// The key that decides its form, and which form it has.
    variant: Option<(&'static str, &'static str)>,
    /// The tags of its forms, with the keys of each.
    tags: Vec<(&'static str, Vec<&'static str>)>,
    /// Whether an unknown key would be a claim that vanishes.
    claims: bool,
}

impl<'d> Context<'d> {
    pub(super) fn new(node: NodeRef<'d>, file: SpecFile, base: Pointer, shape: Shape) -> Context<'d> {
        Context { node, file, base, shape, mappings: RefCell::default(), stand_ins: RefCell::default() }
    }

    fn mapping(&self, at: &Pointer) -> Rc<Mapping<'d>> {
        if let Some(known) = self.mappings.borrow().get(at) {
            return Rc::clone(known);
        }
        let node = self.node.find(at);
        let shape = self.shape(at);
        let fields = shape.iter().flat_map(|shape| shape.fields(node)).collect::<Vec<_>>();
        let is_free = |name: &str| node.is_none_or(|node| node.entry(name).is_none());
        let known = Rc::new(Mapping {
            node,
            here: self.place_in_file(at),
            free: fields.iter().map(|field| field.name).filter(|name| is_free(name)).collect(),
            missing: fields
                .iter()
                .filter(|field| field.need != shape::Need::Optional && node.is_some() && is_free(field.name))
                .map(|field| field.name)
                .collect(),
            fields: fields.iter().map(|field| field.name).collect(),
            variant: self.variant(at).and_then(|variant| variant.tag),
            tags: self.tags(at),
            shape,
            claims: self.is_claim(at),
        });
        self.mappings.borrow_mut().insert(at.clone(), Rc::clone(&known));
        known
    }

    /// A finding in words.
    pub(super) fn problem(&self, finding: Finding) -> Problem {
        let Finding { at, wrong } = finding;
        let mut problem = match wrong {
            Wrong::UnknownKey(key) => self.unknown_key(at, &key),
            Wrong::Missing(key) => self.missing(at, &key),
            Wrong::Type => self.wrong_type(at),
            Wrong::Value => self.wrong_value(at),
            Wrong::NoneOf => self.none_of(at),
            Wrong::SeveralOf => self.several_of(at),
            Wrong::Number => self.out_of_bounds(at),
            Wrong::EmptyText => self.empty_text(at),
            Wrong::Empty => self.empty(at),
            Wrong::TooMany => self.too_many(at),
            Wrong::Pattern => self.wrong_form(at),
            Wrong::Other(message) => {
                let range = place(self.node, &at);
                Problem::new(Code::InvalidValue, at, range, message)
            }
        };
        if self.file == SpecFile::Settings {
            problem.code = Code::InvalidSetting;
            problem.severity = Code::InvalidSetting.severity();
        }
        problem
    }

    /// The key to which a place belongs, if it is not an item of a list. A key may be a number.
    fn key_at(&self, at: &Pointer) -> Option<String> {
        let is_list = |parent: NodeRef<'_>| parent.shape() == NodeShape::Sequence;
        at.last().filter(|_| !at.parent().and_then(|parent| self.node.find(&parent)).is_some_and(is_list))
    }

    fn shape(&self, at: &Pointer) -> Option<Shape> {
        self.shape.below(at, Some(self.node))
    }

    /// The shape of a member whose siblings may be as wrong as it is.
    fn member(&self, at: &Pointer) -> Option<Shape> {
        match at.parent().zip(at.last()) {
            Some((parent, last)) => {
                let mapping = self.mapping(&parent);
                mapping.shape.as_ref()?.step(&last, mapping.node)
            }
            None => self.shape(at),
        }
    }

    /// The place of a mapping in the kind of file.
    fn place_in_file(&self, at: &Pointer) -> Option<Place> {
        shape::place_of(self.file, &self.base.join(at))
    }

    /// The tag of a mapping that has several forms, and the form that it has.
    fn variant(&self, at: &Pointer) -> Option<Variant> {
        let node = self.node.find(at)?;
        let matches = |variant: &Variant| {
            variant.tag.is_some_and(|(key, tag)| node.get(key).and_then(NodeRef::as_str) == Some(tag))
        };
        self.shape(at)?.variants().into_iter().find(matches)
    }

    /// The tags of the forms of a mapping, with the keys of each.
    fn tags(&self, at: &Pointer) -> Vec<(&'static str, Vec<&'static str>)> {
        let variants = self.shape(at).map(|shape| shape.variants()).unwrap_or_default();
        let keys = |variant: &Variant| variant.shape.fields(None).iter().map(|field| field.name).collect();
        variants.iter().filter_map(|variant| Some((variant.tag?.1, keys(variant)))).collect()
    }
}

/// A node in words: "the string `x`", "a list".
pub(crate) fn describe(node: NodeRef<'_>) -> String {
    const SHOWN: usize = 32;
    let text = node.text().unwrap_or_default();
    let mut shown: String =
        text.chars().take(SHOWN).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    match (node.shape(), node.scalar()) {
        (NodeShape::Sequence, _) => "a list".to_owned(),
        (NodeShape::Mapping, _) => "a mapping".to_owned(),
        (NodeShape::Dangling, _) => "an unknown alias".to_owned(),
        (NodeShape::Scalar, Some(Scalar::Null)) => "null".to_owned(),
        (NodeShape::Scalar, Some(Scalar::Bool(_))) => format!("`{shown}`"),
        (NodeShape::Scalar, Some(Scalar::Float(value))) if value.is_nan() => format!("`{shown}`"),
        (NodeShape::Scalar, Some(Scalar::Int(_) | Scalar::Float(_))) => format!("the number `{shown}`"),
        (NodeShape::Scalar, Some(Scalar::Text | Scalar::Timestamp) | None) if text.is_empty() => {
            "an empty string".to_owned()
        }
        (NodeShape::Scalar, Some(Scalar::Text | Scalar::Timestamp) | None) => format!("the string `{shown}`"),
    }
}

fn with_article(label: &str) -> String {
    match label.chars().next() {
        Some('`') => label.to_owned(),
        _ if label.starts_with("any ") || label == "null" => label.to_owned(),
        Some('a' | 'e' | 'i' | 'o') => format!("an {label}"),
        _ => format!("a {label}"),
    }
}

/// The first sentence of a doc comment as the end of another one.
fn as_fragment(summary: &str) -> String {
    let sentence = summary.split(". ").next().unwrap_or(summary);
    let mut letters = sentence.trim_end_matches('.').chars();
    match letters.next() {
        Some(first) => first.to_lowercase().chain(letters).collect(),
        None => String::new(),
    }
}
