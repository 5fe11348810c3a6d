//! Fixes for what the schema finds wrong, where one can be written down without thinking.

use serde_json::Value;

use crate::{
    document::{NodeRef, Scalar, Shape as NodeShape, Style},
    edit,
    problem::{Edit, Fix},
    shape::{self, Field, Need, Shape, Type, Word, scalar, show},
};

/// Returns the help for a key that has another name.
pub(crate) fn rename_title(name: &str) -> String {
    format!("rename it to `{name}`")
}

/// Returns the help for an item with so many keys, of which each is an assertion.
pub(crate) fn split_into(items: usize) -> String {
    match items {
        0..=2 => "split it into two items".to_owned(),
        more => format!("split it into {more} items"),
    }
}

/// Returns the fix, made by `fix`, that writes other words instead of a value.
pub(crate) fn written(node: NodeRef<'_>, words: String, fix: impl FnOnce(String, Vec<Edit>) -> Fix) -> Option<Fix> {
    let edits = edit::rewrite(node, words.clone())?;
    Some(fix(format!("write `{words}`"), edits))
}

/// Returns a key that is missing, with a value to begin with, after those that are before it in `order`. `known` are
/// values of keys that are not examples. `None` where the mapping's layout is unusual.
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
    // Where one value alone can be, nothing has to be filled in.
    let only = member.kind() != Type::Boolean && member.values().len() == 1;
    Some(if only { Fix::safe(title, edits) } else { Fix::suggestion(title, edits) })
}

/// Returns a key that belongs to a mapping under `child`, a key beside it. `child_shape` is what may be there: beside a
/// command that runs on this machine, a person decides.
pub(crate) fn below(mapping: NodeRef<'_>, key: &str, child: &str, child_shape: Option<&Shape>) -> Option<Fix> {
    let title = format!("move it under `{child}`");
    let edits = edit::below(mapping, key, child)?;
    let runs = child_shape.is_some_and(|shape| shape.all_fields().iter().any(|field| field.shape.is_shell()));
    let value = mapping.resolved().entry(key)?.value;
    let member = child_shape.and_then(|shape| shape.step(key, None));
    let fits =
        value.is_null() || member.is_none_or(|member| could_hold(&member, value) && !holds_patterns(value, &member));
    // What the child needs beside it may be another key that is as wrong, and would stay after.
    let is_new = mapping.resolved().entry(child).is_none_or(|entry| entry.value.is_null());
    let is_half = is_new
        && child_shape.is_some_and(|shape| {
            shape.fields(None).iter().any(|field| field.need == Need::Required && field.name != key)
        });
    Some(if runs || !fits || is_half { Fix::guess(title, edits) } else { Fix::safe(title, edits) })
}

/// Whether a text, or one of several, has signs that only a regular expression gives a meaning, where none is taken.
fn holds_patterns(value: NodeRef<'_>, member: &Shape) -> bool {
    const SIGNS: &[char] = &['\\', '^', '$', '*', '+', '?', '(', ')', '[', ']', '{', '}', '|'];
    let is_pattern = |shape: &Shape| matches!(shape.word(), Some(Word::Pattern(_)));
    let has_signs = |node: NodeRef<'_>| node.as_str().is_some_and(|text| text.contains(SIGNS));
    let takes_patterns = is_pattern(member) || member.item().is_some_and(|item| is_pattern(&item));
    !takes_patterns && value.items().any(has_signs)
}

/// Returns the text in quotes, where a text is wanted and something else was written.
pub(crate) fn quoted(node: NodeRef<'_>) -> Option<Fix> {
    let text = node.text().filter(|text| !text.is_empty())?;
    written(node, Value::from(text).to_string(), Fix::safe)
}

/// Returns what was meant by a text, where a number or a boolean is wanted: what is between quotes, or what looks like
/// a number to people and is none for YAML.
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
    // What reads as the same text again is no fix.
    (!is_plain || meant != text).then_some(meant)
}

/// Returns the number or the boolean that was meant.
pub(crate) fn unquoted(node: NodeRef<'_>, kind: Type) -> Option<Fix> {
    let text = literal(node, kind)?;
    // `0200` in quotes may be meant with its zero, which a number does not keep.
    let is_padded =
        text.trim_start_matches('-').len() > 1 && text.trim_start_matches('-').starts_with('0') && !text.contains('.');
    written(node, text, if is_padded { Fix::guess } else { Fix::safe })
}

/// Edits that give a value the shape that its key needs, and whether they do so beyond doubt.
pub(crate) struct Reshaped {
    pub(crate) edits: Vec<Edit>,
    pub(crate) is_sure: bool,
}

/// Returns what a renamed key needs of its value. `None` where no shape can be given to it.
pub(crate) fn reshaped(value: NodeRef<'_>, member: &Shape) -> Option<Reshaped> {
    if value.shape() == NodeShape::Scalar && member.kind() == Type::List && !value.is_null() && value.alias().is_none()
    {
        let fix = listed(value, member.item().as_ref())?;
        return Some(Reshaped { is_sure: fix.is_safe(), edits: fix.edits });
    }
    Some(Reshaped { edits: unlisted(value, member)?, is_sure: true })
}

/// Returns the edits that take the only item out of its list, where a scalar is needed.
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

/// Items whose dashes lack the blank after them: `-exit_code: 0` is a key.
pub(crate) fn dashed(node: NodeRef<'_>) -> Option<Fix> {
    Some(Fix::safe("put a space after each dash", edit::space_dashes_of_keys(node)?))
}

/// Items of texts whose dashes lack the blank after them: `-smoke` below its key is a text, and lines of them are one.
pub(crate) fn dashed_texts(node: NodeRef<'_>) -> Option<Fix> {
    let edits = edit::space_dashes_of_lines(node)?;
    let title = "put a space after each dash";
    // Beside its key, what begins with a dash may be an option of a command.
    let is_first = edit::begins_its_line(node);
    Some(if is_first { Fix::safe(title, edits) } else { Fix::suggestion(title, edits) })
}

/// A scalar instead of a mapping, as the one field that the mapping needs, or has.
pub(crate) struct ShortForm {
    pub(crate) text: String,
    /// Whether nothing else can be meant: neither a number of another unit, nor a text that denies what it names.
    is_sure: bool,
}

impl ShortForm {
    /// Returns the fix that writes `text`, in which the form is, instead of a node.
    pub(crate) fn fix(&self, node: NodeRef<'_>, text: String) -> Option<Fix> {
        written(node, text, if self.is_sure { Fix::safe } else { Fix::guess })
    }
}

/// Returns the mapping that is meant by a scalar.
pub(crate) fn short_form(node: NodeRef<'_>, shape: &Shape) -> Option<ShortForm> {
    if shape.kind() != Type::Mapping
        || node.is_null()
        || edit::one_line(node).is_none()
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
        // A prompt is what the user says.
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
    let is_sure = node
        .as_str()
        .is_some_and(|text| if holds_names(&field.shape) { is_one_name(text) } else { !says_how_many(text) });
    fits.then(|| {
        Some(ShortForm { text: format!("{{ {}: {} }}", scalar(field.name), edit::words_in_brackets(node)?), is_sure })
    })?
}

/// Whether a mapping may be what a shape describes: one of its keys is known there. Anything else may.
pub(crate) fn is_like(node: NodeRef<'_>, shape: &Shape) -> bool {
    if node.text() == Some("") {
        return false;
    }
    let fields = shape.all_fields();
    node.shape() != NodeShape::Mapping
        || fields.is_empty()
        || node.entries().any(|entry| fields.iter().any(|field| entry.key.text() == Some(field.name)))
}

/// Returns the only item of a list, which is a mapping, without the list.
pub(crate) fn only_item(list: NodeRef<'_>) -> Option<Fix> {
    Some(Fix::safe("make it a mapping", edit::only_item(list)?))
}

/// Returns a line that holds `: ` and was meant as a text: `- Total: 5`.
pub(crate) fn quoted_line(node: NodeRef<'_>) -> Option<Fix> {
    let (quoted, edits) = edit::quote_entry(node)?;
    Some(Fix::guess(format!("write `{quoted}`"), edits))
}

/// Returns the only item of a list, which is a scalar, on the line of the key without its dash.
pub(crate) fn undashed(list: NodeRef<'_>) -> Option<Fix> {
    Some(Fix::safe("remove the dash", edit::undashed(list)?))
}

/// Whether a text is several names with commas between them, where each item is a name.
fn names_apart(text: &str, item: &Shape) -> bool {
    holds_names(item) && text.contains(',') && text.split(',').all(|name| is_one_name(name.trim()))
}

/// Whether a text is one word that can only be a name: nothing in it separates names, negates one or stands for several.
fn is_one_name(text: &str) -> bool {
    let begins =
        text.starts_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '/' | '.' | '{' | '@'));
    let separates = |letter: char| letter.is_whitespace() || ",;|>\"'".contains(letter);
    begins && !text.contains(separates) && !says_how_many(text)
}

/// Whether a text is a word for none or several of what belongs in its place.
fn says_how_many(text: &str) -> bool {
    const WORDS: [&str; 13] =
        ["none", "no", "not", "never", "nothing", "null", "any", "all", "every", "everything", "each", "some", "off"];
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word))
}

/// Whether a shape is that of a name.
fn holds_names(shape: &Shape) -> bool {
    matches!(shape.word(), Some(Word::Refers(_) | Word::Defines(_)))
        || shape.shares().is_some()
        || !shape.values().is_empty()
}

/// Maximum number of bytes of a text that a title quotes.
const LONGEST_SHOWN: usize = 60;

/// Returns a single value as a list.
pub(crate) fn listed(node: NodeRef<'_>, item: Option<&Shape>) -> Option<Fix> {
    if node.shape() == NodeShape::Mapping && !edit::is_flow(node) {
        return Some(Fix::safe("begin each item with `- `", edit::as_items(node)?));
    }
    let apart = node.as_str().filter(|text| item.is_some_and(|item| names_apart(text, item)));
    // One text, or several with something between them?
    let is_open = apart.is_none() && node.as_str().is_some_and(|text| !is_one_name(text));
    let items: Vec<String> = match apart {
        Some(text) => text.split(',').map(|name| scalar(name.trim())).collect(),
        None => vec![edit::words_in_brackets(node)?],
    };
    let fix = if is_open { Fix::guess } else { Fix::safe };
    let text = format!("[{}]", items.join(", "));
    let title = if text.len() > LONGEST_SHOWN { "write it as a list".to_owned() } else { format!("write `{text}`") };
    Some(fix(title, edit::as_list(node, &items)?))
}

/// Returns an item of a list with several keys, as items with one key each.
pub(crate) fn split(item: NodeRef<'_>) -> Option<Fix> {
    let edits = edit::split_item(item)?;
    Some(Fix::safe(split_into(edits.len() + 1), edits))
}

/// Returns what is known to be the value of a key, or something valid to begin with.
fn value_of(key: &str, shape: &Shape, depth: usize, known: &[(&str, String)]) -> Option<String> {
    let value = known.iter().find(|(name, _)| *name == key).map(|(_, value)| value.clone());
    value.or_else(|| placeholder(shape, depth, known))
}

/// Something valid to begin with, in flow style.
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
        // An empty text would be the next mistake.
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
            // Of keys that exclude each other, one must be there.
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

/// Returns an example that is alone: nothing gives its placeholders a value.
fn without_placeholders(example: &Value) -> Value {
    match example.as_str() {
        Some(text) if text.contains("{{") => Value::from(text.replace("{{", "").replace("}}", "")),
        Some(_) | None => example.clone(),
    }
}

/// Returns the choice that an author most likely means.
pub(crate) fn nearest_choice(node: NodeRef<'_>, choices: &[shape::Choice]) -> Option<&'static str> {
    let names = choices.iter().filter_map(|choice| choice.value.as_str());
    // A version is another version, not a slip of the keys.
    crate::words::nearest(node.text()?, names.filter(|name| name.contains(char::is_alphabetic)))
}

/// Whether a value, given the shape that a new key wants, is one that the key can have.
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
            !shaped.edits.is_empty() && member.item().is_some_and(|item| is_text(&item, value))
        }
        (Type::List, shape) => shape == NodeShape::Sequence,
        (Type::Mapping, shape) => shape == NodeShape::Mapping,
        (Type::Text, NodeShape::Sequence) => value.items().all(|item| is_text(member, item)),
        (Type::Text | Type::Integer | Type::Number | Type::Boolean, _) => false,
    }
}
