//! Patterns of commands: those that every command matches, and those that other options break.

use std::sync::OnceLock;

use regex::Regex;

use crate::{
    finding::{Finding, MessageParts, Report},
    pattern::{Compiled, Pattern},
    problem::{Code, Fix, Severity},
};

/// Checks a pattern of commands.
pub(crate) fn check(pattern: &Pattern<'_>, report: &mut Report) {
    let (code, help) = match pattern.searches {
        "commands" => (Code::SuspiciousPattern, "name the command"),
        "counted commands" => (Code::SuspiciousPattern, "name the command to count"),
        _ => (Code::Contradiction, "name the command that must not be run"),
    };
    if matches_everything(pattern) {
        report
            .push(pattern.lint_node.problem(code, MessageParts::new("this pattern matches every command").help(help)));
    }
    report.extend(fixed_options(pattern));
}

fn matches_everything(pattern: &Pattern<'_>) -> bool {
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
    let option = OPTION.get_or_init(|| {
        Regex::new(r"[A-Za-z0-9_](?<option> -{1,2}[A-Za-z][A-Za-z0-9-]*)").expect("the pattern is fixed and tested")
    });
    if matches!(pattern.compiled, Compiled::Broken(_)) {
        return None;
    }
    let (node, option) = (&pattern.lint_node, option.captures(pattern.text)?.name("option")?);
    let nth = pattern.text[..option.start()].matches(option.as_str()).count();
    let range = node.part(option.as_str(), nth);
    let space = range.start..range.start + 1;
    let edits = if range.len() == option.len() { node.with_part(&space, " ", ".*") } else { None };
    let words = MessageParts::new("this pattern does not match if another option comes first");
    let words = words.remedy("replace the space with `.*`", Fix::guess, edits);
    let finding = Finding::stated(Code::SuspiciousPattern, words, node.at.clone(), range);
    Some(finding.with_severity(Severity::Hint))
}
