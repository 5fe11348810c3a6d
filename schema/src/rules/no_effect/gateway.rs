//! Answers of a scripted gateway that are never used.

use crate::{
    finding::{Location, MessageParts, Relation, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Severity},
};

/// A second answer in one run.
#[derive(Debug)]
struct SecondAnswer;

/// Checks the steps of one run.
pub(crate) fn check(steps: &[LintNode<'_>], report: &mut Report) {
    let mut answers = steps.iter().filter_map(|step| step.get("answer"));
    let Some(first) = answers.next() else { return };
    for answer in answers {
        let place = Relation::Labelled("the earlier answer");
        report.push(answer.head_finding(SecondAnswer).related(place, first.at.clone(), first.head()));
    }
}

impl Rule for SecondAnswer {
    const CODE: Code = Code::NoEffect;
    const SEVERITY: Severity = Severity::Warning;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new("this answer is never used").note("a run has only one answer").help("remove one of the two")
    }
}
