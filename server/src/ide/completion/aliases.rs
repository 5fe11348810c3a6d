//! Aliases after a `*`: the anchors above the cursor, those with a fitting value first.

use speclens_schema::{
    document::{Document, Pointer, Shape as NodeShape},
    json_schema::SpecFile,
    problem::Edit,
    shape::{Shape, Type},
};

use super::list::{Completion, CompletionKind};
use crate::ide::{context, markdown, snippet, walk};

/// Returns the aliases that are possible at the cursor; `None` if no alias is being typed.
pub(super) fn aliases(document: &Document, file: SpecFile, offset: usize) -> Option<Vec<Completion>> {
    let text = document.text();
    let (reading, range) = context::typed_alias(document, offset)?;
    let merges = reading.node.at.steps().any(|step| step == "<<");
    // A merge key is not a key of the schema.
    let at = reading.node.at.steps().take_while(|step| *step != "<<").fold(Pointer::root(), |at, step| at.step(&step));
    let expected = Shape::find(file, &at, reading.marked.root());
    let is_fit = |shape: NodeShape| match (merges, expected.as_ref().map(Shape::kind)) {
        (true, _) => shape == NodeShape::Mapping,
        (false, Some(Type::Mapping)) => shape == NodeShape::Mapping,
        (false, Some(Type::List)) => shape == NodeShape::Sequence,
        (false, Some(Type::Text | Type::Integer | Type::Number | Type::Boolean)) => shape == NodeShape::Scalar,
        (false, Some(Type::Any) | None) => true,
    };
    let mut found: Vec<Completion> = Vec::new();
    walk::nodes(document, &mut |node, at| {
        let own = node.own_range();
        // A node that contains the cursor cannot contain itself.
        let Some(name) = node.anchor().filter(|_| own.start < offset && own.end <= range.start) else { return };
        // Of several anchors with one name, the last one counts.
        found.retain(|known| known.filter_text[1..] != *name);
        if node.is_through_alias() || !is_fit(node.shape()) {
            return;
        }
        let definition = |shape: Option<&Shape>| shape.and_then(Shape::definition);
        let is_alike = !at.is_key()
            && definition(expected.as_ref()).is_some()
            && definition(Shape::find(file, &at.pointer(), document.root()).as_ref()) == definition(expected.as_ref());
        let distance = text.byte_to_line(offset) - text.byte_to_line(own.start);
        found.push(Completion {
            label: format!("*{name}"),
            kind: CompletionKind::Reference,
            detail: format!("line {}", text.byte_to_line(own.start) + 1),
            docs: markdown::source(&snippet::moved_left(&String::from(text.byte_slice(own)))),
            edit: Edit { range: range.clone(), text: format!("*{name}") },
            snippet: None,
            more: Vec::new(),
            sort_key: format!("{}{distance:07}", u8::from(!is_alike)),
            filter_text: format!("*{name}"),
            preselect: false,
        });
    });
    Some(found)
}
