//! Assertions that wait for a file, and the time after which it must have been written.

use crate::{
    document::{Scalar, Style},
    spot::Spot,
};

use super::type_fields::type_of;

/// The types that wait, as notes name them.
pub(crate) const WAITING: &str = "only `state_file` and the types that begin with `artifact_` do";

/// Returns whether the type of an assertion waits. `None` for an unknown type.
pub(crate) fn waits(assertion: &Spot<'_>) -> Option<bool> {
    type_of(assertion).map(|(_, info)| info.waits)
}

/// Returns the time of an assertion that waits.
pub(crate) fn updated_after<'d>(assertion: &Spot<'d>) -> Option<Spot<'d>> {
    assertion.get("updated_after").filter(|_| waits(assertion) == Some(true))
}

/// Returns whether a value is a time without quotes, which YAML does not read as text.
pub(crate) fn is_unquoted(time: &Spot<'_>) -> bool {
    time.node.scalar() == Some(Scalar::Timestamp) && time.node.style() == Some(Style::Plain)
}

/// Returns the time of an assertion that waits, and its text, where that is compared.
pub(crate) fn compared<'d>(assertion: &Spot<'d>) -> Option<(Spot<'d>, &'d str)> {
    let time = updated_after(assertion).filter(|time| !time.node.is_null() && !is_unquoted(time))?;
    let text = time.node.text().filter(|text| !text.is_empty())?;
    Some((time, text))
}
