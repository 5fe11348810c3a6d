//! Values in words: those of another type, those that are not among the ones allowed, and those of another form.

use crate::{
    document::{NodeRef, Pointer, Scalar, Shape as NodeShape, Style},
    problem::{Code, Fix, Problem},
    shape::{self, Shape, Type, Word},
    words::{is_surely, listed, opposite_of},
};

use super::{
    super::{fix, place, unit, unquoted_template},
    Context, as_fragment, describe, with_article,
};

impl Context<'_> {
    pub(super) fn wrong_type(&self, at: Pointer) -> Problem {
        let range = place(self.node, &at);
        let (Some(node), Some(shape)) = (self.node.find(&at), self.member(&at)) else {
            return Problem::new(Code::WrongType, at, range, "the value has another type than the one expected");
        };
        let (mut label, kind) = (shape.type_name(), shape.kind());
        if kind == Type::Text
            && let Some(problem) = unquoted_template(&at, node)
        {
            return problem;
        }
        if let Some(text) = shape.text_form() {
            label = format!("{label} or {}", with_article(&text.type_name()));
        }
        let label = with_article(&label);
        let found = describe(node);
        let is_whole_file = at.is_root() && self.base.is_root();
        let message = match self.key_at(&at) {
            _ if is_whole_file && kind == Type::List => format!("expected a list, found {found}"),
            _ if is_whole_file => format!("expected a mapping, found {found}"),
            Some(key) if node.is_null() => format!("`{key}` has no value"),
            Some(key) => format!("expected {label} for `{key}`, found {found}"),
            None if node.is_null() => "empty list item".to_owned(),
            None => format!("expected {label}, found {found}"),
        };
        let mut problem = Problem::new(Code::WrongType, at.clone(), range, message);
        if is_whole_file {
            problem.help = Some(match kind {
                Type::List => "begin each item with `- `".to_owned(),
                _ => format!("begin the file with `{}: …`", first_field(&shape)),
            });
        }
        if let Some(meant) = self.key_at(&at).and_then(|key| unit::meant(&key, node, &shape)) {
            let key = self.key_at(&at).unwrap_or_default();
            problem.message = format!("expected {} for `{key}`, found {found}", meant.unit.label());
            return match meant.fix {
                Some(fix) => problem.with_help(fix.title.clone()).with_fix(fix),
                None => problem.with_help("write the number alone, in the unit of the field"),
            };
        }
        let mut fix = None;
        // In brackets there is no dash.
        let in_brackets = is_in_brackets(node);
        match (kind, node.shape()) {
            (Type::Text, NodeShape::Scalar)
                if !node.is_null() && node.text().is_some_and(|text| shape.admits_text(text)) =>
            {
                problem.help = Some("put it in quotes".to_owned());
                fix = fix::quoted(node);
            }
            (Type::Integer, NodeShape::Scalar) if matches!(node.scalar(), Some(Scalar::Float(_))) => {}
            (Type::Integer | Type::Number | Type::Boolean, NodeShape::Scalar) => {
                fix = fix::unquoted(node, kind);
                match fix::literal(node, kind) {
                    Some(meant) if node.style() == Some(Style::Plain) => {
                        problem.note = Some("YAML 1.2 reads it as a string".to_owned());
                        problem.help = Some(format!("write `{meant}`"));
                    }
                    Some(_) if fix.is_some() => problem.help = Some("remove the quotes".to_owned()),
                    Some(_) | None => {}
                }
            }
            (Type::List, NodeShape::Mapping) if fix::dashed(node).is_some() => {
                problem.note = Some("without a space after it, a dash is part of the key".to_owned());
                fix = fix::dashed(node);
            }
            (Type::List, NodeShape::Scalar) if fix::dashed_texts(node).is_some() => {
                problem.note = Some("without a space after it, a dash is part of the string".to_owned());
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
                    fix = Some(short.fix(node, format!("[{}]", short.text)));
                }
                if !is_whole_file {
                    problem.help = Some(match short {
                        Some(short) => format!("write `[{}]`", short.text),
                        None if is_mapping && !in_brackets => "begin each item with `- `".to_owned(),
                        None => fix.as_ref().map_or("write it as a list", |fix| fix.title.as_str()).to_owned(),
                    });
                }
            }
            (Type::Mapping, NodeShape::Scalar) if let Some(short) = fix::short_form(node, &shape) => {
                fix = Some(short.fix(node, short.text.clone()));
            }
            (Type::Mapping, NodeShape::Sequence)
                if !in_brackets && !at.is_root() && !items_are_entries(node, &shape) =>
            {
                problem.help = Some(keyed_help(node));
            }
            (Type::Mapping, NodeShape::Sequence) if fix::only_item(node).is_some() && !at.is_root() => {
                problem.help = Some(if in_brackets { "remove the brackets" } else { "remove the `- `" }.to_owned());
                // A mapping whose keys are names of the author takes any item, and reads its keys as names.
                let is_like = !shape.all_fields().is_empty()
                    && node.items().next().is_some_and(|item| fix::is_like(item, &shape));
                let only = fix::only_item(node).filter(|_| items_are_entries(node, &shape));
                fix = only.map(|only| if is_like { only } else { Fix::guess(only.title, only.edits) });
            }
            (Type::Text, NodeShape::Mapping) if let Some(quoted) = fix::quoted_line(node) => {
                problem.note = Some("`: ` makes it a mapping".to_owned());
                fix = Some(quoted);
            }
            (Type::Text | Type::Integer | Type::Number | Type::Boolean, NodeShape::Sequence)
                if let Some(undashed) = fix::undashed(node) =>
            {
                problem.help = Some("remove the `- `".to_owned());
                fix = Some(undashed);
            }
            (Type::Mapping, NodeShape::Sequence) if in_brackets => problem.help = Some("write `{…}`".to_owned()),
            (Type::Mapping, NodeShape::Sequence) if !at.is_root() => problem.help = Some("remove the `- `".to_owned()),
            (_, NodeShape::Scalar) if node.is_null() => {
                let removal = self.removal(&at).map(|it| format!(", or {it}")).unwrap_or_default();
                problem.help = Some(format!("write {label}{removal}"));
            }
            (Type::Text, NodeShape::Scalar) if !node.is_null() && !node.resolved().is_through_alias() => {
                if let [only] = shape.values().as_slice() {
                    let text = shape::show(only.value);
                    fix = Some(fix::guess(node.own_range(), text.clone(), format!("write `{text}`")));
                }
            }
            _ => {}
        }
        // The title of a fix is its help, unless more can be said.
        problem.help = problem.help.or_else(|| fix.as_ref().map(|fix| fix.title.clone()));
        if let (Some(help), Some(fix)) = (&problem.help, &mut fix) {
            fix.title.clone_from(help);
        }
        problem.fixes.extend(fix);
        problem
    }

    /// What to do with a key, or an item, that has no value, beside giving it one.
    fn removal(&self, at: &Pointer) -> Option<&'static str> {
        let Some((parent, key)) = at.parent().zip(self.key_at(at)) else {
            // The root of what is checked alone is an item, unless it is the root of the file.
            return (!self.base.join(at).is_root()).then_some("remove the `-`");
        };
        let mapping = self.mapping(&parent);
        let is_required = |shape: &Shape| {
            shape.fields(mapping.node).iter().any(|field| field.name == key && field.need != shape::Need::Optional)
        };
        (!mapping.shape.as_ref().is_some_and(is_required)).then_some("remove the key")
    }

    pub(super) fn wrong_value(&self, at: Pointer) -> Problem {
        let range = place(self.node, &at);
        let (Some(node), Some(shape)) = (self.node.find(&at), self.member(&at)) else {
            return Problem::new(Code::InvalidValue, at, range, "this value is not allowed here");
        };
        let choices = shape.values();
        let is_text = choices.iter().all(|choice| choice.value.is_string());
        if node.as_str().is_none() && is_text || node.scalar().is_none() {
            return self.wrong_type(at);
        }
        let name = match self.key_at(&at) {
            Some(name) => format!("`{name}`"),
            None => "this item".to_owned(),
        };
        let names: Vec<String> = choices.iter().map(|choice| shape::show(choice.value)).collect();
        let names = listed(names.iter().map(String::as_str));
        let code = if is_text || matches!(node.scalar(), Some(Scalar::Int(_) | Scalar::Float(_))) {
            Code::InvalidValue
        } else {
            Code::WrongType
        };
        let near = fix::nearest_choice(node, &choices);
        let message = match near {
            Some(_) => format!("{name} cannot be {}", describe(node)),
            None => format!("{name} must be {names}, found {}", describe(node)),
        };
        let mut problem = Problem::new(code, at, range, message);
        if let Some(near) = near {
            problem.help = Some(format!("change it to `{near}`"));
        }
        if let Some(written) = node.as_str().filter(|_| near.is_none()) {
            let names: Vec<&str> = choices.iter().filter_map(|choice| choice.value.as_str()).collect();
            problem.note = opposite_of(written, &names).map(|name| format!("it is the opposite of `{name}`"));
            problem.help = described_as(written, &choices);
        }
        let only = choices.first().filter(|_| choices.len() == 1);
        if node.resolved().is_through_alias() {
            return problem;
        }
        match (near, only) {
            (Some(near), _) => {
                let sure = node.text().is_some_and(|text| {
                    is_surely(text, near, choices.iter().filter_map(|choice| choice.value.as_str()))
                });
                let (text, title) = (shape::scalar(near), format!("change it to `{near}`"));
                let fix = if sure { fix::replace } else { fix::guess };
                problem.with_fix(fix(node.own_range(), text, title))
            }
            (None, Some(only)) => {
                let text = shape::show(only.value);
                problem.with_fix(fix::guess(node.own_range(), text.clone(), format!("change it to `{text}`")))
            }
            (None, None) => problem,
        }
    }

    pub(super) fn wrong_form(&self, at: Pointer) -> Problem {
        let range = place(self.node, &at);
        let name = at.last().unwrap_or_default();
        let found = self.node.find(&at).map(describe).unwrap_or_default();
        let message = match self.shape(&at).and_then(|shape| shape.word()) {
            Some(
                Word::File(_) | Word::Pattern(_) | Word::Template(_) | Word::Refers(_) | Word::Defines(_) | Word::Shell,
            ) => {
                format!("{found} is not a valid value of `{name}`")
            }
            None if self.key_at(&at).is_none() => {
                let shape = self.shape(&at);
                let summary = shape.as_ref().and_then(Shape::summary).map(as_fragment).unwrap_or_default();
                let examples = shape.map(|shape| shape.examples()).unwrap_or_default();
                let example = examples.first().map(|example| format!(", such as `{}`", shape::show(example)));
                format!("expected {summary}{}, found {found}", example.unwrap_or_default())
            }
            None => {
                let message = format!("`{name}` is not a valid URL");
                let problem = Problem::new(Code::InvalidValue, at, range, message);
                return problem.with_help("begin it with a scheme, such as `https://`");
            }
        };
        Problem::new(Code::InvalidValue, at, range, message)
    }
}

/// What to write for a word with which the docs of one choice describe it.
fn described_as(word: &str, choices: &[shape::Choice]) -> Option<String> {
    let describes =
        |docs: &str| docs.split(|letter: char| !letter.is_alphabetic()).any(|it| it.eq_ignore_ascii_case(word));
    let mut described = choices.iter().filter_map(|choice| Some((choice, choice.docs.filter(|docs| describes(docs))?)));
    let ((choice, docs), None) = (described.next()?, described.next()) else { return None };
    Some(format!("write `{}`: {}", shape::show(choice.value), as_fragment(docs)))
}

/// Whether a list or a mapping is written in brackets.
fn is_in_brackets(node: NodeRef<'_>) -> bool {
    let start = node.own_range().start;
    let first = node.document().text().get_byte_slice(start..start + 1);
    node.scalar().is_none() && first.is_some_and(|first| first == "[" || first == "{")
}

fn first_field(shape: &Shape) -> &'static str {
    shape.fields(None).first().map_or("", |field| field.name)
}

/// Whether the items of a list are entries of a mapping, so that the list only has to go: where the keys are names of the
/// author of mappings or lists, an item with other values is not what was meant.
fn items_are_entries(list: NodeRef<'_>, shape: &Shape) -> bool {
    let Some(value) = shape.map_value() else { return true };
    let is_nested = matches!(value.kind(), Type::Mapping | Type::List);
    let values = || list.items().flat_map(NodeRef::entries).map(|entry| entry.value);
    let are_mappings = !shape.all_fields().is_empty() || list.items().all(|item| item.shape() == NodeShape::Mapping);
    are_mappings && !(is_nested && values().any(|value| value.shape() == NodeShape::Scalar))
}

/// The help for a list of named things in place of a mapping from their names.
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
