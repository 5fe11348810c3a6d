//! Skills of a scripted gateway that are not given as a command.

use crate::{
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix},
    shape::scalar,
};

/// Name of a skill without the `/` of its command.
#[derive(Debug)]
struct NoSlash(String);

/// Checks the skill of a run.
pub(crate) fn check(skill: &LintNode<'_>, report: &mut Report) {
    if let Some(text) = skill.text().filter(|text| !text.is_empty() && !text.starts_with('/')) {
        report.push(skill.finding(NoSlash(text.to_owned())));
    }
}

impl Rule for NoSlash {
    const CODE: Code = Code::InvalidValue;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let NoSlash(text) = self;
        let help = format!("change it to `/{text}`");
        let edits = location.replaced(scalar(&format!("/{text}"))).filter(|_| !text.contains(char::is_whitespace));
        MessageParts::new(format!("`{text}` is not a slash command"))
            .note("the webhook expects a command such as `/daily-brief`")
            .remedy(help, Fix::guess, edits)
    }
}
