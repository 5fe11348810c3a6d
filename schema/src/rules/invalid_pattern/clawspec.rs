//! Regular expressions of `log_entry` that Python refuses, or that cannot be searched for here.

use crate::{
    check::pattern::PatternErrorKind,
    dialect::clawspec::log_pattern::LogPattern,
    finding::{Finding, Report, Rule, Site, Words},
    problem::{Code, Severity},
};

/// A pattern that cannot be searched for, and why.
#[derive(Debug)]
struct Refused {
    kind: PatternErrorKind,
    reason: String,
}

/// Looks at a pattern.
pub(crate) fn check_pattern(pattern: &LogPattern<'_>, report: &mut Report) {
    let LogPattern { spot, written, is_exact, compiled } = pattern;
    let Err(error) = compiled else { return };
    let range = match written.get(error.at..).and_then(|rest| rest.chars().next()) {
        Some(letter) if *is_exact => {
            let start = spot.part(written, 0).start + error.at;
            start..start + letter.len_utf8()
        }
        Some(_) | None => spot.range(),
    };
    let rule = Refused { kind: error.kind, reason: error.message.clone() };
    report.push(Finding::new(rule, spot.at.clone(), range));
}

impl Rule for Refused {
    const CODE: Code = Code::InvalidPattern;
    const SEVERITY: Severity = Severity::Warning;

    fn words(&self, _: &Site<'_>) -> Words {
        let reason = &self.reason;
        match self.kind {
            PatternErrorKind::Invalid => Words::new(format!("not a valid regular expression: {reason}"))
                .note("ClawSpec aborts the scenario with an error"),
            PatternErrorKind::Untranslatable | PatternErrorKind::TooNew => {
                Words::new(format!("unsupported regular expression: {reason}"))
                    .note("the result of the assertion is unknown")
            }
        }
    }
}
