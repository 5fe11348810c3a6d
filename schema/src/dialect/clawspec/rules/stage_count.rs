use crate::{
    finding::{Location, MessageParts, Relation, Report, Rule, Scope},
    lint_node::LintNode,
    problem::{Code, Fix},
    validate::is_damaged,
};

/// A number that differs from the length of the list.
#[derive(Debug)]
struct OtherCount {
    written: String,
    actual: usize,
}

/// Checks the number of stages of a pipeline.
pub(crate) fn check_root(root: &LintNode<'_>, report: &mut Report) {
    let (Some(count), Some(stages)) =
        (root.find(&["pipeline", "stages"]), root.get("stages").filter(LintNode::is_list))
    else {
        return;
    };
    let actual = stages.items().len();
    // An empty list is reported separately.
    if actual == 0 || count.number().is_none_or(|count| count == actual as f64) || is_damaged(root.node) {
        return;
    }
    let rule = OtherCount { written: count.node.text().unwrap_or_default().to_owned(), actual };
    let finding = count.finding(rule).related(Relation::Labelled("the list"), stages.at.clone(), stages.head());
    // An impossible number is corrected from the list.
    report.push(finding.instead_of(Scope::CodeAt(Code::OutOfRange, count.at.clone())).unless_wrong(count.at.clone()));
}

impl Rule for OtherCount {
    const CODE: Code = Code::StageCount;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let OtherCount { written, actual } = self;
        let edits = location.replaced(actual.to_string());
        let items = if *actual == 1 { "item" } else { "items" };
        MessageParts::new(format!("`pipeline.stages` is {written}, but the list `stages` has {actual} {items}")).remedy(
            format!("change it to {actual}"),
            Fix::guess,
            edits,
        )
    }
}
