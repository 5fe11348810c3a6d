//! Assertions whose type stands elsewhere than under `type`: as a key, as in other formats, or under another key.

use crate::{
    dialect::clawspec::assertion::Assertion,
    document::{NodeRef, Pointer},
    json_schema::SpecFile,
    problem::{Code, Edit, Fix, Problem},
    rewrite::is_flow,
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
        (Some((_, member)), _) => {
            let edit = super::edits::rename(member, "type");
            (member, member.text().unwrap_or_default(), edit.map(|edit| vec![edit]))
        }
        (None, Some((key, member))) => (member, key.as_str(), spelled_out(assertion, key, member, entries.len() == 1)),
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

/// The edits that make `type: name` of `name: …`, with what stands there beside it.
fn spelled_out(assertion: &Spot<'_>, name: &str, member: &Spot<'_>, is_alone: bool) -> Option<Vec<Edit>> {
    let (key, value) = (member.key?, member.node);
    if !assertion.is_own() || key.is_through_alias() || value.alias().is_some() || value.anchor().is_some() {
        return None;
    }
    let text = value.document().text();
    let source = |range: std::ops::Range<usize>| text.get_byte_slice(range).map(String::from);
    let (start, own) = (key.own_range().start, value.own_range());
    let tag = format!("type: {name}");
    let line = text.line_to_byte(text.byte_to_line(start));
    let indent = " ".repeat(source(line..start)?.trim_start_matches('\u{feff}').chars().count());
    if value.is_null() && own.is_empty() {
        // In braces a key may stand alone.
        let rest = source(key.own_range().end..text.len_bytes())?;
        let blanks = rest.len() - rest.trim_start_matches(' ').len();
        let colon = if rest[blanks..].starts_with(':') { blanks + 1 } else { 0 };
        return Some(vec![Edit::new(start..key.own_range().end + colon, tag)]);
    }
    if !is_alone {
        return None;
    }
    let in_braces = is_flow(assertion.node);
    let first = value.entries().next();
    if is_flow(value)
        && let Some(first) = first
    {
        let last = value.entries().last()?;
        let inner = source(first.key.own_range().start..last.value.own_range().end.max(last.key.own_range().end))?;
        if inner.contains(['\n', '#']) || source(own.clone())?.contains('\n') {
            return None;
        }
        let words = format!("{tag}, {inner}");
        let words = if in_braces { words } else { format!("{{ {words} }}") };
        return Some(vec![Edit::new(start..own.end, words)]);
    }
    if let Some(first) = first.filter(|_| !in_braces) {
        let inner = first.key.own_range().start;
        let between = source(key.own_range().end..inner)?;
        let column = inner - text.line_to_byte(text.byte_to_line(inner));
        let less = column.checked_sub(indent.len()).filter(|_| between.trim() == ":")?;
        let mut edits = vec![Edit::new(start..inner, format!("{tag}\n{indent}"))];
        let last = text.byte_to_line(own.end.saturating_sub(1).max(inner));
        for line in text.byte_to_line(inner) + 1..=last {
            let start = text.line_to_byte(line);
            let words = String::from(text.line(line));
            if words.starts_with(&" ".repeat(less)) {
                edits.push(Edit::new(start..start + less, ""));
            } else if !words.trim().is_empty() {
                return None;
            }
        }
        return Some(edits);
    }
    let field = only_field(name, value)?;
    let words = super::edits::words(member)?;
    let words = if field.1 { format!("[{words}]") } else { words };
    let separator = if in_braces { ", ".to_owned() } else { format!("\n{indent}") };
    Some(vec![Edit::new(start..own.end, format!("{tag}{separator}{}: {words}", field.0))])
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
