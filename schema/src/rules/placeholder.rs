//! Markers that a fix, a snippet or the author left to be filled in.

use crate::{
    finding::{MessageParts, Report},
    problem::Code,
    walk::Value,
};

/// Keys whose values are names or prose: there, `TODO` alone is not a string to search for.
const SPEAKING: [&str; 11] =
    ["name", "description", "invoke", "intent", "tool", "trigger", "rubric", "criteria", "command", "path", "to_agent"];

/// Returns a placeholder for something that only the author knows.
pub(crate) fn placeholder(what: &str) -> String {
    format!("TODO({what})")
}

/// Checks a value for a marker that a fix, a snippet or the author left: `TODO(the tool)`, or only `TODO` in a value that
/// is not searched for.
pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    let Some((text, what)) = value.text.and_then(|text| Some((text.trim_end(), left_out(text)?))) else { return };
    if !what.is_empty() || SPEAKING.contains(&value.name) {
        let words = MessageParts::new(format!("`{text}` is a placeholder")).help(match what {
            "" => "replace it with the real value".to_owned(),
            what => format!("write {what}"),
        });
        report.push(value.lint_node().problem(Code::Placeholder, words));
    }
}

/// Returns what to fill in if a string is a placeholder; empty if unknown.
fn left_out(text: &str) -> Option<&str> {
    let rest = text.trim_end().strip_prefix("TODO")?;
    if rest.is_empty() {
        return Some("");
    }
    let inside = rest.strip_prefix('(')?.strip_suffix(')')?;
    (!inside.is_empty() && !inside.contains(['(', ')', '\n'])).then_some(inside)
}
