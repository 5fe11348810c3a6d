//! Assertions that wait for a file, and their `updated_after`.

use crate::{
    document::{NodeRef, Scalar},
    lint_node::LintNode,
};

use super::type_fields::type_of;

/// Note that lists the types that wait.
pub(crate) const WAITING: &str = "only `state_file` and the types that begin with `artifact_` wait for a file";

/// Tag of a date or a time.
const TIMESTAMP: &str = "tag:yaml.org,2002:timestamp";

/// Returns whether the type of an assertion waits. `None` for an unknown type.
pub(crate) fn waits(assertion: &LintNode<'_>) -> Option<bool> {
    type_of(assertion).map(|info| info.waits)
}

/// Returns `updated_after` of an assertion that waits.
pub(crate) fn updated_after<'d>(assertion: &LintNode<'d>) -> Option<LintNode<'d>> {
    assertion.get("updated_after").filter(|_| waits(assertion) == Some(true))
}

/// Returns whether YAML reads a value as a date or a time instead of a string: it is not in quotes, or has the tag
/// `!!timestamp`.
pub(crate) fn is_date(time: NodeRef<'_>) -> bool {
    time.scalar() == Some(Scalar::Timestamp)
}

/// Returns `updated_after` of an assertion that waits, and its text, if it is compared.
pub(crate) fn compared<'d>(assertion: &LintNode<'d>) -> Option<(LintNode<'d>, &'d str)> {
    let is_date = |time: &LintNode<'_>| is_date(time.node) || time.node.resolved().tag() == Some(TIMESTAMP);
    let time = updated_after(assertion).filter(|time| !time.node.is_null() && !is_date(time))?;
    let text = time.node.text().filter(|text| !text.is_empty())?;
    Some((time, text))
}
