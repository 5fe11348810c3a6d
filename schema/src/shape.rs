//! What the schema says at a place: completion, hover and validation read it.
//!
//! A [`Shape`] is the schema of one node, references resolved and branches chosen by what the document
//! holds. Begin with [`Shape::of`] or [`Shape::find`]; [`Shape::fields`] lists the keys that a mapping may
//! have, [`Shape::values`] the values that a scalar may have, [`Shape::word`] what a text means. Nothing
//! here names a field of a format: a new field is known as soon as its type is.

mod branches;
mod names;
mod places;
mod words;
mod written;

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;
use serde_json::{Map, Value};

use crate::{
    document::{NodeRef, Pointer, Step},
    json_schema::SpecFile,
};

use written::plain;

pub use names::{Advice, OtherName};
pub use places::{Place, all_keys, place_of, places_of};
pub use words::Word;
pub use written::{scalar, show};

type Keywords = Map<String, Value>;

/// What the schema says at a place.
#[derive(Clone, Debug)]
pub struct Shape {
    root: &'static Value,
    /// What applies to every node that is here.
    own: Vec<&'static Keywords>,
    /// Schemas that all apply, the one nearest to the use first: what it says is before what others say. Begins with
    /// `own`; the branches that were chosen follow.
    parts: Vec<&'static Keywords>,
}

/// One of the forms that a node may have; its tag, or its type, decides which.
#[derive(Clone, Debug)]
pub struct Variant {
    /// The key that decides, and its value; nothing where the type decides.
    pub tag: Option<(&'static str, &'static str)>,
    /// What the schema says of this form.
    pub shape: Shape,
}

/// A key that a mapping may have.
#[derive(Clone, Debug)]
pub struct Field {
    /// The key.
    pub name: &'static str,
    /// Whether it must be there.
    pub need: Need,
    /// What its value may be.
    pub shape: Shape,
}

/// Whether a key must be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// It must.
    Required,
    /// Exactly one of these must, and it is one of them.
    OneOf(Vec<&'static str>),
    /// It may.
    Optional,
}

/// A value out of a closed set.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// The value.
    pub value: &'static Value,
    /// What it means, as Markdown.
    pub docs: Option<&'static str>,
}

/// The type of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Text.
    Text,
    /// An integer.
    Integer,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A list.
    List,
    /// A mapping.
    Mapping,
    /// Anything.
    Any,
}

impl Shape {
    /// Returns the whole file.
    pub fn of(file: SpecFile) -> Shape {
        Shape::new(file.schema(), file.schema())
    }

    /// Returns the node that a pointer names, whether it exists or not. The document's root chooses branches where the
    /// schema has some.
    pub fn find(file: SpecFile, pointer: &Pointer, root: Option<NodeRef<'_>>) -> Option<Shape> {
        Shape::of(file).below(pointer, root)
    }

    /// Returns the node that a relative pointer names. `node` is where this shape is.
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

    /// Returns the member of a mapping. `node` is where this shape is.
    pub fn step(&self, key: &str, node: Option<NodeRef<'_>>) -> Option<Shape> {
        self.step_to(&Step::Key(key.into()), node)
    }

    /// Returns the member of a mapping, or the item of a list. `node` is where this shape is.
    pub fn step_to(&self, step: &Step<'_>, node: Option<NodeRef<'_>>) -> Option<Shape> {
        let below = node.and_then(|node| node.find(&Pointer::root().step(step)));
        Some(self.at(node).member(step)?.at(below))
    }

    /// Returns the member of a mapping, by the branches that are chosen already; `below` is its node.
    pub fn child(&self, key: &str, below: Option<NodeRef<'_>>) -> Option<Shape> {
        self.member_at(&Step::Key(key.into()), below)
    }

    /// Returns the member of a mapping or the item of a list, by the branches that are chosen already; `below` is its
    /// node.
    pub(crate) fn member_at(&self, step: &Step<'_>, below: Option<NodeRef<'_>>) -> Option<Shape> {
        Some(self.member(step)?.at(below))
    }

    /// Returns the member of a mapping, or the item of a list, by the branches that are chosen.
    fn member(&self, step: &Step<'_>) -> Option<Shape> {
        let own = |keyword: &str| self.parts.iter().filter_map(move |part| part.get(keyword)).collect::<Vec<_>>();
        let key = step.text();
        let mut found: Vec<&'static Value> =
            own("properties").into_iter().filter_map(|properties| properties.get(&*key)).collect();
        if found.is_empty() {
            found = own("additionalProperties").into_iter().filter(|schema| schema.is_object()).collect();
        }
        if found.is_empty() && step.index().is_some() {
            found = own("items");
        }
        if found.is_empty() {
            return None;
        }
        let own = found.into_iter().flat_map(|schema| resolved(self.root, schema)).collect();
        Some(Shape::of_parts(self.root, own, None))
    }

    pub(crate) fn new(root: &'static Value, schema: &'static Value) -> Shape {
        Shape::of_parts(root, resolved(root, schema), None)
    }

    /// Returns a number that is the same for shapes of which the schema says the same.
    pub fn id(&self) -> u64 {
        let mut hasher = FxHasher::default();
        self.parts.iter().for_each(|part| std::ptr::from_ref::<Keywords>(part).hash(&mut hasher));
        hasher.finish()
    }

    /// Returns what the schema says here, its branches chosen by a node; without one, no condition is fulfilled.
    fn of_parts(root: &'static Value, own: Vec<&'static Keywords>, node: Option<NodeRef<'_>>) -> Shape {
        /// Branches that lead to themselves are no schema of ours; the bound is for safety only.
        const LIMIT: usize = 256;
        let mut parts = own.clone();
        let (mut next, mut tag) = (0, None);
        while next < parts.len().min(LIMIT) {
            let part = parts[next];
            next += 1;
            for branch in branches::of(part).iter() {
                let holds = node.is_some_and(|node| branch.holds(node, &mut tag));
                let chosen = if holds { branch.then } else { branch.otherwise };
                parts.extend(chosen.into_iter().flat_map(|schema| resolved(root, schema)));
            }
        }
        Shape { root, own, parts }
    }

    /// Returns the same, its branches chosen by the node that is here.
    pub fn at(&self, node: Option<NodeRef<'_>>) -> Shape {
        if !self.own.iter().any(|part| part.contains_key("if") || part.contains_key("allOf")) {
            return self.clone();
        }
        Shape::of_parts(self.root, self.own.clone(), node)
    }

    /// Returns the forms that a node may have here; empty if there is only one.
    pub fn variants(&self) -> Vec<Variant> {
        let mut variants = Vec::new();
        let branches = self.own.iter().copied().flat_map(|part| branches::of(part).to_vec());
        for branch in branches.filter(|branch| !branch.is_about_null()) {
            for (schema, tag) in [(branch.then, branch.tag), (branch.otherwise, None)] {
                let Some(schema) = schema else { continue };
                let mut own = self.own.clone();
                own.extend(resolved(self.root, schema));
                let shape = Shape { root: self.root, parts: own.clone(), own };
                variants.push(Variant { tag, shape });
            }
        }
        variants
    }

    /// Returns the form of a node that is a text where a mapping could be as well.
    pub fn text_form(&self) -> Option<Shape> {
        let is_text = |shape: &Shape| shape.kind() == Type::Text;
        self.variants().into_iter().map(|variant| variant.shape).find(is_text).filter(|_| !is_text(self))
    }

    fn keyword(&self, name: &str) -> Option<&'static Value> {
        self.parts.iter().find_map(|part| part.get(name))
    }

    /// Returns what the node is for, as Markdown: one short line, then perhaps more.
    pub fn docs(&self) -> Option<&'static str> {
        self.keyword("description")?.as_str()
    }

    /// Returns the first line of the docs: it is in a list.
    pub fn summary(&self) -> Option<&'static str> {
        self.docs()?.lines().next()
    }

    /// Returns what the type of the node is about: the docs of the mapping itself, where the field has its own.
    pub fn type_docs(&self) -> Option<&'static str> {
        let docs = self.parts.iter().filter_map(|part| part.get("description")).filter_map(Value::as_str).nth(1);
        docs.filter(|docs| Some(*docs) != self.docs())
    }

    /// Returns the docs of everything that applies here, the nearest to the use first.
    pub fn all_docs(&self) -> impl Iterator<Item = &'static str> {
        self.parts.iter().filter_map(|part| part.get("description")?.as_str())
    }

    /// Returns the name of the type, where it has one: two nodes with the same name have the same fields.
    pub fn definition(&self) -> Option<&'static str> {
        self.keyword("$ref")?.as_str()?.rsplit('/').next()
    }

    /// Returns the value that counts when the key is absent.
    pub fn default(&self) -> Option<&'static Value> {
        self.keyword("default")
    }

    /// Values that could be here.
    pub fn examples(&self) -> Vec<&'static Value> {
        self.keyword("examples").and_then(Value::as_array).into_iter().flatten().collect()
    }

    /// Returns the only values that may be here; empty if there are more than can be listed.
    pub fn values(&self) -> Vec<Choice> {
        // The part nearest to the use knows all of them; the branch that was chosen knows its own only.
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

    /// Whether an empty text, list or mapping is a mistake here.
    pub(crate) fn is_never_empty(&self) -> bool {
        ["minLength", "minItems", "minProperties"].iter().any(|keyword| self.keyword(keyword).is_some())
    }

    /// Whether a text can be here, as far as the closed set of values and the form of texts go.
    pub fn admits_text(&self, text: &str) -> bool {
        let values = self.values();
        let has_form =
            |pattern: &str| fancy_regex::Regex::new(pattern).is_ok_and(|it| it.is_match(text).unwrap_or(false));
        let pattern = self.keyword("pattern").and_then(Value::as_str);
        (values.is_empty() || values.iter().any(|choice| choice.value.as_str() == Some(text)))
            && pattern.is_none_or(has_form)
    }

    /// Returns what the items of a list may be.
    pub fn item(&self) -> Option<Shape> {
        self.keyword("items").filter(|_| self.kind() == Type::List).map(|schema| Shape::new(self.root, schema))
    }

    /// Returns what the values of a mapping with free keys may be.
    pub fn map_value(&self) -> Option<Shape> {
        self.keyword("additionalProperties")
            .filter(|schema| schema.is_object())
            .map(|schema| Shape::new(self.root, schema))
    }

    /// Whether any key may be in the mapping.
    pub fn is_open(&self) -> bool {
        self.keyword("additionalProperties") != Some(&Value::Bool(false)) && self.keyword("propertyNames").is_none()
    }

    /// Returns the keys that the mapping may have, in the order of the format. `node` is where this shape is; it
    /// decides what is required.
    pub fn fields(&self, node: Option<NodeRef<'_>>) -> Vec<Field> {
        self.at(node).chosen_fields()
    }

    /// Returns the keys that the mapping may have in any of its forms.
    pub fn all_fields(&self) -> Vec<Field> {
        let mut fields = self.chosen_fields();
        for field in self.variants().into_iter().flat_map(|variant| variant.shape.chosen_fields()) {
            if !fields.iter().any(|known| known.name == field.name) {
                fields.push(field);
            }
        }
        fields
    }

    /// Returns one of [`Shape::all_fields`]: the key, and what its value may be.
    pub fn any_field(&self, name: &str) -> Option<(&'static str, Shape)> {
        let chosen = |shape: &Shape| {
            let properties = shape.parts.iter().filter_map(|part| part.get("properties")?.as_object());
            let written =
                properties.filter_map(|properties| properties.get_key_value(name)).map(|(key, _)| key.as_str());
            let closed = shape.keyword("propertyNames").and_then(|schema| schema.get("enum")?.as_array());
            let mut names = written.chain(closed.into_iter().flatten().filter_map(Value::as_str));
            let key = names.find(|key| *key == name)?;
            shape.child(name, None).filter(|member| member.keyword("deprecated").is_none()).map(|member| (key, member))
        };
        chosen(self).or_else(|| self.variants().iter().find_map(|variant| chosen(&variant.shape)))
    }

    /// Returns the keys by the branches that are chosen.
    fn chosen_fields(&self) -> Vec<Field> {
        let required: Vec<&str> = self
            .parts
            .iter()
            .filter_map(|part| part.get("required")?.as_array())
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let alternatives = self.alternatives();
        let need = |name: &str| {
            if required.contains(&name) {
                Need::Required
            } else if alternatives.contains(&name) {
                Need::OneOf(alternatives.clone())
            } else {
                Need::Optional
            }
        };
        let mut names: Vec<&'static str> = Vec::new();
        for part in &self.parts {
            let Some(Value::Object(properties)) = part.get("properties") else { continue };
            names
                .extend(properties.keys().map(String::as_str).filter(|name| !names.contains(name)).collect::<Vec<_>>());
        }
        let closed = self.keyword("propertyNames").and_then(|schema| schema.get("enum")?.as_array());
        names.extend(closed.into_iter().flatten().filter_map(Value::as_str));
        let fields =
            names.into_iter().filter_map(|name| Some(Field { name, need: need(name), shape: self.child(name, None)? }));
        // What is only there so that it does not count as a mistake is not offered.
        fields.filter(|field| field.shape.keyword("deprecated").is_none()).collect()
    }

    /// Keys of which exactly one must be there.
    pub fn alternatives(&self) -> Vec<&'static str> {
        if self.keyword("minProperties") == Some(&Value::from(1))
            && self.keyword("maxProperties") == Some(&Value::from(1))
        {
            let properties = self.parts.iter().filter_map(|part| part.get("properties")?.as_object());
            return properties.flat_map(Keywords::keys).map(String::as_str).collect();
        }
        let branches = self.keyword("oneOf").and_then(Value::as_array).into_iter().flatten();
        branches.filter_map(|branch| branch.get("required")?.get(0)?.as_str()).collect()
    }

    /// Returns the least and the greatest number, or the least length, as words; `None` if there is no bound.
    pub fn bounds(&self) -> Option<String> {
        /// Bounds beyond which numbers lose their last digits say nothing to a person.
        const EXACT: f64 = 9_007_199_254_740_991.0;
        let number = |name: &str| self.keyword(name).filter(|value| value.as_f64().is_some_and(|at| at.abs() < EXACT));
        match (number("minimum"), number("maximum"), number("exclusiveMinimum")) {
            (_, Some(most), Some(least)) => Some(format!("above {least}, at most {most}")),
            (Some(least), Some(most), None) => Some(format!("{} to {}", plain(least), plain(most))),
            (None, Some(most), None) => Some(format!("at most {}", plain(most))),
            (_, None, Some(least)) => Some(format!("above {}", plain(least))),
            (Some(least), None, None) => Some(format!("at least {}", plain(least))),
            (None, None, None) => None,
        }
    }

    /// Returns the greatest number that may be here.
    pub fn maximum(&self) -> Option<f64> {
        self.keyword("maximum")?.as_f64()
    }

    /// Whether a number is within the bounds.
    pub(crate) fn admits_number(&self, number: f64) -> bool {
        let bound = |name: &str| self.keyword(name).and_then(Value::as_f64);
        bound("minimum").is_none_or(|least| number >= least)
            && bound("exclusiveMinimum").is_none_or(|least| number > least)
            && self.maximum().is_none_or(|most| number <= most)
    }

    /// Returns the type in words, with its bounds: "integer, 1 to 100", "list of strings".
    pub fn type_label(&self) -> String {
        let name = self.type_name();
        match self.bounds().filter(|_| self.values().is_empty()) {
            Some(bounds) if matches!(self.kind(), Type::Integer | Type::Number) => format!("{name}, {bounds}"),
            Some(_) | None => name,
        }
    }

    /// Returns the type in words: "integer", "list of strings".
    pub fn type_name(&self) -> String {
        let values = self.values();
        if !values.is_empty() && self.kind() != Type::Boolean {
            let names: Vec<String> = values.iter().map(|choice| show(choice.value)).collect();
            return crate::words::listed(names.iter().map(String::as_str));
        }
        match self.kind() {
            Type::Text if self.is_shell() => "shell command".to_owned(),
            Type::Text => match self.word() {
                Some(Word::File("json-schema")) => "path of a JSON Schema file".to_owned(),
                Some(Word::File("directory")) => "directory path".to_owned(),
                Some(Word::File(_)) if self.is_glob() => "path or pattern of files".to_owned(),
                Some(Word::File(_)) => "file path".to_owned(),
                Some(Word::Shell) => "shell command".to_owned(),
                Some(Word::Pattern(_)) => "regular expression".to_owned(),
                Some(Word::Refers(kind)) => format!("name from `{kind}`"),
                Some(Word::Defines(_)) => "name".to_owned(),
                // That it may hold `{{name}}` is no condition.
                Some(Word::Template(_)) | None => "string".to_owned(),
            },
            Type::Integer => "integer".to_owned(),
            Type::Number => "number".to_owned(),
            Type::Boolean => "`true` or `false`".to_owned(),
            Type::List => match self.item() {
                Some(item) => format!("list of {}", plural(&item)),
                None => "list".to_owned(),
            },
            Type::Mapping => match self.map_value() {
                Some(value) => format!("mapping of names to {}", plural(&value)),
                None => "mapping".to_owned(),
            },
            Type::Any => match self.type_names().as_slice() {
                [] => "any value".to_owned(),
                names => one_of(names),
            },
        }
    }

    /// Returns the types that may be here, where there are several.
    fn type_names(&self) -> Vec<&'static str> {
        let names = self.keyword("type").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        let words = names.map(|name| match name {
            "array" => "list",
            "object" => "mapping",
            other => other,
        });
        words.collect()
    }
}

/// Returns a schema and those that it refers to.
fn resolved(root: &'static Value, schema: &'static Value) -> Vec<&'static Keywords> {
    /// References that run in circles are no schema of ours; the bound is for safety only.
    const LIMIT: usize = 16;
    let mut parts = Vec::new();
    let mut next = Some(schema);
    while let Some(Value::Object(keywords)) = next
        && parts.len() < LIMIT
    {
        parts.push(keywords);
        next = keywords.get("$ref").and_then(Value::as_str).and_then(|path| root.pointer(path.strip_prefix('#')?));
    }
    parts
}

/// Returns the closed set of values that one schema lists.
fn choices_of(part: &'static Keywords) -> Vec<Choice> {
    if let Some(value) = part.get("const") {
        return vec![Choice { value, docs: None }];
    }
    let listed = part.get("enum").and_then(Value::as_array).into_iter().flatten();
    let listed = listed.map(|value| Choice { value, docs: None });
    let documented = part.get("oneOf").and_then(Value::as_array).into_iter().flatten().filter_map(|branch| {
        let docs = branch.get("description").and_then(Value::as_str);
        branch.get("const").map(|value| Choice { value, docs })
    });
    listed.chain(documented).collect()
}

/// `a`, `b` or `c`, of words that may hold an "or" themselves.
fn one_of(names: &[&str]) -> String {
    match names {
        [first @ .., last] if first.len() > 1 => format!("{} or {last}", first.join(", ")),
        names => names.join(" or "),
    }
}

fn plural(shape: &Shape) -> String {
    if let Some(text) = shape.text_form() {
        return format!("mappings or {}", plural(&text));
    }
    match shape.kind() {
        Type::Mapping => "mappings".to_owned(),
        Type::List => "lists".to_owned(),
        Type::Any => {
            let names = shape.type_names().into_iter().map(|name| match name {
                "null" => name.to_owned(),
                name => format!("{name}s"),
            });
            match names.collect::<Vec<String>>().as_slice() {
                [] => "values of any type".to_owned(),
                names => one_of(&names.iter().map(String::as_str).collect::<Vec<_>>()),
            }
        }
        Type::Text if !shape.values().is_empty() => shape.type_label(),
        Type::Text => match shape.word() {
            Some(Word::Pattern(_)) => "regular expressions".to_owned(),
            Some(Word::Refers(kind)) => format!("names from `{kind}`"),
            Some(Word::File(_)) => "paths".to_owned(),
            Some(Word::Shell) => "shell commands".to_owned(),
            Some(Word::Template(_) | Word::Defines(_)) | None => "strings".to_owned(),
        },
        Type::Integer => "integers".to_owned(),
        Type::Number => "numbers".to_owned(),
        Type::Boolean => "`true` or `false`".to_owned(),
    }
}

#[cfg(test)]
mod tests;
