//! Patterns of a cli-bench suite that are valid but most likely do not match as intended.

use std::{ops::Range, sync::OnceLock};

use regex::Regex;

use crate::{
    finding::{Finding, Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    pattern::{Compiled, Pattern},
    problem::{Code, Fix, Severity},
};

/// A pattern that every command matches.
#[derive(Debug)]
enum Everything {
    Run,
    Count,
}

/// An option after a space. Another option may be between it and its command. The text starts at the space.
#[derive(Debug)]
struct FixedOptions(String);

/// A literal path with wildcards.
#[derive(Debug)]
struct Wildcards(String);

/// Checks a pattern of commands that must be run or are counted.
pub(crate) fn check_pattern(pattern: &Pattern<'_>, report: &mut Report) {
    let everything = match pattern.searches {
        "commands" => Some(Everything::Run),
        "counted commands" => Some(Everything::Count),
        // Another rule reports that every command is forbidden.
        _ => None,
    };
    if let Some(rule) = everything.filter(|_| matches_everything(pattern)) {
        report.push(pattern.lint_node.finding(rule));
    }
    report.extend(fixed_options(pattern));
}

/// Whether every command matches a pattern.
pub(crate) fn matches_everything(pattern: &Pattern<'_>) -> bool {
    match &pattern.compiled {
        Compiled::Literal => pattern.text.is_empty(),
        Compiled::Ecmascript(compiled) => {
            let finds = |text: &&str| compiled.find_iter(text).next().is_some();
            compiled.can_match_empty() && ["", "x", "a b"].iter().all(finds)
        }
        Compiled::Python(_) | Compiled::Broken(_) => false,
    }
}

/// Reports patterns such as `git commit -m`, which `git commit -a -m` does not match.
fn fixed_options(pattern: &Pattern<'_>) -> Option<Finding> {
    static OPTION: OnceLock<Regex> = OnceLock::new();
    let option = OPTION
        .get_or_init(|| Regex::new(r"[A-Za-z0-9_](?<space> )-{1,2}[A-Za-z]").expect("the pattern is fixed and tested"));
    if matches!(pattern.compiled, Compiled::Broken(_)) {
        return None;
    }
    let space = option.captures(pattern.text)?.name("space")?;
    let word: String = pattern.text[space.start()..]
        .chars()
        .take_while(|letter| *letter == ' ' || *letter == '-' || letter.is_ascii_alphanumeric())
        .collect();
    let option = format!(" {}", word.split_whitespace().next().unwrap_or_default());
    let range = part(pattern, &option, space.start());
    Some(Finding::new(FixedOptions(option), pattern.lint_node.at.clone(), range))
}

/// Returns the range of a part of a pattern that begins at an offset of its text.
fn part(pattern: &Pattern<'_>, part: &str, at: usize) -> Range<usize> {
    pattern.lint_node.part(part, pattern.text[..at].matches(part).count())
}

/// Checks the paths of `file_exists` and `file_contains`.
pub(crate) fn check_assertion(assertion: &LintNode<'_>, report: &mut Report) {
    let paths = [assertion.get("file_exists"), assertion.find(&["file_contains", "path"])];
    for lint_node in paths.iter().flatten() {
        let Some(path) = lint_node.text() else { continue };
        // Text that the shell would expand is reported separately.
        let is_shell = path.starts_with("~/") || path.starts_with('$');
        if path.contains(['*', '?']) && !path.contains("{{") && !is_shell {
            report.push(lint_node.finding(Wildcards(path.to_owned())));
        }
    }
}

impl Rule for Everything {
    const CODE: Code = Code::SuspiciousPattern;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        MessageParts::new("this pattern matches every command").help(match self {
            Everything::Run => "name the command",
            Everything::Count => "name the command to count",
        })
    }
}

impl Rule for FixedOptions {
    const CODE: Code = Code::SuspiciousPattern;
    const SEVERITY: Severity = Severity::Hint;

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let help = "replace the space with `.*`";
        let space = location.range.start..location.range.start + 1;
        let lint_node = location.lint_node().filter(|_| location.range.len() == self.0.len());
        let fix = lint_node.and_then(|lint_node| Some(Fix::guess(help, lint_node.with_part(&space, " ", ".*")?)));
        MessageParts::new("this pattern does not match if another option comes first").help(help).fix(fix)
    }
}

impl Rule for Wildcards {
    const CODE: Code = Code::SuspiciousPattern;

    fn message(&self, _: &Location<'_>) -> MessageParts {
        let path = &self.0;
        MessageParts::new(format!("wildcards in `{path}` are not expanded"))
            .note("the path is taken literally")
            .help(format!("use `verify` with `run: ls {path}`"))
    }
}
