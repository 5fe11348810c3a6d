//! Patterns of a cli-bench suite that are valid but most likely do not match as intended.

use std::{ops::Range, sync::OnceLock};

use regex::Regex;

use crate::{
    finding::{Finding, Location, MessageParts, Report, Rule},
    lint_node::LintNode,
    pattern::{Compiled, Pattern},
    problem::{Code, Fix, Severity},
};

/// A pattern or a path that most likely does not match as intended.
#[derive(Debug)]
enum Suspicious {
    /// A pattern of commands that every command matches.
    EveryCommand,
    /// A pattern of commands to count that every command matches.
    EveryCount,
    /// An option after a space. Another option may be between it and its command. The text starts at the space.
    FixedOptions(String),
    /// A literal path with wildcards.
    Wildcards(String),
}

/// Checks a pattern of commands that must be run or are counted.
pub(crate) fn check_pattern(pattern: &Pattern<'_>, report: &mut Report) {
    let everything = match pattern.searches {
        "commands" => Some(Suspicious::EveryCommand),
        "counted commands" => Some(Suspicious::EveryCount),
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
    Some(Finding::new(Suspicious::FixedOptions(option), pattern.lint_node.at.clone(), range))
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
            report.push(lint_node.finding(Suspicious::Wildcards(path.to_owned())));
        }
    }
}

impl Rule for Suspicious {
    const CODE: Code = Code::SuspiciousPattern;

    fn severity(&self) -> Severity {
        if matches!(self, Suspicious::FixedOptions(_)) { Severity::Hint } else { Self::SEVERITY }
    }

    fn message(&self, location: &Location<'_>) -> MessageParts {
        let everything = || MessageParts::new("this pattern matches every command");
        match self {
            Suspicious::EveryCommand => everything().help("name the command"),
            Suspicious::EveryCount => everything().help("name the command to count"),
            Suspicious::FixedOptions(option) => {
                let help = "replace the space with `.*`";
                let space = location.range.start..location.range.start + 1;
                let lint_node = location.lint_node().filter(|_| location.range.len() == option.len());
                let edits = lint_node.and_then(|lint_node| lint_node.with_part(&space, " ", ".*"));
                MessageParts::new("this pattern does not match if another option comes first").remedy(
                    help,
                    Fix::guess,
                    edits,
                )
            }
            Suspicious::Wildcards(path) => MessageParts::new(format!("wildcards in `{path}` are not expanded"))
                .note("the path is taken literally")
                .help(format!("use `verify` with `run: ls {path}`")),
        }
    }
}
