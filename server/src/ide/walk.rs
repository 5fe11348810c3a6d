//! Visits everything that is written in a document. Aliases are not followed.

use std::{
    cell::RefCell,
    collections::{BTreeSet, HashMap},
    ops::Range,
};

use serde_json::Value;
use speclens_schema::{
    document::{Document, EntryRef, NodeRef, Pointer, Shape as NodeShape},
    json_schema::SpecFile,
    shape::Shape,
};

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

/// The place of a visited node.
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
    /// Whether the node is a key. The place of a key is that of its value.
    pub(crate) fn is_key(&self) -> bool {
        self.is_key
    }

    /// Returns the place as a pointer, computed on demand.
    pub(crate) fn pointer(&self) -> Pointer {
        self.steps.iter().fold(Pointer::root(), |pointer, step| match step {
            Step::Key(key) => pointer.key(&key.key_text()),
            Step::Item(index) => pointer.index(*index),
        })
    }
}

/// Visits the nodes of the blocks that contain a text, including keys. A node may be visited more than once.
pub(crate) fn nodes_near<'d>(
    document: &'d Document,
    text: &str,
    visit: &mut impl FnMut(NodeRef<'d>, &NodePath<'_, 'd>),
) {
    let Some(root) = document.root() else { return };
    let whole = String::from(document.text());
    let mut end = 0;
    for at in memchr::memmem::find_iter(whole.as_bytes(), text) {
        if at >= end {
            let block = document.block_around(at);
            end = block.end.max(at + 1);
            below(root, &mut Vec::new(), &Reach::Touching(&block), visit);
        }
    }
}

/// Visits the scalars that touch a range, including keys.
pub(crate) fn scalars_in<'d>(
    document: &'d Document,
    range: &Range<usize>,
    visit: &mut impl FnMut(NodeRef<'d>, &NodePath<'_, 'd>),
) {
    scalars(document, &Reach::Touching(range), visit);
}

/// Visits the scalars of a range that may be or contain a name, including keys. Nodes that cannot contain it are
/// skipped.
pub(crate) fn scalars_like<'d>(
    document: &'d Document,
    range: &Range<usize>,
    name: &str,
    visit: &mut impl FnMut(NodeRef<'d>, &NodePath<'_, 'd>),
) {
    match places_of(document, range, name) {
        Some(places) => scalars(document, &Reach::Holding(&places), visit),
        None => scalars_in(document, range, visit),
    }
}

fn scalars<'d>(document: &'d Document, reach: &Reach<'_>, visit: &mut impl FnMut(NodeRef<'d>, &NodePath<'_, 'd>)) {
    let Some(root) = document.root() else { return };
    below(root, &mut Vec::new(), reach, &mut |node, place| {
        if node.alias().is_none() && node.text().is_some() {
            visit(node, place);
        }
    });
}

/// Returns the bytes at which a name may be written: those of its longest word that is always written literally, and of
/// everything that may represent other characters. `None` if it can be written in yet another way.
fn places_of(document: &Document, range: &Range<usize>, name: &str) -> Option<Vec<usize>> {
    let is_word = name.starts_with(|first: char| first.is_ascii_alphabetic());
    // As keys, numbers and booleans have these texts.
    if !is_word || matches!(name, "true" | "false" | "inf" | "NaN") {
        return None;
    }
    // Lines may be broken at blanks, and quotes may be doubled.
    let words = name.split(|letter: char| letter.is_whitespace() || matches!(letter, '\'' | '"' | '\\'));
    let word = words.max_by_key(|word| word.len())?;
    let text = String::from(document.text().get_byte_slice(range.clone())?);
    let written = memchr::memmem::find_iter(text.as_bytes(), word);
    let mut places: Vec<usize> = written.chain(memchr::memchr_iter(b'\\', text.as_bytes())).collect();
    places.iter_mut().for_each(|at| *at += range.start);
    places.sort_unstable();
    Some(places)
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
        values_below(root, &Shape::of(file).at(Some(root)), None, &Reach::Touching(range), visit);
    }
}

/// Visits all such values.
pub(crate) fn all_values<'d>(
    document: &'d Document,
    file: SpecFile,
    visit: &mut impl FnMut(NodeRef<'d>, &Shape, Option<NodeRef<'d>>),
) {
    if let Some(root) = document.root() {
        values_below(root, &Shape::of(file).at(Some(root)), None, &Reach::Everything, visit);
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

/// The nodes to visit.
enum Reach<'r> {
    /// All nodes.
    Everything,
    /// Nodes that touch a range.
    Touching(&'r Range<usize>),
    /// Nodes that contain one of these bytes, which are sorted.
    Holding(&'r [usize]),
}

impl Reach<'_> {
    fn items<'d>(&self, node: NodeRef<'d>) -> Vec<(usize, NodeRef<'d>)> {
        match self {
            Reach::Touching(range) => node.items_in(range).collect(),
            Reach::Holding(places) => items_holding(node, places),
            Reach::Everything => node.items().enumerate().collect(),
        }
    }

    fn entries<'d>(&self, node: NodeRef<'d>) -> Vec<EntryRef<'d>> {
        match self {
            Reach::Touching(range) => node.entries_in(range).collect(),
            Reach::Everything | Reach::Holding(_) => {
                node.entries().filter(|entry| self.holds(entry.key) || self.holds(entry.value)).collect()
            }
        }
    }

    fn holds(&self, node: NodeRef<'_>) -> bool {
        match self {
            Reach::Everything => true,
            Reach::Touching(range) => touches(&node.own_range(), range),
            Reach::Holding(places) => {
                let own = node.own_range();
                let next = places.partition_point(|at| *at < own.start);
                places.get(next).is_some_and(|at| *at < own.end)
            }
        }
    }
}

/// Returns the items of a list that contain one of these bytes. Other items of a long list are not read.
fn items_holding<'d>(list: NodeRef<'d>, places: &[usize]) -> Vec<(usize, NodeRef<'d>)> {
    let own = list.own_range();
    let mut left = &places[places.partition_point(|at| *at < own.start)..];
    let mut found = Vec::new();
    while let Some(&place) = left.first().filter(|place| **place < own.end) {
        // The next item may begin where one ends.
        let around = list.items_in(&(place..place)).find(|(_, item)| item.own_range().end > place);
        found.extend(around);
        let end = around.map_or(place + 1, |(_, item)| item.own_range().end);
        left = &left[left.partition_point(|at| *at < end)..];
    }
    found
}

fn touches(one: &Range<usize>, other: &Range<usize>) -> bool {
    other.start <= one.end && one.start <= other.end
}

fn values_below<'d>(
    node: NodeRef<'d>,
    shape: &Shape,
    around: Option<NodeRef<'d>>,
    reach: &Reach<'_>,
    visit: &mut impl FnMut(NodeRef<'d>, &Shape, Option<NodeRef<'d>>),
) {
    if node.alias().is_some() {
        return;
    }
    match node.shape() {
        NodeShape::Scalar => visit(node, shape, around),
        NodeShape::Sequence => {
            let Some(item) = shape.item() else { return };
            for (_, below) in reach.items(node) {
                values_below(below, &item.at(Some(below)), around, reach, visit);
            }
        }
        NodeShape::Mapping => {
            for entry in reach.entries(node).into_iter().filter(|entry| reach.holds(entry.value)) {
                if let Some(below) = shape.child(&entry.key.key_text(), Some(entry.value)) {
                    values_below(entry.value, &below, Some(node), reach, visit);
                }
            }
        }
        NodeShape::Dangling => {}
    }
}

fn below<'d>(
    node: NodeRef<'d>,
    steps: &mut Vec<Step<'d>>,
    reach: &Reach<'_>,
    visit: &mut impl FnMut(NodeRef<'d>, &NodePath<'_, 'd>),
) {
    if !reach.holds(node) {
        return;
    }
    visit(node, &NodePath { steps, is_key: false });
    if node.alias().is_some() {
        return;
    }
    for (index, item) in reach.items(node) {
        steps.push(Step::Item(index));
        below(item, steps, reach, visit);
        steps.pop();
    }
    for entry in reach.entries(node) {
        steps.push(Step::Key(entry.key));
        visit(entry.key, &NodePath { steps, is_key: true });
        below(entry.value, steps, reach, visit);
        steps.pop();
    }
}

/// Returns every value that a keyword has anywhere in the schema.
pub(crate) fn keyword_values(file: SpecFile, keyword: &str) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    schemas(file.schema(), &mut |_, schema| found.extend(schema.get(keyword).and_then(Value::as_str)));
    found
}

/// Returns the keys whose values, or whose items, the schema gives a keyword with this value.
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
