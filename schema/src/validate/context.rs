//! What is known about a place at which a value violates its schema, for the rules that report it.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use crate::{
    document::{NodeRef, Pointer},
    files::Files,
    finding::Finding,
    json_schema::SpecFile,
    rules::{conflicting_fields, invalid_setting, invalid_value, missing_field, out_of_range, unknown_key, wrong_type},
    shape::{self, Place, Shape, Variant},
};

/// What the validator says of a node, before a rule is found for it.
pub(super) struct Violation {
    /// The node; for a key that is missing, where it would be.
    pub(super) at: Pointer,
    /// The problem.
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

impl Violation {
    pub(super) fn rank(&self) -> (Wrong, Pointer) {
        (self.wrong.clone(), self.at.clone())
    }
}

/// The part of a document in which values violate their schema.
pub struct Context<'d> {
    pub(crate) node: NodeRef<'d>,
    pub(crate) file: SpecFile,
    /// Where the node is in the file, list items counted as the first.
    pub(crate) base: Pointer,
    /// What the schema says of the node.
    pub(crate) shape: Shape,
    pub(crate) files: &'d dyn Files,
    /// What is known about the mappings in which something is wrong: one may have thousands of wrong keys.
    mappings: RefCell<HashMap<Pointer, Rc<Mapping<'d>>>>,
    /// Unknown keys that stand for the only one that is missing beside them.
    pub(crate) stand_ins: RefCell<HashMap<Pointer, &'static str>>,
}

/// What an unknown key is compared with.
pub(crate) struct Mapping<'d> {
    pub(crate) node: Option<NodeRef<'d>>,
    pub(crate) shape: Option<Shape>,
    /// Its place in the kind of file.
    pub(crate) here: Option<Place>,
    /// The keys that it may have.
    pub(crate) fields: Vec<&'static str>,
    /// Those of them that are not there yet.
    pub(crate) free: Vec<&'static str>,
    /// Those that must be there, alone or instead of another one, and are not.
    pub(crate) missing: Vec<&'static str>,
    /// The key that decides its form, and which form it has.
    pub(crate) variant: Option<(&'static str, &'static str)>,
    /// The tags of its forms, with the keys of each.
    pub(crate) tags: Vec<(&'static str, Vec<&'static str>)>,
    /// Whether an unknown key would be a claim that vanishes.
    pub(crate) claims: bool,
}

impl Mapping<'_> {
    /// Whether a member holds claims.
    pub(super) fn holds_claims(&self, name: &str) -> bool {
        self.shape.as_ref().and_then(|shape| shape.step(name, None)).is_some_and(|member| member.holds_claims())
    }
}

impl<'d> Context<'d> {
    pub(super) fn new(
        node: NodeRef<'d>,
        file: SpecFile,
        base: Pointer,
        shape: Shape,
        files: &'d dyn Files,
    ) -> Context<'d> {
        Context { node, file, base, shape, files, mappings: RefCell::default(), stand_ins: RefCell::default() }
    }

    pub(crate) fn mapping(&self, at: &Pointer) -> Rc<Mapping<'d>> {
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
            claims: is_claim(&self.shape, self.node, at),
        });
        self.mappings.borrow_mut().insert(at.clone(), Rc::clone(&known));
        known
    }

    /// Returns what a rule makes of a violation. `is_required` is whether a key that is unknown stands for one that
    /// must be there.
    pub(super) fn finding(&self, violation: Violation, is_required: bool) -> Finding {
        let Violation { at, wrong } = violation;
        let finding = match wrong {
            Wrong::UnknownKey(key) => unknown_key::of(self, at, &key, is_required),
            Wrong::Missing(key) => missing_field::of(self, at, key),
            Wrong::Type => wrong_type::of(self, at),
            Wrong::Value => invalid_value::of(self, at),
            Wrong::NoneOf => missing_field::none_of(self, at),
            Wrong::SeveralOf => conflicting_fields::several_of(self, at),
            Wrong::Number => out_of_range::number(self, at),
            Wrong::EmptyText => out_of_range::empty_text(self, at),
            Wrong::Empty => out_of_range::empty(self, at),
            Wrong::TooMany => conflicting_fields::too_many(self, at),
            Wrong::Pattern => invalid_value::wrong_form(self, at),
            Wrong::Other(keyword) => invalid_value::other(self, at, keyword),
        };
        let finding = match self.file.dialect() {
            Some(dialect) => dialect.format().explain(self, finding),
            None => finding,
        };
        let finding = finding.of_schema();
        if self.file == SpecFile::SETTINGS { invalid_setting::in_settings(finding) } else { finding }
    }

    /// Returns the key to which a place belongs, if it is not an item of a list.
    pub(crate) fn key_at(&self, at: &Pointer) -> Option<String> {
        at.last_step()?.key().map(str::to_owned)
    }

    pub(crate) fn shape(&self, at: &Pointer) -> Option<Shape> {
        self.shape.below(at, Some(self.node))
    }

    /// Returns the shape of a member whose siblings may be as wrong as it is.
    pub(crate) fn member(&self, at: &Pointer) -> Option<Shape> {
        match at.parent().zip(at.last_step()) {
            Some((parent, last)) => {
                let mapping = self.mapping(&parent);
                mapping.shape.as_ref()?.step_to(&last, mapping.node)
            }
            None => self.shape(at),
        }
    }

    /// Returns the place of a mapping in the kind of file.
    fn place_in_file(&self, at: &Pointer) -> Option<Place> {
        shape::place_of(self.file, &self.base.join(at))
    }

    /// Returns the tag of a mapping that has several forms, and the form that it has.
    pub(crate) fn variant(&self, at: &Pointer) -> Option<Variant> {
        let node = self.node.find(at)?;
        let matches = |variant: &Variant| {
            variant.tag.is_some_and(|(key, tag)| node.get(key).and_then(NodeRef::as_str) == Some(tag))
        };
        self.shape(at)?.variants().into_iter().find(matches)
    }

    /// Returns the tags of the forms of a mapping, with the keys of each.
    fn tags(&self, at: &Pointer) -> Vec<(&'static str, Vec<&'static str>)> {
        let variants = self.shape(at).map(|shape| shape.variants()).unwrap_or_default();
        let keys = |variant: &Variant| variant.shape.fields(None).iter().map(|field| field.name).collect();
        variants.iter().filter_map(|variant| Some((variant.tag?.1, keys(variant)))).collect()
    }
}

/// Whether an unknown key in a mapping would be a claim that vanishes. `shape` is that of `node`.
fn is_claim(shape: &Shape, node: NodeRef<'_>, mapping: &Pointer) -> bool {
    let places = std::iter::successors(Some(mapping.clone()), Pointer::parent);
    places.into_iter().any(|at| shape.below(&at, Some(node)).is_some_and(|shape| shape.holds_claims()))
}
