//! The tree of one block, as written, with byte ranges relative to the block's first byte.

use std::ops::Range;

/// A YAML node as written. Aliases are not expanded.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Range from the first character of the content to the last one, without anchor and tag.
    pub range: Range<usize>,
    /// The name in `&name`, without the `&`.
    pub anchor: Option<Box<str>>,
    /// The tag as resolved: `tag:yaml.org,2002:str`, `!custom`.
    pub tag: Option<Box<str>>,
    /// The kind of node.
    pub kind: NodeKind,
}

/// The four kinds of node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// Text with its style; its meaning (a number, null) depends on the dialect.
    Scalar {
        /// The text after YAML's escapes and folding.
        value: Box<str>,
        /// The style in the file.
        style: Style,
    },
    /// A list.
    Sequence(Vec<Node>),
    /// A mapping, in the order of the file, repeated keys included.
    Mapping(Vec<Entry>),
    /// `*name`, without the `*`.
    Alias(Box<str>),
}

/// One `key: value` of a mapping.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Node,
    /// The value; an empty plain scalar directly after the colon if there is none.
    pub value: Node,
}

/// Styles of scalars.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Unquoted.
    Plain,
    /// `'…'`
    SingleQuoted,
    /// `"…"`
    DoubleQuoted,
    /// `|`
    Literal,
    /// `>`
    Folded,
}

impl Node {
    /// Returns an empty plain scalar at a position.
    pub fn empty(at: usize) -> Node {
        Node {
            range: at..at,
            anchor: None,
            tag: None,
            kind: NodeKind::Scalar { value: "".into(), style: Style::Plain },
        }
    }

    /// Moves all ranges by `distance` bytes toward the end.
    pub fn shift(&mut self, distance: usize) {
        self.move_places(&|at| at + distance);
    }

    /// Maps all positions with `moved`.
    pub(super) fn move_places(&mut self, moved: &impl Fn(usize) -> usize) {
        self.range = moved(self.range.start)..moved(self.range.end);
        match &mut self.kind {
            NodeKind::Scalar { .. } | NodeKind::Alias(_) => {}
            NodeKind::Sequence(items) => items.iter_mut().for_each(|item| item.move_places(moved)),
            NodeKind::Mapping(entries) => entries.iter_mut().for_each(|entry| {
                entry.key.move_places(moved);
                entry.value.move_places(moved);
            }),
        }
    }
}
