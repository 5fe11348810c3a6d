//! Paths that lead out of the workspace, or exist only on this machine.

use crate::{
    files,
    finding::{Finding, MessageParts, Report},
    lint_node::LintNode,
    problem::{Code, Severity},
    walk::Value,
};

/// Checks a path that must not lead out of the workspace.
pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    let is_inside = value.shape().is_some_and(|shape| shape.is_inside());
    let path = value.text.filter(|path| is_inside && !path.is_empty() && files::inside(path).is_none());
    if let Some(path) = path {
        let words = MessageParts::new(format!("`{path}` is outside the workspace"));
        report.push(value.lint_node().problem(Code::InvalidPath, words.help("write a relative path without `..`")));
    }
}

/// Reports a path that cannot be used, with the reason as the end of a sentence: "is an absolute path on another
/// operating system".
pub(crate) fn unusable(lint_node: &LintNode<'_>, path: &str, reason: &str) -> Finding {
    not_portable(lint_node, format!("`{path}` {reason}"), "the directory of this file")
}

/// Reports a path that leads out of the workspace.
pub(crate) fn outside(lint_node: &LintNode<'_>, path: &str) -> Finding {
    not_portable(lint_node, format!("`{path}` is outside the workspace"), "the workspace")
}

fn not_portable(lint_node: &LintNode<'_>, message: String, home: &str) -> Finding {
    let words = MessageParts::new(message)
        .note("it may not exist on other machines")
        .help(format!("move it into {home}, and write a relative path"));
    lint_node.problem(Code::InvalidPath, words).with_severity(Severity::Warning)
}
