//! Plain scalars of ClawSpec files with an unexpected meaning, at places where any value is allowed.

use crate::{
    document::{Pointer, Scalar, Style, is_ambiguous},
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix, Severity},
};

/// A scalar that YAML 1.1 reads differently than YAML 1.2.
#[derive(Debug)]
struct Yaml11(String);

/// A string where a boolean is expected.
#[derive(Debug)]
struct AlwaysTrue;

/// Checks the expected values of a state file.
pub(crate) fn check_assertion(assertion: &LintNode<'_>, report: &mut Report) {
    for member in ["expected_status", "expected_fields"].into_iter().filter_map(|key| assertion.get(key)) {
        walk(&member, &member.at, report);
    }
}

/// Checks the parameters of an action.
pub(crate) fn check_scenario(scenario: &LintNode<'_>, report: &mut Report) {
    if let Some(params) = scenario.find(&["when", "params"]) {
        walk(&params, &params.at, report);
    }
    if let Some(mode) = scenario.find(&["when", "params", "test_mode"]).filter(|mode| mode.text().is_some()) {
        report.push(mode.finding(AlwaysTrue));
    }
}

/// Checks the scalars of a value. A value that is not valid at its place is reported separately.
fn walk(lint_node: &LintNode<'_>, whole: &Pointer, report: &mut Report) {
    if lint_node.node.alias().is_some() {
        return;
    }
    if let Some(text) = lint_node.node.text() {
        let is_plain = lint_node.node.style() == Some(Style::Plain);
        if is_plain && is_ambiguous(text) && !is_like_number(text) && meaning(lint_node).is_some() {
            report.push(lint_node.finding(Yaml11(text.to_owned())).unless_wrong(whole.clone()));
        }
        return;
    }
    lint_node.items().iter().for_each(|item| walk(item, whole, report));
    lint_node.entries().iter().for_each(|(_, member)| walk(member, whole, report));
}

/// Whether another rule reports a scalar, as a number that is not its text.
fn is_like_number(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit() || "+-.".contains(first)) && !Scalar::is_timestamp(text)
}

/// Returns the meaning of a scalar in words.
fn meaning(lint_node: &LintNode<'_>) -> Option<String> {
    match lint_node.node.scalar()? {
        Scalar::Bool(value) => Some(format!("`{value}`")),
        Scalar::Timestamp => Some("a date".to_owned()),
        Scalar::Text => Some("a string".to_owned()),
        Scalar::Int(_) | Scalar::Float(_) | Scalar::Null => None,
    }
}

impl Rule for Yaml11 {
    const CODE: Code = Code::AmbiguousScalar;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let lint_node = location.lint_node();
        let meaning = lint_node.as_ref().and_then(meaning).unwrap_or_default();
        let quoted = serde_json::Value::from(self.0.as_str()).to_string();
        let help = format!("write `{quoted}` to make it a string");
        let edits = lint_node.and_then(|lint_node| lint_node.replaced(quoted.clone()));
        let fix = edits.map(|edits| Fix::suggestion(format!("write `{quoted}`"), edits));
        MessageParts::new(format!("`{}` is {meaning} in YAML 1.1, which ClawSpec reads", self.0)).help(help).fix(fix)
    }
}

impl Rule for AlwaysTrue {
    const CODE: Code = Code::AmbiguousScalar;
    const SEVERITY: Severity = Severity::Warning;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let text = location.node().and_then(|node| node.text()).unwrap_or_default();
        MessageParts::new(format!("the string `{text}` counts as true for `test_mode`"))
            .help("write `true` or `false` without quotes")
    }
}
