//! Keys of ClawSpec assertions that only seem to check something.

use crate::{
    dialect::clawspec::{routing::Routing, typed_assertion::TypedAssertion},
    finding::{Location, MessageParts, Report, Rule, Scope},
    lint_node::LintNode,
    problem::{Code, Fix},
};

/// A part of an assertion that is not checked.
#[derive(Debug)]
enum Unchecked {
    /// A file next to `state_path`.
    BesideState,
    /// A file with a list of words, next to `words`.
    BesideWords,
    /// A time in an assertion of a type that ignores it.
    Time(&'static str),
    /// A time without a value.
    NoTime,
    /// A decision without an agent.
    NoAgent,
}

/// Checks an assertion.
pub(crate) fn check_assertion(assertion: &TypedAssertion<'_>, report: &mut Report) {
    let Some(info) = assertion.info else { return };
    let both = |one: &str, other: &str| Some((assertion.get(one)?, assertion.get(other)?));
    match info.name {
        "state_file" => {
            if let Some((path, state)) = both("path", "state_path") {
                let finding =
                    [&path, &state].into_iter().fold(path.head_finding(Unchecked::BesideState), |it, lint_node| {
                        it.instead_of(Scope::CodeAt(Code::ConflictingFields, lint_node.at.clone()))
                    });
                report.push(finding);
            }
        }
        "artifact_absent_words" => {
            if let Some((_, source)) = both("words", "source") {
                report.push(source.head_finding(Unchecked::BesideWords));
            }
        }
        "delegation_path" => check_decisions(assertion, report),
        _ => {}
    }
    if let Some(time) = assertion.get("updated_after") {
        if !info.waits {
            report.push(time.head_finding(Unchecked::Time(info.name)));
        } else if time.node.is_null() || time.text() == Some("") {
            report.push(time.head_finding(Unchecked::NoTime).instead_of(Scope::At(time.at.clone())));
        }
    }
}

/// Checks that routing decisions name an agent.
fn check_decisions(assertion: &LintNode<'_>, report: &mut Report) {
    for decision in Routing::of(assertion).map(|routing| routing.decisions()).unwrap_or_default() {
        let is_filled = |lint_node: &LintNode<'_>| lint_node.text().is_some_and(|text| !text.is_empty());
        let names_agent =
            || ["selected_agent", "agent"].iter().any(|key| decision.get(key).as_ref().is_some_and(is_filled));
        if !is_filled(&decision) && !names_agent() {
            report.push(decision.finding(Unchecked::NoAgent).unless_wrong(decision.at.clone()));
        }
    }
}

impl Rule for Unchecked {
    const CODE: Code = Code::Unchecked;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let assertion = location.holder();
        let without = |key: &str| assertion.as_ref().and_then(|it| it.without(&it.get(key)?));
        match self {
            Unchecked::BesideState => MessageParts::new("`path` has no effect with `state_path`")
                .help("remove one of the two")
                .fix(without("path").map(|edits| Fix::suggestion("remove `path`", edits))),
            Unchecked::BesideWords => {
                let has_key = assertion.as_ref().is_some_and(|it| it.get("key").is_some());
                let edits = without("source").filter(|_| !has_key);
                MessageParts::new("`source` has no effect with `words`")
                    .help("remove one of the two")
                    .fix(edits.map(|edits| Fix::suggestion("remove `source`", edits)))
            }
            Unchecked::Time(kind) => MessageParts::new(format!("`{kind}` does not check `updated_after`"))
                .note("only `state_file` and the types that begin with `artifact_` check it")
                .remedy("remove `updated_after`", Fix::suggestion, without("updated_after")),
            Unchecked::NoTime => MessageParts::new("`updated_after` has no value, so a file of any age passes")
                .help("write a time, such as `\"{{run_started_at}}\"`, or remove the key"),
            Unchecked::NoAgent => MessageParts::new("this decision does not name an agent, so it is skipped")
                .help("write the name of an agent, or `agent: NAME`"),
        }
    }
}
