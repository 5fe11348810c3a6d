//! The keys that the types of assertions have.

use super::assertion::{Assertion, TypeInfo};
use crate::{
    document::Pointer,
    json_schema::SpecFile,
    shape::{Field, Shape, scalar},
    spot::Spot,
};

/// A place where an assertion is.
const ASSERTION: &str = "/scenarios/0/then/0";

/// Returns what the schema says of an assertion.
pub(crate) fn assertion_shape() -> Option<Shape> {
    Shape::find(SpecFile::CLAWSPEC_SCENARIOS, &Pointer::parse(ASSERTION), None)
}

/// Returns the keys that an assertion of a type has.
pub(crate) fn fields_of(name: &str) -> Vec<Field> {
    let forms = assertion_shape().map(|shape| shape.variants()).unwrap_or_default();
    let form = forms.into_iter().find(|form| form.tag.is_some_and(|(_, tag)| tag == name));
    form.map(|form| form.shape.fields(None)).unwrap_or_default()
}

/// Returns the type of an assertion, and where it is written. `None` for an unknown one.
pub(crate) fn type_of<'d>(assertion: &Spot<'d>) -> Option<(Spot<'d>, &'static TypeInfo)> {
    let kind = assertion.get("type")?;
    let info = Assertion::type_info(kind.text()?)?;
    Some((kind, info))
}

/// Returns the log and a run in it, as members of an assertion.
pub(crate) fn log_members(log_path: &str, run: &str) -> [(&'static str, String); 2] {
    [("log_path", scalar(log_path)), ("run_id", scalar(run))]
}

/// Returns the number of a key, which may be in quotes.
pub(crate) fn number_of(assertion: &Spot<'_>, key: &str) -> Option<f64> {
    let member = assertion.get(key)?;
    member.number().or_else(|| member.text()?.trim().parse().ok())
}
