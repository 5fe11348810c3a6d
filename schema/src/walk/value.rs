//! A value of a document with its schema, as the rules see it.

use std::cell::OnceCell;

use rustc_hash::FxHashSet;

use crate::{
    document::{NodeRef, Pointer, Step},
    lint_node::LintNode,
    shape::{Shape, Word, keywords::Compared},
};

/// A visited value.
pub struct Value<'w, 'd> {
    pub(crate) node: NodeRef<'d>,
    /// Its text, if it is a string.
    pub(crate) text: Option<&'d str>,
    key: Option<NodeRef<'d>>,
    /// Nearest enclosing key, including that of the list; empty at the root.
    pub(crate) name: &'w str,
    place: ValueLocation<'w, 'd>,
    /// Whether the schema may have a keyword that the rules here use.
    pub(super) may_mean: bool,
    shape: OnceCell<Option<Shape>>,
}

enum ValueLocation<'w, 'd> {
    Root {
        shape: &'static Shape,
        /// Whether conditions of the schema are ignored: those of a root with lists depend on every item. They decide
        /// which keys are required, not what they mean.
        is_fixed: bool,
        meaning: &'static Meaning,
    },
    /// Inside another value.
    In(&'w Value<'w, 'd>, Step<'w>),
}

impl<'w, 'd> Value<'w, 'd> {
    /// Returns the root of a part of a document. `name` is the key of the list that it is an item of.
    pub(super) fn root(
        node: NodeRef<'d>,
        name: &'w str,
        shape: &'static Shape,
        is_fixed: bool,
        meaning: &'static Meaning,
    ) -> Value<'w, 'd> {
        let place = ValueLocation::Root { shape, is_fixed, meaning };
        let may_mean = meaning.keys.contains(name);
        Value { node, text: node.as_str(), key: None, name, place, may_mean, shape: OnceCell::new() }
    }

    pub(super) fn member<'m>(
        &'m self,
        step: Step<'m>,
        node: NodeRef<'d>,
        key: Option<NodeRef<'d>>,
        name: &'m str,
        may_mean: bool,
    ) -> Value<'m, 'd> {
        let place = ValueLocation::In(self, step);
        Value { node, text: node.as_str(), key, name, place, may_mean, shape: OnceCell::new() }
    }

    /// Returns the schema of the value.
    pub(crate) fn shape(&self) -> Option<&Shape> {
        let shape = || match &self.place {
            ValueLocation::Root { shape, is_fixed: true, .. } => Some((*shape).clone()),
            ValueLocation::Root { shape, .. } => Some(shape.at(Some(self.node))),
            ValueLocation::In(holder, step) => holder.shape()?.member_at(step, Some(self.node)),
        };
        self.shape.get_or_init(shape).as_ref()
    }

    /// Returns the meaning of a string.
    pub(super) fn word(&self) -> Option<Word> {
        self.text?;
        self.shape()?.word()
    }

    /// Returns the source of values for placeholders: from the schema of the string, or else from that of its parent.
    pub(crate) fn template(&self) -> Option<&'static str> {
        let around = || match &self.place {
            ValueLocation::Root { .. } => None,
            ValueLocation::In(holder, _) => holder.template(),
        };
        self.meaning().syntax.or_else(|| self.shape()?.template()).or_else(around)
    }

    /// Returns the allowed names of placeholders; `None` if all are allowed.
    pub(crate) fn template_names(&self) -> Option<Vec<&'static str>> {
        if self.meaning().is_limited { self.shape()?.template_names() } else { None }
    }

    fn meaning(&self) -> &'static Meaning {
        match &self.place {
            ValueLocation::Root { meaning, .. } => meaning,
            ValueLocation::In(holder, _) => holder.meaning(),
        }
    }

    /// Returns another member of the same mapping.
    pub(crate) fn sibling(&self, key: &str) -> Option<LintNode<'d>> {
        match &self.place {
            ValueLocation::Root { .. } => None,
            ValueLocation::In(holder, _) => holder.lint_node().get(key),
        }
    }

    pub(crate) fn holder(&self) -> Option<&Value<'w, 'd>> {
        match &self.place {
            ValueLocation::Root { .. } => None,
            ValueLocation::In(holder, _) => Some(holder),
        }
    }

    /// Returns how it is compared, by what the schema says of it, of the list that it is in, or of a value around it
    /// whose texts are compared.
    pub(crate) fn compared(&self) -> Option<Compared> {
        self.declared(Shape::compared).or_else(|| self.compared_around())
    }

    fn compared_around(&self) -> Option<Compared> {
        match &self.place {
            ValueLocation::In(holder, _) => {
                holder.shape().and_then(Shape::declared_compared).or_else(|| holder.compared_around())
            }
            ValueLocation::Root { .. } => None,
        }
    }

    /// Returns what the schema says of it, or of the list that it is in.
    pub(crate) fn declared<T>(&self, look: impl Fn(&Shape) -> Option<T>) -> Option<T> {
        let of_list = || match &self.place {
            ValueLocation::In(holder, Step::Index(_)) => look(holder.shape()?),
            ValueLocation::In(_, Step::Key(_)) | ValueLocation::Root { .. } => None,
        };
        self.shape().and_then(&look).or_else(of_list)
    }

    /// Whether it is written here, not behind an alias.
    pub(super) fn is_own(&self) -> bool {
        !self.node.resolved().is_through_alias()
    }

    /// Returns the key, and the mapping that it is in, if nothing is written after it.
    pub(crate) fn lone_key(&self) -> Option<(NodeRef<'d>, &Value<'w, 'd>)> {
        match &self.place {
            ValueLocation::In(mapping, _) if self.node.is_null() && self.node.own_range().is_empty() => {
                Some((self.key?, *mapping))
            }
            ValueLocation::In(..) | ValueLocation::Root { .. } => None,
        }
    }

    /// Returns the key of the value. `None` for an item of a list.
    pub(crate) fn own_key(&self) -> Option<&str> {
        match &self.place {
            ValueLocation::In(_, step) => step.key(),
            ValueLocation::Root { .. } => None,
        }
    }

    fn at(&self) -> Pointer {
        match &self.place {
            ValueLocation::Root { .. } => Pointer::root(),
            ValueLocation::In(holder, step) => holder.at().step(step),
        }
    }

    pub(crate) fn lint_node(&self) -> LintNode<'d> {
        LintNode { node: self.node, key: self.key, at: self.at() }
    }
}

/// Keywords in the schema of a kind of file that the rules here use. For most values, no access to the schema is
/// necessary.
#[derive(Default)]
pub(super) struct Meaning {
    /// Keys whose values, including nested ones, are checked.
    pub(super) keys: FxHashSet<&'static str>,
    /// Source of values for the placeholders of every string.
    pub(super) syntax: Option<&'static str>,
    /// Whether placeholders without a value are reported in some strings.
    pub(super) is_filled: bool,
    /// Whether some strings have fewer variables than others.
    pub(super) is_limited: bool,
}
