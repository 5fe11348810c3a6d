//! Fixes for violations of the schema.

use serde_json::Value;

use crate::{
    document::{NodeRef, Scalar, Shape as NodeShape, Style},
    edit,
    problem::{Edit, Fix},
    quoting::{scalar, show},
    shape::{self, Field, Need, Shape, Type, Word},
};

pub(crate) fn rename_title(name: &str) -> String {
    format!("rename it to `{name}`")
}

/// Returns the help to split an item with this many keys, each of which is an assertion.
pub(crate) fn split_into(items: usize) -> String {
    match items {
        0..=2 => "split it into 2 items".to_owned(),
        more => format!("split it into {more} items"),
    }
}

pub(crate) fn written(node: NodeRef<'_>, words: String, fix: impl FnOnce(String, Vec<Edit>) -> Fix) -> Option<Fix> {
    let edits = edit::rewrite(node, words.clone())?;
    Some(fix(format!("write `{words}`"), edits))
}

/// Returns the fix that adds a missing key with an initial value, after those that precede it in `order`. `known`
/// contains values of keys that replace examples. `None` if the mapping's layout is unusual.
pub(crate) fn insert(
    mapping: NodeRef<'_>,
    key: &str,
    member: &Shape,
    order: &[&str],
    known: &[(&str, String)],
) -> Option<Fix> {
    let mapping = mapping.resolved();
    if mapping.shape() != NodeShape::Mapping {
        return None;
    }
    let line = format!("{}: {}", scalar(key), value_of(key, member, 0, known)?);
    let edits = edit::entry_in_order(mapping, key, &line, order)?;
    let title = format!("add `{key}`");
    // If only one value is allowed, there is nothing to fill in.
    let only = member.kind() != Type::Boolean && member.values().len() == 1;
    Some(if only { Fix::safe(title, edits) } else { Fix::suggestion(title, edits) })
}

pub(crate) fn below(mapping: NodeRef<'_>, key: &str, child: &str) -> Option<Fix> {
    Some(Fix::guess(format!("move it under `{child}`"), edit::below(mapping, key, child)?))
}

/// Returns the fix that puts a value in quotes if a string is required.
pub(crate) fn quoted(node: NodeRef<'_>) -> Option<Fix> {
    let text = node.text().filter(|text| !text.is_empty())?;
    written(node, Value::from(text).to_string(), Fix::safe)
}

/// Returns the intended value of a string if a number or a boolean is required: the text in quotes, or text that
/// looks like a number but is not one in YAML.
pub(crate) fn literal(node: NodeRef<'_>, kind: Type) -> Option<String> {
    let text = node.as_str()?.trim();
    let number = |is_whole: bool| {
        let octal = text.strip_prefix("0o").and_then(|digits| i64::from_str_radix(digits, 8).ok());
        if let Some(value) = octal.or_else(|| text.parse::<i64>().ok()) {
            return Some(value.to_string());
        }
        let value = text.parse::<f64>().ok().filter(|value| value.is_finite() && value.abs() < 1e15)?;
        Some(value.to_string()).filter(|text| text.len() < 20 && (!is_whole || value.fract() == 0.0))
    };
    let is_plain = node.style() == Some(Style::Plain);
    let meant = match kind {
        Type::Integer | Type::Number if is_plain => number(kind == Type::Integer)?,
        Type::Integer => text.parse::<i64>().is_ok().then(|| text.to_owned())?,
        Type::Number => text.parse::<f64>().is_ok_and(f64::is_finite).then(|| text.to_owned())?,
        Type::Boolean => match (text, is_plain) {
            ("true" | "false", _) => text.to_owned(),
            ("y" | "Y", true) => "true".to_owned(),
            ("n" | "N", true) => "false".to_owned(),
            _ => return None,
        },
        Type::Text | Type::List | Type::Mapping | Type::Any => return None,
    };
    // Text that is read as the same string is not a fix.
    (!is_plain || meant != text).then_some(meant)
}

/// Returns the fix that writes the intended number or boolean.
pub(crate) fn unquoted(node: NodeRef<'_>, kind: Type) -> Option<Fix> {
    let text = literal(node, kind)?;
    // `0200` in quotes may be meant with its leading zero, which a number does not keep.
    let is_padded =
        text.trim_start_matches('-').len() > 1 && text.trim_start_matches('-').starts_with('0') && !text.contains('.');
    written(node, text, if is_padded { Fix::guess } else { Fix::safe })
}

/// Returns the fix that removes a comma after a number or a boolean, as in JSON: it makes a string of it.
pub(crate) fn without_comma(node: NodeRef<'_>, kind: Type) -> Option<Fix> {
    let text = node.as_str().filter(|_| node.style() == Some(Style::Plain))?.strip_suffix(',')?;
    let fits = match kind {
        Type::Integer => text.parse::<i64>().is_ok(),
        Type::Number => text.parse::<f64>().is_ok_and(f64::is_finite),
        Type::Boolean => matches!(text, "true" | "false"),
        Type::Text | Type::List | Type::Mapping | Type::Any => false,
    };
    Some(Fix::guess("remove the comma", edit::rewrite(node, text).filter(|_| fits)?))
}

/// Edits that change a value to the required shape, and whether the result is certain.
pub(crate) struct Reshaped {
    pub(crate) edits: Vec<Edit>,
    pub(crate) is_sure: bool,
}

/// Returns the changes to the value of a renamed key. `None` if it cannot have the required shape.
pub(crate) fn reshaped(value: NodeRef<'_>, member: &Shape) -> Option<Reshaped> {
    if value.shape() == NodeShape::Scalar && member.kind() == Type::List && !value.is_null() && value.alias().is_none()
    {
        let item = member.item();
        if let Some(short) = item.as_ref().and_then(|item| short_form(value, item)) {
            return Some(Reshaped { edits: edit::as_list(value, &[short])?, is_sure: false });
        }
        let fix = listed(value, item.as_ref())?;
        return Some(Reshaped { is_sure: fix.is_safe(), edits: fix.edits });
    }
    Some(Reshaped { edits: unlisted(value, member)?, is_sure: true })
}

/// Returns the edits that replace a list with its only item if a scalar is required.
fn unlisted(value: NodeRef<'_>, member: &Shape) -> Option<Vec<Edit>> {
    let kind = member.kind();
    match value.shape() {
        NodeShape::Scalar | NodeShape::Dangling => Some(Vec::new()),
        NodeShape::Sequence if matches!(kind, Type::Text | Type::Integer | Type::Number | Type::Boolean) => {
            edit::out_of_brackets(value)
        }
        NodeShape::Sequence | NodeShape::Mapping => Some(Vec::new()),
    }
}

/// Returns the fix for items without a space after their dashes: `-exit_code: 0` is a key.
pub(crate) fn dashed(node: NodeRef<'_>) -> Option<Fix> {
    Some(Fix::safe("put a space after each dash", edit::space_dashes_of_keys(node)?))
}

/// Returns the fix for strings without a space after their dashes: `-smoke` below its key is a string.
pub(crate) fn dashed_texts(node: NodeRef<'_>) -> Option<Fix> {
    let edits = edit::space_dashes_of_lines(node)?;
    // Text that begins with a dash may be an option of a command.
    Some(Fix::suggestion("put a space after each dash", edits))
}

/// Returns the mapping that a scalar represents, as the value of the only field that the mapping requires or has.
pub(crate) fn short_form(node: NodeRef<'_>, shape: &Shape) -> Option<String> {
    if shape.kind() != Type::Mapping
        || node.is_null()
        || edit::nodes::one_line(node).is_none()
        || node.anchor().is_some()
        || node.tag().is_some()
    {
        return None;
    }
    let fields = shape.fields(None);
    let mut needed = fields.iter().filter(|field| field.need == Need::Required);
    let field = match (needed.next(), needed.next(), fields.as_slice()) {
        (Some(only), None, _) => only,
        (None, _, [only]) => only,
        // A string instead of a prompt is the user message.
        (None, _, all) if shape.definition() == Some("Prompt") => all.iter().find(|field| field.name == "user")?,
        (Some(_), Some(_), _) | (None, _, _) => return None,
    };
    let is_number = matches!(node.scalar(), Some(Scalar::Int(_) | Scalar::Float(_)));
    let fits = match field.shape.kind() {
        Type::Text => node.as_str().is_some_and(|text| !text.is_empty() && field.shape.admits_text(text)),
        Type::Number => is_number,
        Type::Integer => matches!(node.scalar(), Some(Scalar::Int(_))),
        Type::Boolean | Type::List | Type::Mapping | Type::Any => false,
    };
    fits.then(|| Some(format!("{{ {}: {} }}", scalar(field.name), edit::words_in_brackets(node)?)))?
}

/// Whether a mapping may have a shape: at least one key is known. True for other values.
pub(crate) fn is_like(node: NodeRef<'_>, shape: &Shape) -> bool {
    if node.text() == Some("") {
        return false;
    }
    let fields = shape.all_fields();
    node.shape() != NodeShape::Mapping
        || fields.is_empty()
        || node.entries().any(|entry| fields.iter().any(|field| entry.key.text() == Some(field.name)))
}

/// Returns the fix that replaces a list with its only item, a mapping.
pub(crate) fn only_item(list: NodeRef<'_>) -> Option<Fix> {
    Some(Fix::safe(
        if edit::nodes::is_flow(list) { "remove the brackets" } else { "remove the `-`" },
        edit::only_item(list)?,
    ))
}

/// Returns the fix that puts a line with `: ` in quotes if a string was meant: `- Total: 5`.
pub(crate) fn quoted_line(node: NodeRef<'_>) -> Option<Fix> {
    let (quoted, edits) = edit::quote_entry(node)?;
    Some(Fix::guess(format!("write `{quoted}`"), edits))
}

/// Returns the fix that replaces a list with its only item, a scalar, on the line of the key.
pub(crate) fn undashed(list: NodeRef<'_>) -> Option<Fix> {
    Some(Fix::safe("remove the `-`", edit::undashed(list)?))
}

/// Whether a string consists of several names separated by commas, if each item is a name.
fn names_apart(text: &str, item: &Shape) -> bool {
    holds_names(item) && text.contains(',') && text.split(',').all(|name| is_one_name(name.trim()))
}

/// Whether a string consists of several identifiers separated by commas: `A_KEY, B_KEY`.
fn are_identifiers(text: &str) -> bool {
    let is_identifier = |word: &str| {
        let is_word = word.chars().all(|letter| letter.is_ascii_alphanumeric() || "_-./".contains(letter));
        is_word && (word.contains(['_', '/', '.', '-']) || word.chars().all(|letter| letter.is_ascii_uppercase()))
    };
    text.contains(',') && text.split(',').map(str::trim).all(|word| word.len() > 1 && is_identifier(word))
}

/// Whether a string can only be a single name, without separators, negations or quantifiers.
fn is_one_name(text: &str) -> bool {
    let begins =
        text.starts_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '/' | '.' | '{' | '@'));
    let separates = |letter: char| letter.is_whitespace() || ",;|>\"'".contains(letter);
    begins && !text.contains(separates) && !says_how_many(text)
}

/// Whether a string is a word for none or several items.
fn says_how_many(text: &str) -> bool {
    const WORDS: [&str; 13] =
        ["none", "no", "not", "never", "nothing", "null", "any", "all", "every", "everything", "each", "some", "off"];
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

fn holds_names(shape: &Shape) -> bool {
    matches!(shape.word(), Some(Word::Refers(_) | Word::Defines(_)))
        || shape.shares().is_some()
        || !shape.values().is_empty()
}

/// Maximum number of bytes of a string to quote in a title.
const LONGEST_SHOWN: usize = 60;

pub(crate) fn listed(node: NodeRef<'_>, item: Option<&Shape>) -> Option<Fix> {
    if node.shape() == NodeShape::Mapping && !edit::nodes::is_flow(node) {
        return Some(Fix::safe("begin each item with `- `", edit::as_items(node)?));
    }
    let are_names = node.as_str().is_some_and(|text| item.is_some_and(|item| names_apart(text, item)));
    let apart = node.as_str().filter(|text| are_names || are_identifiers(text));
    // One string, or several with separators?
    let is_open = !are_names && node.as_str().is_some_and(|text| !is_one_name(text));
    let items: Vec<String> = match apart {
        Some(text) => text.split(',').map(|name| scalar(name.trim())).collect(),
        None => vec![edit::words_in_brackets(node)?],
    };
    let fix = if is_open { Fix::guess } else { Fix::safe };
    let text = format!("[{}]", items.join(", "));
    let title = if text.len() > LONGEST_SHOWN { "write it as a list".to_owned() } else { format!("write `{text}`") };
    Some(fix(title, edit::as_list(node, &items)?))
}

pub(crate) fn split(item: NodeRef<'_>) -> Option<Fix> {
    let edits = edit::split_item(item)?;
    Some(Fix::safe(split_into(edits.len() + 1), edits))
}

fn value_of(key: &str, shape: &Shape, depth: usize, known: &[(&str, String)]) -> Option<String> {
    let value = known.iter().find(|(name, _)| *name == key).map(|(_, value)| value.clone());
    value.or_else(|| placeholder(shape, depth, known))
}

/// Returns a valid initial value, in flow style.
fn placeholder(shape: &Shape, depth: usize, known: &[(&str, String)]) -> Option<String> {
    if let Some(example) = shape.examples().first() {
        return Some(show(&without_placeholders(example)));
    }
    if let Some(default) = shape.default().filter(|default| !default.is_object()) {
        return Some(show(default));
    }
    if shape.kind() != Type::Boolean
        && let Some(choice) = shape.values().first()
    {
        return Some(show(choice.value));
    }
    Some(match shape.kind() {
        // An empty string would be invalid too.
        Type::Text if shape.is_never_empty() => show(&Value::from(match shape.summary() {
            Some(summary) if summary.len() < 80 => format!("TODO: {}", summary.trim_end_matches('.')),
            Some(_) | None => "TODO".to_owned(),
        })),
        Type::Text => "\"\"".to_owned(),
        Type::List if shape.is_never_empty() => format!("[{}]", placeholder(&shape.item()?, depth, known)?),
        Type::Integer | Type::Number => "1".to_owned(),
        Type::Boolean => "true".to_owned(),
        Type::List => "[]".to_owned(),
        Type::Any => "null".to_owned(),
        Type::Mapping if depth < 3 => {
            let form = shape.variants().into_iter().find(|variant| variant.tag.is_some());
            let shape = form.as_ref().map_or(shape, |variant| &variant.shape);
            // Of keys that exclude each other, one is required.
            let first = shape.alternatives().into_iter().next();
            let is_needed = |field: &Field| field.need == Need::Required || first == Some(field.name);
            let needed = shape.fields(None).into_iter().filter(is_needed);
            let members: Option<Vec<String>> = needed
                .map(|field| {
                    Some(format!("{}: {}", scalar(field.name), value_of(field.name, &field.shape, depth + 1, known)?))
                })
                .collect();
            match members?.as_slice() {
                [] => "{}".to_owned(),
                members => format!("{{ {} }}", members.join(", ")),
            }
        }
        Type::Mapping => return None,
    })
}

/// Returns an example without placeholders, because nothing defines their values.
fn without_placeholders(example: &Value) -> Value {
    match example.as_str() {
        Some(text) if text.contains("{{") => Value::from(text.replace("{{", "").replace("}}", "")),
        Some(_) | None => example.clone(),
    }
}

/// Returns the choice that the author most likely means.
pub(crate) fn nearest_choice(node: NodeRef<'_>, choices: &[shape::Choice]) -> Option<&'static str> {
    let names = choices.iter().filter_map(|choice| choice.value.as_str());
    // A different version is not a misspelling.
    crate::words::nearest(node.text()?, names.filter(|name| name.contains(char::is_alphabetic)))
}

/// Whether a value is valid for a key after its shape is changed as required.
pub(crate) fn could_hold(member: &Shape, value: NodeRef<'_>) -> bool {
    let Some(shaped) = reshaped(value, member).filter(|_| !value.is_null()) else { return false };
    let is_text = |shape: &Shape, node: NodeRef<'_>| {
        node.as_str().is_some_and(|text| !text.is_empty() && shape.admits_text(text))
    };
    match (member.kind(), value.shape()) {
        (_, NodeShape::Dangling) => false,
        (Type::Any, _) => true,
        (Type::Text, NodeShape::Scalar) => is_text(member, value),
        (Type::Integer, NodeShape::Scalar) => matches!(value.scalar(), Some(Scalar::Int(_))),
        (Type::Number, NodeShape::Scalar) => matches!(value.scalar(), Some(Scalar::Int(_) | Scalar::Float(_))),
        (Type::Boolean, NodeShape::Scalar) => matches!(value.scalar(), Some(Scalar::Bool(_))),
        (Type::List, NodeShape::Scalar) => {
            let fits = |item: &Shape| item.kind() != Type::Mapping && is_text(item, value);
            !shaped.edits.is_empty() && member.item().is_some_and(|item| fits(&item))
        }
        (Type::List, shape) => shape == NodeShape::Sequence,
        (Type::Mapping, shape) => shape == NodeShape::Mapping,
        (Type::Text, NodeShape::Sequence) => value.items().all(|item| is_text(member, item)),
        (Type::Text | Type::Integer | Type::Number | Type::Boolean, _) => false,
    }
}
