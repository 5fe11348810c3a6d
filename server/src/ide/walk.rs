//! A walk over everything that is written in a document. Aliases are not followed.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    ops::Range,
};

use serde_json::Value;
use speclens_schema::{
    document::{Document, NodeRef, Pointer, Shape as NodeShape},
    json_schema::SpecFile,
    shape::Shape,
};

/// What the schema says at many places of a document. Each mapping and list on the way is asked once: what
/// holds for it may depend on all that it holds.
pub(crate) struct Shapes<'d> {
    document: &'d Document,
    file: SpecFile,
    known: RefCell<HashMap<Pointer, Option<Shape>>>,
}

impl<'d> Shapes<'d> {
    pub(crate) fn new(document: &'d Document, file: SpecFile) -> Shapes<'d> {
        Shapes { document, file, known: RefCell::default() }
    }

    pub(crate) fn at(&self, at: &Pointer) -> Option<Shape> {
        if let Some(known) = self.known.borrow().get(at) {
            return known.clone();
        }
        let shape = match at.parent() {
            None => Some(Shape::of(self.file)),
            Some(parent) => {
                let last = at.last_step();
                self.at(&parent).zip(last).and_then(|(shape, last)| shape.step_to(&last, self.document.find(&parent)))
            }
        };
        self.known.borrow_mut().insert(at.clone(), shape.clone());
        shape
    }
}

/// Where a visited node stands.
pub(crate) struct Place<'w, 'd> {
    steps: &'w [Step<'d>],
    is_key: bool,
}

#[derive(Clone, Copy)]
enum Step<'d> {
    Key(NodeRef<'d>),
    Item(usize),
}

impl Place<'_, '_> {
    /// Whether the node is a key. Its place is that of its value.
    pub(crate) fn is_key(&self) -> bool {
        self.is_key
    }

    /// The place as a pointer; made only when asked for.
    pub(crate) fn pointer(&self) -> Pointer {
        self.steps.iter().fold(Pointer::root(), |pointer, step| match step {
            Step::Key(key) => pointer.key(&key.key_text()),
            Step::Item(index) => pointer.index(*index),
        })
    }
}

/// Visits every node, keys included.
pub(crate) fn nodes<'d>(document: &'d Document, visit: &mut impl FnMut(NodeRef<'d>, &Place<'_, 'd>)) {
    nodes_in(document, &(0..document.text().len_bytes()), visit);
}

fn nodes_in<'d>(document: &'d Document, range: &Range<usize>, visit: &mut impl FnMut(NodeRef<'d>, &Place<'_, 'd>)) {
    if let Some(root) = document.root() {
        below(root, &mut Vec::new(), range, visit);
    }
}

/// Visits the scalars that touch a range, keys included.
pub(crate) fn scalars_in<'d>(
    document: &'d Document,
    range: &Range<usize>,
    visit: &mut impl FnMut(NodeRef<'d>, &Place<'_, 'd>),
) {
    nodes_in(document, range, &mut |node, place| {
        if node.alias().is_none() && node.text().is_some() {
            visit(node, place);
        }
    });
}

/// Visits every scalar, keys included.
pub(crate) fn scalars<'d>(document: &'d Document, visit: &mut impl FnMut(NodeRef<'d>, &Place<'_, 'd>)) {
    scalars_in(document, &(0..document.text().len_bytes()), visit);
}

/// Visits the scalar values that touch a range and of which the schema knows something, each with what it
/// says there, and the mapping around it. Each mapping is asked once.
pub(crate) fn values<'d>(
    document: &'d Document,
    file: SpecFile,
    range: &Range<usize>,
    visit: &mut impl FnMut(NodeRef<'d>, &Shape, Option<NodeRef<'d>>),
) {
    values_where(document, file, &|own| range.start <= own.end && own.start <= range.end, visit);
}

/// The same for the values in which a placeholder may stand.
pub(crate) fn templates<'d>(
    document: &'d Document,
    file: SpecFile,
    visit: &mut impl FnMut(NodeRef<'d>, &Shape, Option<NodeRef<'d>>),
) {
    let text = String::from(document.text());
    // A brace can be written as an escape, too.
    let is_begin = |at: &usize| text[*at..].starts_with("{{") || text[*at..].starts_with('\\');
    let begins: Vec<usize> = text.match_indices(['{', '\\']).map(|(at, _)| at).filter(is_begin).collect();
    let holds_one = |own: &Range<usize>| {
        let next = begins.partition_point(|at| *at < own.start);
        begins.get(next).is_some_and(|at| *at < own.end)
    };
    values_where(document, file, &holds_one, visit);
}

/// What is at bytes that are not wanted is not looked into.
fn values_where<'d>(
    document: &'d Document,
    file: SpecFile,
    is_wanted: &dyn Fn(&Range<usize>) -> bool,
    visit: &mut impl FnMut(NodeRef<'d>, &Shape, Option<NodeRef<'d>>),
) {
    let is_wanted = |node: NodeRef<'d>| node.alias().is_none() && is_wanted(&node.own_range());
    if let Some(root) = document.root().filter(|root| is_wanted(*root)) {
        values_below(root, &Shape::of(file).at(Some(root)), None, &is_wanted, visit);
    }
}

fn values_below<'d>(
    node: NodeRef<'d>,
    shape: &Shape,
    around: Option<NodeRef<'d>>,
    is_wanted: &dyn Fn(NodeRef<'d>) -> bool,
    visit: &mut impl FnMut(NodeRef<'d>, &Shape, Option<NodeRef<'d>>),
) {
    match node.shape() {
        NodeShape::Scalar => visit(node, shape, around),
        NodeShape::Sequence => {
            let Some(item) = shape.item() else { return };
            for below in node.items().filter(|below| is_wanted(*below)) {
                values_below(below, &item.at(Some(below)), around, is_wanted, visit);
            }
        }
        NodeShape::Mapping => {
            for entry in node.entries().filter(|entry| is_wanted(entry.value)) {
                if let Some(below) = shape.child(&entry.key.key_text(), Some(entry.value)) {
                    values_below(entry.value, &below, Some(node), is_wanted, visit);
                }
            }
        }
        NodeShape::Dangling => {}
    }
}

fn below<'d>(
    node: NodeRef<'d>,
    steps: &mut Vec<Step<'d>>,
    range: &Range<usize>,
    visit: &mut impl FnMut(NodeRef<'d>, &Place<'_, 'd>),
) {
    let own = node.own_range();
    if own.end < range.start || range.end < own.start {
        return;
    }
    visit(node, &Place { steps, is_key: false });
    if node.alias().is_some() {
        return;
    }
    for (index, item) in node.items().enumerate() {
        steps.push(Step::Item(index));
        below(item, steps, range, visit);
        steps.pop();
    }
    for entry in node.entries() {
        steps.push(Step::Key(entry.key));
        visit(entry.key, &Place { steps, is_key: true });
        below(entry.value, steps, range, visit);
        steps.pop();
    }
}

/// Every value that a keyword has anywhere in the schema.
pub(crate) fn keyword_values(file: SpecFile, keyword: &str) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    schemas(file.schema(), &mut |_, schema| found.extend(schema.get(keyword).and_then(Value::as_str)));
    found
}

/// The keys whose values, or whose items, the schema gives a keyword with this value.
pub(crate) fn keys_with(file: SpecFile, keyword: &str, value: &str) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    schemas(file.schema(), &mut |key, schema| {
        let says = |schema: &Value| schema.get(keyword).and_then(Value::as_str) == Some(value);
        if says(schema) || schema.get("items").is_some_and(says) {
            found.insert(key);
        }
    });
    found
}

fn schemas(value: &'static Value, visit: &mut impl FnMut(&'static str, &'static Value)) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, member)| {
            visit(key, member);
            schemas(member, visit);
        }),
        Value::Array(items) => items.iter().for_each(|item| schemas(item, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
