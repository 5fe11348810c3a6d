//! `{{name}}` without quotes: YAML reads it as a mapping in a mapping.

use crate::{
    document::{NodeRef, Pointer, Shape, quoted},
    problem::{Code, Edit, Fix, Problem},
};

/// A placeholder that lacks its quotes, where a text is meant.
pub(crate) fn unquoted_template(at: &Pointer, node: NodeRef<'_>) -> Option<Problem> {
    if node.shape() != Shape::Mapping || node.alias().is_some() {
        return None;
    }
    let range = node.own_range();
    let source = String::from(node.document().text().get_byte_slice(range.clone())?);
    let inner = source.strip_prefix("{{")?.strip_suffix("}}")?;
    if inner.contains(['{', '}', ':', '\n']) {
        return None;
    }
    let message = "a text that begins with `{{` needs quotes";
    let quoted = quoted(&source);
    let fix = Fix::safe(format!("write `{quoted}`"), vec![Edit::new(range.clone(), quoted)]);
    Some(Problem::new(Code::UnquotedTemplate, at.clone(), range, message).with_fix(fix))
}
