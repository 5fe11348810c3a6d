//! Values in words: those of another type, those that are not among the ones allowed, and those of another form.

use crate::{
    document::{NodeRef, Pointer, Scalar, Shape as NodeShape, Style},
    problem::{Code, Problem},
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
            return Problem::new(Code::WrongType, at, range, "a value of another type is expected here");
        };
        let (mut label, kind) = (shape.type_label(), shape.kind());
        if kind == Type::Text
            && let Some(problem) = unquoted_template(&at, node)
        {
            return problem;
        }
        if let Some(text) = shape.text_form() {
            label = format!("{label} or {}", with_article(&text.type_label()));
        }
        let found = describe(node);
        let mut message = match self.key_at(&at) {
            _ if at.is_root() && self.base.is_root() && kind == Type::List => {
                format!("expected a list, found {found}: begin each item with `- `")
            }
            _ if at.is_root() && self.base.is_root() => {
                format!("expected a mapping, found {found}: a file begins with `{}: …`", first_field(&shape))
            }
            Some(key) if node.is_null() => format!("`{key}` has no value: expected {}", with_article(&label)),
            Some(key) => format!("`{key}` must be {}, not {found}", with_article(&label)),
            None if node.is_null() => format!("nothing stands here: expected {}", with_article(&label)),
            None => format!("expected {}, found {found}", with_article(&label)),
        };
        if let Some(meant) = self.key_at(&at).and_then(|key| unit::meant(&key, node, &shape)) {
            let key = self.key_at(&at).unwrap_or_default();
            let message = format!("`{key}` must be {}, not {found}", meant.unit.label());
            let problem = Problem::new(Code::WrongType, at, range, message);
            return match meant.fix {
                Some(fix) => problem.with_fix(fix),
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
                message.push_str(": put it in quotes");
                fix = fix::quoted(node);
            }
            (Type::Integer, NodeShape::Scalar) if matches!(node.scalar(), Some(Scalar::Float(_))) => {}
            (Type::Integer | Type::Number | Type::Boolean, NodeShape::Scalar) => {
                fix = fix::unquoted(node, kind);
                match fix::literal(node, kind) {
                    Some(meant) if node.style() == Some(Style::Plain) => {
                        message = format!("{message}, which is what YAML takes it for: write `{meant}`");
                    }
                    Some(_) if fix.is_some() => message.push_str(": remove the quotes"),
                    Some(_) | None => {}
                }
            }
            (Type::List, NodeShape::Mapping) if fix::dashed(node).is_some() => {
                message.push_str(": a blank is missing behind the dashes");
                fix = fix::dashed(node);
            }
            (Type::List, NodeShape::Scalar) if fix::dashed_texts(node).is_some() => {
                message.push_str(": a blank is missing behind the dash");
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
                } else if let Some(words) = &short {
                    let words = format!("[{words}]");
                    fix = Some(fix::replace(node.own_range(), words.clone(), format!("Write `{words}`")));
                }
                if at.is_root() && self.base.is_root() {
                } else if let Some(words) = short {
                    message.push_str(&format!(": write `[{words}]`"));
                } else if is_mapping && !in_brackets {
                    message.push_str(": begin each item with `- `");
                } else {
                    message.push_str(": write `[…]`");
                }
            }
            (Type::Mapping, NodeShape::Scalar) if let Some(words) = fix::short_form(node, &shape) => {
                message.push_str(&format!(": write `{words}`"));
                fix = Some(fix::replace(node.own_range(), words.clone(), format!("Write `{words}`")));
            }
            (Type::Mapping, NodeShape::Sequence) if fix::only_item(node).is_some() && !at.is_root() => {
                message.push_str(if in_brackets { ": remove the brackets" } else { ": remove the `- `" });
                fix = fix::only_item(node);
            }
            (Type::Text, NodeShape::Mapping) if let Some(quoted) = fix::quoted_line(node) => {
                message.push_str(": `: ` makes a mapping of it");
                fix = Some(quoted);
            }
            (Type::Text | Type::Integer | Type::Number | Type::Boolean, NodeShape::Sequence)
                if let Some(undashed) = fix::undashed(node) =>
            {
                message.push_str(": remove the `- `");
                fix = Some(undashed);
            }
            (Type::Mapping, NodeShape::Sequence) if in_brackets => message.push_str(": write `{…}`"),
            (Type::Mapping, NodeShape::Sequence) if !at.is_root() => message.push_str(": remove the `- `"),
            (_, NodeShape::Scalar) if node.is_null() => {
                if let Some(cure) = self.cure_of_nothing(&at) {
                    message.push_str(cure);
                }
            }
            (Type::Text, NodeShape::Scalar) if !node.is_null() && !node.resolved().is_through_alias() => {
                if let [only] = shape.values().as_slice() {
                    let text = shape::show(only.value);
                    fix = Some(fix::guess(node.own_range(), text.clone(), format!("Write {text}")));
                }
            }
            _ => {}
        }
        let problem = Problem::new(Code::WrongType, at, range, message);
        match fix {
            Some(fix) => problem.with_fix(fix),
            None => problem,
        }
    }

    /// What to do with a key, or an item, that has no value, beside giving it one.
    fn cure_of_nothing(&self, at: &Pointer) -> Option<&'static str> {
        let Some((parent, key)) = at.parent().zip(self.key_at(at)) else {
            // The root of what is checked alone is an item, unless it is the root of the file.
            return (!self.base.join(at).is_root()).then_some(", or remove the entry");
        };
        let mapping = self.mapping(&parent);
        let is_required = |shape: &Shape| {
            shape.fields(mapping.node).iter().any(|field| field.name == key && field.need != shape::Need::Optional)
        };
        (!mapping.shape.as_ref().is_some_and(is_required)).then_some(", or remove the key")
    }

    pub(super) fn wrong_value(&self, at: Pointer) -> Problem {
        let range = place(self.node, &at);
        let (Some(node), Some(shape)) = (self.node.find(&at), self.member(&at)) else {
            return Problem::new(Code::InvalidValue, at, range, "this value cannot stand here");
        };
        let choices = shape.values();
        let is_text = choices.iter().all(|choice| choice.value.is_string());
        if node.as_str().is_none() && is_text || node.scalar().is_none() {
            return self.wrong_type(at);
        }
        let name = match self.key_at(&at) {
            Some(name) => format!("`{name}`"),
            None => "this entry".to_owned(),
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
            Some(near) => format!("{name} cannot be {}: did you mean `{near}`?", describe(node)),
            None => format!("{name} must be {names}, not {}", describe(node)),
        };
        let mut problem = Problem::new(code, at, range, message);
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
                let (text, title) = (shape::scalar(near), format!("Change to `{near}`"));
                let fix = if sure { fix::replace } else { fix::guess };
                problem.with_fix(fix(node.own_range(), text, title))
            }
            (None, Some(only)) => {
                let text = shape::show(only.value);
                problem.with_fix(fix::guess(node.own_range(), text.clone(), format!("Change to `{text}`")))
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
                format!("`{name}` cannot be {found}")
            }
            None if self.key_at(&at).is_none() => {
                let shape = self.shape(&at);
                let summary = shape.as_ref().and_then(Shape::summary).map(as_fragment).unwrap_or_default();
                let examples = shape.map(|shape| shape.examples()).unwrap_or_default();
                let example = examples.first().map(|example| format!(", such as `{}`", shape::show(example)));
                format!("{found} cannot stand here: expected {summary}{}", example.unwrap_or_default())
            }
            None => format!("{found} is no URL: begin `{name}` with a scheme, such as `https://`"),
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
