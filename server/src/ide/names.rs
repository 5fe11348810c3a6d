//! Names that a document defines and uses: prompts, models, providers, variables.

use speclens_schema::{
    dialect::kindlm,
    document::{Document, EntryRef, NodeRef, Pointer, Shape as NodeShape},
    json_schema::SpecFile,
    shape::{Shape, Type, Word},
};

/// A name and the node it refers to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Definition<'d> {
    /// The node that holds the name: a key, or a value.
    pub name: NodeRef<'d>,
    /// The node it names.
    pub node: NodeRef<'d>,
}

/// Returns the definitions of one kind, such as `models`, in a document: the section of that name holds them, as keys
/// or by the names of its items.
pub(crate) fn defined<'d>(document: &'d Document, file: SpecFile, kind: &str) -> Vec<Definition<'d>> {
    if let Some(section) = section_of_names(file, kind) {
        let listed = document.root().and_then(|root| root.get(section));
        let named = listed.into_iter().flat_map(NodeRef::items).filter(|item| item.text().is_some());
        return named.map(|item| Definition { name: item, node: item }).collect();
    }
    let Some(section) = document.root().and_then(|root| root.get(kind)) else { return Vec::new() };
    if section.shape() == NodeShape::Mapping {
        let entries = section.entries().map(|EntryRef { key, value }| Definition { name: key, node: value });
        return entries.collect();
    }
    let Some(field) = naming_field(file, kind) else { return Vec::new() };
    section.items().filter_map(|node| Some(Definition { name: node.get(field)?, node })).collect()
}

/// Returns the top-level list whose items are themselves the names of a kind.
fn section_of_names(file: SpecFile, kind: &str) -> Option<&'static str> {
    let is_name = |item: Shape| {
        item.kind() == Type::Text && matches!(item.word(), Some(Word::Defines(defined)) if defined == kind)
    };
    let fields = Shape::of(file).fields(None);
    fields.into_iter().find(|field| field.shape.item().is_some_and(is_name)).map(|field| field.name)
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

/// Returns the key that holds the name of an item in a section.
pub(crate) fn naming_field(file: SpecFile, kind: &str) -> Option<&'static str> {
    let item = Shape::of(file).step(kind, None)?.item()?;
    name_of(&item)
}

/// Returns the key that holds the name of a mapping.
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

/// Returns the names used in all prompts, in order, each once.
pub(crate) fn used_in_prompts(document: &Document) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for prompt in document.root().and_then(|root| root.get("prompts")).into_iter().flat_map(NodeRef::entries) {
        for text in prompt.value.entries().filter_map(|entry| entry.value.text()) {
            for name in kindlm::template::names(text) {
                if !names.iter().any(|known| known == name) {
                    names.push(name.to_owned());
                }
            }
        }
    }
    names
}

/// Returns the names that a test needs values for: those in its command, and in the prompt that it refers to.
pub(crate) fn needed_by(document: &Document, test: NodeRef<'_>) -> Vec<String> {
    let mut texts: Vec<&str> = test.get("command").and_then(NodeRef::text).into_iter().collect();
    let prompt = test.get("prompt").and_then(NodeRef::text);
    let prompts = document.root().and_then(|root| root.get("prompts"));
    if let Some(prompt) = prompt.and_then(|name| prompts?.get(name)) {
        texts.extend(prompt.entries().filter_map(|entry| entry.value.text()));
    }
    let mut names: Vec<String> = Vec::new();
    for name in texts.into_iter().flat_map(kindlm::template::names) {
        if !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// Returns the variables that the tests give to a prompt, each with one of its values.
pub(crate) fn given_to<'d>(document: &'d Document, prompt: &str) -> Vec<(String, Option<&'d str>)> {
    let mut found: Vec<(String, Option<&'d str>)> = Vec::new();
    let tests = document.root().and_then(|root| root.get("tests"));
    for test in tests.into_iter().flat_map(NodeRef::items) {
        if test.get("prompt").and_then(NodeRef::text) != Some(prompt) {
            continue;
        }
        for entry in test.get("vars").into_iter().flat_map(NodeRef::entries) {
            let name = entry.key.key_text();
            if !found.iter().any(|(known, _)| *known == name) {
                found.push((name, entry.value.text()));
            }
        }
    }
    found
}

/// Returns undefined names that are referred to: the most likely names of a new definition.
pub(crate) fn wanted(document: &Document, file: SpecFile, kind: &str) -> Vec<String> {
    let known: Vec<String> =
        defined(document, file, kind).iter().map(|definition| definition.name.key_text()).collect();
    let mut names: Vec<String> = Vec::new();
    let mut add = |name: &str| {
        if !name.is_empty() && !known.iter().any(|known| known == name) && !names.iter().any(|known| known == name) {
            names.push(name.to_owned());
        }
    };
    let Some(root) = document.root() else { return names };
    let shape = Shape::of(file);
    // Only items of top-level lists have a field that refers to something.
    for section in shape.fields(None) {
        let Some(item) = section.shape.item() else { continue };
        let refers = |shape: &Shape| matches!(shape.word(), Some(Word::Refers(to)) if to == kind);
        for field in item.fields(None) {
            let (single, list) = (refers(&field.shape), field.shape.item().is_some_and(|item| refers(&item)));
            if !single && !list {
                continue;
            }
            for node in
                root.get(section.name).into_iter().flat_map(NodeRef::items).filter_map(|item| item.get(field.name))
            {
                node.items().filter_map(NodeRef::text).for_each(&mut add);
                node.text().into_iter().for_each(&mut add);
            }
        }
    }
    names
}
