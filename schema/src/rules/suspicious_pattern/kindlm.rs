//! Regular expressions of KindLM that are found everywhere.

use crate::{
    check::pattern::refused_by_original,
    dialect::kindlm::patterns::Pattern,
    finding::{Report, Rule, Site, Words},
    problem::Code,
};

/// A pattern that matches the empty string.
#[derive(Debug)]
struct MatchesEmpty;

/// The patterns of an `expect`.
pub(crate) fn check_patterns(patterns: &[Pattern<'_>], report: &mut Report) {
    for pattern in patterns {
        let is_empty = pattern.compiled.as_ref().is_ok_and(|compiled| compiled.matches_empty());
        if is_empty && !refused_by_original(pattern.text) {
            report.push(pattern.spot.finding(MatchesEmpty));
        }
    }
}

impl Rule for MatchesEmpty {
    fn code(&self) -> Code {
        Code::SuspiciousPattern
    }

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new("this pattern matches the empty string")
            .note("KindLM finds a match in every output; speclens ignores empty matches")
    }
}
