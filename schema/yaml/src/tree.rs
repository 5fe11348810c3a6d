//! The tree of one block, as written, with byte ranges relative to the block's first byte.

use std::ops::Range;

use smol_str::SmolStr;

/// A YAML node as written. Aliases are not expanded.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// The range, in 32 bits: there may be hundreds of thousands of nodes, and no file of 4 GB is read.
    start: u32,
    end: u32,
    /// Its anchor and its tag. Few nodes have one.
    pub(super) properties: Option<Box<Properties>>,
    pub kind: NodeKind,
}

/// Properties that may be written before a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Properties {
    anchor: Option<Box<str>>,
    tag: Option<Box<str>>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// Text with its style; its meaning (a number, null) depends on the dialect.
    Scalar {
        /// The text after YAML's escapes and folding. Most are short and need no allocation.
        value: SmolStr,
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
    pub key: Node,
    /// The value; an empty plain scalar directly after the colon if there is none.
    pub value: Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Unquoted.
    Plain,
    SingleQuoted,
    DoubleQuoted,
    Literal,
    Folded,
}

impl Node {
    /// Returns an empty plain scalar at a position.
    pub fn empty(at: usize) -> Node {
        Node::new(at..at, NodeKind::Scalar { value: "".into(), style: Style::Plain })
    }

    /// Returns a node without anchor and tag.
    pub fn new(range: Range<usize>, kind: NodeKind) -> Node {
        Node { start: in_32_bits(range.start), end: in_32_bits(range.end), properties: None, kind }
    }

    /// Returns the range from the first character of the content to the last one, without anchor and tag, relative to
    /// the block's first byte.
    pub fn range(&self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Returns the same node at another place, as long as it has no children.
    pub(super) fn at(mut self, range: &Range<usize>) -> Node {
        (self.start, self.end) = (in_32_bits(range.start), in_32_bits(range.end));
        self
    }

    pub(super) fn set_start(&mut self, start: usize) {
        self.start = in_32_bits(start);
    }

    pub(super) fn set_end(&mut self, end: usize) {
        self.end = in_32_bits(end);
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

    pub(super) fn move_places(&mut self, moved: &impl Fn(usize) -> usize) {
        let Range { start, end } = self.range();
        (self.start, self.end) = (in_32_bits(moved(start)), in_32_bits(moved(end)));
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

fn in_32_bits(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
