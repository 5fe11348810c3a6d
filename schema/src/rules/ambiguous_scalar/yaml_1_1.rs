//! Words without quotes that YAML 1.1 does not read as strings.

use crate::{
    document::{Scalar, ScalarRules, Style, is_ambiguous},
    edit,
    finding::{Finding, MessageParts, Report},
    format::Format,
    problem::{Code, Fix},
    shape::Type,
    walk::Value,
};

/// Checks a value such as `yes` of a format whose tool does not read YAML 1.1.
pub(crate) fn check(value: &Value<'_, '_>, format: &dyn Format, report: &mut Report) {
    let node = value.node;
    let Some(text) = node.text().filter(|text| may_differ(text)) else { return };
    if node.style() == Some(Style::Plain)
        && node.scalar() == Some(Scalar::Text)
        && is_ambiguous(text)
        && format.scalar_rules() != ScalarRules::Yaml11
        && value.shape().is_some_and(|shape| shape.kind() == Type::Text)
    {
        let lint_node = value.lint_node();
        // A value that is not allowed is not allowed in quotes either.
        let quoted = serde_json::Value::from(text).to_string();
        let words = MessageParts::new(format!("YAML 1.1 does not read `{text}` as a string"));
        let words = words.remedy(format!("write `{quoted}`"), Fix::safe, edit::quote(node));
        let finding = Finding::stated(Code::AmbiguousScalar, words, lint_node.at.clone(), node.own_range());
        report.push(finding.unless_wrong(lint_node.at));
    }
}

/// Whether a check is necessary: most strings begin with a letter with which no number or boolean begins.
fn may_differ(text: &str) -> bool {
    text.len() <= 32
        && text.bytes().next().is_some_and(|first| {
            first.is_ascii_digit()
                || matches!(first, b'+' | b'-' | b'.' | b'=' | b'<' | b'y' | b'Y' | b'n' | b'N' | b'o' | b'O')
        })
}
