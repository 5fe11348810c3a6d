//! Answers of a script without content.

use crate::{
    finding::{Report, Rule, Site, Words},
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

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new("missing `say`").help("add `say`, or `fail` to simulate an error")
    }
}
