//! Regular expressions of KindLM that match everywhere, or something else than they seem to.

use crate::{
    check::pattern::refused_by_original,
    dialect::kindlm::patterns::Pattern,
    finding::{Report, Rule, Site, Words},
    problem::Code,
    rules::suspicious_pattern::misread::{self, Case},
};

/// A pattern that matches the empty string.
#[derive(Debug)]
struct MatchesEmpty;

/// The patterns of an `expect`.
pub(crate) fn check_patterns(patterns: &[Pattern<'_>], report: &mut Report) {
    for pattern in patterns {
        let Ok(compiled) = &pattern.compiled else { continue };
        if refused_by_original(pattern.text) {
            continue;
        }
        if compiled.matches_empty() {
            report.push(pattern.spot.finding(MatchesEmpty));
        } else {
            misread::check_pattern(&pattern.spot, pattern.text, Case::Ignored, report);
        }
    }
}

impl Rule for MatchesEmpty {
    const CODE: Code = Code::SuspiciousPattern;

    fn words(&self, _: &Site<'_>) -> Words {
        Words::new("this pattern matches the empty string")
            .note("KindLM finds a match in every output; speclens ignores empty matches")
    }
}
