//! Names that a document defines and uses: prompts, models, providers, variables.

use std::collections::HashSet;

use speclens_schema::{
    document::{Document, NodeRef, Pointer, Shape as NodeShape},
    json_schema::SpecFile,
    names::{self, Role},
    shape::{Shape, Type, Word},
    template::variable_names,
};

/// A name and the node it refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition<'d> {
    /// The node that holds the name: a key, or a value.
    pub name: NodeRef<'d>,
    pub node: NodeRef<'d>,
}

pub(crate) fn defined<'d>(document: &'d Document, file: SpecFile, kind: &str) -> Vec<Definition<'d>> {
    let found = document.root().map(|root| names::mentions(root, file, kind, Role::Defines));
    found.into_iter().flatten().map(|(name, node)| Definition { name, node }).collect()
}

/// Returns the definitions of one kind for a place: those of the nearest mapping around it with a list of that name,
/// such as the `tools` of a test; else those of the document.
pub(crate) fn defined_around<'d>(
    document: &'d Document,
    file: SpecFile,
    kind: &str,
    at: &Pointer,
) -> Vec<Definition<'d>> {
    for above in std::iter::successors(at.parent(), Pointer::parent) {
        let Some(section) = document.find(&above).and_then(|holder| holder.get(kind)) else { continue };
        let item = Shape::find(file, &above, document.root()).and_then(|shape| shape.step(kind, None)?.item());
        if let Some(field) = item.and_then(|item| name_of(&item)) {
            return section.items().filter_map(|node| Some(Definition { name: node.get(field)?, node })).collect();
        }
    }
    defined(document, file, kind)
}

pub(crate) fn name_of(shape: &Shape) -> Option<&'static str> {
    let fields = shape.fields(None);
    let is_name = |shape: &Shape| shape.kind() == Type::Text && matches!(shape.word(), Some(Word::Defines(_)));
    fields.into_iter().find(|field| is_name(&field.shape)).map(|field| field.name)
}

/// Returns the mapping of variables that fills a text: it is next to the text, under the name given by the schema.
pub(crate) fn variables<'d>(document: &'d Document, at: &Pointer, shape: &Shape) -> Option<NodeRef<'d>> {
    let given = document.find(&at.parent()?)?.get(shape.template()?)?;
    (given.shape() == NodeShape::Mapping).then_some(given)
}

pub(crate) fn used_in_prompts(document: &Document) -> Vec<String> {
    let prompts = document.root().and_then(|root| root.get("prompts")).into_iter().flat_map(NodeRef::entries);
    let texts = prompts.flat_map(|prompt| prompt.value.entries()).filter_map(|entry| entry.value.text());
    distinct(texts.flat_map(variable_names).map(str::to_owned))
}

/// Returns the names that a test needs values for: those in its command, and in the prompt that it refers to.
pub(crate) fn needed_by(document: &Document, test: NodeRef<'_>) -> Vec<String> {
    let mut texts: Vec<&str> = test.get("command").and_then(NodeRef::text).into_iter().collect();
    let prompt = test.get("prompt").and_then(NodeRef::text);
    let prompts = document.root().and_then(|root| root.get("prompts"));
    if let Some(prompt) = prompt.and_then(|name| prompts?.get(name)) {
        texts.extend(prompt.entries().filter_map(|entry| entry.value.text()));
    }
    distinct(texts.into_iter().flat_map(variable_names).map(str::to_owned))
}

pub(crate) fn distinct(texts: impl IntoIterator<Item = String>) -> Vec<String> {
    let mut seen = HashSet::new();
    texts.into_iter().filter(|text| seen.insert(text.clone())).collect()
}

/// The value of a variable in a test.
pub(crate) struct Given<'d> {
    pub(crate) name: String,
    pub(crate) value: Option<&'d str>,
    pub(crate) test: &'d str,
}

pub(crate) fn given_to<'d>(document: &'d Document, prompt: &str) -> Vec<Given<'d>> {
    let mut found: Vec<Given<'d>> = Vec::new();
    let tests = document.root().and_then(|root| root.get("tests"));
    for test in tests.into_iter().flat_map(NodeRef::items) {
        if test.get("prompt").and_then(NodeRef::text) != Some(prompt) {
            continue;
        }
        let named = test.get("name").and_then(NodeRef::text).unwrap_or_default();
        let vars = test.get("vars").into_iter().flat_map(NodeRef::entries);
        found.extend(vars.map(|entry| Given { name: entry.key.key_text(), value: entry.value.text(), test: named }));
    }
    found
}

/// Returns undefined names that are referred to: the most likely names of a new definition.
pub(crate) fn wanted(document: &Document, file: SpecFile, kind: &str) -> Vec<String> {
    let known: Vec<String> =
        defined(document, file, kind).iter().map(|definition| definition.name.key_text()).collect();
    let mut found: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !known.iter().chain(&found).any(|known| known == name) {
            found.push(name.to_owned());
        }
    };
    let referred = document.root().map(|root| names::mentions(root, file, kind, Role::Refers));
    referred.into_iter().flatten().filter_map(|(name, _)| name.text()).for_each(&mut add);
    found
}
