//! Variables of KindLM that no placeholder can name, and responses that are never used.

use crate::{
    dialect::kindlm::{
        parts::TestParts,
        variables::{self, Command, Reason},
    },
    finding::{MessageParts, Relation, Report},
    lint_node::LintNode,
    problem::{Code, Severity},
};

/// Maximum number of responses of a tool to compare with each other.
const MAX_RESPONSES: usize = 256;

/// Checks the variables of a test, and the responses of its tools.
pub(crate) fn check_test(parts: &TestParts<'_>, report: &mut Report) {
    for (name, var) in variables::vars(&parts.test).into_iter().filter(|(name, _)| name.starts_with("env.")) {
        let words = MessageParts::new(format!("`{name}` is never used"))
            .note("KindLM does not expand names that begin with `env.`")
            .help("remove it");
        report.push(var.head_problem(Code::NoEffect, words));
    }
    parts.tools.tools.iter().for_each(|tool| check_responses(&tool.lint_node, report));
}

/// Reports responses to calls that an earlier response already answers.
fn check_responses(tool: &LintNode<'_>, report: &mut Report) {
    let responses = tool.get("responses").map(|list| list.items()).unwrap_or_default();
    let conditions: Vec<_> = responses
        .iter()
        .map(|response| Some(response.get("when")?.node.to_value().ok()?.as_object()?.clone()))
        .collect();
    for (index, response) in responses.iter().enumerate() {
        let Some(own) = &conditions[index] else { continue };
        let covers = |other: &serde_json::Map<String, serde_json::Value>| {
            other.iter().all(|(key, value)| own.get(key) == Some(value))
        };
        let before = &conditions[..index.min(MAX_RESPONSES)];
        let Some(first) = before.iter().position(|other| other.as_ref().is_some_and(covers)) else { continue };
        let is_equal = conditions[first].as_ref() == Some(own);
        let first = &responses[first];
        let words = MessageParts::new("this response is never used")
            .note("an earlier response matches every call that this one would match")
            .help(if is_equal { "remove one of the two" } else { "move it before the earlier one" });
        let finding = response.head_problem(Code::NoEffect, words).with_severity(Severity::Warning);
        report.push(finding.related(Relation::Labelled("the earlier one"), first.at.clone(), first.head()));
    }
}

/// Reports variables whose names are not valid in a placeholder of the command.
pub(crate) fn check_command(command: &Command<'_>, report: &mut Report) {
    for (name, var) in command.idle_as(Reason::Unnameable) {
        let words = MessageParts::new(format!("`{name}` cannot be used as a template variable"))
            .help("use only ASCII letters, digits, `_` and `.`");
        report.push(var.head_problem(Code::NoEffect, words));
    }
}
