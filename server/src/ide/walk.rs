//! Visits everything that is written in a document. Aliases are not followed.

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

pub(crate) const WHOLE: Range<usize> = 0..usize::MAX;

/// The schema at many places of a document. It is computed once for each mapping and list on the way, because it
/// may depend on their whole content.
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

pub(crate) struct NodePath<'w, 'd> {
    steps: &'w [Step<'d>],
    is_key: bool,
}

#[derive(Clone, Copy)]
enum Step<'d> {
    Key(NodeRef<'d>),
    Item(usize),
}

impl NodePath<'_, '_> {
    pub(crate) fn is_key(&self) -> bool {
        self.is_key
    }

    pub(crate) fn pointer(&self) -> Pointer {
        self.steps.iter().fold(Pointer::root(), |pointer, step| match step {
            Step::Key(key) => pointer.key(&key.key_text()),
            Step::Item(index) => pointer.index(*index),
        })
    }
}

pub(crate) fn nodes<'d>(document: &'d Document, visit: &mut impl FnMut(NodeRef<'d>, &NodePath<'_, 'd>)) {
    if let Some(root) = document.root() {
        below(root, &mut Vec::new(), &WHOLE, visit);
    }
}

pub(crate) fn scalars_in<'d>(
    document: &'d Document,
    range: &Range<usize>,
    visit: &mut impl FnMut(NodeRef<'d>, &NodePath<'_, 'd>),
) {
    let Some(root) = document.root() else { return };
    below(root, &mut Vec::new(), range, &mut |node, place| {
        if node.alias().is_none() && node.text().is_some() {
            visit(node, place);
        }
    });
}

/// Visits the scalar values that touch a range and are known to the schema, each with its schema and the mapping
/// around it. The schema of each mapping is computed once.
pub(crate) fn values<'d>(
    document: &'d Document,
    file: SpecFile,
    range: &Range<usize>,
    visit: &mut impl FnMut(NodeRef<'d>, &Shape, Option<NodeRef<'d>>),
) {
    if let Some(root) = document.root() {
        values_below(root, &Shape::of(file).at(Some(root)), None, range, visit);
    }
}

/// Returns the index of the first item of a list that begins after a place, in logarithmic time.
pub(crate) fn first_after(list: NodeRef<'_>, place: usize) -> usize {
    let is_after = |number: usize| list.item_at(number).is_none_or(|item| item.range().start > place);
    let mut end = 1;
    while !is_after(end - 1) {
        end *= 2;
    }
    let mut first = end / 2;
    while first < end {
        let middle = first + (end - first) / 2;
        if is_after(middle) { end = middle } else { first = middle + 1 }
    }
    first
}

fn touches(one: &Range<usize>, other: &Range<usize>) -> bool {
    other.start <= one.end && one.start <= other.end
}

fn values_below<'d>(
    node: NodeRef<'d>,
    shape: &Shape,
    around: Option<NodeRef<'d>>,
    range: &Range<usize>,
    visit: &mut impl FnMut(NodeRef<'d>, &Shape, Option<NodeRef<'d>>),
) {
    if node.alias().is_some() {
        return;
    }
    match node.shape() {
        NodeShape::Scalar => visit(node, shape, around),
        NodeShape::Sequence => {
            let Some(item) = shape.item() else { return };
            for (_, below) in node.items_in(range) {
                values_below(below, &item.at(Some(below)), around, range, visit);
            }
        }
        NodeShape::Mapping => {
            for entry in node.entries_in(range).filter(|entry| touches(&entry.value.own_range(), range)) {
                if let Some(below) = shape.child(&entry.key.key_text(), Some(entry.value)) {
                    values_below(entry.value, &below, Some(node), range, visit);
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
    visit: &mut impl FnMut(NodeRef<'d>, &NodePath<'_, 'd>),
) {
    if !touches(&node.own_range(), range) {
        return;
    }
    visit(node, &NodePath { steps, is_key: false });
    if node.alias().is_some() {
        return;
    }
    for (index, item) in node.items_in(range) {
        steps.push(Step::Item(index));
        below(item, steps, range, visit);
        steps.pop();
    }
    for entry in node.entries_in(range) {
        steps.push(Step::Key(entry.key));
        visit(entry.key, &NodePath { steps, is_key: true });
        below(entry.value, steps, range, visit);
        steps.pop();
    }
}

pub(crate) fn keyword_values(file: SpecFile, keyword: &str) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    schemas(file.schema(), &mut |_, schema| found.extend(schema.get(keyword).and_then(Value::as_str)));
    found
}

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
