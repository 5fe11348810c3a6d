use crate::{
    dialect::cli_bench::config::Config,
    finding::{Location, MessageParts, Report, Rule},
    json_schema::SpecFile,
    lint_node::LintNode,
    problem::{Code, Fix},
    shape::Shape,
    validate::line_in_order,
};

/// Key of the number of simultaneous requests to models.
const CONCURRENCY: &str = "concurrency";

/// A directory that all tasks share.
#[derive(Debug)]
struct SharedWorkdir;

/// Checks `workdir` together with `concurrency`.
pub(crate) fn check(root: &LintNode<'_>, report: &mut Report) {
    let Some(workdir) = root.get("workdir").filter(|workdir| workdir.text().is_some()) else { return };
    let concurrency = root.get(CONCURRENCY);
    let count = match &concurrency {
        Some(lint_node) => lint_node.number(),
        None => Some(f64::from(Config::CONCURRENCY)),
    };
    if count.is_none_or(|count| count <= 1.0) {
        return;
    }
    let finding = workdir.head_finding(SharedWorkdir);
    report.push(match &concurrency {
        Some(lint_node) => finding.with("the number of simultaneous requests", lint_node),
        None => finding,
    });
}

impl Rule for SharedWorkdir {
    const CODE: Code = Code::SharedWorkdir;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let help = "set `concurrency: 1`";
        let edits = match LintNode::root(location.root).get(CONCURRENCY) {
            Some(lint_node) => lint_node.replaced("1"),
            None => line_in_order(location.root, &Shape::of(SpecFile::CLI_BENCH), CONCURRENCY, "concurrency: 1"),
        };
        MessageParts::new("all tasks share this directory")
            .note("cli-bench may run several of them at once; speclens runs them one after the other")
            .remedy(help, Fix::guess, edits)
    }
}
