//! Skills of a scripted gateway that are not given as a command.

use crate::{
    finding::{MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, Fix},
    quoting::scalar,
};

pub(crate) fn check(skill: &LintNode<'_>, report: &mut Report) {
    if let Some(text) = skill.text().filter(|text| !text.is_empty() && !text.starts_with('/')) {
        let command = format!("/{text}");
        let edits = skill.replaced(scalar(&command)).filter(|_| !text.contains(char::is_whitespace));
        let words = MessageParts::new(format!("`{text}` is not a slash command"))
            .note("the webhook expects a command such as `/daily-brief`")
            .remedy(format!("change it to `{command}`"), Fix::guess, edits);
        report.push(skill.problem(Code::InvalidValue, words));
    }
}
