use crate::{
    dialect::clawspec::stages::Condition,
    document::NodeRef,
    edit,
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix, Problem},
    words::nearest,
};

/// An unknown condition.
#[derive(Debug)]
struct UnknownCondition {
    text: String,
    near: Option<&'static str>,
}

/// Checks a condition on the whole run.
pub(crate) fn check_health(health: &LintNode<'_>, report: &mut Report) {
    let Some(check) = health.get("check") else { return };
    let Some(text) = check.text().filter(|text| !text.is_empty()) else { return };
    if Condition::parse(text).is_none() {
        report.push(check.finding(UnknownCondition { text: text.to_owned(), near: nearest(text, Condition::WRITTEN) }));
    }
}

/// Adds the fix that comments out an unknown condition with its description, because another condition would not match
/// it.
pub(crate) fn fix_across(root: NodeRef<'_>, problems: &mut [Problem]) {
    let unknown = problems.iter_mut().filter(|it| it.code == Code::UnsupportedExpression && it.fixes.is_empty());
    for problem in unknown {
        let edits = problem.at.parent().and_then(|check| edit::comment_out(root, &check));
        problem.fixes.extend(edits.map(Fix::comment));
    }
}

impl Rule for UnknownCondition {
    const CODE: Code = Code::UnsupportedExpression;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let words = MessageParts::new(format!("`{}` is not a supported health check", self.text))
            .note("ClawSpec aborts the run with an error");
        match self.near {
            Some(near) => words.remedy(format!("change it to `{near}`"), Fix::guess, location.replaced(near)),
            None => {
                let [first, second, _] = Condition::WRITTEN;
                words.help(format!("write `{first}`, `{second}` or `elapsed <= 30m`, or comment it out"))
            }
        }
    }
}
