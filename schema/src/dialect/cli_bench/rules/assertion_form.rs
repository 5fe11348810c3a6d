//! Values of cli-bench assertions in another form: a string instead of a mapping, a list instead of one value.

use crate::{
    dialect::cli_bench::{asserted, assertions::Assertion},
    document::{NodeRef, Shape},
    edit,
    finding::{Explanation, Finding, Location, MessageParts},
    problem::{Code, Fix},
    shape::{Type, show},
    validate::{Context, describe, fix},
};

/// A value in another form.
#[derive(Debug)]
struct OtherForm {
    form: Form,
}

/// Form of a value.
#[derive(Debug)]
enum Form {
    /// A mapping of assertions instead of a list.
    Keys,
    /// A string instead of a mapping with this field and others.
    Text { field: &'static str, more: &'static str },
    /// A value that is not an exit code.
    NoExitCode,
    /// A list of values instead of the value of this assertion type.
    List(String),
}

/// Explains a value of the wrong type.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    if !matches!(finding.code(), Code::WrongType | Code::InvalidValue | Code::OutOfRange) {
        return finding;
    }
    let (Some(key), Some(value)) = (finding.at().last(), context.node.find(finding.at())) else { return finding };
    match form(&key, asserted::is_in_assertion(finding.at()), value) {
        Some(form) => finding.explained(OtherForm { form }),
        None => finding,
    }
}

fn form(key: &str, is_in_assertion: bool, value: NodeRef<'_>) -> Option<Form> {
    let is_dashed =
        |value: NodeRef<'_>| value.entries().any(|entry| entry.key.text().is_some_and(|key| key.starts_with('-')));
    if key == "assert" && value.shape() == Shape::Mapping && !is_dashed(value) {
        return Some(Form::Keys);
    }
    if !is_in_assertion {
        return None;
    }
    let text = |field, more| value.as_str().filter(|text| !text.is_empty()).map(|_| Form::Text { field, more });
    match key {
        "file_contains" => text("path", ", text: TODO(the text)"),
        "run_count" => text("pattern", ", min: 1"),
        "verify" => text("run", ""),
        "exit_code" => Some(Form::NoExitCode),
        key if value.shape() == Shape::Sequence && Assertion::NAMES.contains(&key) => Some(Form::List(key.to_owned())),
        _ => None,
    }
}

impl Explanation for OtherForm {
    fn message(&self, words: MessageParts, location: &Location<'_>) -> MessageParts {
        let Some(value) = location.node() else { return words };
        match &self.form {
            Form::Keys => match edit::items_of_keys(value) {
                Some(edits) => {
                    let help = "make each assertion a list item";
                    MessageParts { fixes: vec![Fix::safe(help, edits)], ..words }.help(help)
                }
                None if value.entries().nth(1).is_some() => MessageParts { fixes: Vec::new(), ..words },
                None => words,
            },
            Form::Text { field, more } => in_braces(value, field, more, words),
            Form::NoExitCode if value.is_null() => words.help("write an integer"),
            Form::NoExitCode if value.shape() == Shape::Sequence => {
                let message = format!("expected an integer for `exit_code`, found {}", describe(value));
                let note = "`exit_code` takes a single number".to_owned();
                MessageParts { message, note: Some(note), ..words }.help("write a task for each exit code")
            }
            Form::NoExitCode => {
                let fixes = fix::without_comma(value, Type::Integer).map_or(words.fixes, |fix| vec![fix]);
                MessageParts {
                    message: format!("expected an integer for `exit_code`, found {}", describe(value)),
                    help: fixes.first().map(|fix| fix.title.clone()),
                    fixes,
                    ..words
                }
            }
            Form::List(key) => {
                let help = format!("write an item `- {key}: …` for each string");
                // Commands may be meant as alternatives, and an output equals only one string.
                let is_open = ["ran", "not_ran", "output_equals"].contains(&key.as_str());
                let kind = if is_open { Fix::suggestion } else { Fix::safe };
                let entry = location.parent().and_then(|assertion| assertion.entry(key));
                match entry.and_then(|entry| edit::one_item_each(value, entry.key)) {
                    Some(edits) => MessageParts { fixes: vec![kind(help.clone(), edits)], ..words }.help(help),
                    None => words.help(help),
                }
            }
        }
    }
}

/// Returns the message for a string instead of a mapping.
fn in_braces(value: NodeRef<'_>, field: &str, more: &str, words: MessageParts) -> MessageParts {
    let text = value.as_str().unwrap_or_default();
    let written = format!("{{ {field}: {}{more} }}", show(&text.into()));
    let title = format!("write `{written}`");
    let is_plain = value.anchor().is_none() && value.tag().is_none() && !text.contains('\n');
    let kind = if more.is_empty() { Fix::safe } else { Fix::guess };
    match edit::replace(value, written).filter(|_| is_plain) {
        Some(edits) => MessageParts { fixes: vec![kind(title.clone(), edits)], ..words }.help(title),
        None => words.help(title),
    }
}
