//! Aliases after a `*`: the anchors above the cursor, those with a fitting value first.

use speclens_schema::{
    document::{Document, Pointer, Shape as NodeShape},
    json_schema::SpecFile,
    problem::Edit,
    shape::{Shape, Type},
};

use super::{Completion, CompletionKind};
use crate::ide::{context::Context, line::Line, markdown, snippet, walk};

/// Returns the aliases that are possible at the cursor; `None` if no alias is being typed.
pub(super) fn aliases(document: &Document, file: SpecFile, offset: usize) -> Option<Vec<Completion>> {
    let text = document.text();
    let line = Line::of(text, text.byte_to_line(offset));
    let range = word(&line, offset)?;
    let at = document.pointer_at(offset);
    let merges = line.text[..range.start - line.start].trim_end_matches([' ', '[', '-']).ends_with("<<:")
        || at.steps().any(|step| step == "<<");
    // Only the context understands half-typed brackets; a merge key is not a key of the schema.
    let expected = match merges {
        true => Shape::find(file, &around_merge(&at), document.root()),
        false => Context::find(document, file, offset).map(|context| context.shape),
    };
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

/// Returns the bytes of an alias that is being typed: a `*` where a value begins, and the name so far.
fn word(line: &Line<'_>, offset: usize) -> Option<std::ops::Range<usize>> {
    let is_end = |letter: char| letter.is_whitespace() || ",[]{}".contains(letter);
    let before = line.text.get(..offset.checked_sub(line.start)?)?;
    let start = before.rfind(is_end).map_or(0, |end| end + before[end..].chars().next().map_or(1, char::len_utf8));
    let is_value = |before: &str| {
        let before = before.trim_end();
        before.is_empty() || before.ends_with(['[', ',', '{']) || before.ends_with(':') || before.ends_with('-')
    };
    if !before[start..].starts_with('*') || !is_value(&before[..start]) || is_quoted(&before[..start]) {
        return None;
    }
    if line.parts().comment.is_some_and(|comment| comment < offset) {
        return None;
    }
    let rest = &line.text[offset - line.start..];
    let end = rest.find(is_end).unwrap_or(rest.trim_end().len());
    Some(line.start + start..offset + end)
}

/// Whether a text ends within quotes.
fn is_quoted(text: &str) -> bool {
    let mut open = None;
    for letter in text.chars() {
        match open {
            None if matches!(letter, '"' | '\'') => open = Some(letter),
            Some(quote) if quote == letter => open = None,
            None | Some(_) => {}
        }
    }
    open.is_some()
}

/// Returns the mapping that a merge key adds entries to.
fn around_merge(at: &Pointer) -> Pointer {
    at.steps().take_while(|step| *step != "<<").fold(Pointer::root(), |at, step| at.step(&step))
}
