//! Assertions whose type stands elsewhere than under `type`: as a key, as in other formats, or under another key.

use crate::{
    dialect::clawspec::assertion::Assertion,
    document::{NodeRef, Pointer},
    edit,
    json_schema::SpecFile,
    problem::{Code, Edit, Fix, Problem},
    shape::{Field, Need, Shape, Type},
    spot::Spot,
    words::nearest,
};

/// A place where an assertion is.
const ASSERTION: &str = "/scenarios/0/then/0";

pub(super) fn lint(assertion: &Spot<'_>, problems: &mut Vec<Problem>) {
    if assertion.get("type").is_some() {
        return;
    }
    let entries = assertion.entries();
    let is_type = |name: &str| Assertion::type_info(name).is_some();
    let assertion_shape = Shape::find(SpecFile::ClawSpecScenarios, &Pointer::parse(ASSERTION), None);
    let is_called = |key: &str| assertion_shape.as_ref().is_some_and(|shape| shape.field_called(key, None).is_some());
    let is_tag = |key: &str| is_called(key) || nearest(key, ["type"]).is_some();
    let tagged = entries.iter().find(|(key, value)| is_tag(key) && value.text().is_some_and(is_type));
    let named = entries.iter().find(|(key, _)| is_type(key));
    let (member, name, fix) = match (tagged, named) {
        (Some((_, member)), _) => (member, member.text().unwrap_or_default(), member.renamed("type")),
        (None, Some((key, member))) => (member, key.as_str(), spelled_out(assertion, key, member)),
        (None, None) => return,
    };
    let places = [assertion.at.key("type"), member.at.clone(), assertion.at.clone()];
    problems.retain(|problem| !places.contains(&problem.at));
    let message =
        format!("the type of an assertion stands under `type`, so that nothing is claimed: write `type: {name}`");
    let mut problem = member.head_problem(Code::UnknownType, message);
    problem.fixes.extend(fix.map(|edits| Fix::safe(format!("write `type: {name}`"), edits)));
    problems.push(problem);
}

/// The edits that make `type: name` of `name: …`, with what is below the name beside it.
fn spelled_out(assertion: &Spot<'_>, name: &str, member: &Spot<'_>) -> Option<Vec<Edit>> {
    let field = only_field(name, member.node).and_then(|(field, is_list)| {
        let words = edit::words(member.node)?;
        Some(if is_list { format!("{field}: [{words}]") } else { format!("{field}: {words}") })
    });
    edit::split_key(assertion.node, member.entry()?, &format!("type: {name}"), field.as_deref())
}

/// Returns the keys that an assertion of a type has.
pub(super) fn fields_of(name: &str) -> Vec<Field> {
    let forms = Shape::find(SpecFile::ClawSpecScenarios, &Pointer::parse(ASSERTION), None)
        .map(|shape| shape.variants())
        .unwrap_or_default();
    let form = forms.into_iter().find(|form| form.tag.is_some_and(|(_, tag)| tag == name));
    form.map(|form| form.shape.fields(None)).unwrap_or_default()
}

/// The field that a type needs, where it is one, and whether it is a list; nothing where the value does not fit.
fn only_field(name: &str, value: NodeRef<'_>) -> Option<(&'static str, bool)> {
    let fields = fields_of(name);
    let mut needed = fields.iter().filter(|field| field.need == Need::Required && field.name != "type");
    let field = needed.next().filter(|_| needed.next().is_none())?;
    let is_text = value.as_str().is_some_and(|text| !text.is_empty());
    match field.shape.kind() {
        Type::Text if is_text => Some((field.name, false)),
        Type::List if is_text => Some((field.name, true)),
        Type::Number | Type::Integer if value.as_str().is_none() && !value.is_null() => Some((field.name, false)),
        Type::Text | Type::List | Type::Number | Type::Integer | Type::Boolean | Type::Mapping | Type::Any => None,
    }
}
