//! Keys of the assertion types.

use crate::{
    document::Pointer,
    json_schema::SpecFile,
    lint_node::LintNode,
    shape::{Field, Shape, scalar},
};

/// Location of an arbitrary assertion.
const ASSERTION: &str = "/scenarios/0/then/0";

/// Returns the schema of an assertion.
pub(crate) fn assertion_shape() -> Option<Shape> {
    Shape::find(SpecFile::CLAWSPEC_SCENARIOS, &Pointer::parse(ASSERTION), None)
}

/// Returns the keys of an assertion type.
pub(crate) fn fields_of(name: &str) -> Vec<Field> {
    let forms = assertion_shape().map(|shape| shape.variants()).unwrap_or_default();
    let form = forms.into_iter().find(|form| form.tag.is_some_and(|(_, tag)| tag == name));
    form.map(|form| form.shape.fields(None)).unwrap_or_default()
}

/// Returns the keys for a log and a run, as members of an assertion.
pub(crate) fn log_members(log_path: &str, run: &str) -> [(&'static str, String); 2] {
    [("log_path", scalar(log_path)), ("run_id", scalar(run))]
}

/// Returns the number at a key, which may be in quotes.
pub(crate) fn number_of(assertion: &LintNode<'_>, key: &str) -> Option<f64> {
    let member = assertion.get(key)?;
    member.number().or_else(|| member.text()?.trim().parse().ok())
}
