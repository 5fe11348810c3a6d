//! The tree of one block, as written, with byte ranges relative to the block's first byte.

use std::ops::Range;

use smol_str::SmolStr;

/// A YAML node as written. Aliases are not expanded.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Range from the first character of the content to the last one, without anchor and tag.
    pub range: Range<usize>,
    /// Its anchor and its tag. Few nodes have one, and there may be hundreds of thousands of nodes.
    pub(super) properties: Option<Box<Properties>>,
    /// The kind of node.
    pub kind: NodeKind,
}

/// Properties that may be written before a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Properties {
    anchor: Option<Box<str>>,
    tag: Option<Box<str>>,
}

/// The four kinds of node.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// Text with its style; its meaning (a number, null) depends on the dialect.
    Scalar {
        /// The text after YAML's escapes and folding. Most are short and need no allocation.
        value: SmolStr,
        /// The style in the file.
        style: Style,
    },
    /// A list.
    Sequence(Vec<Node>),
    /// A mapping, in the order of the file, repeated keys included.
    Mapping(Vec<Entry>),
    /// `*name`, without the `*`.
    Alias(SmolStr),
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
        Node::new(at..at, NodeKind::Scalar { value: "".into(), style: Style::Plain })
    }

    /// Returns a node without anchor and tag.
    pub fn new(range: Range<usize>, kind: NodeKind) -> Node {
        Node { range, properties: None, kind }
    }

    /// Returns the same node with a tag, if there is one.
    pub(super) fn with_tag(mut self, tag: Option<Box<str>>) -> Node {
        if tag.is_some() {
            self.properties.get_or_insert_default().tag = tag;
        }
        self
    }

    /// Returns the name in `&name`, without the `&`.
    pub fn anchor(&self) -> Option<&str> {
        self.properties.as_ref()?.anchor.as_deref()
    }

    /// Returns the tag as resolved: `tag:yaml.org,2002:str`, `!custom`.
    pub fn tag(&self) -> Option<&str> {
        self.properties.as_ref()?.tag.as_deref()
    }

    /// Gives the node a name, if there is one.
    pub(super) fn set_anchor(&mut self, name: Option<Box<str>>) {
        if name.is_some() {
            self.properties.get_or_insert_default().anchor = name;
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
