//! The tree of one block: what was written, with byte ranges relative to the block's first byte.

use std::ops::Range;

/// A YAML node as written. Aliases are not expanded.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Bytes from the first character of the content to the last one, anchor and tag not included.
    pub range: Range<usize>,
    /// The name in `&name`, without the `&`.
    pub anchor: Option<Box<str>>,
    /// The tag as resolved: `tag:yaml.org,2002:str`, `!custom`.
    pub tag: Option<Box<str>>,
    /// What the node is.
    pub kind: NodeKind,
}

/// The four kinds of node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// Text with the way it was written; what it means (a number, null) is the dialect's to say.
    Scalar {
        /// The text after YAML's escapes and folding.
        value: Box<str>,
        /// How it was written.
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
    /// The value; an empty plain scalar directly after the colon when nothing was written.
    pub value: Node,
}

/// How a scalar was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Without quotes.
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
    /// Returns an empty plain scalar at a place.
    pub fn empty(at: usize) -> Node {
        Node {
            range: at..at,
            anchor: None,
            tag: None,
            kind: NodeKind::Scalar { value: "".into(), style: Style::Plain },
        }
    }

    /// Moves every range by `distance` bytes towards the end.
    pub fn shift(&mut self, distance: usize) {
        self.move_places(&|at| at + distance);
    }

    /// Moves every place to where `moved` says.
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
