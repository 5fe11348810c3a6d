use crate::{
    dialect::cli_bench::asserted::Asserted,
    edit,
    finding::{Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    problem::{Code, Fix},
};

/// A list of assertions without a check of the exit code.
#[derive(Debug)]
struct NoExitCode;

/// Checks the assertions of a task.
pub(crate) fn check_task(task: &LintNode<'_>, asserted: &Asserted<'_>, report: &mut Report) {
    let Some(types) = &asserted.types else { return };
    // Next to the list it is only misplaced, which is reported separately.
    if task.get("exit_code").is_none()
        && !types.iter().any(|name| matches!(&**name, "exit_code" | "verify"))
        && !asserted.are_idle()
    {
        report.push(asserted.list.head_finding(NoExitCode));
    }
}

impl Rule for NoExitCode {
    const CODE: Code = Code::NoExitCode;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let help = "add `exit_code: 0`";
        let edits = location.node().and_then(|list| edit::item_at_front(list, "exit_code: 0"));
        MessageParts::new("no assertion checks whether the command succeeded").remedy(help, Fix::guess, edits)
    }
}
