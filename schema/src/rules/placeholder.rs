use crate::{
    finding::{Location, MessageParts, Report, Rule},
    problem::Code,
    walk::Value,
};

/// A marker that a fix, a snippet or the author left: `TODO(the tool)`, or only `TODO` in a value that is not searched
/// for.
#[derive(Debug)]
struct Placeholder {
    /// Content to fill in. Empty if unknown.
    what: String,
}

/// Keys whose values are names or prose: there, `TODO` alone is not a string to search for.
const SPEAKING: [&str; 11] =
    ["name", "description", "invoke", "intent", "tool", "trigger", "rubric", "criteria", "command", "path", "to_agent"];

/// Returns a placeholder for something that only the author knows.
pub(crate) fn placeholder(what: &str) -> String {
    format!("TODO({what})")
}

/// Checks a value.
pub(crate) fn check(value: &Value<'_, '_>, report: &mut Report) {
    let Some(what) = value.text.and_then(left_out) else { return };
    if !what.is_empty() || SPEAKING.contains(&value.name) {
        report.push(value.lint_node().finding(Placeholder { what: what.to_owned() }));
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

impl Rule for Placeholder {
    const CODE: Code = Code::Placeholder;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let text = location.node().and_then(|node| node.as_str()).unwrap_or_default();
        MessageParts::new(format!("`{}` is a placeholder", text.trim_end())).help(match self.what.as_str() {
            "" => "replace it with the real value".to_owned(),
            what => format!("write {what}"),
        })
    }
}
