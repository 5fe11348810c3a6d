//! Values of the wrong type, with what was probably meant.

use crate::{
    document::{NodeRef, Pointer, Scalar, Shape as NodeShape, Style},
    edit,
    finding::{Finding, MessageParts},
    lint_node::place,
    problem::{Code, Fix},
    shape::{Need, Shape, Type},
    validate::{Context, describe, fix, unit, with_article},
};

use super::unquoted_template;

pub(crate) mod missing_space;

struct WrongType {
    /// Key of the value. `None` for an item of a list, and for the whole.
    key: Option<String>,
    /// Schema of the value.
    shape: Option<Shape>,
    is_whole_file: bool,
    /// Alternative to adding a value to an empty key or item.
    removal: Option<&'static str>,
}

/// Reports a value of the wrong type.
pub(crate) fn of(context: &Context<'_>, at: Pointer) -> Finding {
    let shape = context.member(&at);
    let node = context.node.find(&at);
    let is_text = shape.as_ref().is_some_and(|shape| shape.kind() == Type::Text);
    if let Some(finding) = node.filter(|_| is_text).and_then(|node| unquoted_template::of(&at, node)) {
        return finding;
    }
    let rule = WrongType {
        key: context.key_at(&at),
        is_whole_file: at.is_root() && context.base.is_root(),
        removal: node.filter(|node| node.is_null()).and_then(|_| removal(context, &at)),
        shape,
    };
    let range = place(context.node, &at);
    let words = rule.words(&at, node);
    Finding::stated(Code::WrongType, words, at, range)
}

/// Returns the alternative to adding a value to an empty key or item.
fn removal(context: &Context<'_>, at: &Pointer) -> Option<&'static str> {
    let Some((parent, key)) = at.parent().zip(context.key_at(at)) else {
        // The root of a separately checked part is an item, unless it is the root of the file.
        return (!context.base.join(at).is_root()).then_some("remove the `-`");
    };
    let mapping = context.mapping(&parent);
    let is_required = |shape: &Shape| {
        shape.fields(mapping.node).iter().any(|field| field.name == key && field.need != Need::Optional)
    };
    (!mapping.shape.as_ref().is_some_and(is_required)).then_some("remove the key")
}

impl WrongType {
    fn words(&self, at: &Pointer, node: Option<NodeRef<'_>>) -> MessageParts {
        let (Some(node), Some(shape)) = (node, &self.shape) else {
            return MessageParts::new("the value has the wrong type");
        };
        let is_whole_file = self.is_whole_file;
        let (mut label, kind) = (shape.type_name(), shape.kind());
        if let Some(text) = shape.text_form() {
            label = format!("{label} or {}", with_article(&text.type_name()));
        }
        // Without its type, the number `1` looks like the string that was found.
        let is_number = shape.values().iter().any(|choice| choice.value.is_number());
        let label =
            if is_number && node.as_str().is_some() { format!("the number {label}") } else { with_article(&label) };
        let found = describe(node);
        let mut words = MessageParts::new(match &self.key {
            _ if is_whole_file && kind == Type::List => format!("expected a list, found {found}"),
            _ if is_whole_file => format!("expected a mapping, found {found}"),
            Some(key) if node.is_null() => format!("`{key}` has no value"),
            Some(key) => format!("expected {label} for `{key}`, found {found}"),
            None if node.is_null() => "empty list item".to_owned(),
            None => format!("expected {label}, found {found}"),
        });
        if is_whole_file {
            words.help = Some(match kind {
                Type::List => "begin each item with `- `".to_owned(),
                _ => format!("begin the file with `{}`", first_entry(shape)),
            });
        }
        if let Some((key, meant)) =
            self.key.as_ref().and_then(|key| Some((key, unit::intended_value(key, node, shape)?)))
        {
            let words = MessageParts::new(format!("expected {} for `{key}`, found {found}", meant.unit.label()));
            return match meant.fix {
                Some(fix) => words.fix_with_help(Some(fix)),
                None => words.help("write only the number, in the unit of the field"),
            };
        }
        self.with_correction(words, &label, at, node, shape)
    }

    /// Adds the help and the fix for a value of the wrong type.
    fn with_correction(
        &self,
        mut words: MessageParts,
        label: &str,
        at: &Pointer,
        node: NodeRef<'_>,
        shape: &Shape,
    ) -> MessageParts {
        let (kind, is_whole_file) = (shape.kind(), self.is_whole_file);
        let mut fix = None;
        // In flow style, there is no dash.
        let in_brackets = edit::nodes::is_flow(node);
        match (kind, node.shape()) {
            (Type::Text | Type::Any, NodeShape::Scalar)
                if (kind == Type::Text || shape.is_loose_text())
                    && !node.is_null()
                    && node.text().is_some_and(|text| shape.admits_text(text)) =>
            {
                words.help = Some("put it in quotes".to_owned());
                fix = fix::quoted(node);
            }
            (Type::Integer, NodeShape::Scalar) if matches!(node.scalar(), Some(Scalar::Float(_))) => {}
            (_, NodeShape::Sequence) if node.alias().is_some() && self.key.is_none() => {
                words.note = Some("YAML does not join lists".to_owned());
                words.help = Some("repeat the items of the list here".to_owned());
            }
            (Type::Integer | Type::Number | Type::Boolean, NodeShape::Scalar)
                if let Some(without_comma) = fix::without_comma(node, kind) =>
            {
                words.note = Some("without quotes, the comma is part of a string".to_owned());
                fix = Some(without_comma);
            }
            (Type::Integer | Type::Number | Type::Boolean, NodeShape::Scalar) => {
                fix = fix::unquoted(node, kind);
                match fix::literal(node, kind) {
                    Some(meant) if node.style() == Some(Style::Plain) => {
                        words.note = Some("YAML 1.2 reads it as a string".to_owned());
                        words.help = Some(format!("write `{meant}`"));
                    }
                    Some(_) if fix.is_some() => words.help = Some("remove the quotes".to_owned()),
                    Some(_) | None => {}
                }
            }
            (Type::List, NodeShape::Mapping) if fix::dashed(node).is_some() => {
                words.note = Some("without a space after it, a dash is part of the key".to_owned());
                fix = fix::dashed(node);
            }
            (Type::List, NodeShape::Scalar) if fix::dashed_texts(node).is_some() => {
                words.note = Some("without a space after it, a dash is part of the string".to_owned());
                fix = fix::dashed_texts(node);
            }
            (Type::List, NodeShape::Scalar | NodeShape::Mapping) if !node.is_null() => {
                let is_mapping = node.shape() == NodeShape::Mapping;
                let item = shape.item();
                let fits = |item: &Shape| {
                    (item.kind() == Type::Mapping) == is_mapping || (!is_mapping && item.text_form().is_some())
                };
                let short = item.as_ref().and_then(|item| fix::short_form(node, item));
                if item.as_ref().is_some_and(fits) {
                    fix = item
                        .as_ref()
                        .filter(|item| fix::is_like(node, item))
                        .and_then(|item| fix::listed(node, Some(item)));
                } else if let Some(short) = &short {
                    fix = fix::written(node, format!("[{short}]"), Fix::guess);
                }
                if !is_whole_file {
                    words.help = Some(match short {
                        Some(short) => format!("write `[{short}]`"),
                        None if is_mapping && !in_brackets => "begin each item with `- `".to_owned(),
                        None => fix.as_ref().map_or("write it as a list", |fix| fix.title.as_str()).to_owned(),
                    });
                }
            }
            (Type::Mapping, NodeShape::Scalar) if let Some(short) = fix::short_form(node, shape) => {
                fix = fix::written(node, short, Fix::guess);
            }
            (Type::Mapping, NodeShape::Scalar) if !node.is_null() && !is_whole_file && !at.is_root() => {
                words.help = Some(as_mapping(shape));
            }
            (Type::Mapping, NodeShape::Sequence)
                if !in_brackets && !at.is_root() && !items_are_entries(node, shape) =>
            {
                words.help = Some(keyed_help(node));
            }
            (Type::Mapping, NodeShape::Sequence) if fix::only_item(node).is_some() && !at.is_root() => {
                words.help = Some(if in_brackets { "remove the brackets" } else { "remove the `-`" }.to_owned());
                // A mapping with free keys accepts any item and reads its keys as names.
                let is_like =
                    !shape.all_fields().is_empty() && node.items().next().is_some_and(|item| fix::is_like(item, shape));
                let only = fix::only_item(node).filter(|_| items_are_entries(node, shape));
                fix = only.map(|only| if is_like { only } else { Fix::guess(only.title, only.edits) });
            }
            (Type::Text, NodeShape::Mapping) if let Some(quoted) = fix::quoted_line(node) => {
                words.note = Some("`: ` turns it into a mapping".to_owned());
                fix = Some(quoted);
            }
            (Type::Text | Type::Integer | Type::Number | Type::Boolean, NodeShape::Sequence)
                if let Some(undashed) = fix::undashed(node) =>
            {
                words.help = Some("remove the `-`".to_owned());
                fix = Some(undashed);
            }
            (Type::Mapping, NodeShape::Sequence) if in_brackets => {
                words.help = Some("write it as a mapping, `KEY: VALUE`".to_owned());
            }
            (Type::Mapping, NodeShape::Sequence) if !at.is_root() => words.help = Some("remove the `-`".to_owned()),
            (_, NodeShape::Scalar) if node.is_null() => {
                let removal = self.removal.map(|it| format!(", or {it}")).unwrap_or_default();
                let label = if shape.is_loose_text() { "a string" } else { label };
                words.help = Some(format!("write {label}{removal}"));
            }
            (Type::Text, NodeShape::Scalar) => {
                if let [only] = shape.values().as_slice() {
                    fix = fix::written(node, crate::quoting::show(only.value), Fix::guess);
                }
            }
            _ => {}
        }
        // The title of a fix is its help, unless there is a better one.
        words.help = words.help.or_else(|| fix.as_ref().map(|fix| fix.title.clone()));
        if let (Some(help), Some(fix)) = (&words.help, &mut fix) {
            fix.title.clone_from(help);
        }
        words.fixes.extend(fix);
        words
    }
}

/// Returns the help to write a mapping, with the keys that it must have.
pub(crate) fn as_mapping(shape: &Shape) -> String {
    let fields = shape.fields(None);
    let mut keys: Vec<&str> =
        fields.iter().filter(|field| field.need == Need::Required).map(|field| field.name).collect();
    if keys.is_empty() {
        keys.extend(fields.first().map(|field| field.name));
    }
    let entries: Vec<String> = keys.iter().map(|key| format!("{key}: …")).collect();
    match entries.is_empty() {
        false => format!("write it as a mapping, such as `{{ {} }}`", entries.join(", ")),
        true => "write it as a mapping, `{ KEY: VALUE }`".to_owned(),
    }
}

fn first_entry(shape: &Shape) -> String {
    let fields = shape.fields(None);
    let Some(first) = fields.first() else { return String::new() };
    match first.shape.values().as_slice() {
        [only] => format!("{}: {}", first.name, only.value),
        _ => format!("{}: …", first.name),
    }
}

/// Whether the items of a list are entries of a mapping, so that only the dashes have to be removed. If keys are free
/// and their values are mappings or lists, an item with other values was not meant as an entry.
fn items_are_entries(list: NodeRef<'_>, shape: &Shape) -> bool {
    let Some(value) = shape.map_value() else { return true };
    let is_nested = matches!(value.kind(), Type::Mapping | Type::List);
    let values = || list.items().flat_map(NodeRef::entries).map(|entry| entry.value);
    let are_mappings = !shape.all_fields().is_empty() || list.items().all(|item| item.shape() == NodeShape::Mapping);
    are_mappings && !(is_nested && values().any(|value| value.shape() == NodeShape::Scalar))
}

/// Returns the help for a list of named items instead of a mapping by name.
fn keyed_help(list: NodeRef<'_>) -> String {
    let is_name = |text: &&str| {
        let fits = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '-' | '.');
        !text.is_empty() && text.chars().all(fits)
    };
    let name_of = |item: NodeRef<'_>| {
        let named = ["id", "name"].into_iter().find_map(|key| item.get(key));
        named.unwrap_or(item).text().filter(is_name).map(str::to_owned)
    };
    match list.items().next().and_then(name_of) {
        Some(name) => format!("write each name as a key, such as `{name}:`, without the `- `"),
        None => "write each item as a key and its value, `NAME: VALUE`, without the `- `".to_owned(),
    }
}
