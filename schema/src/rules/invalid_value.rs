//! Values that are not allowed, and strings without the required form.

use crate::{
    document::{NodeRef, Pointer, Scalar},
    edit,
    finding::{Finding, MessageParts, Report},
    lint_node::place,
    problem::{Code, Fix},
    shape::{self, Shape, Word},
    validate::{Context, as_fragment, describe, fix},
    walk::Value,
    words::{begins_like_url, is_surely, listed, opposite_of},
};

use super::wrong_type;

/// Reports a value that is not allowed.
pub(crate) fn of(context: &Context<'_>, at: Pointer) -> Finding {
    let range = place(context.node, &at);
    let shape = context.member(&at);
    let node = context.node.find(&at);
    let mut is_of_type = true;
    if let (Some(node), Some(shape)) = (node, &shape) {
        let is_text = shape.values().iter().all(|choice| choice.value.is_string());
        if node.as_str().is_none() && is_text || node.scalar().is_none() {
            return wrong_type::of(context, at);
        }
        is_of_type = is_text || matches!(node.scalar(), Some(Scalar::Int(_) | Scalar::Float(_)));
    }
    let place = match (context.key_at(&at), context.list_of(&at)) {
        (Some(key), _) => format!(" for `{key}`"),
        (None, Some(list)) => format!(" in `{list}`"),
        (None, None) => String::new(),
    };
    let words = not_allowed(node, shape.as_ref(), &place, &at);
    let finding = Finding::stated(Code::InvalidValue, words, at, range);
    if is_of_type { finding } else { finding.with_code(Code::WrongType) }
}

/// Reports a string that does not have the required form.
pub(crate) fn wrong_form(context: &Context<'_>, at: Pointer) -> Finding {
    let name = at.last().unwrap_or_default();
    let shape = context.shape(&at);
    let node = context.node.find(&at);
    let found = || node.map(describe).unwrap_or_default();
    let words = match shape.as_ref().and_then(Shape::word) {
        Some(
            Word::File(_) | Word::Pattern(_) | Word::Template(_) | Word::Refers(_) | Word::Defines(_) | Word::Shell,
        ) => MessageParts::new(format!("{} is not a valid `{name}`", found())),
        None if shape.as_ref().is_some_and(Shape::is_url) && context.key_at(&at).is_some() => {
            let text = node.and_then(|node| node.text()).unwrap_or(&name);
            MessageParts::new(format!("`{text}` is not a valid URL")).help("begin it with `http://` or `https://`")
        }
        None => {
            let summary = shape.as_ref().and_then(Shape::summary).map(as_fragment).unwrap_or_default();
            let has_article = ["a ", "an ", "the "].iter().any(|article| summary.starts_with(article));
            let summary = if has_article { summary } else { format!("the {summary}") };
            let examples = shape.as_ref().map(Shape::examples).unwrap_or_default();
            let example = examples.first().map(|example| format!(", such as `{}`", crate::quoting::show(example)));
            MessageParts::new(format!("expected {summary}{}, found {}", example.unwrap_or_default(), found()))
        }
    };
    let range = place(context.node, &at);
    Finding::stated(Code::InvalidValue, words, at, range)
}

/// Reports an address that only a URL parser rejects.
pub(crate) fn check_url(value: &Value<'_, '_>, report: &mut Report) {
    let Some(text) = value.text.filter(|text| begins_like_url(text)) else { return };
    if let Err(reason) = url::Url::parse(text) {
        let words = MessageParts::new(format!("`{text}` is not a valid URL: {reason}"));
        report.push(value.lint_node().problem(Code::InvalidValue, words));
    }
}

/// Reports a violation for which no other rule exists.
pub(crate) fn other(context: &Context<'_>, at: Pointer, keyword: String) -> Finding {
    let range = place(context.node, &at);
    let words = MessageParts::new(format!("the value violates `{keyword}` of the JSON Schema"));
    Finding::stated(Code::InvalidValue, words, at, range)
}

/// Says which values are allowed. `place`: " for `mode`", " in `modes`".
fn not_allowed(node: Option<NodeRef<'_>>, shape: Option<&Shape>, place: &str, at: &Pointer) -> MessageParts {
    let (Some(node), Some(shape)) = (node, shape) else {
        return MessageParts::new("this value is not allowed here");
    };
    let choices = shape.values();
    let names: Vec<String> = choices.iter().map(|choice| crate::quoting::choice_label(choice.value)).collect();
    let names = listed(names.iter().map(String::as_str));
    let is_version = shape.summary().is_some_and(|summary| summary.to_lowercase().contains("version"));
    let mut words =
        MessageParts::new(match (choices.as_slice(), at.last_step().and_then(|step| step.key().map(str::to_owned))) {
            ([_], Some(key)) if is_version => format!("`{key}` must be {names}, the only version"),
            _ => format!("expected {names}{}, found {}", place, describe(node)),
        });
    if let Some((value, is_same)) = node.as_str().and_then(|text| shape.value_called(text)) {
        let fix = if is_same { Fix::safe } else { Fix::guess };
        return words.remedy(
            format!("change it to `{value}`"),
            fix,
            edit::rewrite(node, crate::quoting::scalar(value)),
        );
    }
    if let Some(near) = fix::nearest_choice(node, &choices) {
        let sure = node
            .text()
            .is_some_and(|text| is_surely(text, near, choices.iter().filter_map(|choice| choice.value.as_str())));
        let fix = if sure { Fix::safe } else { Fix::guess };
        let edits = edit::rewrite(node, crate::quoting::scalar(near));
        return words.remedy(format!("change it to `{near}`"), fix, edits);
    }
    if let Some(written) = node.as_str() {
        let names: Vec<&str> = choices.iter().filter_map(|choice| choice.value.as_str()).collect();
        words.note = opposite_of(written, &names).map(|name| format!("no value means the opposite of `{name}`"));
        words.help = described_as(written, &choices);
    }
    match choices.as_slice() {
        [only] => {
            let text = crate::quoting::show(only.value);
            let edits = edit::rewrite(node, text.clone());
            words.remedy(format!("change it to `{text}`"), Fix::guess, edits)
        }
        [..] => words,
    }
}

/// Returns the help for a word that the documentation of exactly one choice contains.
fn described_as(word: &str, choices: &[shape::Choice]) -> Option<String> {
    let describes =
        |docs: &str| docs.split(|letter: char| !letter.is_alphabetic()).any(|it| it.eq_ignore_ascii_case(word));
    let mut described = choices.iter().filter_map(|choice| Some((choice, choice.docs.filter(|docs| describes(docs))?)));
    let ((choice, docs), None) = (described.next()?, described.next()) else { return None };
    Some(format!("write `{}` ({})", crate::quoting::show(choice.value), as_fragment(docs)))
}
