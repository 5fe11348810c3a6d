//! The keys that the types of assertions have.

use crate::{
    document::Pointer,
    json_schema::SpecFile,
    shape::{Field, Shape},
};

/// A place where an assertion is.
const ASSERTION: &str = "/scenarios/0/then/0";

/// What the schema says of an assertion.
pub(crate) fn assertion_shape() -> Option<Shape> {
    Shape::find(SpecFile::CLAWSPEC_SCENARIOS, &Pointer::parse(ASSERTION), None)
}

/// Returns the keys that an assertion of a type has.
pub(crate) fn fields_of(name: &str) -> Vec<Field> {
    let forms = assertion_shape().map(|shape| shape.variants()).unwrap_or_default();
    let form = forms.into_iter().find(|form| form.tag.is_some_and(|(_, tag)| tag == name));
    form.map(|form| form.shape.fields(None)).unwrap_or_default()
}
