//! Valid patterns that probably do not mean what they seem to mean.

pub(crate) mod compared;
pub(crate) mod escape;
mod foreign;
pub(crate) mod literal;
mod misread;

use crate::{
    check::pattern::refused_by_original,
    finding::{MessageParts, Report},
    pattern::{Compiled, Limit, Pattern},
    problem::Code,
};

pub(crate) fn check(pattern: &Pattern<'_>, report: &mut Report) {
    let Pattern { lint_node, text, usage, compiled, .. } = pattern;
    // A pattern that the tool rejects is reported separately.
    let is_rejected = matches!(usage.limit, Limit::NotNested(_)) && refused_by_original(text);
    let is_by_lines = match compiled {
        Compiled::Broken(_) => return,
        Compiled::Literal => {
            foreign::check(pattern, report);
            return;
        }
        Compiled::Ecmascript(_) => false,
        Compiled::Python(_) => text.contains(['^', '$']),
    };
    if is_rejected {
        return;
    }
    let Some(note) = usage.empty.filter(|_| compiled.matches_empty()) else {
        if !foreign::check(pattern, report) {
            misread::check(pattern, report);
        }
        return;
    };
    let words = match is_by_lines {
        true => MessageParts::new("this pattern matches an empty line"),
        false => MessageParts::new("this pattern matches the empty string").note(note),
    };
    let words = words.help("write a pattern that matches at least one character");
    report.push(lint_node.problem(Code::SuspiciousPattern, words));
}
