//! Assertion types that ClawSpec accepts but does not define.

use crate::{
    dialect::clawspec::{
        assertion::{Assertion, Category},
        assertion_lists::comment,
    },
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::Code,
};

/// A type that cannot be evaluated.
#[derive(Debug)]
struct Undefined(String);

/// Checks the type of an assertion.
pub(crate) fn check_assertion(assertion: &LintNode<'_>, report: &mut Report) {
    let Some(name) = assertion.text_at("type") else { return };
    if Assertion::type_info(name).is_some_and(|info| info.category == Category::Unsupported) {
        report.extend(assertion.get("type").map(|kind| kind.finding(Undefined(name.to_owned()))));
    }
}

impl Rule for Undefined {
    const CODE: Code = Code::NeverEvaluated;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        MessageParts::new(format!("`{}` cannot be evaluated", self.0))
            .note("ClawSpec accepts the type but aborts with an error, because nothing defines what it checks")
            .help("remove it")
            .fix(location.at.parent().and_then(|assertion| comment(location, &assertion)))
    }
}
