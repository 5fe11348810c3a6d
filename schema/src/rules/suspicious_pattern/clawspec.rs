//! Regular expressions of `log_entry` that match nothing in particular, or something else than they seem to.

use crate::{
    dialect::clawspec::log_pattern::LogPattern,
    finding::{Report, Rule, Site, Words},
    problem::Code,
    rules::suspicious_pattern::misread::{self, Case},
};

/// A pattern that every file matches.
#[derive(Debug)]
enum MatchesNothing {
    /// It matches an empty line.
    EmptyLine,
    /// It matches the empty string.
    EmptyString,
}

/// Looks at a pattern.
pub(crate) fn check_pattern(pattern: &LogPattern<'_>, report: &mut Report) {
    let LogPattern { spot, written, compiled, .. } = pattern;
    let Ok(compiled) = compiled else { return };
    if compiled.matches_empty() {
        let is_of_lines = written.contains(['^', '$']);
        report.push(spot.finding(if is_of_lines { MatchesNothing::EmptyLine } else { MatchesNothing::EmptyString }));
    } else {
        misread::check_pattern(spot, written, Case::IgnoredByFlag, report);
    }
}

impl Rule for MatchesNothing {
    const CODE: Code = Code::SuspiciousPattern;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new(match self {
            MatchesNothing::EmptyLine => "this pattern matches an empty line",
            MatchesNothing::EmptyString => "this pattern matches the empty string, which every file contains",
        })
    }
}
