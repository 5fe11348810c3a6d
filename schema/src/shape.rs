//! What the schema says at a place: completion, hover and validation read it.
//!
//! A [`Shape`] is the schema of one node, references resolved and branches chosen by what the document
//! holds. Begin with [`Shape::of`] or [`Shape::find`]; [`Shape::fields`] lists the keys that a mapping may
//! have, [`Shape::values`] the values that a scalar may have, [`Shape::word`] what a text means. Nothing
//! here names a field of a format: a new field is known as soon as its type is.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::{
    document::{NodeRef, Pointer, Shape as NodeShape},
    json_schema::{PerFile, SpecFile},
};

type Keywords = Map<String, Value>;

/// What the schema says at a place.
#[derive(Clone, Debug)]
pub struct Shape {
    root: &'static Value,
    /// Schemas that all apply, the one nearest to the use first: what it says stands before what others say.
    parts: Vec<&'static Keywords>,
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

/// What a text means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word {
    /// A path to a file of this kind: `json-schema` or `any`.
    File(&'static str),
    /// A regular expression of this flavour.
    Pattern(&'static str),
    /// A text with placeholders, filled from this map.
    Template(&'static str),
    /// The name of one of these.
    Refers(&'static str),
    /// The name that one of these has from now on. At a map, each of its keys is such a name.
    Defines(&'static str),
}

/// The type of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// Text.
    Text,
    /// A whole number.
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
    /// The whole file.
    pub fn of(file: SpecFile) -> Shape {
        Shape::new(file.schema(), file.schema())
    }

    /// The node that a pointer names, whether it exists or not. The document's root chooses branches where
    /// the schema has some.
    pub fn find(file: SpecFile, pointer: &Pointer, root: Option<NodeRef<'_>>) -> Option<Shape> {
        Shape::of(file).below(pointer, root)
    }

    /// The node that a relative pointer names. `node` stands where this shape does.
    pub fn below(&self, pointer: &Pointer, node: Option<NodeRef<'_>>) -> Option<Shape> {
        let mut shape = self.clone();
        let mut node = node;
        for step in pointer.steps() {
            shape = shape.step(&step, node)?;
            node = node.and_then(|node| node.find(&Pointer::root().key(&step)));
        }
        Some(shape)
    }

    /// The member of a mapping, or the item of a list. `node` stands where this shape does.
    pub fn step(&self, step: &str, node: Option<NodeRef<'_>>) -> Option<Shape> {
        let shape = self.with_branch(node);
        let own = |keyword: &str| shape.parts.iter().filter_map(move |part| part.get(keyword)).collect::<Vec<_>>();
        let mut found: Vec<&'static Value> =
            own("properties").into_iter().filter_map(|properties| properties.get(step)).collect();
        if found.is_empty() {
            found = own("additionalProperties").into_iter().filter(|schema| schema.is_object()).collect();
        }
        if found.is_empty() && step.parse::<usize>().is_ok() {
            found = own("items");
        }
        let (first, rest) = found.split_first()?;
        let mut member = Shape::new(self.root, first);
        for schema in rest {
            member.parts.extend(Shape::new(self.root, schema).parts);
        }
        Some(member)
    }

    fn new(root: &'static Value, schema: &'static Value) -> Shape {
        let mut parts = Vec::new();
        let mut next = Some(schema);
        while let Some(Value::Object(keywords)) = next {
            parts.push(keywords);
            next = keywords.get("$ref").and_then(Value::as_str).and_then(|path| root.pointer(path.strip_prefix('#')?));
        }
        Shape { root, parts }
    }

    /// The same with `then`, where the node fulfils `if`.
    fn with_branch(&self, node: Option<NodeRef<'_>>) -> Shape {
        let mut shape = self.clone();
        let Some(node) = node else { return shape };
        for part in &self.parts {
            if let (Some(condition), Some(Value::Object(then))) = (part.get("if"), part.get("then"))
                && holds(condition, node)
            {
                shape.parts.push(then);
            }
        }
        shape
    }

    fn keyword(&self, name: &str) -> Option<&'static Value> {
        self.parts.iter().find_map(|part| part.get(name))
    }

    /// What the node is for, as Markdown: one short line, then perhaps more.
    pub fn docs(&self) -> Option<&'static str> {
        self.keyword("description")?.as_str()
    }

    /// The first line of the docs: it stands in a list.
    pub fn summary(&self) -> Option<&'static str> {
        self.docs()?.lines().next()
    }

    /// What the type of the node is about: the docs of the mapping itself, where the field has its own.
    pub fn type_docs(&self) -> Option<&'static str> {
        let docs = self.parts.iter().filter_map(|part| part.get("description")).filter_map(Value::as_str).nth(1);
        docs.filter(|docs| Some(*docs) != self.docs())
    }

    /// The name of the type, where it has one: two nodes with the same name have the same fields.
    pub fn definition(&self) -> Option<&'static str> {
        self.keyword("$ref")?.as_str()?.rsplit('/').next()
    }

    /// The value that counts when the key is absent.
    pub fn default(&self) -> Option<&'static Value> {
        self.keyword("default")
    }

    /// Values that could stand here.
    pub fn examples(&self) -> Vec<&'static Value> {
        self.keyword("examples").and_then(Value::as_array).into_iter().flatten().collect()
    }

    /// The only values that may stand here; none when there are more than can be listed.
    pub fn values(&self) -> Vec<Choice> {
        if let Some(value) = self.keyword("const") {
            return vec![Choice { value, docs: None }];
        }
        let listed = self.keyword("enum").and_then(Value::as_array).into_iter().flatten();
        let listed = listed.map(|value| Choice { value, docs: None });
        let documented = self.keyword("oneOf").and_then(Value::as_array).into_iter().flatten().filter_map(|branch| {
            let docs = branch.get("description").and_then(Value::as_str);
            branch.get("const").map(|value| Choice { value, docs })
        });
        let mut values: Vec<Choice> = listed.chain(documented).collect();
        if values.is_empty() && self.kind() == Type::Boolean {
            static BOTH: [Value; 2] = [Value::Bool(true), Value::Bool(false)];
            values = BOTH.iter().map(|value| Choice { value, docs: None }).collect();
        }
        values
    }

    /// The type of the node.
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

    /// What a text means beyond its letters.
    pub fn word(&self) -> Option<Word> {
        let text = |name: &str| self.keyword(name).and_then(Value::as_str);
        text("x-file")
            .map(Word::File)
            .or_else(|| text("x-pattern").map(Word::Pattern))
            .or_else(|| text("x-template").map(Word::Template))
            .or_else(|| text("x-refers").map(Word::Refers))
            .or_else(|| text("x-defines").map(Word::Defines))
    }

    /// The sibling key without which the field has no effect.
    pub fn only_with(&self) -> Option<&'static str> {
        self.keyword("x-only")?.as_str()
    }

    /// Whether the keys of the mapping are claims: an unknown one is a claim that vanishes.
    pub fn holds_claims(&self) -> bool {
        self.keyword("x-claims").is_some()
    }

    /// What the items of a list may be.
    pub fn item(&self) -> Option<Shape> {
        self.keyword("items").filter(|_| self.kind() == Type::List).map(|schema| Shape::new(self.root, schema))
    }

    /// What the values of a mapping with free keys may be.
    pub fn map_value(&self) -> Option<Shape> {
        self.keyword("additionalProperties")
            .filter(|schema| schema.is_object())
            .map(|schema| Shape::new(self.root, schema))
    }

    /// Whether any key may stand in the mapping.
    pub fn is_open(&self) -> bool {
        self.keyword("additionalProperties") != Some(&Value::Bool(false)) && self.keyword("propertyNames").is_none()
    }

    /// The keys that the mapping may have, in the order of the format. `node` stands where this shape does;
    /// it decides what is required.
    pub fn fields(&self, node: Option<NodeRef<'_>>) -> Vec<Field> {
        let shape = self.with_branch(node);
        let required: Vec<&str> = shape
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
        names
            .into_iter()
            .filter_map(|name| Some(Field { name, need: need(name), shape: shape.step(name, None)? }))
            .collect()
    }

    /// Keys of which exactly one must be there.
    pub fn alternatives(&self) -> Vec<&'static str> {
        let branches = self.keyword("oneOf").and_then(Value::as_array).into_iter().flatten();
        branches.filter_map(|branch| branch.get("required")?.get(0)?.as_str()).collect()
    }

    /// The least and the greatest number, or the least length, as words; nothing when there is no bound.
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

    /// The type in words: "whole number, 1 to 100", "list of texts".
    pub fn type_label(&self) -> String {
        let values = self.values();
        if !values.is_empty() && self.kind() != Type::Boolean {
            let names: Vec<String> = values.iter().map(|choice| show(choice.value)).collect();
            return crate::words::listed(names.iter().map(String::as_str));
        }
        let bounded = |name: &str| match self.bounds() {
            Some(bounds) => format!("{name}, {bounds}"),
            None => name.to_owned(),
        };
        match self.kind() {
            Type::Text => match self.word() {
                Some(Word::File("json-schema")) => "path of a JSON Schema file".to_owned(),
                Some(Word::File(_)) => "path of a file".to_owned(),
                Some(Word::Pattern(_)) => "regular expression".to_owned(),
                Some(Word::Template(_)) => "text with `{{name}}`".to_owned(),
                Some(Word::Refers(kind)) => format!("name out of `{kind}`"),
                Some(Word::Defines(_)) => "name".to_owned(),
                None => "text".to_owned(),
            },
            Type::Integer => bounded("whole number"),
            Type::Number => bounded("number"),
            Type::Boolean => "`true` or `false`".to_owned(),
            Type::List => match self.item() {
                Some(item) => format!("list of {}", plural(&item)),
                None => "list".to_owned(),
            },
            Type::Mapping => match self.map_value() {
                Some(value) => format!("mapping of names to {}", plural(&value)),
                None => "mapping".to_owned(),
            },
            Type::Any => "any value".to_owned(),
        }
    }
}

fn plural(shape: &Shape) -> String {
    match shape.kind() {
        Type::Mapping => "mappings".to_owned(),
        Type::List => "lists".to_owned(),
        Type::Any => "any values".to_owned(),
        Type::Text if !shape.values().is_empty() => shape.type_label(),
        Type::Text => match shape.word() {
            Some(Word::Pattern(_)) => "regular expressions".to_owned(),
            Some(Word::Refers(kind)) => format!("names out of `{kind}`"),
            Some(Word::File(_)) => "paths".to_owned(),
            Some(Word::Template(_) | Word::Defines(_)) | None => "texts".to_owned(),
        },
        Type::Integer => "whole numbers".to_owned(),
        Type::Number => "numbers".to_owned(),
        Type::Boolean => "`true` or `false`".to_owned(),
    }
}

/// A number without an idle fraction.
fn plain(value: &Value) -> String {
    match value.as_f64() {
        Some(number) if number.fract() == 0.0 && number.abs() < 1e15 => format!("{number:.0}"),
        _ => value.to_string(),
    }
}

/// A value as it would be written in the file, in flow style.
pub fn show(value: &Value) -> String {
    match value {
        Value::String(text) => scalar(text),
        Value::Number(_) => plain(value),
        Value::Array(items) => format!("[{}]", items.iter().map(show).collect::<Vec<_>>().join(", ")),
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(key, value)| format!("{}: {}", scalar(key), show(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        Value::Null | Value::Bool(_) => value.to_string(),
    }
}

/// A text as YAML: plain where every reader takes it for a text, else in double quotes.
pub fn scalar(text: &str) -> String {
    let plain = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./ ".contains(letter))
        && !text.ends_with(' ')
        && !["true", "false", "yes", "no", "on", "off", "null", "y", "n"].contains(&text.to_lowercase().as_str());
    if plain { text.to_owned() } else { Value::from(text).to_string() }
}

/// Whether a node fulfils a condition. Knows what conditions in our schemas are made of.
fn holds(condition: &Value, node: NodeRef<'_>) -> bool {
    let Value::Object(keywords) = condition else { return true };
    keywords.iter().all(|(keyword, value)| match (keyword.as_str(), value) {
        ("required", Value::Array(names)) => {
            names.iter().filter_map(Value::as_str).all(|name| node.get(name).is_some())
        }
        ("properties", Value::Object(members)) => {
            members.iter().all(|(name, schema)| node.get(name).is_none_or(|member| holds(schema, member)))
        }
        ("const", Value::String(text)) => node.as_str() == Some(text),
        ("contains", schema) => node.items().any(|item| holds(schema, item)),
        ("type", Value::String(name)) => name != "object" || node.shape() == NodeShape::Mapping,
        _ => true,
    })
}

/// A place in a kind of file where keys may stand: `tests`, `[]`, `expect`. Items of lists are `[]`, members
/// of mappings with free keys `*`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place(pub Vec<&'static str>);

impl Place {
    /// Where a key belongs, in words, for a person who wrote it at `here`: "under `expect.output`", "in an
    /// item of `tests`", "at the top level".
    pub fn words_from(&self, here: &Place) -> String {
        if here.contains(self) {
            let below = &self.0[here.0.len()..];
            if !below.is_empty() && !below.contains(&"[]") && !below.contains(&"*") {
                return format!("under `{}`", below.join("."));
            }
        }
        self.words()
    }

    /// Where a key belongs, in words.
    pub fn words(&self) -> String {
        match self.0.as_slice() {
            [] => "at the top level".to_owned(),
            [.., list, "[]"] => format!("in an item of `{list}`"),
            [.., map, "*"] => format!("in an entry of `{map}`"),
            [.., key] => format!("under `{key}`"),
        }
    }

    /// How many steps lead from here to there.
    pub fn distance(&self, other: &Place) -> usize {
        let common = self.0.iter().zip(&other.0).take_while(|(mine, theirs)| mine == theirs).count();
        self.0.len() + other.0.len() - 2 * common
    }

    /// Whether the other place is this one or lies below it.
    pub fn contains(&self, other: &Place) -> bool {
        other.0.starts_with(&self.0)
    }
}

/// The mappings in which a key is known, in the order of the format.
pub fn places_of(file: SpecFile, key: &str) -> &'static [Place] {
    table(file).get(key).map(Vec::as_slice).unwrap_or_default()
}

/// Every key that the format knows somewhere.
pub fn all_keys(file: SpecFile) -> impl Iterator<Item = &'static str> {
    table(file).keys().copied().collect::<std::collections::BTreeSet<_>>().into_iter()
}

type Table = HashMap<&'static str, Vec<Place>>;

fn table(file: SpecFile) -> &'static Table {
    static TABLES: PerFile<Table> = PerFile::new();
    TABLES.get(file, || {
        let mut table = Table::new();
        collect(&Shape::of(file), &mut Vec::new(), &mut table);
        table
    })
}

fn collect(shape: &Shape, path: &mut Vec<&'static str>, table: &mut Table) {
    /// No format is deeper; a type that contains itself would be.
    const DEPTH: usize = 16;
    if path.len() > DEPTH {
        return;
    }
    for field in shape.fields(None) {
        table.entry(field.name).or_default().push(Place(path.clone()));
        path.push(field.name);
        collect(&field.shape, path, table);
        path.pop();
    }
    for (step, member) in [("[]", shape.item()), ("*", shape.map_value())] {
        if let Some(member) = member {
            path.push(step);
            collect(&member, path, table);
            path.pop();
        }
    }
}

/// The place that a pointer leads to.
pub fn place_of(file: SpecFile, pointer: &Pointer) -> Option<Place> {
    let mut shape = Shape::of(file);
    let mut path = Vec::new();
    for step in pointer.steps() {
        let field = shape.fields(None).into_iter().find(|field| field.name == step);
        path.push(match field {
            Some(field) => field.name,
            None if shape.kind() == Type::List => "[]",
            None => "*",
        });
        shape = shape.step(&step, None)?;
    }
    Some(Place(path))
}

#[cfg(test)]
mod tests;
