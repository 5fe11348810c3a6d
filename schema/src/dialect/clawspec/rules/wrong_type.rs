//! Values in ClawSpec files with another type than they seem to have: dates, merged mappings, data to send.

use crate::{
    dialect::clawspec::rules::unread::{is_moment, quoted},
    dialect::clawspec::{facts::About, parts::Member, waiting::is_date},
    document::{NodeRef, Scalar, Shape as NodeShape, Style},
    finding::{Explanation, Finding, Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::Code,
    relations::Items,
    shape::Type,
    validate::{Context, Definition, describe},
};

pub(crate) mod form;

/// A value of the wrong type.
#[derive(Debug)]
enum WrongType {
    /// A date instead of a string.
    Date(String),
    /// A date that ClawSpec cannot send unless it is a string.
    UnusableDate(String),
    /// A value after `<<` that is not a mapping.
    Merged,
    /// A message for an agent that is not a string.
    TaskNotText,
}

/// A number or boolean that would be invalid even in quotes.
#[derive(Debug)]
struct NoText {
    wanted: Wanted,
}

/// Expected value.
#[derive(Debug)]
enum Wanted {
    Address,
    Time,
}

/// Explains a number instead of a string.
pub(crate) fn explain(context: &Context<'_>, finding: Finding) -> Finding {
    let wanted = match finding.at().last().as_deref() {
        Some("endpoint") => Wanted::Address,
        Some("updated_after") => Wanted::Time,
        Some(_) | None => return finding,
    };
    let is_assertion =
        || finding.at().parent().and_then(|at| context.node.find(&at)).is_some_and(|it| it.entry("type").is_some());
    let value = context.node.find(finding.at()).and_then(NodeRef::scalar);
    let is_number = matches!(value, Some(Scalar::Int(_) | Scalar::Float(_) | Scalar::Bool(_)));
    if finding.code() == Code::WrongType && is_number && is_assertion() {
        finding.explained(NoText { wanted })
    } else {
        finding
    }
}

/// Checks a value that must be a string: a date is not one.
pub(crate) fn check_date(member: &Member<'_, '_>, root: &LintNode<'_>, definition: Definition, report: &mut Report) {
    if let Some(text) = member.node.text().filter(|text| is_date(member.node) && is_moment(text)) {
        let lint_node = member.lint_node();
        let shape = definition.shape().below(&lint_node.at, Some(root.node));
        if shape.is_some_and(|shape| shape.kind() == Type::Text) {
            report.push(lint_node.finding(WrongType::Date(text.to_owned())).unless_wrong(lint_node.at.clone()));
        }
    }
}

/// Checks the value of a merge key.
pub(crate) fn check_merge(member: &Member<'_, '_>, key: NodeRef<'_>, report: &mut Report) {
    if key.text() == Some("<<") && key.style() == Some(Style::Plain) {
        let fits = |node: NodeRef<'_>| node.shape() == NodeShape::Mapping;
        let value = member.node;
        let is_merged = fits(value) || value.shape() == NodeShape::Sequence && value.items().all(fits);
        if !is_merged && value.shape() != NodeShape::Dangling {
            report.push(member.lint_node().finding(WrongType::Merged));
        }
    }
}

/// Checks the data of an action: a date cannot be sent.
pub(crate) fn check_scenario(scenario: &LintNode<'_>, report: &mut Report) {
    if let Some(params) = scenario.find(&["when", "params"]) {
        dates(&params, report);
    }
}

fn dates(lint_node: &LintNode<'_>, report: &mut Report) {
    if lint_node.node.alias().is_some() {
        return;
    }
    if is_date(lint_node.node) {
        report.push(lint_node.finding(WrongType::UnusableDate(lint_node.node.text().unwrap_or_default().to_owned())));
    }
    lint_node.items().iter().for_each(|item| dates(item, report));
    lint_node.entries().iter().for_each(|(_, member)| dates(member, report));
}

/// Checks the messages of the scenarios of an agent.
pub(crate) fn check_params(root: &LintNode<'_>, scenarios: Items<'_>, report: &mut Report) {
    if root.find(&["target", "type"]).is_some_and(|kind| kind.text() == Some("agent")) {
        let params = scenarios.about(About::Params).filter_map(|(index, facts)| Some((index, facts.params.as_ref()?)));
        for (index, params) in params {
            if params.is_task {
                let (at, range) = scenarios.place(index, &params.place);
                report.push(Finding::new(WrongType::TaskNotText, at, range));
            }
        }
    }
}

impl Explanation for NoText {
    fn message(&self, said: MessageParts, location: &Location<'_>) -> MessageParts {
        let (wanted, help) = match self.wanted {
            Wanted::Address => ("a URL", "write the full URL, such as `http://127.0.0.1:18789/health`"),
            Wanted::Time => ("a time", "write a time, such as `\"{{run_started_at}}\"`"),
        };
        let found = location.node().map(describe).unwrap_or_default();
        let key = location.at.last().unwrap_or_default();
        let message = format!("expected {wanted} for `{key}`, found {found}");
        MessageParts { message, fixes: Vec::new(), ..said }.help(help)
    }
}

impl Rule for WrongType {
    const CODE: Code = Code::WrongType;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let found = || location.node().map(describe).unwrap_or_default();
        match self {
            WrongType::Date(text) => {
                let is_tagged = location.node().is_some_and(|node| node.resolved().tag().is_some());
                let note = match is_tagged {
                    true => "with the tag `!!timestamp`, it is not a string",
                    false => "ClawSpec reads YAML 1.1, in which an unquoted date is not a string",
                };
                let words = MessageParts::new(format!("expected a string, found the date `{text}`")).note(note);
                quoted(words, location, text)
            }
            WrongType::UnusableDate(text) => {
                let words = MessageParts::new(format!("expected a string, found the date `{text}`"))
                    .note("ClawSpec aborts with an error");
                quoted(words, location, text)
            }
            WrongType::Merged => MessageParts::new(format!("expected a mapping for `<<`, found {}", found()))
                .note("ClawSpec rejects the file"),
            WrongType::TaskNotText => MessageParts::new(format!("expected a string for `task`, found {}", found()))
                .note("it is the message that the agent receives")
                .help("put it in quotes"),
        }
    }
}
