//! Answers of a script without content.

use crate::{
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::Code,
    validate::is_damaged,
};

/// An answer with neither `say` nor `fail`.
#[derive(Debug)]
struct SaysNothing;

/// Checks the answers to questions.
pub(crate) fn check_answers(answers: &LintNode<'_>, report: &mut Report) {
    for answer in answers.items().into_iter().filter(|answer| answer.is_mapping() && !is_damaged(answer.node)) {
        if answer.get("say").is_none() && answer.get("fail").is_none() {
            report.push(answer.head_finding(SaysNothing));
        }
    }
}

impl Rule for SaysNothing {
    const CODE: Code = Code::MissingField;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new("missing `say`").help("add `say`, or `fail` to simulate an error")
    }
}
