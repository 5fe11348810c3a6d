pub(crate) mod compared;
pub(crate) mod escape;
mod foreign;
pub(crate) mod literal;
mod misread;

use crate::{
    check::pattern::refused_by_original,
    finding::{Location, MessageParts, Report, Rule},
    pattern::{Compiled, Limit, Pattern},
    problem::Code,
};

/// A pattern that matches an empty text.
#[derive(Debug)]
enum MatchesNothing {
    /// The pattern matches an empty line.
    EmptyLine,
    /// It matches the empty string. The note describes the consequence.
    EmptyString(&'static str),
}

/// Checks a valid pattern.
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
    match usage.empty.filter(|_| compiled.matches_empty()) {
        Some(_) if is_by_lines => report.push(lint_node.finding(MatchesNothing::EmptyLine)),
        Some(note) => report.push(lint_node.finding(MatchesNothing::EmptyString(note))),
        None if foreign::check(pattern, report) => {}
        None => misread::check(pattern, report),
    }
}

impl Rule for MatchesNothing {
    const CODE: Code = Code::SuspiciousPattern;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let words = match self {
            MatchesNothing::EmptyLine => MessageParts::new("this pattern matches an empty line"),
            MatchesNothing::EmptyString(note) => MessageParts::new("this pattern matches the empty string").note(note),
        };
        words.help("write a pattern that matches at least one character")
    }
}
