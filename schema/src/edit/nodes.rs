//! The text of a node: which bytes are its own, and whether they can be changed alone.

use std::ops::Range;

use crate::{
    document::{Document, NodeRef, Pointer, Shape},
    problem::Edit,
};

/// Returns the bytes of a value that is on one line, unless they belong to an anchor.
pub(crate) fn one_line(value: NodeRef<'_>) -> Option<Range<usize>> {
    let range = value.own_range();
    (!range.is_empty() && is_on_one_line(value, &range) && can_change_value(value)).then_some(range)
}

/// Whether the bytes of a node belong to the node itself, not to an anchor elsewhere.
pub(crate) fn is_own(node: NodeRef<'_>) -> bool {
    !node.resolved().is_through_alias()
}

pub(crate) fn is_flow(node: NodeRef<'_>) -> bool {
    let own = node.own_range();
    let written = source(node, own.start..own.end.min(own.start + 512)).unwrap_or_default();
    let mut rest = written.trim_start();
    while rest.starts_with(['&', '!']) {
        rest = rest.find(char::is_whitespace).map_or("", |at| rest[at..].trim_start());
    }
    rest.starts_with(['[', '{'])
}

/// Whether a node or one of its descendants has an anchor, and may be used elsewhere.
pub(crate) fn has_anchor(node: NodeRef<'_>) -> bool {
    node.alias().is_none()
        && (node.anchor().is_some()
            || node.entries().any(|entry| has_anchor(entry.key) || has_anchor(entry.value))
            || node.items().any(has_anchor))
}

/// Whether a descendant of a node has an anchor or is an alias, and so cannot be moved.
pub(crate) fn has_names(node: NodeRef<'_>) -> bool {
    is_marked(node)
        || node.entries().any(|entry| has_names(entry.key) || has_names(entry.value))
        || node.items().any(has_names)
}

/// Whether a node has an anchor or is an alias, which an edit of its content would remove.
pub(crate) fn is_marked(node: NodeRef<'_>) -> bool {
    node.alias().is_some() || node.anchor().is_some()
}

/// Whether the value can be changed without changing anything else or removing its anchor. A tag determines the type
/// of its value: `!!str` would not allow a list.
pub(crate) fn can_change_value(value: NodeRef<'_>) -> bool {
    is_own(value) && value.alias().is_none() && value.tag().is_none()
}

/// Whether the bytes of a collection are its own and not shared.
pub(crate) fn can_change(collection: NodeRef<'_>) -> bool {
    !collection.is_through_alias() && !is_marked(collection)
}

/// Whether a location is, or is below, an anchor that an alias uses, or an alias: an edit there changes several places.
pub(crate) fn is_shared(document: &Document, at: &Pointer) -> bool {
    let is_used = |name: &str| {
        let continues = |letter: char| !letter.is_whitespace() && !matches!(letter, ',' | '[' | ']' | '{' | '}');
        let text = String::from(document.text());
        let uses = text.match_indices('*').map(|(start, _)| &text[start + 1..]);
        uses.into_iter().any(|rest| rest.strip_prefix(name).is_some_and(|rest| !rest.starts_with(continues)))
    };
    let is_named = |node: NodeRef<'_>| node.alias().is_some() || node.anchor().is_some_and(is_used);
    let mut place = Pointer::root();
    let steps = at.steps().map(|step| {
        place = place.step(&step);
        document.find(&place)
    });
    std::iter::once(document.root()).chain(steps).flatten().any(is_named)
}

pub(crate) fn is_on_one_line(node: NodeRef<'_>, range: &Range<usize>) -> bool {
    let text = node.document().text();
    text.byte_to_line(range.start) == text.byte_to_line(range.end)
}

pub(crate) fn source(node: NodeRef<'_>, range: Range<usize>) -> Option<String> {
    node.document().text().get_byte_slice(range).map(String::from)
}

pub(crate) fn line_start(node: NodeRef<'_>, at: usize) -> usize {
    let text = node.document().text();
    text.line_to_byte(text.byte_to_line(at))
}

/// Returns the text between the start of a line and an offset in it, without a byte order mark.
pub(crate) fn margin(node: NodeRef<'_>, at: usize) -> Option<String> {
    let before = source(node, line_start(node, at)..at)?;
    Some(before.trim_start_matches('\u{feff}').to_owned())
}

/// Returns the end of the last content of a node. The range of a block may include blank lines and
/// comments.
pub(crate) fn end_of(node: NodeRef<'_>) -> usize {
    if node.alias().is_some() {
        return node.range().end;
    }
    let own = node.own_range();
    if !is_flow(node) {
        let last = match node.shape() {
            Shape::Mapping => node.entries().last().map(|entry| end_of(entry.value).max(entry.key.own_range().end)),
            Shape::Sequence => node.items().last().map(end_of),
            Shape::Scalar | Shape::Dangling => None,
        };
        if let Some(last) = last {
            return last;
        }
    }
    let written = source(node, own.clone()).unwrap_or_default();
    own.start + written.trim_end().len()
}

/// Returns the edits in document order.
pub(crate) fn sorted(mut edits: Vec<Edit>) -> Vec<Edit> {
    edits.sort_by_key(|edit| edit.range.start);
    edits
}
