//! Unquoted strings with a sign that means something else than it seems: a comma that ends the string in `{…}`, and a
//! quote at the end only.

use crate::{
    document::{Scalar, Style},
    edit,
    finding::{Finding, MessageParts, Report, Scope},
    problem::{Code, Fix, Severity},
    walk::Value,
};

pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    if let Some(finding) = ended_by_comma(value) {
        report.push(finding);
    }
    let quote = value.text.filter(|_| value.node.style() == Some(Style::Plain)).and_then(closing_quote);
    if let Some(quote) = quote {
        let words = MessageParts::new(format!("the `{quote}` at the end is part of the string"))
            .help("put one at the beginning too, or remove it");
        report.push(value.lint_node().problem(Code::AmbiguousScalar, words).with_severity(Severity::Warning));
    }
}

fn ended_by_comma(value: &Value<'_, '_>) -> Option<Finding> {
    let (key, mapping) = value.lone_key()?;
    let word = key.as_str().filter(|_| key.style() == Some(Style::Plain))?;
    let before = mapping.node.entries().take_while(|entry| entry.key.range() != key.range()).last()?.value;
    let is_string = before.style() == Some(Style::Plain) && before.scalar() == Some(Scalar::Text);
    let fields = mapping.shape()?.all_fields();
    let is_known = fields.is_empty() || fields.iter().any(|field| field.name == word);
    // A colon without a value is another mistake.
    let has_colon = value.node.own_range().start > key.own_range().end;
    if has_colon || !is_string || is_known || !edit::nodes::is_flow(mapping.node) || before.alias().is_some() {
        return None;
    }
    let whole = before.own_range().start..key.own_range().end;
    let lint_node = value.lint_node();
    let range = before.own_range().end..before.own_range().end + 1;
    let words = MessageParts::new("a comma ends an unquoted string in `{…}`")
        .note(format!("`{word}` is a key without a value"));
    let words = match edit::quote_with(before, &whole) {
        Some((quoted, edits)) => words.remedy(format!("write `{quoted}`"), Fix::guess, Some(edits)),
        None => words.help("put the string in quotes"),
    };
    let finding = Finding::stated(Code::AmbiguousScalar, words, lint_node.at.clone(), range);
    Some(finding.with_severity(Severity::Error).instead_of(Scope::In(lint_node.at)))
}

/// Returns the quote that ends a text without another one. After a number it may be a unit, after an `s` an apostrophe.
fn closing_quote(text: &str) -> Option<char> {
    let quote = text.chars().next_back().filter(|last| matches!(last, '"' | '\''))?;
    let rest = &text[..text.len() - 1];
    let before = rest.chars().next_back()?;
    let is_alone = !rest.contains(quote) && !before.is_ascii_digit() && before != '\\';
    (is_alone && !(quote == '\'' && (before == 's' || rest.contains(' ')))).then_some(quote)
}
