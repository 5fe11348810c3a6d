//! Keys without a value in cli-bench suites: many count as absent.

use crate::{
    dialect::cli_bench::{asserted, assertions::Assertion},
    finding::{Explanation, Finding, Location, MessageParts},
    problem::{Code, Severity},
    validate::Context,
};

/// Required keys; for all other keys, an empty value counts as an absent key.
const REQUIRED: [&str; 9] = ["cli", "tasks", "id", "intent", "assert", "path", "text", "pattern", "run"];

/// Keys whose empty members are not absent: environment variables, and parts of an assertion, which must not become
/// weaker.
const HOLDERS: [&str; 5] = ["env", "models", "file_contains", "run_count", "verify"];

/// A key without a value that counts as absent.
#[derive(Debug)]
struct Absent;

/// Explains a key without a value that counts as absent.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    let at = finding.at();
    let value = context.node.find(at).filter(|value| value.is_null() && !value.is_through_alias());
    let key = context.key_at(at);
    let holder = at.parent().and_then(|parent| parent.last()).unwrap_or_default();
    let is_optional = |key: &str| !REQUIRED.contains(&key) && !Assertion::NAMES.contains(&key);
    let is_absent = finding.code() == Code::WrongType
        && value.is_some()
        && key.is_some_and(|key| is_optional(&key))
        && !asserted::is_in_assertion(at)
        && !HOLDERS.contains(&holder.as_str());
    if is_absent { finding.explained(Absent).with_severity(Severity::Hint) } else { finding }
}

impl Explanation for Absent {
    fn message(&self, said: MessageParts, _: &Location<'_>) -> MessageParts {
        MessageParts { note: Some("it has no effect".to_owned()), ..said }
    }
}
