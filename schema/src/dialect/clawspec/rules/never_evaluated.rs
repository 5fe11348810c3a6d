//! Assertion types that ClawSpec accepts but does not define.

use crate::{
    dialect::clawspec::{assertion::Category, assertion_lists::comment, typed_assertion::TypedAssertion},
    finding::{Location, MessageParts, Report, Rule},
    problem::Code,
};

/// A type that cannot be evaluated.
#[derive(Debug)]
struct Undefined(String);

/// Checks the type of an assertion.
pub(crate) fn check_assertion(assertion: &TypedAssertion<'_>, report: &mut Report) {
    if let Some(info) = assertion.info.filter(|info| info.category == Category::Unsupported) {
        report.extend(assertion.get("type").map(|kind| kind.finding(Undefined(info.name.to_owned()))));
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
