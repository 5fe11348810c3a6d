//! The schema of a node, for completion, hover and validation.
//!
//! A [`Shape`] is the schema of one node, with references resolved and branches chosen by the content of the
//! document. Start with [`Shape::of`] or [`Shape::find`]; [`Shape::fields`] lists the allowed keys of a mapping,
//! [`Shape::values`] the allowed values of a scalar, [`Shape::word`] the meaning of a string. No field of a
//! format is named here: a new field only needs its type.

mod condition;
mod key_paths;
pub(crate) mod keywords;
mod labels;
mod names;

use std::{
    cell::RefCell,
    hash::{Hash, Hasher},
    rc::Rc,
    sync::Arc,
    thread::LocalKey,
};

use rustc_hash::{FxHashMap, FxHasher};
use serde_json::{Map, Value};

use crate::{
    document::{NodeRef, Pointer, Step},
    key_path::KeyPath,
    words::URL_BEGINNING,
};

pub(crate) use crate::key_path::is_marker;
pub(crate) use condition::{holds, matches, without};
pub use key_paths::{all_keys, places_of};
pub use keywords::{Seen, Word};
pub use names::{Advice, OtherName};

type Keywords = Map<String, Value>;

/// Schema of a node.
#[derive(Clone, Debug)]
pub struct Shape {
    root: &'static Value,
    /// Schemas that apply to every node here.
    own: Arc<[&'static Keywords]>,
    /// All applicable schemas, the most specific one first, which takes precedence. Starts with
    /// `own`, followed by the chosen branches.
    parts: Arc<[&'static Keywords]>,
}

/// One of several forms of a node, chosen by its tag or type.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Key and value that choose the form; `None` if the type does.
    pub tag: Option<(&'static str, &'static str)>,
    /// Schema of this form.
    pub shape: Shape,
}

/// An allowed key of a mapping.
#[derive(Clone, Debug)]
pub struct Field {
    /// Name of the key.
    pub name: &'static str,
    /// Whether the key is required.
    pub need: Need,
    /// Schema of its value.
    pub shape: Shape,
}

/// Whether a key is required.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    Required,
    /// Exactly one of these keys is required, including this one.
    OneOf(Vec<&'static str>),
    /// At least one of these keys is required, including this one.
    AnyOf(Vec<&'static str>),
    Optional,
}

/// A value of a closed set.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub value: &'static Value,
    /// Meaning of the value, as Markdown.
    pub docs: Option<&'static str>,
}

/// Type of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// String.
    Text,
    Integer,
    Number,
    /// True or false.
    Boolean,
    List,
    Mapping,
    Any,
}

impl Shape {
    /// Returns the schema of the node at a relative pointer. `node` is the node of this shape.
    pub fn below(&self, pointer: &Pointer, node: Option<NodeRef<'_>>) -> Option<Shape> {
        let mut shape = self.at(node);
        let mut node = node;
        for step in pointer.steps() {
            let below = node.and_then(|node| node.find(&Pointer::root().step(&step)));
            shape = shape.member(&step)?.at(below);
            node = below;
        }
        Some(shape)
    }

    /// Returns the place of the node at a relative pointer, whether or not it exists.
    pub(crate) fn place_of(&self, pointer: &Pointer) -> Option<KeyPath> {
        let mut shape = self.clone();
        let mut path = Vec::new();
        for step in pointer.steps() {
            shape = match step.key().and_then(|key| shape.any_field(key)) {
                Some((name, member)) => {
                    path.push(name);
                    member
                }
                None => {
                    path.push(if shape.kind() == Type::List { "[]" } else { "*" });
                    shape.step_to(&step, None)?
                }
            };
        }
        Some(KeyPath(path))
    }

    pub fn step(&self, key: &str, node: Option<NodeRef<'_>>) -> Option<Shape> {
        self.step_to(&Step::Key(key.into()), node)
    }

    /// Returns the schema of a member of a mapping, or of an item of a list. `node` is the node of this shape.
    pub fn step_to(&self, step: &Step<'_>, node: Option<NodeRef<'_>>) -> Option<Shape> {
        let below = node.and_then(|node| node.find(&Pointer::root().step(step)));
        Some(self.at(node).member(step)?.at(below))
    }

    /// Returns the schema of a member of a mapping for the branches already chosen; `below` is the member's node.
    pub fn child(&self, key: &str, below: Option<NodeRef<'_>>) -> Option<Shape> {
        self.member_at(&Step::Key(key.into()), below)
    }

    /// Returns the schema of a member of a mapping or of an item of a list for the branches already chosen; `below` is
    /// its node.
    pub(crate) fn member_at(&self, step: &Step<'_>, below: Option<NodeRef<'_>>) -> Option<Shape> {
        Some(self.member(step)?.at(below))
    }

    /// Returns the schema of a member of a mapping, or of an item of a list, for the chosen branches.
    fn member(&self, step: &Step<'_>) -> Option<Shape> {
        let key = step.text();
        let of_all = |schemas: &mut dyn Iterator<Item = &'static Value>| {
            let first = schemas.next()?;
            let mut own = Vec::new();
            std::iter::once(first).chain(schemas).for_each(|schema| resolve(self.root, schema, &mut own));
            Some(own)
        };
        let own = of_all(&mut self.each("properties").filter_map(|properties| properties.get(&*key)))
            .or_else(|| of_all(&mut self.each("additionalProperties").filter(|schema| schema.is_object())))
            .or_else(|| step.index().and_then(|_| of_all(&mut self.each("items"))))?;
        Some(Shape::of_parts(self.root, own.into(), None))
    }

    pub(crate) fn new(root: &'static Value, schema: &'static Value) -> Shape {
        let mut own = Vec::new();
        resolve(root, schema, &mut own);
        Shape::of_parts(root, own.into(), None)
    }

    /// Returns a schema that accepts any value.
    fn without_keywords(&self) -> Shape {
        Shape::of_parts(self.root, Arc::from([]), None)
    }

    /// Returns an id that is equal for equal schemas.
    pub(crate) fn id(&self) -> u64 {
        id_of(&self.parts)
    }

    /// Returns a schema, with branches chosen by a node; without a node, no condition holds.
    fn of_parts(root: &'static Value, own: Arc<[&'static Keywords]>, node: Option<NodeRef<'_>>) -> Shape {
        /// Maximum number of branches, for safety: our schemas have no circular ones.
        const LIMIT: usize = 256;
        if own.iter().all(|part| of(part).is_empty()) {
            return Shape { root, parts: Arc::clone(&own), own };
        }
        let mut parts = own.to_vec();
        let (mut next, mut tag) = (0, None);
        while next < parts.len().min(LIMIT) {
            let part = parts[next];
            next += 1;
            for branch in of(part).iter() {
                let holds = node.is_some_and(|node| branch.holds(node, &mut tag));
                let chosen = if holds { branch.then } else { branch.otherwise };
                if let Some(schema) = chosen {
                    resolve(root, schema, &mut parts);
                }
            }
        }
        Shape { root, own, parts: parts.into() }
    }

    /// Returns the same schema, with branches chosen by a node.
    pub fn at(&self, node: Option<NodeRef<'_>>) -> Shape {
        if self.own.iter().all(|part| of(part).is_empty()) {
            return self.clone();
        }
        Shape::of_parts(self.root, Arc::clone(&self.own), node)
    }

    /// Returns the forms of the node; empty if there is only one. Cached, because problems of many items ask for the
    /// same forms.
    pub fn variants(&self) -> Vec<Variant> {
        thread_local! {
            static KNOWN: Known<Variant> = RefCell::default();
        }
        cached(&KNOWN, id_of(&self.own), || self.read_variants()).to_vec()
    }

    fn read_variants(&self) -> Vec<Variant> {
        let mut variants = Vec::new();
        let branches = self.own.iter().copied().flat_map(|part| of(part).to_vec());
        for branch in branches.filter(|branch| !branch.is_about_null()) {
            for (schema, tag) in [(branch.then, branch.tag), (branch.otherwise, None)] {
                let Some(schema) = schema else { continue };
                let mut own = self.own.to_vec();
                resolve(self.root, schema, &mut own);
                let own = Arc::from(own);
                let shape = Shape { root: self.root, parts: Arc::clone(&own), own };
                variants.push(Variant { tag, shape });
            }
        }
        variants
    }

    /// Returns the string form of a node that can also be a mapping.
    pub fn text_form(&self) -> Option<Shape> {
        let is_text = |shape: &Shape| shape.kind() == Type::Text;
        self.variants().into_iter().map(|variant| variant.shape).find(is_text).filter(|_| !is_text(self))
    }

    fn keyword(&self, name: &str) -> Option<&'static Value> {
        self.each(name).next()
    }

    fn each(&self, keyword: &str) -> impl Iterator<Item = &'static Value> {
        self.parts.iter().filter_map(move |part| keyword_of(part, keyword))
    }

    /// Returns the documentation of the node, as Markdown: one short line, possibly followed by more.
    pub fn docs(&self) -> Option<&'static str> {
        self.keyword("description")?.as_str()
    }

    /// Returns the first line of the documentation, for lists.
    pub fn summary(&self) -> Option<&'static str> {
        self.docs()?.lines().next()
    }

    /// Returns the documentation of the type of the node, which may differ from that of the field.
    pub fn type_docs(&self) -> Option<&'static str> {
        let docs = self.each("description").filter_map(Value::as_str).nth(1);
        docs.filter(|docs| Some(*docs) != self.docs())
    }

    /// Returns the documentation of all applicable schemas, the most specific one first.
    pub fn all_docs(&self) -> impl Iterator<Item = &'static str> {
        self.each("description").filter_map(Value::as_str)
    }

    /// Returns the name of the type, if it has one: two nodes with the same name have the same fields.
    pub fn definition(&self) -> Option<&'static str> {
        self.keyword("$ref")?.as_str()?.rsplit('/').next()
    }

    /// Returns the default value.
    pub fn default(&self) -> Option<&'static Value> {
        self.keyword("default")
    }

    pub fn examples(&self) -> Vec<&'static Value> {
        self.keyword("examples").and_then(Value::as_array).into_iter().flatten().collect()
    }

    /// Returns the allowed values; empty if they cannot be listed.
    pub fn values(&self) -> Vec<Choice> {
        // The most specific part contains all of them; a chosen branch contains only its own.
        let mut values = self.parts.iter().map(|part| choices_of(part)).find(|found| !found.is_empty());
        let values = values.get_or_insert_default();
        if values.is_empty() && self.kind() == Type::Boolean {
            static BOTH: [Value; 2] = [Value::Bool(true), Value::Bool(false)];
            *values = BOTH.iter().map(|value| Choice { value, docs: None }).collect();
        }
        std::mem::take(values)
    }

    /// Returns the type of the node.
    pub fn kind(&self) -> Type {
        let name = self.keyword("type").and_then(Value::as_str).or_else(|| {
            let branches = self.keyword("oneOf").and_then(Value::as_array)?;
            branches.iter().all(|branch| branch.get("const").is_some()).then_some("string")
        });
        match name {
            Some("string") => Type::Text,
            Some("integer") => Type::Integer,
            Some("number") => Type::Number,
            Some("boolean") => Type::Boolean,
            Some("array") => Type::List,
            Some("object") => Type::Mapping,
            _ => Type::Any,
        }
    }

    /// Whether an empty string, list or mapping is invalid here.
    pub(crate) fn is_never_empty(&self) -> bool {
        ["minLength", "minItems", "minProperties"].iter().any(|keyword| self.keyword(keyword).is_some())
    }

    /// Whether the value is an address.
    pub(crate) fn is_url(&self) -> bool {
        self.keyword("pattern").and_then(Value::as_str) == Some(URL_BEGINNING)
    }

    /// Whether a string is allowed, according to the closed set of values and the pattern.
    pub(crate) fn admits_text(&self, text: &str) -> bool {
        let values = self.values();
        let has_form =
            |pattern: &str| fancy_regex::Regex::new(pattern).is_ok_and(|it| it.is_match(text).unwrap_or(false));
        let pattern = self.keyword("pattern").and_then(Value::as_str);
        (values.is_empty() || values.iter().any(|choice| choice.value.as_str() == Some(text)))
            && pattern.is_none_or(has_form)
    }

    pub fn item(&self) -> Option<Shape> {
        self.keyword("items").filter(|_| self.kind() == Type::List).map(|schema| Shape::new(self.root, schema))
    }

    /// Returns the schema of the values of a mapping with free keys.
    pub fn map_value(&self) -> Option<Shape> {
        self.keyword("additionalProperties")
            .filter(|schema| schema.is_object())
            .map(|schema| Shape::new(self.root, schema))
    }

    /// Whether the mapping accepts any key.
    pub fn is_open(&self) -> bool {
        self.keyword("additionalProperties") != Some(&Value::Bool(false)) && self.keyword("propertyNames").is_none()
    }

    /// Returns the allowed keys of the mapping, in the order of the format. `node` is the node of this shape; it
    /// decides which keys are required.
    pub fn fields(&self, node: Option<NodeRef<'_>>) -> Vec<Field> {
        self.at(node).chosen_fields()
    }

    /// Returns the allowed keys of the mapping in any of its forms.
    pub fn all_fields(&self) -> Vec<Field> {
        let mut fields = self.chosen_fields();
        for field in self.variants().into_iter().flat_map(|variant| variant.shape.chosen_fields()) {
            if !fields.iter().any(|known| known.name == field.name) {
                fields.push(field);
            }
        }
        fields
    }

    /// Returns one of [`Shape::all_fields`]: the key, and the schema of its value.
    pub(crate) fn any_field(&self, name: &str) -> Option<(&'static str, Shape)> {
        let chosen = |shape: &Shape| {
            let properties = shape.each("properties").filter_map(Value::as_object);
            let written =
                properties.filter_map(|properties| properties.get_key_value(name)).map(|(key, _)| key.as_str());
            let closed = shape.keyword("propertyNames").and_then(|schema| schema.get("enum")?.as_array());
            let mut names = written.chain(closed.into_iter().flatten().filter_map(Value::as_str));
            let key = names.find(|key| *key == name)?;
            shape.child(name, None).filter(|member| member.keyword("deprecated").is_none()).map(|member| (key, member))
        };
        chosen(self).or_else(|| self.variants().iter().find_map(|variant| chosen(&variant.shape)))
    }

    /// Whether the mapping has a key that may be written, without regard to its content.
    pub(crate) fn has_field(&self, name: &str) -> bool {
        self.at(None).known_fields().iter().any(|field| field.name == name)
    }

    /// Returns the allowed keys for the chosen branches.
    pub(crate) fn chosen_fields(&self) -> Vec<Field> {
        self.known_fields().to_vec()
    }

    /// Returns the allowed keys for the chosen branches. Cached, because problems of many items ask for the same keys.
    fn known_fields(&self) -> Rc<[Field]> {
        thread_local! {
            static KNOWN: Known<Field> = RefCell::default();
        }
        cached(&KNOWN, self.id(), || self.read_fields())
    }

    fn read_fields(&self) -> Vec<Field> {
        let required = self.each("required").filter_map(Value::as_array).flatten().filter_map(Value::as_str);
        let required: Vec<&str> = required.collect();
        let (alternatives, any_of) = (self.alternatives(), self.any_of());
        let need = |name: &str| {
            if required.contains(&name) {
                Need::Required
            } else if alternatives.contains(&name) {
                Need::OneOf(alternatives.clone())
            } else if any_of.contains(&name) {
                Need::AnyOf(any_of.clone())
            } else {
                Need::Optional
            }
        };
        let mut names: Vec<&'static str> = Vec::new();
        for properties in self.each("properties").filter_map(Value::as_object) {
            names
                .extend(properties.keys().map(String::as_str).filter(|name| !names.contains(name)).collect::<Vec<_>>());
        }
        let closed = self.keyword("propertyNames").and_then(|schema| schema.get("enum")?.as_array());
        names.extend(closed.into_iter().flatten().filter_map(Value::as_str));
        let fields =
            names.into_iter().filter_map(|name| Some(Field { name, need: need(name), shape: self.child(name, None)? }));
        // Deprecated keys are accepted but not suggested.
        fields.filter(|field| field.shape.keyword("deprecated").is_none()).collect()
    }

    /// Returns the keys of which exactly one is required.
    pub fn alternatives(&self) -> Vec<&'static str> {
        if self.keyword("minProperties") == Some(&Value::from(1))
            && self.keyword("maxProperties") == Some(&Value::from(1))
        {
            let properties = self.each("properties").filter_map(Value::as_object);
            return properties.flat_map(Keywords::keys).map(String::as_str).collect();
        }
        self.keys_of_branches("oneOf")
    }

    /// Returns the keys of which at least one is required.
    pub fn any_of(&self) -> Vec<&'static str> {
        self.keys_of_branches("anyOf")
    }

    /// Returns the keys of which one is required, alone or with others.
    pub(crate) fn one_of_needed(&self) -> Vec<&'static str> {
        [self.alternatives(), self.any_of()].into_iter().find(|keys| !keys.is_empty()).unwrap_or_default()
    }

    fn keys_of_branches(&self, keyword: &str) -> Vec<&'static str> {
        let branches = self.keyword(keyword).and_then(Value::as_array).into_iter().flatten();
        branches.filter_map(|branch| branch.get("required")?.get(0)?.as_str()).collect()
    }

    /// Returns the maximum of a number.
    pub fn maximum(&self) -> Option<f64> {
        self.keyword("maximum")?.as_f64()
    }

    pub(crate) fn admits_number(&self, number: f64) -> bool {
        let bound = |name: &str| self.keyword(name).and_then(Value::as_f64);
        bound("minimum").is_none_or(|least| number >= least)
            && bound("exclusiveMinimum").is_none_or(|least| number > least)
            && self.maximum().is_none_or(|most| number <= most)
    }
}

fn id_of(parts: &[&'static Keywords]) -> u64 {
    let mut hasher = FxHasher::default();
    parts.iter().for_each(|part| std::ptr::from_ref::<Keywords>(part).hash(&mut hasher));
    hasher.finish()
}

/// Parsed facts about schemas, by schema id.
type Known<T> = RefCell<FxHashMap<u64, Rc<[T]>>>;

/// Returns what is known of a schema, or reads it. Reading may ask for other schemas.
fn cached<T>(known: &'static LocalKey<Known<T>>, id: u64, read: impl FnOnce() -> Vec<T>) -> Rc<[T]> {
    known.with_borrow(|known| known.get(&id).map(Rc::clone)).unwrap_or_else(|| {
        let found = Rc::from(read());
        known.with_borrow_mut(|known| known.insert(id, Rc::clone(&found)));
        found
    })
}

/// Returns the value of a keyword. A schema has few of them, so comparing them is faster than hashing the name.
fn keyword_of(schema: &'static Keywords, name: &str) -> Option<&'static Value> {
    schema.iter().find(|(keyword, _)| *keyword == name).map(|(_, value)| value)
}

fn resolve(root: &'static Value, schema: &'static Value, parts: &mut Vec<&'static Keywords>) {
    /// Maximum number of references, for safety: our schemas have no circular ones.
    const LIMIT: usize = 16;
    // Names of types need no escapes.
    let target =
        |path: &'static str| path.strip_prefix("#/")?.split('/').try_fold(root, |within, name| within.get(name));
    let mut next = Some(schema);
    let start = parts.len();
    while let Some(Value::Object(keywords)) = next
        && parts.len() - start < LIMIT
    {
        parts.push(keywords);
        next = keyword_of(keywords, "$ref").and_then(Value::as_str).and_then(target);
    }
}

/// Returns the closed set of values in one schema.
fn choices_of(part: &'static Keywords) -> Vec<Choice> {
    if let Some(value) = keyword_of(part, "const") {
        return vec![Choice { value, docs: None }];
    }
    let listed = keyword_of(part, "enum").and_then(Value::as_array).into_iter().flatten();
    let listed = listed.map(|value| Choice { value, docs: None });
    let documented = keyword_of(part, "oneOf").and_then(Value::as_array).into_iter().flatten().filter_map(|branch| {
        let docs = branch.get("description").and_then(Value::as_str);
        branch.get("const").map(|value| Choice { value, docs })
    });
    listed.chain(documented).collect()
}

/// An `if` with its branches.
#[derive(Clone, Copy, Debug)]
struct Branch {
    condition: &'static Value,
    /// Key and value that the condition requires.
    tag: Option<(&'static str, &'static str)>,
    /// Schema that applies if the condition holds.
    then: Option<&'static Value>,
    /// Schema that applies if the condition does not hold.
    otherwise: Option<&'static Value>,
}

/// Key of the last lookup, and its text. Nearly all conditions test the same key.
type Tag<'d> = Option<(&'static str, Option<Option<&'d str>>)>;

impl Branch {
    fn of(conditional: &'static Keywords) -> Option<Branch> {
        let condition = conditional.get("if")?;
        let (then, otherwise) = (conditional.get("then"), conditional.get("else"));
        Some(Branch { condition, tag: tag_of(condition), then, otherwise })
    }

    /// Whether it only allows null, which is not a separate form.
    fn is_about_null(&self) -> bool {
        self.condition.get("type").and_then(Value::as_str) == Some("null")
    }

    fn holds<'d>(&self, node: NodeRef<'d>, known: &mut Tag<'d>) -> bool {
        if let Some((key, wanted)) = self.tag {
            let found = match known {
                Some((last, found)) if *last == key => *found,
                _ => known.insert((key, node.get(key).map(NodeRef::as_str))).1,
            };
            if found.is_some_and(|text| text != Some(wanted)) {
                return false;
            }
        }
        holds(self.condition, node)
    }
}

/// Returns the branches of a schema: its own, and those in its `allOf`. Cached, because some schemas have dozens, and
/// they are queried at every node.
fn of(part: &'static Keywords) -> Rc<[Branch]> {
    thread_local! {
        static KNOWN: RefCell<FxHashMap<*const Keywords, Rc<[Branch]>>> = RefCell::default();
    }
    let read = || {
        let all = part.get("allOf").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_object);
        std::iter::once(part).chain(all).filter_map(Branch::of).collect()
    };
    KNOWN.with_borrow_mut(|known| Rc::clone(known.entry(std::ptr::from_ref(part)).or_insert_with(read)))
}

fn tag_of(condition: &'static Value) -> Option<(&'static str, &'static str)> {
    let properties = condition.get("properties")?.as_object()?;
    properties.iter().find_map(|(name, schema)| Some((name.as_str(), schema.get("const")?.as_str()?)))
}

#[cfg(test)]
mod tests;
