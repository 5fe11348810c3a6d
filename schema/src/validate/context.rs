//! Context of a violation of the schema, for the rules that report it.

use std::{cell::RefCell, collections::HashMap, rc::Rc};

use crate::{
    document::{NodeRef, Pointer},
    files::Files,
    finding::Finding,
    json_schema::SpecFile,
    key_path::KeyPath,
    rules::{conflicting_fields, invalid_setting, invalid_value, missing_field, out_of_range, unknown_key, wrong_type},
    shape::{self, Shape, Variant},
};

/// A violation from the validator, before its rule is chosen.
pub(super) struct Violation {
    /// Location; for a missing key, that of the key.
    pub(super) at: Pointer,
    pub(super) kind: ViolationKind,
}

/// Kinds of violations. Of several at one node, the first one here is reported.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ViolationKind {
    /// Keys of the mapping at `outer` in a mapping with free keys, the first of which is at the location.
    Swallowed {
        keys: Vec<String>,
        outer: Pointer,
    },
    UnknownKey(String),
    Missing(String),
    /// A value of the wrong type.
    Type,
    /// A value that is not allowed.
    Value,
    /// None of several keys of which one is required.
    NoneOf,
    /// More than one of several exclusive keys.
    SeveralOf,
    /// A number outside of its bounds.
    Number,
    /// An empty string.
    EmptyText,
    /// An empty list or mapping.
    Empty,
    TooMany,
    /// A string that does not match its pattern.
    Pattern,
    /// Any other keyword.
    Other(String),
}

impl Violation {
    pub(super) fn rank(&self) -> (ViolationKind, Pointer) {
        (self.kind.clone(), self.at.clone())
    }
}

/// The part of a document with violations.
pub struct Context<'d> {
    pub(crate) node: NodeRef<'d>,
    pub(crate) file: SpecFile,
    /// Location of the node in the file; list items count as the first one.
    pub(crate) base: Pointer,
    /// Schema of the node.
    pub(crate) shape: Shape,
    pub(crate) files: &'d dyn Files,
    /// Data about mappings with violations. Cached, because a mapping may have thousands of unknown keys.
    mappings: RefCell<HashMap<Pointer, Rc<Mapping<'d>>>>,
    /// Unknown keys that replace the only missing one next to them.
    pub(crate) stand_ins: RefCell<HashMap<Pointer, &'static str>>,
}

/// Data to compare an unknown key with.
pub(crate) struct Mapping<'d> {
    pub(crate) node: Option<NodeRef<'d>>,
    pub(crate) shape: Option<Shape>,
    /// Place in the kind of file.
    pub(crate) here: Option<KeyPath>,
    /// Allowed keys.
    pub(crate) fields: Vec<&'static str>,
    /// Allowed keys that are not used yet.
    pub(crate) free: Vec<&'static str>,
    /// Required keys, alone or instead of another one, that are missing.
    pub(crate) missing: Vec<&'static str>,
    /// Tag of the mapping, and its form.
    pub(crate) variant: Option<(&'static str, &'static str)>,
    forms: Vec<Variant>,
    /// Whether an unknown key would be a lost assertion.
    pub(crate) claims: bool,
    /// Consequence of an unknown key, unless the format's tool ignores it.
    pub(crate) refusal: Option<&'static str>,
}

impl Mapping<'_> {
    pub(crate) fn forms_with(&self, key: &str) -> Vec<&'static str> {
        self.forms.iter().filter(|form| form.shape.has_field(key)).filter_map(|form| Some(form.tag?.1)).collect()
    }

    /// Whether a member contains assertions.
    pub(crate) fn holds_claims(&self, name: &str) -> bool {
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
        let forms = shape.as_ref().map(Shape::variants).unwrap_or_default();
        let is_free = |name: &str| node.is_none_or(|node| node.entry(name).is_none());
        let known = Rc::new(Mapping {
            node,
            here: self.place_in_file(at),
            free: fields.iter().map(|field| field.name).filter(|name| is_free(name)).collect(),
            missing: fields
                .iter()
                .filter(|field| node.is_some() && is_free(field.name))
                .filter(|field| match &field.need {
                    shape::Need::Required | shape::Need::OneOf(_) => true,
                    shape::Need::AnyOf(keys) => keys.iter().all(|key| is_free(key)),
                    shape::Need::Optional => false,
                })
                .map(|field| field.name)
                .collect(),
            fields: fields.iter().map(|field| field.name).collect(),
            variant: node.and_then(|node| chosen(node, &forms)?.tag),
            forms,
            shape,
            claims: around(&self.shape, self.node, at).any(|shape| shape.holds_claims()),
            refusal: around(&self.shape, self.node, at).find_map(|shape| shape.refusal()).flatten(),
        });
        self.mappings.borrow_mut().insert(at.clone(), Rc::clone(&known));
        known
    }

    /// Returns the finding of a violation. `is_required`: whether an unknown key replaces a required
    /// one.
    pub(super) fn finding(&self, violation: Violation, is_required: bool) -> Finding {
        let Violation { at, kind } = violation;
        let finding = match kind {
            ViolationKind::Swallowed { keys, outer } => unknown_key::swallowed(self, at, keys, outer),
            ViolationKind::UnknownKey(key) => unknown_key::of(self, at, &key, is_required),
            ViolationKind::Missing(key) => missing_field::of(self, at, key),
            ViolationKind::Type => wrong_type::of(self, at),
            ViolationKind::Value => invalid_value::of(self, at),
            ViolationKind::NoneOf => missing_field::none_of(self, at),
            ViolationKind::SeveralOf => conflicting_fields::several_of(self, at),
            ViolationKind::Number => out_of_range::number(self, at),
            ViolationKind::EmptyText => out_of_range::empty_text(self, at),
            ViolationKind::Empty => out_of_range::empty(self, at),
            ViolationKind::TooMany => conflicting_fields::too_many(self, at),
            ViolationKind::Pattern => invalid_value::wrong_form(self, at),
            ViolationKind::Other(keyword) => invalid_value::other(self, at, keyword),
        };
        let finding = match self.file.dialect() {
            Some(dialect) => dialect.format().explain(self, finding),
            None => finding,
        };
        let finding = finding.of_schema();
        if self.file == SpecFile::SETTINGS { invalid_setting::in_settings(self, finding) } else { finding }
    }

    /// Returns the key of a location, unless it is an item of a list.
    pub(crate) fn key_at(&self, at: &Pointer) -> Option<String> {
        at.last_step()?.key().map(str::to_owned)
    }

    /// Returns the key of the list that a location is an item of.
    pub(crate) fn list_of(&self, at: &Pointer) -> Option<String> {
        let parent = if at.last_step().is_some() { at.parent() } else { self.base.parent() };
        parent.and_then(|parent| parent.last()).filter(|_| self.key_at(at).is_none())
    }

    pub(crate) fn shape(&self, at: &Pointer) -> Option<Shape> {
        self.shape.below(at, Some(self.node))
    }

    /// Returns the shape of a member whose siblings may also have violations.
    pub(crate) fn member(&self, at: &Pointer) -> Option<Shape> {
        match at.parent().zip(at.last_step()) {
            Some((parent, last)) => {
                let mapping = self.mapping(&parent);
                mapping.shape.as_ref()?.step_to(&last, mapping.node)
            }
            None => self.shape(at),
        }
    }

    fn place_in_file(&self, at: &Pointer) -> Option<KeyPath> {
        Shape::of(self.file).place_of(&self.base.join(at))
    }

    /// Returns the tag and the form of a mapping with several forms.
    pub(crate) fn variant(&self, at: &Pointer) -> Option<Variant> {
        chosen(self.node.find(at)?, &self.shape(at)?.variants()).cloned()
    }
}

/// Returns the form that the tag of a mapping chooses.
fn chosen<'v>(node: NodeRef<'_>, forms: &'v [Variant]) -> Option<&'v Variant> {
    forms.iter().find(|form| form.tag.is_some_and(|(key, tag)| node.get(key).and_then(NodeRef::as_str) == Some(tag)))
}

/// Returns the shapes of a mapping and of all around it. `shape` is that of `node`.
fn around<'d>(shape: &Shape, node: NodeRef<'d>, mapping: &Pointer) -> impl Iterator<Item = Shape> {
    let places = std::iter::successors(Some(mapping.clone()), Pointer::parent);
    places.filter_map(move |at| shape.below(&at, Some(node)))
}
