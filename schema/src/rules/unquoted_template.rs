//! `{{name}}` without quotes, which YAML reads as nested mappings.

use crate::{
    document::{NodeRef, Pointer, Shape},
    edit,
    finding::{Finding, MessageParts, Report, Scope},
    problem::{Code, Fix},
    walk::Value,
};

/// Whether a key is the inner mapping of such a string.
pub(crate) fn is_template(key: NodeRef<'_>) -> bool {
    let range = key.range();
    let before = key.document().text().get_byte_slice(range.start.saturating_sub(1)..range.end + 1).map(String::from);
    before.is_some_and(|words| words.starts_with("{{") && words.ends_with('}'))
}

/// Whether a mapping begins with a nested mapping.
fn begins_with_braces(node: NodeRef<'_>) -> bool {
    // Few mappings have such a key, and a look at the text takes longer.
    if node.entries().next().is_none_or(|first| first.key.shape() != Shape::Mapping) {
        return false;
    }
    let start = node.own_range().start;
    node.document().text().get_byte_slice(start..start + 2).is_some_and(|it| it == "{{")
}

/// Reports `{{name}}` without quotes, which YAML reads as nested mappings instead of a string. `None` for any other node.
pub(crate) fn of(at: &Pointer, node: NodeRef<'_>) -> Option<Finding> {
    if node.alias().is_some() || !begins_with_braces(node) {
        return None;
    }
    let range = node.own_range();
    let source = String::from(node.document().text().get_byte_slice(range.clone())?);
    let inner = source.strip_prefix("{{")?.strip_suffix("}}")?;
    let is_name = !inner.contains(['{', '}', ':', '\n']);
    let quoted = edit::quote_with(node, &range).map(|(quoted, edits)| Fix::safe(format!("write `{quoted}`"), edits));
    let words = MessageParts::new("a string that begins with `{{` needs quotes").fix(quoted);
    let finding = is_name.then(|| Finding::stated(Code::UnquotedTemplate, words, at.clone(), range))?;
    // The whole is reported, so its key is not.
    let keys = node.entries().map(|entry| Scope::CodeAt(Code::UnquotedTemplate, at.key(&entry.key.key_text())));
    Some(keys.fold(finding, Finding::instead_of))
}

/// Checks the value of a key in a part of a file whose strings are all expanded, also where any value is allowed. What
/// YAML reads instead of a string is not reported again.
pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    if value.own_key().is_some() && begins_with_braces(value.node) && value.template().is_some() {
        let at = value.lint_node().at;
        report.extend(of(&at, value.node).map(|finding| finding.instead_of(Scope::In(at))));
    }
}
