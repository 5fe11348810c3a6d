//! Answers of a script without content.

use crate::{
    finding::{MessageParts, Report},
    lint_node::LintNode,
    problem::Code,
    validate::is_damaged,
};

pub(crate) fn check_answers(answers: &LintNode<'_>, report: &mut Report) {
    for answer in answers.items().into_iter().filter(|answer| answer.is_mapping() && !is_damaged(answer.node)) {
        if answer.get("say").is_none() && answer.get("fail").is_none() {
            let words = MessageParts::new("missing `say`").help("add `say`, or `fail` to simulate an error");
            report.push(answer.head_problem(Code::MissingField, words));
        }
    }
}
