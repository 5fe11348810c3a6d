//! The assertions of one task, as they are written.

use crate::{
    document::Pointer,
    json_schema::SpecFile,
    shape::Shape,
    spot::Spot,
    validate::{Context, Definition},
};

use super::assertions::Assertion;

/// The list of one task.
pub(crate) struct Asserted<'d> {
    pub(crate) list: Spot<'d>,
    pub(crate) items: Vec<Spot<'d>>,
}

impl<'d> Asserted<'d> {
    /// Returns the assertions of a task. `None` where they are not a list.
    pub(crate) fn of(task: &Spot<'d>) -> Option<Asserted<'d>> {
        let list = task.get("assert").filter(Spot::is_list)?;
        Some(Asserted { items: list.items(), list })
    }

    /// Returns the values of all assertions of a type.
    pub(crate) fn all(&self, name: &str) -> Vec<Spot<'d>> {
        self.items.iter().filter_map(|item| item.get(name)).collect()
    }

    /// Returns the same, those that are texts.
    pub(crate) fn texts(&self, name: &str) -> Vec<(&'d str, Spot<'d>)> {
        self.all(name).into_iter().filter_map(|spot| Some((spot.text()?, spot))).collect()
    }

    /// Returns the type of each assertion. `None` where one has a name that does not exist, so that it is not known
    /// what it says, and where there are none.
    pub(crate) fn types(&self) -> Option<Vec<String>> {
        let names = |item: &Spot<'_>| -> Vec<String> { item.entries().into_iter().map(|(name, _)| name).collect() };
        let names: Vec<String> = self.items.iter().flat_map(names).collect();
        let is_known = |name: &String| Assertion::NAMES.contains(&name.as_str());
        (!names.is_empty() && names.iter().all(is_known)).then_some(names)
    }

    /// Whether a model that does nothing passes.
    pub(crate) fn are_idle(&self) -> bool {
        let is_idle = |item: &Spot<'_>| {
            let has_no_minimum =
                |count: Spot<'_>| count.get("min").is_none_or(|min| min.number().is_some_and(|min| min <= 0.0));
            item.get("not_ran").is_some() || item.get("run_count").is_some_and(has_no_minimum)
        };
        self.items.iter().all(is_idle)
    }
}

/// The fields of assertions that are mappings.
const FIELDS: [(&str, &[&str]); 3] = [
    ("file_contains", &["path", "text"]),
    ("run_count", &["pattern", "min", "max"]),
    ("verify", &["run", "output_contains", "output_equals"]),
];

/// Returns the fields of an assertion that is a mapping.
pub(crate) fn fields_of(name: &str) -> Option<&'static [&'static str]> {
    FIELDS.iter().find(|(known, _)| *known == name).map(|(_, fields)| *fields)
}

/// Whether a place is a key of an assertion.
pub(crate) fn is_in_assertion(at: &Pointer) -> bool {
    let list = at.parent().and_then(|item| item.parent());
    list.and_then(|list| list.last()).is_some_and(|list| list == "assert")
}

/// Whether what is validated is one task, or what is in its place.
pub(crate) fn is_task(context: &Context<'_>) -> bool {
    let list = context.file.case_list().map(Definition::list_at);
    list.is_some_and(|list| context.base == list.index(0))
}

/// Returns what the schema says of an assertion.
pub(crate) fn shape() -> Option<Shape> {
    Shape::find(SpecFile::CLI_BENCH_TASKS, &Pointer::root().index(0).key("assert").index(0), None)
}
