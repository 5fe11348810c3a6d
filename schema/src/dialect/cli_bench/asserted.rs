//! Assertions of one task, as written.

use std::borrow::Cow;

use crate::{
    document::{NodeRef, Pointer},
    json_schema::SpecFile,
    lint_node::LintNode,
    shape::Shape,
    validate::{Context, Definition},
};

use super::assertions::Assertion;

/// List of assertions of one task.
pub(crate) struct Asserted<'d> {
    pub(crate) list: LintNode<'d>,
    pub(crate) items: Vec<LintNode<'d>>,
    /// The type of each assertion. `None` if there are no assertions, or if one has an unknown type, so its meaning is
    /// unknown.
    pub(crate) types: Option<Vec<Cow<'d, str>>>,
}

impl<'d> Asserted<'d> {
    /// Returns the assertions of a task. `None` if they are not a list.
    pub(crate) fn of(task: &LintNode<'d>) -> Option<Asserted<'d>> {
        let list = task.get("assert").filter(LintNode::is_list)?;
        let names: Vec<Cow<'d, str>> =
            list.node.items().flat_map(NodeRef::entries).map(|entry| entry.key.key_name()).collect();
        let is_known = |name: &Cow<'_, str>| Assertion::NAMES.contains(&&**name);
        let types = (!names.is_empty() && names.iter().all(is_known)).then_some(names);
        Some(Asserted { items: list.items(), list, types })
    }

    /// Returns the values of all assertions of a type.
    pub(crate) fn all(&self, name: &str) -> Vec<LintNode<'d>> {
        self.items.iter().filter_map(|item| item.get(name)).collect()
    }

    /// Returns the values of all assertions of a type that are strings.
    pub(crate) fn texts(&self, name: &str) -> Vec<(&'d str, LintNode<'d>)> {
        self.all(name).into_iter().filter_map(|lint_node| Some((lint_node.text()?, lint_node))).collect()
    }

    /// Whether a model passes that does nothing.
    pub(crate) fn are_idle(&self) -> bool {
        let is_idle = |item: &LintNode<'_>| {
            let has_no_minimum =
                |count: LintNode<'_>| count.get("min").is_none_or(|min| min.number().is_some_and(|min| min <= 0.0));
            item.get("not_ran").is_some() || item.get("run_count").is_some_and(has_no_minimum)
        };
        self.items.iter().all(is_idle)
    }
}

/// Returns the fields of an assertion type. Empty if it is not a mapping.
pub(crate) fn fields_of(name: &str) -> Vec<&'static str> {
    let shape = shape().and_then(|shape| shape.child(name, None));
    shape.map(|shape| shape.fields(None)).unwrap_or_default().iter().map(|field| field.name).collect()
}

/// Whether a location is a key of an assertion.
pub(crate) fn is_in_assertion(at: &Pointer) -> bool {
    let list = at.parent().and_then(|item| item.parent());
    list.and_then(|list| list.last()).is_some_and(|list| list == "assert")
}

/// Whether the validated node is a task, or in the place of one.
pub(crate) fn is_task(context: &Context<'_>) -> bool {
    let list = context.file.case_list().map(Definition::list_at);
    list.is_some_and(|list| context.base == list.index(0))
}

/// Returns the schema of an assertion.
pub(crate) fn shape() -> Option<Shape> {
    Shape::find(SpecFile::CLI_BENCH_TASKS, &Pointer::root().index(0).key("assert").index(0), None)
}
