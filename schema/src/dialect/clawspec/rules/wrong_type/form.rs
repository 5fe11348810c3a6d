//! Scenario parts in another form: sentences instead of assertions, a list instead of one action.

use crate::{
    dialect::clawspec::{
        assertion::Assertion,
        assertion_lists::{artifact_paths, comment},
    },
    document::Shape,
    edit,
    finding::{Finding, Location, MessageParts, Report, Rule, Scope},
    lint_node::LintNode,
    problem::{Code, Fix},
    shape::scalar,
    validate::describe,
};

/// A part in another form.
#[derive(Debug)]
enum OtherForm {
    /// A sentence instead of an assertion, which `: ` turns into a mapping.
    SplitSentence,
    /// Any other sentence.
    Sentence,
    /// The type of an assertion instead of the assertion.
    TypeName(String),
    /// A list of actions.
    Actions,
}

/// Checks the action of a scenario.
pub(crate) fn check_scenario(scenario: &LintNode<'_>, report: &mut Report) {
    if let Some(when) = scenario.get("when").filter(LintNode::is_list) {
        report.push(when.head_finding(OtherForm::Actions).instead_of(Scope::At(when.at.clone())));
    }
}

/// Checks an item of a list of assertions.
pub(crate) fn check_assertion(item: &LintNode<'_>, report: &mut Report) {
    if item.node.entries().nth(1).is_none()
        && let [(key, value)] = item.entries().as_slice()
        && item.is_mapping()
        && key.split_whitespace().nth(1).is_some()
        && value.node.text().is_some()
    {
        let finding = Finding::new(OtherForm::SplitSentence, item.at.clone(), value.head());
        report.push(finding.instead_of(Scope::In(item.at.clone())));
    } else if item.node.shape() == Shape::Scalar && !item.node.is_null() {
        let name = item.text().filter(|name| Assertion::type_info(name).is_some());
        let form = name.map_or(OtherForm::Sentence, |name| OtherForm::TypeName(name.to_owned()));
        report.push(item.finding(form).instead_of(Scope::At(item.at.clone())));
    }
}

/// Returns the fix that lets a model judge a sentence about an artifact.
fn judged(location: &Location<'_>) -> Option<Fix> {
    let lint_node = location.lint_node()?;
    let path = artifact_paths(location).into_iter().next()?;
    let rubric = serde_json::Value::from(format!("Score 1-5: {}", lint_node.node.text()?)).to_string();
    let words = format!("{{ type: llm_judge, path: {}, rubric: {rubric} }}", scalar(&path));
    Some(Fix::suggestion("check it with `llm_judge`", lint_node.replaced(words)?))
}

/// Returns the fix that converts a list with one action to a mapping.
fn only_action(when: &LintNode<'_>) -> Option<Fix> {
    let items = when.items();
    let [only] = items.as_slice() else { return None };
    let (text, invoke) = (only.text(), only.get("invoke"));
    // Other keys of the mapping would be lost.
    if text.is_none() && only.entries().len() != 1 {
        return None;
    }
    let invoke = invoke.or_else(|| text.map(|_| only.clone()))?;
    let line = format!("invoke: {}", edit::words(invoke.node)?);
    let edits = edit::mapping_of_item(when.entry()?, &line, invoke.node)?;
    let is_sure = edit::is_flow(when.node) || text.is_none_or(|text| text.starts_with('/'));
    let fix = if is_sure { Fix::safe } else { Fix::guess };
    Some(fix(format!("write `{{ {line} }}`"), edits))
}

impl Rule for OtherForm {
    const CODE: Code = Code::WrongType;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        const WRITE: &str = "write a mapping with `type`, or comment it out";
        match self {
            OtherForm::SplitSentence => MessageParts::new("expected an assertion, found a mapping without `type`")
                .note("`: ` turns it into a mapping")
                .help(WRITE)
                .fix(comment(location, location.at)),
            OtherForm::Sentence => MessageParts::new(format!(
                "expected an assertion, found {}",
                location.node().map(describe).unwrap_or_default()
            ))
                .note("ClawSpec rejects the file")
                .help(WRITE)
                .fix(judged(location))
                .fix(comment(location, location.at)),
            OtherForm::TypeName(name) => MessageParts::new(format!("expected an assertion, found the string `{name}`"))
                .help(format!("write `type: {name}`, and the keys that it needs"))
                .fix(comment(location, location.at)),
            OtherForm::Actions => MessageParts::new("expected a mapping for `when`, found a list")
                .help("write one action, `when: { invoke, params }`, and move every other action to a scenario of its own")
                .fix(location.lint_node().and_then(|when| only_action(&when))),
        }
    }
}
