use crate::{
    dialect::cli_bench::asserted::Asserted,
    finding::{Location, MessageParts, Report, Rule},
    problem::Code,
};

/// An assertion about the output of a task that expects several commands.
#[derive(Debug)]
struct LastCommandOnly;

/// Checks the assertions of a task.
pub(crate) fn check_assertions(asserted: &Asserted<'_>, report: &mut Report) {
    if asserted.types.is_none() {
        return;
    }
    let ran = asserted.texts("ran");
    let [(first, _), (_, second), ..] = ran.as_slice() else { return };
    let are_different = ran.iter().any(|(text, _)| text != first);
    let output = ["output_contains", "output_equals"].iter().find_map(|name| asserted.all(name).into_iter().next());
    if let Some(output) = output.filter(|_| are_different) {
        report.push(output.head_finding(LastCommandOnly).with("another command", second));
    }
}

impl Rule for LastCommandOnly {
    const CODE: Code = Code::LastCommandOnly;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new("this assertion checks only the output of the last command")
            .note("the task expects several commands, and the model decides which one runs last")
            .help("check the other commands with `ran` or `verify`")
    }
}
