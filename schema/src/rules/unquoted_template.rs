use crate::{
    document::{NodeRef, Pointer, Shape},
    edit,
    finding::{Finding, Report, Rule, Scope, Site, Words},
    problem::{Code, Fix},
    spot::Spot,
    walk::Value,
};

page! {
    /// An unquoted string that begins with `{{`. YAML reads it as a mapping.
    "unquoted-template", Error
}

/// `{{name}}` without quotes, which YAML reads as a mapping in a mapping, where a text is meant.
#[derive(Debug)]
struct Unquoted;

/// The same as a key.
#[derive(Debug)]
struct UnquotedKey;

/// Whether a key is the inner mapping of such a text.
pub(crate) fn is_template(key: NodeRef<'_>) -> bool {
    let range = key.range();
    let before = key.document().text().get_byte_slice(range.start.saturating_sub(1)..range.end + 1).map(String::from);
    before.is_some_and(|words| words.starts_with("{{") && words.ends_with('}'))
}

/// Looks at a list or a mapping as a key.
pub(crate) fn check_key(member: &Spot<'_>, key: NodeRef<'_>, report: &mut Report) {
    if matches!(key.shape(), Shape::Sequence | Shape::Mapping) && is_template(key) {
        report.push(Finding::new(UnquotedKey, member.at.clone(), key.range()));
    }
}

/// Reports a placeholder that lacks its quotes. `None` for any other node.
pub(crate) fn of(at: &Pointer, node: NodeRef<'_>) -> Option<Finding> {
    if node.shape() != Shape::Mapping || node.alias().is_some() {
        return None;
    }
    let range = node.own_range();
    let source = String::from(node.document().text().get_byte_slice(range.clone())?);
    let inner = source.strip_prefix("{{")?.strip_suffix("}}")?;
    let is_name = !inner.contains(['{', '}', ':', '\n']);
    let finding = is_name.then(|| Finding::new(Unquoted, at.clone(), range))?;
    // What is said of the whole need not be said of its key.
    let keys = node.entries().map(|entry| Scope::CodeAt(Code::UnquotedTemplate, at.key(&entry.key.key_text())));
    Some(keys.fold(finding, Finding::instead_of))
}

/// Looks at the value of a key in a part of a file whose strings are all filled, also where any value may be: what YAML
/// reads instead of a text is no other mistake.
pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    if value.own_key().is_some() && value.node.shape() == Shape::Mapping && value.template().is_some() {
        let at = value.spot().at;
        report.extend(of(&at, value.node).map(|finding| finding.instead_of(Scope::In(at))));
    }
}

impl Rule for UnquotedKey {
    const CODE: Code = Code::UnquotedTemplate;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new("a string that begins with `{{` needs quotes")
    }
}

impl Rule for Unquoted {
    const CODE: Code = Code::UnquotedTemplate;

    fn words(&self, site: &Site<'_>) -> Words {
        let quoted = site.node().and_then(|template| edit::quote_with(template, site.range));
        Words::new("a string that begins with `{{` needs quotes")
            .fix(quoted.map(|(quoted, edits)| Fix::safe(format!("write `{quoted}`"), edits)))
    }
}
