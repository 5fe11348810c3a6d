//! Regular expressions of KindLM, which are those of ECMAScript.

use std::ops::Range;

use crate::{
    check::pattern::{EcmaPattern, PatternError, PatternErrorKind, refused_by_original},
    dialect::kindlm::patterns::Pattern,
    finding::{Finding, Report, Rule, Site, Words},
    problem::{Code, Severity},
    spot::Spot,
};

/// A pattern that is not searched for.
#[derive(Debug)]
enum InvalidPattern {
    /// `(?i)`, which other languages have.
    IgnoreCase,
    Invalid(String),
    /// Valid, and too much for speclens.
    Untranslatable(String),
    /// Rejected by KindLM, which fears that it takes too long.
    Nested,
    /// The filter of spans, which KindLM ignores then.
    NameFilter(String),
}

/// The patterns of an `expect`.
pub(crate) fn check_patterns(patterns: &[Pattern<'_>], report: &mut Report) {
    for pattern in patterns {
        match &pattern.compiled {
            Err(error) => {
                let rule = match error.kind {
                    PatternErrorKind::Invalid | PatternErrorKind::TooNew
                        if pattern.text.get(error.at..).is_some_and(|rest| rest.starts_with("(?i)")) =>
                    {
                        InvalidPattern::IgnoreCase
                    }
                    PatternErrorKind::Invalid | PatternErrorKind::TooNew => {
                        InvalidPattern::Invalid(error.message.clone())
                    }
                    PatternErrorKind::Untranslatable => InvalidPattern::Untranslatable(error.message.clone()),
                };
                report.push(Finding::new(rule, pattern.spot.at.clone(), place(pattern, error)));
            }
            Ok(_) if refused_by_original(pattern.text) => {
                report.push(pattern.spot.text_finding(InvalidPattern::Nested));
            }
            Ok(_) => {}
        }
    }
}

/// Returns where in a pattern an error is. The place can be underlined where the pattern is written as it reads.
fn place(pattern: &Pattern<'_>, error: &PatternError) -> Range<usize> {
    let whole = pattern.spot.part(pattern.text, 0);
    match pattern.text.get(error.at..) {
        Some(rest) if !rest.is_empty() && whole.len() == pattern.text.len() => {
            let start = whole.start + error.at;
            start..start + rest.chars().next().map_or(1, char::len_utf8)
        }
        _ => pattern.spot.range(),
    }
}

/// The filter of spans in the section `trace`.
pub(crate) fn check_root(root: &Spot<'_>, report: &mut Report) {
    let Some(pattern) = root.find(&["trace", "spanFilter", "namePattern"]) else { return };
    if let Some(Err(error)) = pattern.text().map(|text| EcmaPattern::compile(text, false)) {
        report.push(pattern.text_finding(InvalidPattern::NameFilter(error.message)));
    }
}

impl Rule for InvalidPattern {
    const CODE: Code = Code::InvalidPattern;

    fn severity(&self) -> Severity {
        match self {
            InvalidPattern::IgnoreCase | InvalidPattern::Invalid(_) => Code::InvalidPattern.severity(),
            InvalidPattern::Untranslatable(_) | InvalidPattern::Nested | InvalidPattern::NameFilter(_) => {
                Severity::Warning
            }
        }
    }

    fn words(&self, _: &Site<'_>) -> Words {
        match self {
            InvalidPattern::IgnoreCase => Words::new("`(?i)` is not valid in ECMAScript")
                .note("the pattern ignores case anyway")
                .help("remove it"),
            InvalidPattern::Invalid(reason) => Words::new(format!("not a valid regular expression: {reason}")),
            InvalidPattern::Untranslatable(reason) => {
                Words::new(format!("unsupported regular expression: {reason}"))
                    .note("the result of the expectation is unknown")
            }
            InvalidPattern::Nested => Words::new("KindLM rejects patterns with nested quantifiers")
                .note("the expectation fails")
                .help("use only one quantifier"),
            InvalidPattern::NameFilter(reason) => Words::new(format!("not a valid regular expression: {reason}"))
                .note("KindLM ignores the filter, so every span counts"),
        }
    }
}
