//! Assertions that wait for a file: `timeout` and `updated_after`.

use serde_json::{Value, json};

use crate::{
    check::time,
    dialect::clawspec::rules::unread::with_quotes,
    document::{NodeRef, Scalar},
    finding::{MessageParts, Report, Scope},
    lint_node::LintNode,
    problem::Code,
};

/// Note that lists the types that wait.
pub(crate) const WAITING: &str = "only `state_file` and the types that begin with `artifact_` wait for a file";

/// Returns the problem of `updated_after` without a value.
pub(crate) fn no_time() -> Value {
    json!([{
        "if": { "enum": [null, ""] }, "code": "unchecked", "underline": "key", "instead": true,
        "message": "`updated_after` has no value, so a file of any age passes",
        "help": "write a time, such as `\"{{run_started_at}}\"`, or remove the key",
    }])
}

/// Returns the problem of one of the two keys in a type that does not wait.
pub(crate) fn no_effect(key: &str, kind: &str) -> Value {
    // If the file is late, the assertion fails.
    let (code, message) = match key {
        "timeout" => ("no-effect", format!("`timeout` has no effect in `{kind}`")),
        _ => ("unchecked", format!("`{kind}` does not check `{key}`")),
    };
    json!([{
        "if": true, "code": code, "severity": "warning", "underline": "key", "message": message, "note": WAITING,
        "help": format!("remove `{key}`"), "fix": "remove",
    }])
}

/// Returns whether YAML reads a value as a date or a time instead of a string: it is not in quotes, or has the tag
/// `!!timestamp`.
pub(crate) fn is_date(time: NodeRef<'_>) -> bool {
    time.scalar() == Some(Scalar::Timestamp)
}

/// Checks the time of an assertion that waits.
pub(crate) fn lint(node: &LintNode<'_>, is_before: bool, report: &mut Report) {
    let Some((after, text)) = node.get("updated_after").and_then(|after| Some((after.clone(), after.node.text()?)))
    else {
        return;
    };
    if is_before && text.contains("{{run_started_at}}") && node.get("timeout").is_none() {
        let words =
            MessageParts::new("no file can be newer than a run that has not begun, so this assertion always fails")
                .help("move it to `then`");
        report.push(after.problem(Code::Contradiction, words));
    }
    let is_text = after.node.scalar() == Some(Scalar::Text);
    if is_text && time::parse(text).is_some_and(|instant| !instant.has_offset) {
        let words = MessageParts::new("a time without a UTC offset depends on the time zone of the machine")
            .help("add `Z` or an offset, such as `+02:00`");
        report.push(after.problem(Code::AmbiguousScalar, words));
    }
    if is_date(after.node) {
        let words = MessageParts::new(format!("expected a string, found the date `{text}`"))
            .note("ClawSpec aborts with an error");
        let finding = after.problem(Code::WrongType, with_quotes(words, &after, text));
        report.push(finding.instead_of(Scope::CodeAt(Code::WrongType, after.at.clone())));
    }
}
