//! Words without quotes that YAML 1.1 does not read as strings.

use crate::{
    dialect::Format,
    document::{Scalar, ScalarRules, Style, is_ambiguous},
    edit,
    finding::{Finding, Location, MessageParts, Report, Rule},
    problem::{Code, Fix},
    shape::Type,
    walk::Value,
};

/// A string such as `yes`.
#[derive(Debug)]
struct Ambiguous {
    text: String,
}

/// Checks a value of a format whose tool does not read YAML 1.1.
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
        let finding = Finding::new(Ambiguous { text: text.to_owned() }, lint_node.at.clone(), node.own_range());
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

impl Rule for Ambiguous {
    const CODE: Code = Code::AmbiguousScalar;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let text = &self.text;
        let quoted = serde_json::Value::from(text.as_str()).to_string();
        MessageParts::new(format!("YAML 1.1 does not read `{text}` as a string")).remedy(
            format!("write `{quoted}`"),
            Fix::safe,
            location.node().and_then(edit::quote),
        )
    }
}
