//! Answers of a scripted gateway that are never used.

use crate::{
    finding::{MessageParts, Relation, Report},
    lint_node::LintNode,
    problem::{Code, Severity},
};

pub(crate) fn check(steps: &[LintNode<'_>], report: &mut Report) {
    let mut answers = steps.iter().filter_map(|step| step.get("answer"));
    let Some(first) = answers.next() else { return };
    for answer in answers {
        let place = Relation::Labelled("the earlier answer");
        let words = MessageParts::new("this answer is never used")
            .note("a run has only one answer")
            .help("remove one of the two");
        let finding = answer.head_problem(Code::NoEffect, words).with_severity(Severity::Warning);
        report.push(finding.related(place, first.at.clone(), first.head()));
    }
}
