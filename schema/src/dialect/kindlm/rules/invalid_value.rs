//! Values in KindLM suites that another program parses: the shell, a provider.

use crate::{
    check::schema_file::UserSchema,
    dialect::kindlm::{tools::Tools, variables::Command},
    finding::{MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, Severity},
};

/// Checks the command of a test and the values inserted into it.
pub(crate) fn check_command(command: &Command<'_>, report: &mut Report) {
    let is_used = |name: &str| command.placeholders.iter().any(|placeholder| placeholder.name == name);
    let holds_nul = |part: &LintNode<'_>| part.text().is_some_and(|text| text.contains('\0'));
    let vars = command.vars.iter().filter(|(name, var)| holds_nul(var) && is_used(name)).map(|(_, var)| var);
    for part in Some(&command.lint_node).filter(|lint_node| holds_nul(lint_node)).into_iter().chain(vars) {
        let words = MessageParts::new("a command cannot contain a NUL character").help("remove it");
        report.push(part.part_problem("\\0", Code::InvalidValue, words));
    }
}

/// Checks `parameters` of tools, which must be a JSON Schema of an object.
pub(crate) fn check_tools(tools: &Tools<'_>, report: &mut Report) {
    for tool in &tools.tools {
        let parameters = tool.lint_node.get("parameters").filter(|it| it.is_mapping() && !it.is_empty());
        let Some(lint_node) = parameters else { continue };
        let Ok(value) = lint_node.node.to_value() else { continue };
        if let Err(error) = UserSchema::read(value.to_string().as_bytes()) {
            let words = MessageParts::new("`parameters` is not a valid JSON Schema")
                .note(error.message)
                .note("the provider rejects the request");
            report.push(lint_node.head_problem(Code::InvalidValue, words).with_severity(Severity::Warning));
        }
    }
}
