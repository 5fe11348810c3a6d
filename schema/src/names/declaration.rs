//! A place of names, as the schema declares it, and the names there.

use std::ops::Range;

use crate::{
    document::Pointer,
    lint_node::LintNode,
    shape::{Shape, Type},
};

/// A place of names in a kind of file.
#[derive(Debug)]
pub(crate) struct Declaration {
    /// Path from the root, or from the item of a top-level list. Items of lists are `[]`, entries of free mappings `*`.
    pub(super) path: Vec<&'static str>,
    /// Kind of the names: `models`.
    pub(crate) kind: &'static str,
    pub(crate) role: Role,
    /// Schema of the text, or of the mapping whose keys are the names.
    pub(crate) shape: Shape,
}

/// Use of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Defines,
    /// It is used.
    Refers,
}

/// A name in an item of a top-level list: its own, or one that it refers to.
#[derive(Clone, Debug)]
pub(crate) struct Name {
    pub(crate) declaration: &'static Declaration,
    pub(crate) named: Named,
}

/// A text of an item, and its location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) name: String,
    /// Location relative to the item.
    pub(crate) at: Pointer,
    /// Bytes, relative to the first byte of the item.
    pub(crate) range: Range<usize>,
}

impl Named {
    /// Returns a text of an item that begins at an offset.
    pub(crate) fn new(name: impl Into<String>, at: &Pointer, range: Range<usize>, start: usize) -> Named {
        let range = range.start.saturating_sub(start)..range.end.saturating_sub(start);
        Named { name: name.into(), at: at.clone(), range }
    }
}

impl Declaration {
    pub(crate) fn is_keys(&self) -> bool {
        self.shape.kind() == Type::Mapping
    }

    /// Whether it is the name of the item that contains it.
    pub(crate) fn is_own(&self) -> bool {
        !self.is_keys() && self.path.len() < 2
    }

    /// Returns the top-level key that contains the names, if they are outside of top-level lists.
    pub(crate) fn section(&self) -> &'static str {
        self.path.first().copied().unwrap_or_default()
    }

    pub(crate) fn key(&self) -> &'static str {
        self.path.last().copied().unwrap_or_default()
    }

    /// Whether the names are at a location outside of lists.
    pub(crate) fn is_at(&self, at: &Pointer) -> bool {
        *at == self.path.iter().fold(Pointer::root(), |at, step| at.key(step))
    }

    /// Returns all names in a part of a file. `None` if what contains them has another type.
    pub(crate) fn all(&self, part: &LintNode<'_>) -> Option<Vec<String>> {
        let mut names = Vec::new();
        self.each(part.clone(), &mut |name, _| names.push(name.to_owned()));
        let section = part.get(self.section());
        section.is_none_or(|section| section.is_mapping() || section.is_list()).then_some(names)
    }

    /// Calls a function with each name that is not empty, and the value or the entry that has it.
    pub(crate) fn each<'d>(&self, part: LintNode<'d>, look: &mut dyn FnMut(&str, LintNode<'d>)) {
        self.each_below(&self.path, part, look);
    }

    fn each_below<'d>(&self, path: &[&str], node: LintNode<'d>, look: &mut dyn FnMut(&str, LintNode<'d>)) {
        match path {
            ["[]", rest @ ..] => node.items().into_iter().for_each(|item| self.each_below(rest, item, look)),
            ["*", rest @ ..] => node.entries().into_iter().for_each(|(_, value)| self.each_below(rest, value, look)),
            [key, rest @ ..] => {
                if let Some(member) = node.get(key) {
                    self.each_below(rest, member, look);
                }
            }
            [] if self.is_keys() => node.entries().into_iter().for_each(|(name, entry)| look(&name, entry)),
            [] => {
                if let Some(name) = node.text().filter(|name| !name.is_empty()) {
                    look(name, node);
                }
            }
        }
    }

    /// Returns the bytes of a name.
    pub(crate) fn range(&self, node: &LintNode<'_>) -> Range<usize> {
        if self.is_keys() { node.head() } else { node.range() }
    }
}
